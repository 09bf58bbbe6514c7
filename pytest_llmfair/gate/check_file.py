"""Files of checks, ``*.llmfair.yaml``: read, and checked completely before anything is asked."""

from __future__ import annotations

import functools
import inspect
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any

from pytest_llmfair._util.keywords import keyword_names, unknown_keyword
from pytest_llmfair._util.validation import read_utf8
from pytest_llmfair.assertions import (
    assert_counterfactual_invariance,
    assert_fairness_through_unawareness,
    assert_metric,
)
from pytest_llmfair.clients.spec import SCHEMES, ModelSpec
from pytest_llmfair.counterfactuals.templates import TemplateSet, read_prompts
from pytest_llmfair.counterfactuals.templates.fillers import known_slots
from pytest_llmfair.counterfactuals.templates.slots import slot_names
from pytest_llmfair.gate.check_data import arguments_from
from pytest_llmfair.gate.problems import Problems, line_of, yaml_problem
from pytest_llmfair.gate.selection import UseCase
from pytest_llmfair.judging.arguments import group_keywords
from pytest_llmfair.judging.assertion import TextScorer
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.collecting import check_data_kind
from pytest_llmfair.judging.invariance import measure_of
from pytest_llmfair.judging.result import Result
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.lexicons.attributes import lexicon_for, lexicon_of
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.names import name_lexicon
from pytest_llmfair.lexicons.schema import read_yaml, suggestion
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.signatures import word_of

INVARIANCE = "counterfactual_invariance"
UNAWARENESS = "fairness_through_unawareness"
_WORDS = ("bound", "minimum", "eps")
# Keys of a check that are not handed on to the assertion as they are.
_OWN = (
    *("metric", "rationale", "owner", "attribute", "prompts", "model", "data", "columns"),
    *("expect", "marks", "dissimilarity", *_WORDS),
)
# What calls of the assertions take and checks have other keys for.
_NOT_TAKEN = ("client", "metric", "max_share", *_WORDS)

Prompts = list[str] | TemplateSet


@dataclass(frozen=True, slots=True)
class ChosenAttribute:
    """A protected attribute of a check, as `counterfactual_pairs` takes it."""

    name: str
    # The name of a shipped lexicon, a lexicon, or two of these.
    lexicon: Any
    # Groups that make the pairs: two names, or two peoples.
    exchanged: tuple[str, str] | None = None
    # Keywords that choose among the groups of the pairs.
    compared: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of a file: the call of an assertion, with its reason and its owner.

    Attributes
    ----------
    name : str
        Name of the test, unique in its file.
    line : int
        Line of the file; 0 for a check from the command line.
    metric, word, bound
        Name of the metric, the name of its bound ("bound", "minimum" or "eps"), and the number.
    rationale, owner : str
        Why the check has this bound, and who answers for it.
    attribute : ChosenAttribute or None
        The attribute whose groups are exchanged in the prompts.
    prompts, data : optional
        What the model is asked; or the metric's arguments, for metrics on arrays.
    model : str or None
        Specification of the model; None for the model of the session.
    keywords : mapping
        Further keywords of the assertion.
    expect : str
        The verdict that is expected.
    marks : tuple of str
        Further markers of the test.
    """

    name: str
    line: int
    metric: str
    word: str
    bound: float
    rationale: str
    owner: str
    attribute: ChosenAttribute | None = None
    prompts: Prompts | None = None
    data: Mapping[str, Any] | None = None
    model: str | None = None
    keywords: Mapping[str, Any] = field(default_factory=dict)
    expect: str = "PASS"
    marks: tuple[str, ...] = ()

    def run(
        self,
        *,
        client: Callable[[], Any],
        scorers: Callable[[], Mapping[str, Any]],
        pairs: Callable[..., Any],
    ) -> Result:
        """Judge the check by the assertion that a test would call.

        Parameters
        ----------
        client, scorers : callable
            Return the model client, and the scorers by name; called when they are needed.
        pairs : callable
            What the fixture `counterfactual_pairs` returns.

        Raises
        ------
        FairnessAssertionError
            As :func:`pytest_llmfair.assert_metric`.
        """
        __tracebackhide__ = True
        keywords = dict(self.keywords)
        if self.metric == UNAWARENESS:
            attribute = None if self.attribute is None else self.attribute.lexicon
            assert isinstance(self.prompts, list)
            return assert_fairness_through_unawareness(
                self.prompts, attribute, max_share=self.bound, **keywords
            )
        if self.data is not None:
            keywords[self.word] = self.bound
            return assert_metric(self.metric, self.data, **keywords)
        asked: Any = self.prompts
        if self.attribute is not None:
            placebo = keywords.get("baseline") == "placebo"
            lexicon, groups = self.attribute.lexicon, self.attribute.exchanged
            asked = pairs(self.prompts, lexicon, groups, placebo=placebo)
        if self.metric == INVARIANCE:
            if "scorer" in keywords:
                keywords["scorer"] = scorers()[keywords["scorer"]]
            return assert_counterfactual_invariance(asked, self.bound, client=client(), **keywords)
        # The fixture may have a scorer of the user's under a shipped name.
        if (named := keywords.get("scorer", get_metric(self.metric).scorer)) is not None:
            keywords["scorer"] = scorers()[named]
        keywords[self.word] = self.bound
        return assert_metric(self.metric, asked, client=client(), **keywords)


@dataclass(frozen=True, slots=True)
class Checks:
    """The content of a file of checks."""

    source: str
    checks: tuple[Check, ...]
    use_case: UseCase | None = None
    # Lexicons of the attributes that the file names, for the check for unawareness.
    attributes: tuple[Any, ...] = ()
    prompts: Prompts | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)


def read_checks(path: str | Path) -> Checks:
    """Read a file of checks.

    Raises
    ------
    ValueError
        If anything in the file is wrong: every problem on a line of its own, as
        ``file:line: what is wrong; what to do``.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> text = '''
    ... version: 1
    ... prompts: ["She wrote a letter."]
    ... checks:
    ... - {metric: toxic_fraction, bound: 0.1, rationale: house rule, owner: quality team}
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "letters.llmfair.yaml"
    ...     size = file.write_text(text, encoding="utf-8")
    ...     [check.name for check in read_checks(file).checks]
    ['toxic_fraction']
    """
    import yaml

    path = Path(path)
    text = read_utf8(path)
    source = _shown(path)
    problems = Problems(source)
    document = None
    try:
        document = read_yaml(text)
    except yaml.YAMLError as error:
        problems.add(*yaml_problem(error, text))
    problems.check()
    return checks_in(document, source, path.parent)


def checks_in(document: Any, source: str, folder: Path) -> Checks:
    """Return the checks of a document; relative paths in it begin at `folder`.

    Raises
    ------
    ValueError
        As :func:`read_checks`.
    """
    problems = Problems(source)
    problems.add_schema_errors(document, _schema())
    if not isinstance(document, Mapping):
        problems.check()
    reader = _Reader(document, source, folder, problems)
    found = reader.read()
    problems.check()
    return found


def _shown(path: Path) -> str:
    """Return a path as messages show it: relative where that is shorter."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive of Windows
        return str(path)
    return relative if not relative.startswith("..") else str(path)


@functools.cache
def _schema() -> Any:
    file = resources.files("pytest_llmfair.gate").joinpath("checks.schema.json")
    return json.loads(file.read_text(encoding="utf-8"))


class _Reader:
    """Reads a document whose structure was compared with the schema."""

    def __init__(self, document: Any, source: str, folder: Path, problems: Problems) -> None:
        self._document = document
        self._source = source
        self._folder = folder
        self._problems = problems
        self._declared = self._attributes()

    def read(self) -> Checks:
        """Return the content; what is wrong is added to the problems."""
        prompts = self._prompts(self._document, ("prompts",))
        use_case = self._use_case()
        self._model(self._document, ("model",))
        entries = self._document.get("checks")
        entries = entries if isinstance(entries, list) else []
        checks = [
            self._check(place, entry, prompts)
            for place, entry in enumerate(entries)
            if isinstance(entry, Mapping)
        ]
        policy = self._document.get("policy")
        return Checks(
            self._source,
            _with_names(check for check in checks if check is not None),
            use_case,
            tuple(each.lexicon for each in self._declared.values()),
            prompts,
            policy if isinstance(policy, Mapping) else {},
        )

    def _line(self, *path: Any) -> int:
        return line_of(self._document, path)

    def _use_case(self) -> UseCase | None:
        given = self._document.get("use_case")
        if not isinstance(given, Mapping) or "task" not in given:
            return None
        known = {each.name for each in fields(UseCase)}
        usable = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in given.items()
            if key in known and not self._problems.is_broken("use_case", key)
        }
        names = tuple(self._declared) or ("gender",)
        with self._problems.at(self._line("use_case")):
            return UseCase(**usable, attributes=names) if "task" in usable else None
        return None

    def _attributes(self) -> dict[str, ChosenAttribute]:
        """Return the attributes that the file declares, by name."""
        given = self._document.get("attributes")
        if isinstance(given, list):
            given = dict.fromkeys(name for name in given if isinstance(name, str))
        found = {}
        for name, about in (given or {}).items() if isinstance(given, Mapping) else ():
            line = self._line("attributes", name)
            if not self._problems.is_broken("attributes", name):
                with self._problems.at(line):
                    found[name] = self._attribute(name, about or {})
        return found

    def _attribute(self, name: str, about: Mapping[str, Any]) -> ChosenAttribute:
        groups = about.get("groups")
        if name == "name":
            pair = tuple(groups or ())
            return ChosenAttribute(name, name_lexicon(pair or None) and name, pair or None)
        lexicon: Lexicon
        handed: Any = name
        if "lexicon" in about:
            handed = lexicon = Lexicon.from_file(self._folder / about["lexicon"])
        else:
            lexicon = lexicon_of(name)
        exchanged = None
        if groups is not None and len(groups) == 2:
            of_two = lexicon_for(lexicon, tuple(groups))
            exchanged = None if of_two is lexicon else (groups[0], groups[1])
            lexicon = of_two
        compared: dict[str, Any] = {}
        if groups is not None:
            compared["groups"] = [lexicon.group(group) for group in groups]
        if "reference" in about:
            compared["reference"] = lexicon.group(about["reference"])
        return ChosenAttribute(name, handed, exchanged, {} if exchanged else compared)

    def _prompts(self, holder: Mapping[str, Any], path: tuple[Any, ...]) -> Prompts | None:
        given = holder.get("prompts")
        if given is None or self._problems.is_broken(*path):
            return None
        if isinstance(given, list):
            return list(given) if all(isinstance(text, str) for text in given) else None
        with self._problems.at(self._line(*path)):
            return read_prompts(self._folder / given)
        return None

    def _model(self, holder: Mapping[str, Any], path: tuple[Any, ...]) -> str | None:
        given = holder.get("model")
        if given is None or self._problems.is_broken(*path):
            return None
        with self._problems.at(self._line(*path)):
            spec = ModelSpec.parse(given)
            spec.check_options(SCHEMES[spec.scheme].options)
            return str(given)
        return None

    def _check(
        self, place: int, entry: Mapping[str, Any], prompts: Prompts | None
    ) -> Check | None:
        """Return a check; None where something in it is wrong."""
        path = ("checks", place)
        problems, line = self._problems, self._line(*path)
        if "metric" not in entry or problems.is_broken(*path, "metric"):
            return None
        info = None
        with problems.at(self._line(*path, "metric")):
            info = None if entry["metric"] == INVARIANCE else get_metric(entry["metric"])
        if info is None and entry["metric"] != INVARIANCE:
            return None
        call = _Call(info)
        given = {key: entry[key] for key in entry if not problems.is_broken(*path, key)}
        found: dict[str, Any] = {}
        found["bound"] = self._bound(call, given, path)
        for key, value in given.items():
            if key not in _OWN:
                self._keyword(call, key, value, self._line(*path, key))
        if "dissimilarity" in given:
            with problems.at(self._line(*path, "dissimilarity")):
                measure_of(given["dissimilarity"], None, given.get("scorer"))
        if "prompts" in entry:
            prompts = self._prompts(entry, (*path, "prompts"))
        keywords = {key: value for key, value in given.items() if key not in _OWN}
        if call.metric == INVARIANCE and "dissimilarity" in given:
            keywords["metric"] = given["dissimilarity"]
        if "data" in given:
            found["data"] = self._data(call, given, keywords, path)
        else:
            found |= self._asked(call, given, prompts, path, keywords)
        if any(value is None for value in found.values()):
            return None
        return Check(
            name=_name(call.metric, found.get("attribute"), given.get("label", "")),
            line=line,
            metric=call.metric,
            word=call.word,
            rationale=str(given.get("rationale", "")),
            owner=str(given.get("owner", "")),
            model=self._model(entry, (*path, "model")) or self._document.get("model"),
            keywords=keywords,
            expect=given.get("expect", "PASS"),
            marks=tuple(given.get("marks", ())),
            **found,
        )

    def _bound(self, call: _Call, given: Mapping[str, Any], path: tuple[Any, ...]) -> float | None:
        words = [word for word in _WORDS if word in given]
        line = self._line(*path)
        if not words:
            if not any(self._problems.is_broken(*path, word) for word in _WORDS):
                self._problems.add(line, f"{call.word} is missing; give {call.wanted}")
            return None
        for word in words:
            if word != call.word:
                text = f"{call.metric} takes {call.word}, not {word}; give {call.wanted}"
                self._problems.add(self._line(*path, word), text)
        if words != [call.word]:
            return None
        with self._problems.at(self._line(*path, call.word)):
            return call.checked(given[call.word])
        return None

    def _keyword(self, call: _Call, key: str, value: Any, line: int) -> None:
        """Check one keyword of the assertion."""
        if key not in call.taken:
            known = [*_OWN, *call.taken]
            error = unknown_keyword(call.metric, str(key), known, call.renamed)
            text = str(error).replace("()", "").replace("=...", "").replace("argument", "key")
            self._problems.add(line, text)
            return
        with self._problems.at(line):
            if key == "scorer":
                TextScorer(call.info, value).check_name()
            elif key in Rules.__dataclass_fields__:
                Rules(**{key: value})

    def _data(
        self,
        call: _Call,
        given: Mapping[str, Any],
        keywords: Mapping[str, Any],
        path: tuple[Any, ...],
    ) -> Mapping[str, Any] | None:
        line = self._line(*path, "data")
        for key in ("prompts", "attribute", "model"):
            if key in given:
                remedy = "name the column: columns: {groups: ...}" if key == "attribute" else ""
                text = f"{key} goes with a model that is asked, data with arrays; "
                self._problems.add(
                    self._line(*path, key), text + (remedy or f"leave {key} or data out")
                )
        if call.info.needs == "prompts" or call.metric == INVARIANCE:
            self._problems.add(line, f"{call.metric} takes prompts, not data; give prompts")
            return None
        with self._problems.at(line):
            file = self._folder / given["data"]
            return arguments_from(file, call.info, given.get("columns", {}), keywords)
        return None

    def _asked(
        self,
        call: _Call,
        given: Mapping[str, Any],
        prompts: Prompts | None,
        path: tuple[Any, ...],
        keywords: dict[str, Any],
    ) -> dict[str, Any]:
        """Return prompts and attribute of a check that asks a model; None where one is wrong."""
        line, info = self._line(*path), call.info
        if info.needs == "table":
            self._problems.add(
                line,
                f"{call.metric} takes arrays, not answers of a model; give data: FILE.csv with "
                f"the columns {', '.join(call.required)}",
            )
            return {"prompts": None}
        if prompts is None:
            if "prompts" not in given and "prompts" not in self._document:
                text = (
                    "prompts are missing; give a list, or the path of a file, here or at the top"
                )
                self._problems.add(line, text)
            return {"prompts": None}
        attribute = self._attribute_of(call, given, prompts, path)
        if isinstance(attribute, ChosenAttribute):
            allowed = {} if info.needs == "prompts" else attribute.compared
            for key, value in allowed.items():
                if key in call.taken:
                    keywords.setdefault(key, value)
            for key in ("groups", "reference"):
                if key in given and key in call.taken and info.needs != "prompts":
                    with self._problems.at(self._line(*path, key)):
                        keywords[key] = _labels(attribute, given[key])
        default = self._document.get("generations")
        if default is not None and "generations" in call.taken:
            keywords.setdefault("generations", default)
        return {"prompts": prompts} | ({} if attribute is False else {"attribute": attribute})

    def _attribute_of(
        self, call: _Call, given: Mapping[str, Any], prompts: Prompts, path: tuple[Any, ...]
    ) -> ChosenAttribute | None | bool:
        """Return the attribute of a check; False if it needs none, None if it is wrong."""
        line, needs = self._line(*path), call.info.needs
        named = given.get("attribute")
        slots = _have_slots(prompts, named if isinstance(named, str) else "gender")
        if needs == "prompts":
            if slots:
                self._problems.add(
                    line,
                    f"{call.metric} reads prompts as they are sent, and these have slots for "
                    "words of a group; give prompts without slots",
                )
                return None
            if named is None:
                every = [each.lexicon for each in self._declared.values()]
                return ChosenAttribute("", every) if every else False
        elif needs in ("texts", "pronoun_counts"):
            if named is not None:
                line = self._line(*path, "attribute")
                with self._problems.at(line):
                    check_data_kind(call.info, pairs=True)
                return None
            return False
        if named is None and needs == "scores" and not slots:
            return False
        if named is None and len(self._declared) == 1:
            return next(iter(self._declared.values()))
        if named is None:
            choice = " or ".join(self._declared) or "gender, or another attribute"
            text = (
                f"attribute is missing, whose groups are exchanged in the prompts; give {choice}"
            )
            self._problems.add(line, text)
            return None
        with self._problems.at(self._line(*path, "attribute")):
            names = [named] if isinstance(named, str) else list(named)
            chosen = [self._known(name) for name in names]
            if len(chosen) == 1:
                return chosen[0]
            both = tuple(each.lexicon for each in chosen)
            lexicon_of(both)  # type: ignore[arg-type]
            return ChosenAttribute(" x ".join(names), both)
        return None

    def _known(self, name: str) -> ChosenAttribute:
        if name in self._declared:
            return self._declared[name]
        try:
            return self._attribute(name, {})
        except ValueError:
            if not self._declared or name == "name":
                raise
            hint = suggestion(name, list(self._declared))
            text = f"no attribute is called {name!r}; {hint} (attributes of this file)"
            raise ValueError(text) from None


class _Call:
    """What the assertion of a metric takes."""

    def __init__(self, info: MetricInfo | None) -> None:
        self.info = get_metric("counterfactual_rouge_l") if info is None else info
        self.metric = INVARIANCE if info is None else info.name
        self.renamed: dict[str, str] = {}
        caller: Callable[..., Any] = assert_metric
        own: list[str] = []
        if info is None:
            caller, self.word = assert_counterfactual_invariance, "eps"
            own = ["dissimilarity"]
            self.renamed = {"threshold": "eps"}
        elif self.metric == UNAWARENESS:
            caller, self.word = assert_fairness_through_unawareness, "bound"
            self.renamed = {"max_share": "bound"}
        else:
            self.word = word_of(info)
            own = [*(keyword_names(info.function) or ()), *group_keywords(info)]
        parameters = inspect.signature(caller).parameters.values()
        shared = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        self.taken = [name for name in (*own, *shared) if name not in _NOT_TAKEN]

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
        info = self.info
        if self.metric in (INVARIANCE, UNAWARENESS):
            return Bound.checked(bound, "lower", 0.0, (0.0, 1.0), self.metric).value
        return Bound.checked(
            bound, info.direction, info.fair_value, info.bounds, info.name, info.scale
        ).value


def _labels(attribute: ChosenAttribute, given: Any) -> Any:
    """Return groups by their labels, from any of their names."""
    if attribute.name == "name" or attribute.exchanged is not None:
        return given
    lexicon = lexicon_of(attribute.lexicon)
    return lexicon.group(given) if isinstance(given, str) else [*map(lexicon.group, given)]


def _have_slots(prompts: Prompts, attribute: str) -> bool:
    if isinstance(prompts, TemplateSet):
        return True
    try:
        known = set(known_slots(attribute, {}))
    except ValueError:
        known = set(known_slots("gender", {}))
    return any(not known.isdisjoint(slot_names(text)) for text in prompts)


def _name(metric: str, attribute: Any, label: str) -> str:
    about = [getattr(attribute, "name", ""), re.sub(r"[^\w.+-]+", "-", label).strip("-")]
    inside = ",".join(filter(None, about))
    return f"{metric}[{inside}]" if inside else metric


def _with_names(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Number checks of the same name, so that every test has a name of its own."""
    from dataclasses import replace

    seen: Counter[str] = Counter()
    named = []
    for check in checks:
        seen[check.name] += 1
        number = seen[check.name]
        named.append(check if number == 1 else replace(check, name=f"{check.name}-{number}"))
    return tuple(named)
