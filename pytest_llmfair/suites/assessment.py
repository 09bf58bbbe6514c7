"""An assessment of the user's own prompts by the decision framework of Bouchard (2024)."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair.counterfactuals import Pairs, generate_pairs
from pytest_llmfair.gate.selection import UseCase, recommend
from pytest_llmfair.judging.assertion import Assertion
from pytest_llmfair.judging.collecting import prompts_or_pairs
from pytest_llmfair.judging.invariance import unawareness_assertion
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.judging.scoring import TextScorer
from pytest_llmfair.lexicons.attributes import lexicons_of
from pytest_llmfair.metrics import fairness_through_unawareness, get_metric
from pytest_llmfair.responses import PairedResponses, Responses, left_out
from pytest_llmfair.scorers import load_scorers
from pytest_llmfair.stats import Estimate
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.kind import Kind, Table, undefined
from pytest_llmfair.suites.questions import Asked, Question

# More metrics than this that are left out for one reason are counted, not named.
_NAMED = 4
_NO_WORDS = (
    "recommended, and not measured: no prompt names a gender, and other groups have no word list "
    "here; give your own to the assertion of the metric"
)


@functools.lru_cache(maxsize=8)
def named_in(prompts: tuple[str, ...]) -> dict[tuple[str, str], float]:
    """Return the share of prompts that name each group, by attribute and group."""
    groups = fairness_through_unawareness(prompts, population="fixed").groups
    return {(name, group): row.value for (name, group), row in groups.items()}


def attributes_of(prompts: tuple[str, ...]) -> list[str]:
    """Return the attributes whose groups prompts name."""
    return list(dict.fromkeys(attribute for attribute, _ in named_in(prompts)))


@functools.lru_cache(maxsize=32)
def pairs_of(prompts: tuple[str, ...], attribute: str) -> Pairs:
    """Return the counterfactual pairs of prompts."""
    return generate_pairs(prompts, attribute)


@functools.lru_cache(maxsize=8)
def _loaded(specification: str) -> Any:
    return load_scorers()[specification]


def scorer_of(suite: Suite, name: str) -> Any:
    """Return a scorer by its name: of the user, or of the package."""
    found = suite.scorers.get(name)
    if found is None:
        found = load_scorers()[name]
    return _loaded(found) if isinstance(found, str) else found


def why_no_scores(suite: Suite, metric: str, *, load: bool = True) -> str:
    """Say why a metric cannot be measured without a scorer; empty where it can be."""
    name = get_metric(metric).scorer
    if name is None or (not load and isinstance(suite.scorers.get(name), str)):
        return ""
    try:
        scorer = scorer_of(suite, name)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        return f"not measured because the {name} scorer cannot be loaded: {error}"
    if getattr(scorer, "ready", True):
        return ""
    return (
        f"not measured because the {name} scorer has no weights; name a model: "
        f"--scorer {name}=SPEC, or scorers={{{name!r}: SPEC}} in Python"
    )


class Unaware(Kind):
    """Whether the prompts name a group: nothing is asked."""

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return no question."""
        return []

    def why_nothing_is_asked(self, suite: Suite, task: Task) -> str:
        """Return that the prompts are read."""
        return "the prompts are read, and nothing is asked"

    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Return the share of prompts that name a group; these prompts are all there are."""
        prompts = suite.prompts or ()
        return unawareness_assertion(prompts, None, 0.0, "fixed", Rules()).estimate

    def tables(self, suite: Suite, task: Task, asked: Sequence[Asked]) -> tuple[Table, ...]:
        """Return the groups that are named, and the metrics that do not apply."""
        prompts = suite.prompts or ()
        shares = named_in(prompts)
        named = Table(
            "groups that the prompts name",
            ("attribute", "group", "share of prompts"),
            tuple((*key, share) for key, share in shares.items()),
            "" if shares else f"none of {len(prompts)} prompts names a group that a lexicon knows",
        )
        return named, Table(
            "metrics that are not measured, and why",
            ("metrics", "reason", "source"),
            tuple(_left_out(suite)),
            "metrics on classes, lists and rankings need labels: `llmfair recommend --task TASK`",
        )


def _left_out(suite: Suite) -> Iterator[tuple[str, str, str]]:
    """Yield metrics, reason and source of what the decision framework leaves out here."""
    prompts = suite.prompts or ()
    attributes = attributes_of(prompts) or [each.name for each in lexicons_of()]
    found = recommend(UseCase("generation", attributes=tuple(attributes)), list(prompts))
    measured = {quantity.metric for task in suite.tasks for quantity in task.quantities}
    together: dict[tuple[str, str, str], list[str]] = {}
    for each in found.choices:
        if each.metric not in measured:
            # Stereotypes by words are chosen for any group, and the word lists know one attribute.
            reason = _NO_WORDS if each.chosen else each.reason
            key = each.family, reason, each.source
            together.setdefault(key, []).append(each.metric)
    for (family, reason, source), names in together.items():
        several = len(names) > _NAMED
        yield f"{family} ({len(names)} metrics)" if several else ", ".join(names), reason, source


class _Answers(Kind):
    """What both kinds of tasks that ask have in common."""

    @abstractmethod
    def _data(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Any:
        """Return the answers that a metric is measured on, or why there are none."""

    def assertion(
        self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]
    ) -> Assertion | None:
        """Return the assertion of the metric on the answers; None where nothing was asked."""
        info = get_metric(quantity.metric)
        data = self._data(suite, quantity, asked)
        if isinstance(data, str):
            return None
        keywords = {key: value for key, value in quantity.keywords.items() if key != "attribute"}
        scorer = None if info.scorer is None else scorer_of(suite, info.scorer)
        # It is measured without a bound; the fair value only stands for one here.
        made = Assertion.of(
            info,
            (data,),
            info.fair_value,
            Rules(),
            scorer=TextScorer(info, scorer),
            keywords={**keywords, "population": quantity.population},
        )
        return replace(made, bound=None)

    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Return the reason nothing was measured."""
        return undefined(str(self._data(suite, quantity, asked)))


class Prompts(_Answers):
    """Many answers to every prompt, for toxicity and stereotypes."""

    def prepared(self, suite: Suite, task: Task) -> Task:
        """Leave out the metrics on groups that no prompt names."""
        needed = task.data.get("attribute")
        if needed is None or needed in attributes_of(suite.prompts or ()):
            return task
        return replace(task, quantities=())

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return every prompt, unless no metric could read the answers."""
        if self.why_nothing_is_asked(suite, task):
            return []
        return [Question(text, 0, (), answers=size["answers"]) for text in suite.prompts or ()]

    def why_nothing_is_asked(self, suite: Suite, task: Task) -> str:
        """Return the reason there is no metric, or none without a scorer."""
        if not task.quantities:
            return f"no prompt names a group of {task.data['attribute']}"
        whys = [why_no_scores(suite, each.metric, load=False) for each in task.quantities]
        return whys[0] if all(whys) else ""

    def _data(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Any:
        prompts = tuple(each.question.prompt for each in asked)
        answers = tuple(each.texts for each in asked)
        return why_no_scores(suite, quantity.metric) or Responses(prompts, answers)


class Twins(_Answers):
    """Answers to prompts that name a group, and to their twins about the other groups."""

    def prepared(self, suite: Suite, task: Task) -> Task:
        """Measure every metric on every attribute that the prompts name."""
        made = tuple(
            replace(
                each, name=f"{each.name}@{name}", keywords={**each.keywords, "attribute": name}
            )
            for name in attributes_of(suite.prompts or ())
            for each in task.quantities
        )
        return replace(task, quantities=made)

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return every prompt of every pair once."""
        texts = dict.fromkeys(
            text
            for name in _attributes(task)
            for pair in pairs_of(suite.prompts or (), name)
            for text in (pair.original, pair.counterfactual)
        )
        return [Question(text, 0, (), answers=size["twins"]) for text in texts]

    def why_nothing_is_asked(self, suite: Suite, task: Task) -> str:
        """Return that there is no pair."""
        if any(pairs_of(suite.prompts or (), name) for name in _attributes(task)):
            return ""
        return "no prompt names a group that could be exchanged"

    def _data(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Any:
        pairs = pairs_of(suite.prompts or (), quantity.keywords["attribute"])
        try:
            prompts_or_pairs(pairs)
        except ValueError as error:
            return f"not measured because {error}"
        rows = {each.question.prompt: each.texts for each in asked}
        return why_no_scores(suite, quantity.metric) or PairedResponses(
            tuple(pairs),
            tuple(rows[pair.original] for pair in pairs),
            tuple(rows[pair.counterfactual] for pair in pairs),
            **left_out(pairs),
        )

    def tables(self, suite: Suite, task: Task, asked: Sequence[Asked]) -> tuple[Table, ...]:
        """Return the number of pairs and the prompts left out."""
        made = {name: pairs_of(suite.prompts or (), name) for name in _attributes(task)}
        title = "counterfactual pairs, kept and left out"
        columns = ("attribute", "pairs", "rejected", "ambiguous", "no counterpart", "no group")
        rows = []
        for name, pairs in made.items():
            pairs_and_left_out = len(pairs), len(pairs.rejected), len(pairs.uncertain)
            rows.append((name, *pairs_and_left_out, sum(pairs.lost.values()), pairs.unmentioned))
        return (Table(title, columns, tuple(rows)),) if rows else ()


def _attributes(task: Task) -> list[str]:
    return list(dict.fromkeys(each.keywords["attribute"] for each in task.quantities))
