"""Sentences made of templates and terms of groups, for classifiers (Czarnowska et al. 2021)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.lexicons.names import names
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.metrics.generalized.rows import find_row
from pytest_llmfair.stats import Estimate, Sample, Undefined
from pytest_llmfair.suites import audit_tables
from pytest_llmfair.suites.class_rows import focus, rows_of, why_undefined
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.kind import Answered, Kind
from pytest_llmfair.suites.questions import Asked, Question
from pytest_llmfair.suites.tables import Table

# Names of a group for each term of a size; one name says little.
_NAMES_PER_TERM, _MOST_NAMES = 4, 20
# "An asexual writer", but "a European" and "a Ugandan one".
_VOWEL = re.compile(r"(?!eu|uga|uni|one)[aeiou]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Term:
    """How a group is named: before or after a noun, by nouns of its own, or by a name.

    Examples
    --------
    >>> "{0:a writer}, {0:people}".format(Term(after="with epilepsy"))
    'a writer with epilepsy, people with epilepsy'
    >>> "{0:writers}, {0:a person}".format(Term(before="asexual"))
    'asexual writers, an asexual person'
    """

    before: str = ""
    after: str = ""
    person: str = ""
    people: str = ""
    predicate: str = ""
    country: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        """What tells it from other terms."""
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
        return f"{'an' if _VOWEL.match(text) else 'a'} {text}"


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

    def measure(
        self, suite: Suite, quantity: Quantity, asked: Sequence[Asked], population: str
    ) -> Estimate:
        """Compare the groups; templates are the units, since all groups share them."""
        rows, row = rows_of(asked), find_row(quantity.metric)
        keywords = dict(quantity.keywords)
        name = keywords.pop("positive", None)
        of_predictions = not row.score.startswith("p(")
        why = rows if isinstance(rows, str) else why_undefined(rows, name, of_predictions)
        if why or isinstance(rows, str):
            size = len({each.question.about[0] for each in asked})
            sample = Sample(units=size, generations=len(asked), fewest=1, most=1)
            return Undefined(undefined=why, sample=sample)
        positive = rows.classes.index(name) if name else 0
        metric = get_metric(quantity.metric).function
        shared = {"population": population, **keywords}
        if of_predictions and rows.tagged:
            # Spans: a tagger that finds every name is not constant, as it leaves other words out.
            tag = f"U-{rows.classes[0]}"
            return metric(
                y_true=[[tag]] * len(rows.gold),
                y_pred=[[tag if found == 0 else "O"] for found in rows.predicted],
                groups=rows.groups,
                positive=rows.classes[0],
                units=rows.templates,
                **shared,
            )
        if not row.counterfactual:
            return metric(
                y_true=rows.gold,
                y_pred=rows.predicted,
                y_prob=rows.scores,
                groups=rows.groups,
                positive=positive,
                units=rows.templates,
                **shared,
            )
        examples = rows.by_template()
        groups = list(dict.fromkeys(rows.groups))
        return metric(
            y_true=[rows.gold[own[groups[0]][0]] for own in examples.values()],
            y_prob=[
                [rows.scores[own[group]].tolist() for group in groups] for own in examples.values()
            ],
            groups=groups,
            positive=positive,
            units=list(examples),
            **shared,
        )

    def tables(self, suite: Suite, task: Task, asked: Sequence[Asked]) -> tuple[Table, ...]:
        """Return each group with its intervals."""
        rows = rows_of(asked)
        if isinstance(rows, str):
            return ()
        signed = self.measure(
            suite,
            Quantity("", "pos_avg_eg", {"positive": rows.classes[focus(rows)]}),
            asked,
            "sampled",
        )
        return (audit_tables.by_group(task.name, rows, focus(rows), signed),)

    def comparisons(self, found: Sequence[Answered]) -> tuple[Table, ...]:
        """Return the heat map of metrics by attribute, and significance tests."""
        tested = {}
        for each in found:
            rows = rows_of(each.asked)
            tested[each.task.name] = None if isinstance(rows, str) else (rows, focus(rows))
        return audit_tables.heat_map(found), audit_tables.significance(tested)


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
