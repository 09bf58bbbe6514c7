"""Metric selection: from a description of the use case to metrics, each with its reason.

The rules are in ``data/selection.yaml``: the decision framework of Bouchard (2024), section 4, the
three steps of Czarnowska et al. (2021), section 7, and RABBI with selection gaps for ranking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pytest_llmfair._util.documents import schema_of
from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair.counterfactuals.templates.fillers import group_slots
from pytest_llmfair.counterfactuals.templates.slots import slot_names
from pytest_llmfair.gate.documents import data, rendered
from pytest_llmfair.lexicons.name_lexicon import is_names
from pytest_llmfair.metrics import MetricInfo, all_metrics, fairness_through_unawareness

TASKS: Mapping[str, str] = {
    "generation": "text",
    "summarisation": "text",
    "translation": "text",
    "question_answering": "text",
    "classification": "classification",
    "recommendation": "recommendation",
    "ranking": "ranking",
}


def use_case_schema() -> Mapping[str, Any]:
    """Return the keys of a use case in files of checks, as JSON Schema describes them."""
    schema = schema_of("gate/checks.schema.json")
    keys: Mapping[str, Any] = schema["$defs"]["use_case"]["properties"]
    return keys


@dataclass(frozen=True, slots=True)
class UseCase:
    """What a model is used for, as far as it decides about metrics."""

    # One of `TASKS`.
    task: str
    description: str = ""
    # Names or lexicons of protected attributes; prompts are searched for their words.
    attributes: tuple[Any, ...] = ("gender",)
    # Whether each prompt is about one person whose group is known.
    person_level: bool = False
    # For classes: whether groups should get equal error rates, or equal shares of the positive
    # class.
    fairness: Literal["error", "representation"] = "error"
    # Whether the positive class helps a person or hurts; empty where that is not known.
    intervention: Literal["", "assistive", "punitive"] = ""
    # Whether answers should be the same for all groups, or why they may differ.
    invariance_wanted: bool = True
    invariance_reason: str = ""
    # Classes that matter most to a person's life; each is tested as the positive class.
    sensitive_classes: tuple[Any, ...] = ()
    # Whether a person reads every output before it is used.
    reviews_every_output: bool = False
    # Whether the model makes people up, as in stories or personas.
    invents_people: bool = False
    # For classes of templates and pairs: what to find out; by default how groups differ.
    question: Literal["", "between_groups", "against_background", "any_effect"] = ""
    # Which texts the checklist of a release refers to, beyond those for any use.
    sector: Literal["", "general", "employment", "banking"] = ""
    # For ranking: how many candidates of each pool are selected.
    quota: int | None = None
    # For ranking: whether it is known which candidates are qualified.
    qualified_known: bool = False

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a word that is not known, or a missing reason."""
        for name, about in use_case_schema().items():
            value = getattr(self, name)
            if "enum" in about and value not in (*about["enum"], "" if name != "task" else None):
                raise ValueError(f"{name} is {value!r}; {suggestion(str(value), about['enum'])}")
        if not self.invariance_wanted and not self.invariance_reason.strip():
            raise ValueError(
                "invariance_wanted is false without a reason; say in invariance_reason why "
                "answers may differ by group, as in clinical texts"
            )


@dataclass(frozen=True, slots=True)
class Unawareness:
    """Whether prompts name a group: found by searching them, never taken on trust."""

    # "unchecked" where no prompts were given.
    status: Literal["violated", "satisfied", "unchecked"]
    # Prompts that name a group, all of them, and those with slots that the test fills.
    count: int = 0
    prompts: int = 0
    slots: int = 0

    @classmethod
    def of(cls, prompts: Sequence[Any] | None, attributes: Sequence[Any]) -> Unawareness:
        """Search prompts; a template counts as naming a group, since its slots are filled."""
        if not prompts:
            return cls("unchecked")
        names = [each for each in attributes if not is_names(each)]
        slots = {slot for name in names or ("gender",) for slot in group_slots(name)}
        texts = [
            each
            for each in prompts
            if isinstance(each, str) and slots.isdisjoint(slot_names(each))
        ]
        count = filled = len(prompts) - len(texts)
        if texts and names:
            found = fairness_through_unawareness(texts, names, population="fixed").value
            count += round(found * len(texts))
        return cls("violated" if count else "satisfied", count, len(prompts), filled)

    @property
    def words(self) -> str:
        """The finding in words."""
        texts = data("selection")["texts"]["unawareness"]
        found = str(texts[self.status]).format(count=self.count, prompts=self.prompts)
        return found + (str(texts["slots"]).format(slots=self.slots) if self.slots else "")


@dataclass(frozen=True, slots=True)
class Choice:
    """A metric that is chosen or left out, and why."""

    metric: str
    family: str
    chosen: bool
    reason: str
    # The paper and section that say so.
    source: str
    # Name to use in a file of checks.
    check: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What was recommended for a use case: every registered metric is chosen or left out."""

    use_case: UseCase
    unawareness: Unawareness
    choices: tuple[Choice, ...]
    steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def chosen(self) -> tuple[Choice, ...]:
        """The metrics that are recommended."""
        return tuple(each for each in self.choices if each.chosen)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        use_case = asdict(self.use_case)
        names = [getattr(each, "name", each) for each in self.use_case.attributes]
        use_case["attributes"] = [
            " x ".join(getattr(part, "name", str(part)) for part in name)
            if isinstance(name, tuple)
            else name
            for name in names
        ]
        use_case["sensitive_classes"] = list(self.use_case.sensitive_classes)
        rows: dict[str, list[Any]] = {"chosen": [], "left_out": []}
        for each in map(asdict, self.choices):
            rows["chosen" if each.pop("chosen") else "left_out"].append(each)
        return {
            "use_case": use_case,
            "unawareness": {**asdict(self.unawareness), "words": self.unawareness.words},
            "steps": list(self.steps),
            "notes": list(self.notes),
            **rows,
        }

    def to_text(self) -> str:
        """Return the selection as text of at most 80 columns."""
        return _rendered("metric_selection.txt", self.to_dict(), ()).rstrip("\n")


def selection_page(
    selections: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]] = ()
) -> str:
    """Return selections as Markdown; those of a file say what was run, and why others were not."""
    return "\n".join(_rendered("metric_selection.md", each, results) for each in selections)


def recommended(
    selection: Mapping[str, Any], results: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], list[Mapping[str, Any]], str]]:
    """Yield each recommended metric, the results of it, and why the file says it was not run."""
    own = [r for r in results if r["file"] == selection["file"]]
    for choice in selection["chosen"]:
        names = (choice["check"], choice["metric"])
        reason = next((selection["not_run"][n] for n in names if n in selection["not_run"]), "")
        # The test of a check is called by its metric.
        ran = [r for r in own if re.split(r"\W+", r["nodeid"].partition("::")[2])[0] in names]
        yield choice, ran, reason


def _rendered(
    template: str, selection: Mapping[str, Any], results: Sequence[Mapping[str, Any]]
) -> str:
    # Metrics that are left out for the same reason stand together.
    together: dict[tuple[str, str], list[str]] = {}
    for each in selection["left_out"]:
        together.setdefault((each["reason"], each["source"]), []).append(each["metric"])
    rows = list(recommended(selection, results)) if "file" in selection else []
    told = [result for _, ran, _ in rows for result in ran]
    return rendered(
        template,
        **{**selection, "left_out": [(names, *about) for about, names in together.items()]},
        rows=rows,
        besides=[r for r in results if r["file"] == selection["file"] and r not in told],
    )


def recommend(use_case: UseCase, prompts: Sequence[Any] | None = None) -> Selection:
    """Choose or leave out every metric; without prompts they are taken to name a group."""
    unawareness = Unawareness.of(prompts, use_case.attributes)
    facts = _facts(use_case, unawareness)
    classes = ", ".join(map(str, use_case.sensitive_classes))
    words = {
        "unawareness": unawareness.words,
        "reason": use_case.invariance_reason,
        "classes": classes and f"; once for each sensitive class, as positive: {classes}",
        "quota": "" if use_case.quota is None else f", k = {use_case.quota}",
    }
    rules = data("selection")["rules"]
    choices = [_decided(info, rules, facts, words) for info in all_metrics().values()]
    named = [name for rule in rules for name in rule["metrics"]] + [x.metric for x in choices]
    choices.sort(key=lambda each: named.index(each.metric))
    return Selection(
        use_case,
        unawareness,
        tuple(choices),
        tuple(_steps(facts)),
        tuple(note["text"] for note in data("selection")["notes"] if _hold(note["when"], facts)),
    )


def _facts(use_case: UseCase, unawareness: Unawareness) -> dict[str, Any]:
    """Return the facts that the conditions of the rules test."""
    grouped = use_case.person_level or unawareness.status != "satisfied"
    is_share = use_case.fairness == "representation"
    harms = {"assistive": "false_negatives", "punitive": "false_positives"}
    templates = grouped and (not use_case.person_level or bool(use_case.question))
    return {
        "task": TASKS[use_case.task],
        "unawareness": unawareness.status,
        "grouped": grouped,
        "fairness": use_case.fairness,
        "reviews_every_output": use_case.reviews_every_output,
        "intervention": use_case.intervention or "unknown",
        "invariance_wanted": use_case.invariance_wanted,
        "invents_people": use_case.invents_people,
        "qualified_known": use_case.qualified_known,
        "templates": templates,
        "question": use_case.question or "between_groups",
        "harm": "share" if is_share else harms.get(use_case.intervention, "any"),
    }


def _decided(
    info: MetricInfo, rules: Sequence[Any], facts: Mapping[str, Any], words: Mapping[str, str]
) -> Choice:
    """Return the advice of the first rule that applies to a metric."""
    for rule in rules:
        named = info.name in rule["metrics"] or f"family {info.family}" in rule["metrics"]
        unless = rule.get("unless")
        if named and _hold(rule.get("when", {}), facts) and not (unless and _hold(unless, facts)):
            reason = rule.get("choose") or rule["leave"]
            return Choice(
                info.name,
                info.family,
                "choose" in rule,
                str(reason).format(**words),
                rule["source"],
                rule.get("check", info.name),
            )
    reason = "no rule knows this metric; decide by its documentation"
    return Choice(info.name, info.family, False, reason, info.paper, info.name)


def _hold(conditions: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    return all(
        facts[name] in (wanted if isinstance(wanted, list) else [wanted])
        for name, wanted in conditions.items()
    )


def _steps(facts: Mapping[str, Any]) -> list[str]:
    """Return the three steps of Czarnowska et al. (2021), section 7, for templates and pairs."""
    if facts["task"] != "classification" or not facts["templates"]:
        return []
    texts = data("selection")["texts"]
    return [
        f"step 1, the question: {texts['question'][facts['question']]}",
        f"step 2, the harm: {texts['harm'][facts['harm']]}",
        f"step 3, the comparison: {texts['distance']}",
    ]
