"""Names in sentences, for models that tag words (Czarnowska et al. 2021, section 5.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.metrics import class_probability
from pytest_llmfair.suites.design import Suite, Task
from pytest_llmfair.suites.questions import Asked, Question
from pytest_llmfair.suites.templates import Sentences
from pytest_llmfair.text.tagged import Tagged, class_of_tag, is_one_name, tagged_words


class Entities(Sentences):
    """Sentences with a name; a tagger finds it, or a language model says what it names."""

    def fitted(self, task: Task, client: ModelClient) -> Task:
        """Give a tagger the sentences alone."""
        kind = getattr(client.backend, "classifies", None)
        if kind == "texts":
            raise ValueError(
                f"model {client.name!r} classifies texts, and the task {task.name} asks for names "
                "in a sentence; use the suite classifier, or a classifier of words"
            )
        if kind is None:
            return task
        return replace(task, wordings=("{sentence}",), data={**task.data, "tagged": True})

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return a prompt for each wording, template and name; of a tagger texts are asked for."""
        found = super().questions(suite, task, size)
        if "tagged" not in task.data:
            return found
        return [replace(each, words=()) for each in found]

    def ask(self, task: Task, questions: Sequence[Question], client: ModelClient) -> list[Asked]:
        """Read the probability of the class at the name, and whether exactly the name was found.

        Raises
        ------
        ValueError
            If an answer is no list of words with tags, or no tag is one of the class.
        """
        found = super().ask(task, questions, client)
        if "tagged" not in task.data:
            return found
        answers = {
            each: tagged_words(text)
            for each in found
            for text in each.texts
            if isinstance(text, str)
        }
        known = {tag for words in answers.values() for _, row in words for tag in row}
        return [
            replace(each, probabilities=_at_name(each, answers[each], known, task, client.name))
            if each in answers
            else each
            for each in found
        ]


def _at_name(
    asked: Asked, words: Sequence[Tagged], known: set[str], task: Task, model: str
) -> tuple[float, float]:
    """Return the mean probability of the class over the words of the name, and 1 if found."""
    template, label, _, name = asked.question.about
    wanted = {label.casefold(), str(task.data["tags"][label]).casefold()}
    tags = [tag for tag in sorted(known) if class_of_tag(tag).casefold() in wanted]
    if not tags:
        shown = ", ".join(sorted({class_of_tag(tag) for tag in known}))
        raise ValueError(
            f"model {model!r} has tags of {shown}, and the task {task.name} needs {label} "
            f"({task.data['tags'][label]}); map it, such as ?labels={label}:NAME_IN_THE_MODEL"
        )
    prompt = asked.question.prompt
    start = template.index("{")
    place, inside = 0, []
    for row, (word, _) in enumerate(words):
        at = prompt.find(word, place)
        if at < 0:
            raise ValueError(
                f"model {model!r} has the word {word!r}, which is not in {prompt[place:][:60]!r}; "
                "give the words as they stand in the text"
            )
        place = at + len(word)
        if start <= at < start + len(name):
            inside.append(row)
    if not inside:
        raise ValueError(f"model {model!r} leaves {name!r} out of {prompt[:80]!r}")
    likeliest = [max(row, key=row.__getitem__) if row else "O" for _, row in words]
    rows = [{tag: words[row][1].get(tag, 0.0) for tag in tags} for row in inside]
    return class_probability(rows, tags), float(is_one_name(likeliest, inside, tags))
