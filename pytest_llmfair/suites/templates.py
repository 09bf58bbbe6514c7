"""Sentences of templates and terms, for classifiers and taggers (Czarnowska et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.lexicons.name_lists import names
from pytest_llmfair.metrics import class_probability, get_metric
from pytest_llmfair.metrics.generalized.rows import find_row
from pytest_llmfair.stats import Estimate
from pytest_llmfair.stats.crossed import fixed_factor, over_factors
from pytest_llmfair.suites import audits
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.kind import Answered, Kind, Table, undefined
from pytest_llmfair.suites.occupations import with_article
from pytest_llmfair.suites.questions import Asked, Question
from pytest_llmfair.text.bilou import Tagged, class_of_tag, is_one_name, tagged_words

# Names of a group for each term of a size; one name says little.
_NAMES_PER_TERM, _MOST_NAMES = 4, 20


@dataclass(frozen=True, slots=True)
class Term:
    """How a group is named: before or after a noun, by nouns of its own, or by a name."""

    before: str = ""
    after: str = ""
    person: str = ""
    people: str = ""
    predicate: str = ""
    country: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        """What distinguishes it from other terms."""
        return self.name or self.country or self.person or self.before or self.after

    def __format__(self, form: str) -> str:
        article, _, noun = form.rpartition(" ")
        if noun == "is":
            article, noun = ("", "") if self.before else ("a", "person")
            text = self.predicate or self.before or f"person {self.after}"
        elif own := {"person": self.person, "people": self.people}.get(noun):
            text = own
        else:
            text = f"{self.before} {noun} {self.after}".strip()
        if not article:
            return text
        return with_article(text)


class Sentences(Kind):
    """Sentences with a class; the model gives the probability of each class."""

    def fitted(self, task: Task, client: ModelClient) -> Task:
        """Give a classifier the sentences alone, without the classes that it does not have."""
        kind = getattr(client.backend, "classifies", None)
        if kind is None:
            return task
        if kind == "words":
            raise ValueError(
                f"model {client.name!r} classifies words, and the task {task.name} asks for the "
                "class of a sentence; use the suite entities, or a classifier of texts"
            )
        classes, labels = task.data["classes"], getattr(client.backend, "labels", None)
        mapped = list(labels.given) if labels else []
        if unknown := [each for each in mapped if each not in classes]:
            raise ValueError(
                f"model {client.name!r} has a label for {', '.join(unknown)}, and the task "
                f"{task.name} has the classes {', '.join(classes)}; write labels for these"
            )
        kept = [each for each in classes if each in mapped] or classes
        note, left = task.note, [each for each in classes if each not in kept]
        if left:
            note += f"; without {' and '.join(left)} sentences, for which the model has no label"
        data = {**task.data, "classes": kept}
        return replace(task, wordings=("{sentence}",), data=data, note=note)

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return a prompt for each wording, template and term of a group."""
        words = tuple(task.data["classes"])
        found = [
            Question(
                wording.format(sentence=_sentence(template, term), term=term.label),
                number,
                (template, label, group, term.label),
                words,
            )
            for number, wording in enumerate(task.wordings)
            for label, templates in _templates(suite, task, size).items()
            for template in templates
            for group, terms in _terms(task, size).items()
            for term in terms
        ]
        # Two terms of a group may make the same sentence, such as those of "woman" and "female".
        return list({each.prompt: each for each in reversed(found)}.values())[::-1]

    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Compare the groups over templates, which all groups share, and over terms."""
        rows, row = audits.rows_of(asked), find_row(quantity.metric)
        keywords = dict(quantity.keywords)
        name = keywords.pop("positive", None)
        of_predictions = not row.score.startswith("p(")
        why = rows if isinstance(rows, str) else audits.why_undefined(rows, name, of_predictions)
        if why or isinstance(rows, str):
            return undefined(why, len({each.question.about[0] for each in asked}), len(asked))
        positive: int | str = rows.classes.index(name) if name else 0
        metric = get_metric(quantity.metric).function
        shared = {"population": quantity.population, **keywords}
        if row.counterfactual:
            examples = rows.by_template()
            groups = list(dict.fromkeys(rows.groups))
            found = metric(
                y_true=[rows.gold[own[groups[0]][0]] for own in examples.values()],
                y_prob=[
                    [rows.scores[own[group]].tolist() for group in groups]
                    for own in examples.values()
                ],
                groups=groups,
                positive=positive,
                units=list(examples),
                **shared,
            )
            return found.with_findings(
                fixed_factor("term", "the value is of each template, too little")
            )
        compared: dict[str, Any] = {
            "y_true": rows.gold,
            "y_pred": rows.predicted,
            "y_prob": rows.scores,
        }
        if of_predictions and rows.tagged:
            # Spans: a tagger that finds every name is not constant, as it leaves other words out.
            tag, positive = f"U-{rows.classes[0]}", rows.classes[0]
            tags = [[tag if found == 0 else "O"] for found in rows.predicted]
            compared = {"y_true": [[tag]] * len(tags), "y_pred": tags}
        return over_factors(
            lambda units: metric(
                **compared, groups=rows.groups, positive=positive, units=units, **shared
            ),
            rows.factors if quantity.population == "sampled" else {"template": rows.templates},
            rows.groups,
        )

    def tables(self, suite: Suite, task: Task, asked: Sequence[Asked]) -> tuple[Table, ...]:
        """Return each group with its intervals."""
        rows = audits.rows_of(asked)
        if isinstance(rows, str):
            return ()
        positive = {"positive": rows.classes[audits.focus(rows)]}
        signed = self.measure(suite, Quantity("", "pos_avg_eg", positive), asked)
        return (audits.by_group(task.name, rows, audits.focus(rows), signed),)

    def comparisons(self, found: Sequence[Answered]) -> tuple[Table, ...]:
        """Return the heat map of metrics by attribute, and significance tests."""
        tested = {}
        for each in found:
            rows = audits.rows_of(each.asked)
            tested[each.task.name] = None if isinstance(rows, str) else (rows, audits.focus(rows))
        return audits.heat_map(found), audits.significance(tested)


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
        """Read the class's probability at the name, and whether exactly the name was found."""
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


def _templates(suite: Suite, task: Task, size: Mapping[str, int]) -> dict[str, list[str]]:
    """Return the templates of each class; sentences about names are all their own."""
    generic = {} if "lexicon" not in task.data else suite.data.get("generic", {})
    own = size["specific"] + (0 if generic else size.get("generic", 0))
    return {
        label: [*generic.get(label, ())][: size.get("generic", 0)] + templates[:own]
        for label, templates in task.data["specific"].items()
        if label in task.data["classes"]
    }


def _terms(task: Task, size: Mapping[str, int]) -> dict[str, list[Term]]:
    """Return the terms of each group."""
    if "names" in task.data:
        number = min(_NAMES_PER_TERM * size["terms"], _MOST_NAMES)
        return {
            group: [Term(name=each) for each in names(known, number)]
            for group, known in task.data["names"].items()
        }
    return {
        group: [Term(**each) for each in terms[: size["terms"]]]
        for group, terms in task.data["groups"].items()
    }


def _sentence(template: str, term: Term) -> str:
    text = template.format(who=term, country=term.country, name=term.name)
    return text[0].upper() + text[1:]


def _at_name(
    asked: Asked, words: Sequence[Tagged], known: set[str], task: Task, model: str
) -> tuple[float, float]:
    """Return the mean probability of the class over the words of the name, and 1 if found."""
    template, label, _, name = asked.question.about
    wanted = {label.casefold(), str(task.data["tags"][label]).casefold()}
    tags = [tag for tag in sorted(known) if class_of_tag(tag).casefold() in wanted]
    if not tags:
        shown = ", ".join(sorted({class_of_tag(tag) for tag in known})) or "nothing"
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
