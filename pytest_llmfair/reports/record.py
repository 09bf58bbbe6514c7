"""The record of a run as plain data, from which every report is made.

Everything but ``context`` is the same for equal answers, so two replays give equal bytes without
it. Texts are in it only where the user asks for that; SHA-256 digests stand in for them.
``run_record.schema.json`` describes the fields.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_llmfair._util.plain_data import sha256_of
from pytest_llmfair._util.validation import one_sided, read_json
from pytest_llmfair._util.version import __version__
from pytest_llmfair._util.wording import plain
from pytest_llmfair.judging.facts import Record
from pytest_llmfair.judging.result import Result
from pytest_llmfair.lexicons.attributes import digest_of_words
from pytest_llmfair.reports.context import package_version
from pytest_llmfair.scorers import name_of
from pytest_llmfair.session import Session
from pytest_llmfair.settings import Settings
from pytest_llmfair.stats import holm

SCHEMA_VERSION = 2

# Settings that can change verdicts.
_SETTINGS = (
    "mode",
    "level",
    "inconclusive",
    "underpowered",
    "family",
    "seed",
    "max_tokens",
    "max_missing",
    "max_invalid",
    "max_uncertain",
)
# Whether answers were live or replayed differs between runs that find the same. Data from which
# results can be computed again have files of their own.
_LEFT_OUT = ("origin", "recorded", "context")
_TEXTS = ("prompts", "outputs")

# How answers were got, in words.
ORIGINS = {"live": "asked live", "replayed": "answers replayed"}
_PACKAGE_OF = {"sentiment": "vaderSentiment"}


def result_record(result: Result, settings: Settings) -> dict[str, Any]:
    """Return a result as plain data, with digests and directions if a report needs them."""
    record = result.to_dict()
    examples = record.pop("examples")
    if not settings.recorded:
        return record
    texts = settings.save_text or settings.show_text == "worst"
    record["examples"] = [_example(each, texts=texts) for each in examples]
    return record


def _example(example: Mapping[str, Any], *, texts: bool) -> dict[str, Any]:
    digests = {f"{key}_sha256": [sha256_of(text) for text in example[key]] for key in _TEXTS}
    kept = dict(example) if texts else {key: example[key] for key in ("value", "labels")}
    return {**kept, **digests}


def used_since(session: Session) -> list[dict[str, Any]]:
    """Return the models, lexicons and scorers that a session began to use since the last call."""
    new = list(session.used.items())[session.reported :]
    session.reported += len(new)
    replay = getattr(session.asker, "replay", None)
    describe: dict[str, Callable[[Any], dict[str, Any]]] = {
        "model": functools.partial(
            _model,
            cassette=getattr(replay, "cassette", None),
            served=getattr(getattr(session.asker, "counts", None), "served", {}),
        ),
        "lexicon": _lexicon,
        "scorer": _scorer,
    }
    return [{"kind": kind, **describe[kind](what)} for (kind, _), what in new]


def _model(live: Any, cassette: Any, served: Mapping[str, set[tuple[str, str]]]) -> dict[str, Any]:
    """Describe a model and how it was asked; its revision may be that of the cassette."""
    from pytest_llmfair.clients.cassette.replay import identity_in

    name = live.backend.name
    identity = dict(identity_in(live.backend, cassette))
    provider = identity.pop("provider", name.partition(":")[0])
    model, revision = identity.pop("model", name), identity.pop("revision", "")
    # A folder, a function or the package's own model has a digest in place of a revision.
    local = provider in ("hf", "builtin", "python")
    digest = bool(re.fullmatch("[0-9a-f]{32}", revision)) and local
    return {
        "name": name,
        "provider": provider,
        "id": model,
        "revision": revision or None,
        "digest": f"blake2b:{revision}" if digest else None,
        "parameters": {
            "temperature": float(live.temperature),
            "max_tokens": live.longest,
            **identity,
            **({"served": sorted(map(list, names))} if (names := served.get(name)) else {}),
        },
    }


def _lexicon(lexicon: Any) -> dict[str, Any]:
    about = {key: getattr(lexicon, key) for key in ("name", "language", "version", "licence")}
    return {**about, "sha256": digest_of_words(lexicon)}


def _scorer(scorer: Any) -> dict[str, Any]:
    kind = scorer if hasattr(scorer, "__qualname__") else type(scorer)
    module, name = kind.__module__, name_of(scorer)
    package = _PACKAGE_OF.get(name, module.partition(".")[0])
    version = getattr(scorer, "version", None) or package_version(package)
    threshold = getattr(scorer, "threshold", None)
    return {
        "name": name,
        "class": f"{module}.{kind.__qualname__}",
        "package": package,
        "version": str(version) if version else None,
        "threshold": plain(threshold),
    }


def run_document(
    records: Sequence[Record],
    settings: Settings,
    used: Sequence[Mapping[str, Any]] = (),
    context: Mapping[str, Any] | None = None,
    *,
    errors: Sequence[Mapping[str, Any]] = (),
    suites: Sequence[Mapping[str, Any]] = (),
    exit_status: int = 0,
) -> dict[str, Any]:
    """Return a run as plain data, results sorted by test; `json_text` takes out private texts."""
    ordered = sorted(records, key=lambda record: str(record["nodeid"]))
    families = {record["family"]: record["family_size"] for record in ordered}
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "pytest_llmfair": __version__,
        "settings": {name: getattr(settings, name) for name in _SETTINGS},
        **{f"{kind}s": _of_kind(kind, used) for kind in ("model", "lexicon", "scorer")},
        "counts": {**counts_of(ordered), "exit_status": exit_status},
        "errors": sorted((dict(each) for each in errors), key=lambda each: str(each["nodeid"])),
        "multiplicity": {
            "method": settings.family,
            "families": [{"name": name, "tests": n} for name, n in sorted(families.items())],
        },
        "results": [
            {key: value for key, value in _replayed(record).items() if key not in _LEFT_OUT}
            for record in ordered
        ],
    }
    if suites:
        document["suites"] = _joined(suites)
    if context is not None:
        document["context"] = {**context, "models": asked(ordered)}
    return document


def results_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the results of a run, each with the facts of its test from the context."""
    tests = (document.get("context") or {}).get("tests", {})
    return [{**each, "context": tests.get(each["nodeid"], {})} for each in document["results"]]


def _replayed(record: Record) -> Record:
    """Return a record without the record mode, which runs that find the same may differ in."""
    options = record.get("options", ())
    kept = [each for each in options if not each.startswith("--llmfair-record-mode ")]
    return {**record, "options": kept} if options else record


def _of_kind(kind: str, used: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    # Workers of xdist report the same things, in any order.
    texts = {json.dumps(each, sort_keys=True) for each in used if each["kind"] == kind}
    found = [json.loads(text) for text in sorted(texts)]
    return [{key: value for key, value in each.items() if key != "kind"} for each in found]


def counts_of(records: Sequence[Record]) -> dict[str, Any]:
    """Count the results of a run, as its record does."""
    return {
        "checks": len(records),
        "verdicts": dict(sorted(Counter(r["verdict"] for r in records).items())),
        "expected": dict(sorted(Counter(r["verdict"] for r in records if r["expected"]).items())),
        "waived": dict(sorted(Counter(r["verdict"] for r in records if r["waiver"]).items())),
        "outcomes": dict(sorted(Counter(r["outcome"] for r in records).items())),
        "red": sum(r["red"] and not r["expected"] for r in records),
    }


def _joined(suites: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the last state of every run of a suite, tasks of xdist's workers together."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for each in suites:
        key = tuple(str(each[name]) for name in ("test", "name", "model", "size", "population"))
        last, here = dict(each), {task["name"] for task in each["tasks"]}
        if (before := found.get(key)) is not None:
            known = {task["name"] for task in before["tasks"]}
            last["tasks"] += [row for row in before["tasks"] if row["name"] not in here]
            last["values"] += [row for row in before["values"] if row["task"] not in here]
            shown = {row["title"] for row in each["tables"]}
            last["tables"] += [row for row in before["tables"] if row["title"] not in shown]
            last["unmeasured"] = [name for name in each["unmeasured"] if name not in known]
        found[key] = last
    return [found[key] for key in sorted(found)]


def asked(records: Sequence[Record]) -> dict[str, dict[str, bool]]:
    """Return by model whether answers were asked for, and whether some were replayed."""
    found: dict[str, dict[str, bool]] = {}
    for record in records:
        known = found.setdefault(record["model"], {"live": False, "replayed": False})
        for key, answers in zip(known, record["origin"], strict=True):
            known[key] = known[key] or answers > 0
    return found


def json_text(document: Mapping[str, Any], *, texts: bool = False, context: bool = True) -> str:
    """Return a run as JSON text, without texts and context unless they are asked for."""
    kept = dict(document)
    if not context:
        kept.pop("context", None)
    if not texts:
        kept["results"] = [_without_texts(record) for record in document["results"]]
    return json.dumps(kept, indent=1, allow_nan=False) + "\n"


def _without_texts(record: Record) -> dict[str, Any]:
    examples = [
        {key: value for key, value in each.items() if key not in _TEXTS}
        for each in record["examples"]
    ]
    return {**record, "examples": examples}


def read_run(path: str | Path, context: Path | None = None) -> dict[str, Any]:
    """Read a run that ``--llmfair-json`` wrote; evidence has its `context` in another file."""
    import jsonschema

    from pytest_llmfair._util.documents import schema_of, validator

    path = Path(path)
    remedy = "give a file that pytest --llmfair-json wrote"
    document = read_json(path, remedy)
    if context is not None and isinstance(document, dict):
        document["context"] = read_json(context, remedy)
    version = document.get("schema_version") if isinstance(document, dict) else None
    if version is None:
        raise ValueError(f"{path} is not a recorded run: it has no schema_version; {remedy}")
    if version != SCHEMA_VERSION:
        raise ValueError(
            f"{path} has schema_version {version!r}, this is {SCHEMA_VERSION}; record the run "
            "again with pytest --llmfair-json"
        )
    schema = schema_of("reports/run_record.schema.json")
    wrong = jsonschema.exceptions.best_match(validator(schema).iter_errors(document))
    if wrong is not None:
        place = "/".join(map(str, wrong.absolute_path)) or "the file"
        raise ValueError(
            f"{path}: {place}: {wrong.message[:200]}; record the run again with pytest "
            "--llmfair-json"
        )
    found: dict[str, Any] = document
    return found


def adjust(records: Sequence[dict[str, Any]]) -> None:
    """Put the Holm-adjusted p-value of "beyond the bound" on every result, by family."""
    # An undefined value was not tested; a test that looked early has its p-value over all looks.
    families: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        families.setdefault(record["family"], []).append(record)
    for members in families.values():
        found = [r["over_looks"][0] if r.get("over_looks") else r["p_exceeds"] for r in members]
        raw = [math.nan if p is None else float(p) for p in found]
        for record, p in zip(members, holm(raw), strict=True):
            record["p_adjusted"] = None if math.isnan(p) else p
            record["family_size"] = sum(not math.isnan(p) for p in raw)


def uphold(records: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """Turn the postponed FAILs red that hold after the correction; say so by test."""
    found: dict[str, list[str]] = {}
    for record in records:
        alpha = one_sided(record["over_looks"][1] if record.get("over_looks") else record["level"])
        adjusted = record["p_adjusted"]
        if not record["postponed"] or adjusted is None or adjusted >= alpha:
            continue
        record["red"], record["outcome"] = True, "failed"
        found.setdefault(record["nodeid"], []).append(
            f"FAIL {record['metric']} holds after Holm's correction over "
            f"{record['family_size']} assertions (adjusted p = {adjusted:.2g})"
        )
    return found
