"""Files of checks, ``*.llmfair.yaml``: read, and checked completely before anything is asked."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from pytest_llmfair._util.documents import Document, schema_of
from pytest_llmfair._util.keywords import unknown_keyword
from pytest_llmfair.clients.spec import ModelSpec
from pytest_llmfair.counterfactuals.templates.template import read_prompts
from pytest_llmfair.gate.check import (
    BOUND_WORDS,
    HANDED_ON,
    INVARIANCE,
    AssertionCall,
    Check,
    Checks,
    check_name,
    with_names,
)
from pytest_llmfair.gate.check_attributes import (
    ChosenAttribute,
    Prompts,
    attribute_from,
    chosen_attribute,
    have_slots,
    labels_of,
)
from pytest_llmfair.gate.check_data import arguments_from, labelled_from
from pytest_llmfair.gate.result_files import answers_of
from pytest_llmfair.gate.selection import UseCase
from pytest_llmfair.judging.assertion import group_keywords
from pytest_llmfair.judging.collecting import check_data_kind
from pytest_llmfair.judging.invariance import measure_of
from pytest_llmfair.judging.robustness import factor_names
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.lexicons.attributes import lexicons_of
from pytest_llmfair.scorers import load_scorers
from pytest_llmfair.stats.corrected_gap import CORRECTED_GAP
from pytest_llmfair.text.turns import conversation

SUFFIXES = (".llmfair.yaml", ".llmfair.yml")
NAMES_A_SUITE = re.compile(r"^suite\s*:", re.MULTILINE)
_SCHEMA = schema_of("gate/checks.schema.json")
_KEYS = _SCHEMA["$defs"]["check"]["properties"]
# Keys of a check that are not handed on to the assertion as they are.
_OWN = [key for key in _KEYS if key not in HANDED_ON and key != "score"]
# Those of them that are only for the record.
_ABOUT = [key for key in _OWN if _KEYS[key].get("x-record")]


def read_checks(path: str | Path, prompts: Prompts | None = None) -> Checks:
    """Read a file of checks; `prompts` are those of checks for which it names none."""
    path = Path(path)
    return _checks_of(Document.read(path, _SCHEMA), path.parent, prompts)


def checks_in(document: Any, source: str, folder: Path, prompts: Prompts | None = None) -> Checks:
    """Return the checks of a document, as `read_checks`; relative paths begin at `folder`."""
    return _checks_of(Document(document, source, _SCHEMA), folder, prompts)


def _checks_of(document: Document, folder: Path, prompts: Prompts | None) -> Checks:
    found = _Reader(document, folder, prompts).read()
    document.check()
    # A check that is left out without a word would be the worst of errors.
    assert len(found.checks) == len(document.content["checks"])
    return found


class _Reader:
    """Reads a document whose structure was compared with the schema."""

    def __init__(self, document: Document, folder: Path, given: Prompts | None) -> None:
        self._problems = document
        self._document = document.content
        self._folder = folder
        self._given = given
        self._declared = self._attributes()

    def read(self) -> Checks:
        """Return the content; what is wrong is added to the problems."""
        prompts = self._prompts(self._document, ())
        if "prompts" not in self._document:
            prompts = self._given
        model = self._model(self._document, ())
        checks = [
            self._check(place, entry, prompts, model)
            for place, entry in enumerate(self._document.get("checks", []))
            if entry is not None and "metric" in entry
        ]
        return Checks(
            self._problems.source,
            with_names(check for check in checks if check is not None),
            self._use_case(),
            tuple(each.lexicon for each in self._declared.values()),
            prompts,
            self._not_run({check.metric for check in checks if check is not None}),
        )

    def _not_run(self, run: set[str]) -> dict[str, str]:
        """Return the reason for each metric that is not run."""
        found = {}
        for name, reason in self._document.get("not_run", {}).items():
            call = self._problems.attempt(("not_run", name), AssertionCall.of, name)
            metric = name if call is None else call.metric
            found[metric] = reason
            if metric in run:
                text = f"{metric} is run by a check of this file; leave it out of not_run"
                self._problems.add(("not_run", name), text)
        return found

    def _use_case(self) -> UseCase | None:
        given = self._document.get("use_case", {})
        known = {each.name for each in fields(UseCase)}
        usable: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in given.items()
            if key in known
        }
        if "task" not in usable:
            return None
        names = tuple(each.lexicon for each in self._declared.values()) or ("gender",)
        make = functools.partial(UseCase, **usable, attributes=names)
        return self._problems.attempt(("use_case",), make)

    def _attributes(self) -> dict[str, ChosenAttribute]:
        """Return the attributes that the file declares, by name."""
        given = self._document.get("attributes", {})
        if isinstance(given, list):
            given = {name: None for name in given if name is not None}
        found: dict[str, ChosenAttribute] = {}
        for name, about in given.items():
            path = ("attributes", name)
            made = self._problems.attempt(path, attribute_from, name, about or {}, self._folder)
            found |= {} if made is None else {name: made}
        return found

    def _prompts(self, holder: Mapping[str, Any], path: tuple[Any, ...]) -> Prompts | None:
        given = holder.get("prompts")
        if isinstance(given, list):
            if any(each is None or (isinstance(each, list) and None in each) for each in given):
                return None
            return [conversation(*each) if isinstance(each, list) else each for each in given]
        if given is None:
            return None
        return self._problems.attempt((*path, "prompts"), read_prompts, self._folder / given)

    def _model(self, holder: Mapping[str, Any], path: tuple[Any, ...]) -> str | None:
        def checked(text: str) -> str:
            spec = ModelSpec.parse(text)
            spec.check_options(spec.kind.options)
            return text

        given = holder.get("model")
        if given is None:
            return None
        return self._problems.attempt((*path, "model"), checked, given)

    def _check(
        self, place: int, given: Mapping[str, Any], prompts: Prompts | None, model: str | None
    ) -> Check | None:
        """Return a check; None where something in it is wrong."""
        path = ("checks", place)
        call = self._problems.attempt((*path, "metric"), AssertionCall.of, given["metric"])
        if call is None:
            return None
        bound = self._bound(call, given, path)
        keywords = self._keywords(call, given, path)
        if "prompts" in given:
            prompts = self._prompts(given, path)
        answers = given.get("answers", self._document.get("answers"))
        if call.metric == CORRECTED_GAP:
            about = self._problems.attempt(
                path, labelled_from, self._folder, given, answers, keywords
            )
        elif "data" in given:
            about = self._data(call, given, keywords, path)
        elif answers is not None and prompts is None:
            about = self._answers(call, answers, keywords, path)
        else:
            about = self._asked(call, given, prompts, path, keywords)
        model = self._model(given, path) if "model" in given else model
        if isinstance(answers, str) and prompts is not None:
            model = f"responses:{self._folder / answers}"
        if bound is None or about is None:
            return None
        label = given.get("label", "")
        if "answers" in about:
            label = label or given.get("score", given.get("scorer", ""))
        return Check(
            name=check_name(call.metric, about.get("attribute"), str(label)),
            line=self._problems.line(*path),
            metric=call.metric,
            word=call.word,
            bound=bound,
            about={key: given[key] for key in _ABOUT if key in given},
            model=model,
            keywords=keywords,
            expect=given.get("expect", "PASS"),
            marks=tuple(given.get("marks", ())),
            **about,
        )

    def _bound(
        self, call: AssertionCall, given: Mapping[str, Any], path: tuple[Any, ...]
    ) -> float | None:
        problems, words = self._problems, [word for word in BOUND_WORDS if word in given]
        if not words and not any(problems.is_broken(*path, word) for word in BOUND_WORDS):
            problems.add(path, f"{call.word} is missing; give {call.wanted}")
        for word in words:
            if word != call.word:
                text = f"{call.metric} takes {call.word}, not {word}; give {call.wanted}"
                problems.add((*path, word), text)
        if words != [call.word]:
            return None
        return problems.attempt((*path, call.word), call.checked, given[call.word])

    def _keywords(
        self, call: AssertionCall, given: Mapping[str, Any], path: tuple[Any, ...]
    ) -> dict[str, Any]:
        """Return the keywords of the assertion, each of them checked."""
        keywords = {}
        for key, value in given.items():
            here = (*path, key)
            if key in _OWN and key != "dissimilarity":
                continue
            if key not in call.taken:
                known = dict.fromkeys((*_OWN, *call.taken))
                error = str(unknown_keyword(call.metric, str(key), known, call.renamed))
                for python, yaml in (("()", ""), ("=...", ""), ("argument", "key")):
                    error = error.replace(python, yaml)
                self._problems.add(here, error)
            elif key == "dissimilarity":
                keywords["metric"] = value
                self._problems.attempt(here, measure_of, value, None, given.get("scorer"))
            else:
                keywords[key] = value
                self._problems.attempt(here, call.check_type, key, value)
                if key == "scorer" and call.metric != CORRECTED_GAP:
                    self._problems.attempt(here, load_scorers().check, value)
                elif key == "robust_over":
                    self._problems.attempt(here, factor_names, value)
                elif key in Rules.__dataclass_fields__:
                    self._problems.attempt(here, functools.partial(Rules, **{key: value}))
        return keywords

    def _data(
        self,
        call: AssertionCall,
        given: Mapping[str, Any],
        keywords: dict[str, Any],
        path: tuple[Any, ...],
    ) -> dict[str, Any] | None:
        """Return the arrays of a check; None where they are wrong."""
        for key in ("prompts", "attribute", "model"):
            if key in given:
                remedy = f"leave out {key} or data"
                if key == "attribute":
                    remedy = "name the column instead, such as columns: {groups: sex}"
                text = f"{key} is for a model that is asked, and data are arrays; {remedy}"
                self._problems.add((*path, key), text)
        here = (*path, "data")
        if call.info.needs == "prompts" or call.metric == INVARIANCE:
            self._problems.add(here, f"{call.metric} takes no arrays; give prompts, not data")
            return None
        file, columns = self._folder / given["data"], given.get("columns", {})
        factors = keywords.get("factors")
        data = self._problems.attempt(
            here, arguments_from, file, call.info, columns, keywords, factors
        )
        if data is not None and factors is not None:
            keywords["factors"] = data.factors
        return None if data is None else {"data": data}

    def _answers(
        self, call: AssertionCall, given: Any, keywords: dict[str, Any], path: tuple[Any, ...]
    ) -> dict[str, Any] | None:
        """Return the input of a check from a result file; None where something is wrong."""
        score = None
        if "scorer" not in keywords:
            score = keywords.pop("score", None)
        here = (*path, "answers") if self._problems.is_given(*path, "answers") else ("answers",)
        found = self._problems.attempt(here, answers_of, given, self._folder, call.info, score)
        return None if found is None else {"answers": found}

    def _asked(
        self,
        call: AssertionCall,
        given: Mapping[str, Any],
        prompts: Prompts | None,
        path: tuple[Any, ...],
        keywords: dict[str, Any],
    ) -> dict[str, Any] | None:
        """Return the prompts a check asks a model about; None where something is wrong."""
        needs = call.info.needs
        if "factors" in given:
            text = "factors names columns of data, and there are none; templates bring their own"
            self._problems.add((*path, "factors"), f"{text} labels, so leave it out")
        if needs == "table":
            text = f"{call.metric} takes arrays, not answers of a model; give data: FILE.csv with "
            self._problems.add(path, text + f"the columns {', '.join(call.required)}")
            return None
        if prompts is None:
            places = ((*path, "prompts"), ("prompts",))
            if not any(self._problems.is_given(*place) for place in places):
                text = (
                    "prompts are missing; give a list, or the path of a file, here or at the top"
                )
                self._problems.add(path, text)
            return None
        named = given.get("attribute", ())
        declared = self._document.get("attributes") or ()
        for name in [named] if isinstance(named, str) else named:
            if name in declared and name not in self._declared:
                # What is wrong with it is named where it is declared.
                return None
        try:
            attribute = self._attribute_of(call, given, prompts)
        except ValueError as error:
            self._problems.add((*path, "attribute"), str(error))
            return None
        if attribute is not None and needs != "prompts":
            taken = {k: v for k, v in attribute.compared.items() if k in call.taken}
            keywords |= {key: keywords.get(key, value) for key, value in taken.items()}
            for key in ("groups", "reference"):
                if key in given and key in call.taken:
                    where = (*path, key)
                    keywords[key] = self._problems.attempt(where, labels_of, attribute, given[key])
        if "generations" in self._document and "generations" in call.taken:
            keywords.setdefault("generations", self._document["generations"])
        return {"prompts": prompts, "attribute": attribute}

    def _attribute_of(
        self, call: AssertionCall, given: Mapping[str, Any], prompts: Prompts
    ) -> ChosenAttribute | None:
        """Return the attribute of a check; raise ``ValueError`` if it is wrong or missing."""
        needs, declared = call.info.needs, list(self._declared.values())
        chosen = None
        if "attribute" in given:
            chosen = chosen_attribute(given["attribute"], self._declared, self._folder)
        slots = have_slots(prompts, chosen)
        if slots and needs in ("prompts", "texts", "pronoun_counts"):
            raise ValueError(
                f"{call.metric} takes single prompts as they are sent, and these have slots for "
                "words of a group; give prompts without slots"
            )
        if needs == "prompts":
            if chosen is None and declared:
                chosen = ChosenAttribute("", [each.lexicon for each in declared])
            lexicons_of(None if chosen is None else chosen.lexicon)
            return chosen
        if chosen is None and len(declared) == 1 and (slots or needs.endswith("_pairs")):
            (chosen,) = declared
        if chosen is not None:
            check_data_kind(call.info, pairs=True)
            if chosen.compared and not group_keywords(call.info):
                raise ValueError(
                    f"{call.metric} cannot choose among groups; name an attribute without groups "
                    "and reference"
                )
            return chosen
        if needs in ("texts", "pronoun_counts") or (needs == "scores" and not slots):
            return None
        choice = " or ".join(self._declared) or "one, such as gender"
        raise ValueError(
            f"attribute is missing, whose groups are exchanged in the prompts; give {choice}"
        )
