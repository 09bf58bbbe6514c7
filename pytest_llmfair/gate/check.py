"""One check of a file: the assertion it calls, with its reason and its owner."""

from __future__ import annotations

import inspect
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from inspect import Parameter
from typing import Any

from pytest_llmfair._util.documents import shown
from pytest_llmfair._util.keywords import keyword_names
from pytest_llmfair.assertions import (
    assert_corrected_gap_within,
    assert_counterfactual_invariance,
    assert_fairness_through_unawareness,
    assert_metric,
)
from pytest_llmfair.gate.check_attributes import ChosenAttribute, Prompts
from pytest_llmfair.gate.selection import Selection, UseCase, recommend
from pytest_llmfair.judging.assertion import group_keywords
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.result import Result
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.replies import FACTS
from pytest_llmfair.results.compare import ScoredAnswers
from pytest_llmfair.signatures import word_of
from pytest_llmfair.stats.corrected_gap import CORRECTED_GAP

INVARIANCE = "counterfactual_invariance"
UNAWARENESS = "fairness_through_unawareness"
BOUND_WORDS = ("bound", "minimum", "eps")
# What calls of the assertions take and checks have other keys for.
_NOT_TAKEN = ("client", "metric", "max_share", *BOUND_WORDS)
# What YAML gives for an annotation, and in words; annotations of other names take anything.
_LIST, _MAPPING = (list, "a list"), (dict, "a mapping")
_TYPES: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "None": (type(None), "nothing"),
    "bool": (bool, "true or false"),
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    **dict.fromkeys(("str", "Literal", "Population"), (str, "a text")),
    **dict.fromkeys(("ArrayLike", "Collection", "Iterable", "Sequence", "TextRows"), _LIST),
    "Mapping": _MAPPING,
}


def _handed_on(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the keywords of an assertion that are keys of checks too."""
    parameters = inspect.signature(function).parameters
    keywords = {name: each for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY}
    return {name: each for name, each in keywords.items() if name not in _NOT_TAKEN}


HANDED_ON = {**_handed_on(assert_metric), **_handed_on(assert_counterfactual_invariance)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of a file: the call of an assertion, with its reason and its owner."""

    # Name of the test, unique in its file.
    name: str
    # Line of the file; 0 for a check from the command line.
    line: int
    metric: str
    # Name of its bound: bound, minimum or eps.
    word: str
    bound: float
    # What is only for the record: why the check has this bound, who answers for it, and so on.
    about: Mapping[str, Any]
    # The attribute whose groups are exchanged in the prompts.
    attribute: ChosenAttribute | None = None
    # What the model is asked; or the metric's arguments, for metrics on arrays.
    prompts: Prompts | None = None
    data: Mapping[str, Any] | None = None
    # Answers that exist already: scores by group, or answers to pairs or prompts.
    answers: Any = None
    # Specification of the model; None for the model of the session.
    model: str | None = None
    keywords: Mapping[str, Any] = field(default_factory=dict)
    expect: str = "PASS"
    marks: tuple[str, ...] = ()
    # The command that repeats the check, where pytest cannot by its name; "" where it can.
    rerun: str = ""

    def run(
        self,
        *,
        client: Callable[[], Any],
        scorers: Callable[[], Mapping[str, Any]],
        pairs: Callable[..., Any],
    ) -> Result:
        """Judge the check as a test would; client and scorers are called when needed."""
        __tracebackhide__ = True
        keywords = dict(self.keywords)
        if self.metric == UNAWARENESS:
            attribute = None if self.attribute is None else self.attribute.lexicon
            assert isinstance(self.prompts, list)
            return assert_fairness_through_unawareness(
                self.prompts, attribute, max_share=self.bound, **keywords
            )
        if self.metric == CORRECTED_GAP:
            assert self.data is not None
            return assert_corrected_gap_within(self.data["responses"], self.bound, **keywords)
        if self.data is not None:
            keywords[self.word] = self.bound
            return assert_metric(self.metric, self.data, **keywords)
        asked: Any = self.prompts if self.answers is None else self.answers
        ask = None if self.answers is not None else client()
        if self.attribute is not None:
            placebo = keywords.get("baseline") == "placebo"
            lexicon, groups = self.attribute.lexicon, self.attribute.exchanged
            asked = pairs(self.prompts, lexicon, groups or None, placebo=placebo)
        if self.metric == INVARIANCE:
            if "scorer" in keywords:
                keywords["scorer"] = scorers()[keywords["scorer"]]
            return assert_counterfactual_invariance(asked, self.bound, client=ask, **keywords)
        # The fixture may have a scorer of the user's under a shipped name.
        fact = str(keywords.get("score", "")).startswith(FACTS)
        own = None if fact else get_metric(self.metric).scorer
        named = keywords.get("scorer", own)
        if named is not None and not isinstance(asked, ScoredAnswers):
            keywords["scorer"] = scorers()[named]
        keywords[self.word] = self.bound
        return assert_metric(self.metric, asked, client=ask, **keywords)


@dataclass(frozen=True, slots=True)
class Checks:
    """The content of a file of checks."""

    source: str
    checks: tuple[Check, ...]
    use_case: UseCase | None = None
    # Lexicons of the attributes that the file names, for the check for unawareness.
    attributes: tuple[Any, ...] = ()
    prompts: Prompts | None = None
    # Why metrics that may be recommended are not run.
    not_run: Mapping[str, str] = field(default_factory=dict)

    def selection(self) -> Selection:
        """Return the metrics recommended for the use case; raise ``ValueError`` without one."""
        if self.use_case is None:
            raise ValueError(
                f"{self.source} has no use_case; add one, such as use_case: {{task: generation}}"
            )
        return recommend(self.use_case, self.prompts)


class AssertionCall:
    """What the assertion of a metric takes."""

    def __init__(self, info: MetricInfo | None, name: str = INVARIANCE) -> None:
        self.info = get_metric("counterfactual_rouge_l") if info is None else info
        self.metric = name if info is None else info.name
        self.renamed: dict[str, str] = {}
        caller: Callable[..., Any] = assert_metric
        own: list[str] = []
        if self.metric == CORRECTED_GAP:
            caller, self.word = assert_corrected_gap_within, "bound"
        elif info is None:
            caller, self.word = assert_counterfactual_invariance, "eps"
            own = ["dissimilarity"]
            self.renamed = {"threshold": "eps"}
        elif self.metric == UNAWARENESS:
            caller, self.word = assert_fairness_through_unawareness, "bound"
            self.renamed = {"max_share": "bound"}
        else:
            self.word = word_of(info)
            own = [*(keyword_names(info.function) or ()), *group_keywords(info)]
        shared = _handed_on(caller)
        self._parameters = {**inspect.signature(self.info.function).parameters, **shared}
        self.taken = [name for name in (*own, *shared) if name not in _NOT_TAKEN]

    @classmethod
    def of(cls, metric: Any) -> AssertionCall:
        """Return the call for a metric by its name; raise ``ValueError`` if there is none."""
        own = metric in (INVARIANCE, CORRECTED_GAP)
        return cls(None, metric) if own else cls(get_metric(metric))

    def check_type(self, key: str, value: Any) -> None:
        """Raise ``ValueError`` if a keyword cannot take a value, by its annotation."""
        annotation = getattr(self._parameters.get(key), "annotation", "Any")
        if not isinstance(annotation, str):
            annotation = inspect.formatannotation(annotation)
        if annotation.startswith("Callable"):
            raise ValueError(f"{key} is a function; write this check as a test in Python")
        inner = ""
        while inner != annotation:
            inner, annotation = annotation, re.sub(r"\[[^\[\]]*\]", "", annotation)
        known = [_TYPES.get(name) for name in annotation.split(" | ")]
        # True is a whole number to Python; to a reader it is not.
        if not any(
            each is None
            or (isinstance(value, each[0]) and isinstance(value, bool) == (each[0] is bool))
            for each in known
        ):
            wanted = " or ".join(each[1] for each in known if each and each[1] != "nothing")
            raise ValueError(f"{key} is {shown(value)}; give {wanted}")

    @property
    def wanted(self) -> str:
        """The bound in words."""
        if self.info.direction == "two-sided":
            return f"the largest distance from {self.info.fair_value:g} that you can still accept"
        size = "smallest" if self.word == "minimum" else "largest"
        return f"the {size} value that you can still accept"

    @property
    def required(self) -> list[str]:
        """Arguments that the metric cannot do without."""
        parameters = inspect.signature(self.info.function).parameters.values()
        return [each.name for each in parameters if each.default is each.empty]

    def checked(self, bound: Any) -> float:
        """Return the bound; raise ``ValueError`` if no data could fail it."""
        if self.metric == CORRECTED_GAP:
            return Bound.checked(bound, "lower", 0.0, (0.0, math.inf), self.metric).value
        if self.metric in (INVARIANCE, UNAWARENESS):
            return Bound.checked(bound, "lower", 0.0, (0.0, 1.0), self.metric).value
        return Bound.of_metric(bound, self.info).value


def check_name(metric: str, attribute: Any, label: str) -> str:
    """Return the name of a check: its metric, with attribute and label in brackets."""
    about = [getattr(attribute, "name", ""), re.sub(r"[^\w.+-]+", "-", label).strip("-")]
    inside = ",".join(filter(None, about))
    return f"{metric}[{inside}]" if inside else metric


def with_names(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return the checks with a number after a name that an earlier one has."""
    seen: Counter[str] = Counter()
    named = []
    for check in checks:
        seen[check.name] += 1
        number = seen[check.name]
        named.append(check if number == 1 else replace(check, name=f"{check.name}-{number}"))
    return tuple(named)
