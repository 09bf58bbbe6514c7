"""The evidence of a release: a folder whose every number can be computed again offline."""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_llmfair._util.manifest import MANIFEST, changes, manifest_digest, manifest_text
from pytest_llmfair._util.printing import say
from pytest_llmfair._util.validation import json_in, read_json, read_utf8
from pytest_llmfair._util.version import __version__
from pytest_llmfair._util.wording import plural
from pytest_llmfair.gate.checklist import checklist, checklist_page
from pytest_llmfair.gate.model_card import limitations, model_card
from pytest_llmfair.gate.recommend_command import selections
from pytest_llmfair.gate.recorded_runs import MALFORMED
from pytest_llmfair.gate.selection import selection_page
from pytest_llmfair.gate.shares import Shares, rows
from pytest_llmfair.judging.bound import WORSE
from pytest_llmfair.judging.recorded import differences, judge_again
from pytest_llmfair.reports.context import git
from pytest_llmfair.reports.files import write_text
from pytest_llmfair.reports.html import html_page
from pytest_llmfair.reports.record import adjust, counts_of, json_text, read_run, uphold
from pytest_llmfair.settings import Settings

_RUN, _CONTEXT, _STATISTICS = "run.json", "context.json", "statistics.jsonl"
_PAGE, _CARD, _LIMITS = "report.html", "model_card.md", "limitations.md"
_BOUNDS, _SELF_CHECK = "bounds.json", "self_check.json"
_PROMPTS, _SELECTION = "prompts.jsonl", "metric_selection.md"
_CHECKLIST, _CHECKLIST_DATA = "checklist.md", "checklist.json"
# A manifest may come from someone else, so only these files are ever replaced or removed.
_OWN = {
    *(MANIFEST, _RUN, _CONTEXT, _STATISTICS, _PAGE, _CARD, _LIMITS, _BOUNDS, _SELF_CHECK),
    *(_PROMPTS, _SELECTION, _CHECKLIST, _CHECKLIST_DATA),
}
_REMEDY = "write the evidence again with --llmfair-evidence"
# Another version may word these in another way.
_WORDED = (_PAGE, _CHECKLIST, _CHECKLIST_DATA, _CARD, _LIMITS, _SELECTION)
_NO_PROOF = (
    "The evidence is consistent with itself. That does not prove its origin: whoever changes\n"
    "answers, names, times or commits can compute all the rest again. Compare the digest with\n"
    "the one that the maker published: llmfair verify FOLDER --sha256 DIGEST\n"
)
_HISTORY = ("commit", "committed", "changed_since")
# What the session adds to a result after it was judged.
_ADJUSTED = ("p_adjusted", "family_size")
_OF_THE_FAMILY = ("metric", "family", "p_exceeds", "level", "postponed", "red")


def write_evidence(
    folder: Path,
    document: Mapping[str, Any],
    records: Sequence[Mapping[str, Any]],
    settings: Settings,
    root: Path,
    margin_in: str = "",
) -> list[str]:
    """Write what a release needs to show; return what nobody can judge again, and the digest."""
    # `margin_in` is the file with the margin of a baseline; empty where the command line has it.
    earlier = _earlier(folder)
    by_test = sorted(records, key=lambda record: str(record["nodeid"]))
    chosen = selections({str(record["file"]) for record in by_test}, root)
    # Also the page holds texts only where the user asks for that.
    document = json.loads(json_text({**document, "selections": chosen}, texts=settings.save_text))
    bounds = [
        {
            **_stated(record),
            **_history(margin_in if record["metric"].endswith(WORSE) else record["file"], root),
        }
        for record in by_test
    ]
    statistics = [
        {**{key: each[key] for key in ("nodeid", "metric")}, **_kept(each)} for each in by_test
    ]
    files = {
        _RUN: json_text(document, texts=settings.save_text, context=False),
        _CONTEXT: _json(document["context"]),
        _STATISTICS: _lines(statistics),
        _BOUNDS: _json(bounds),
        **_derived(document, bounds, statistics),
    }
    for name in earlier - files.keys():
        (folder / name).unlink(missing_ok=True)
    for name, text in files.items():
        write_text(folder / name, text)
    about = {key: document["context"][key] for key in ("python", "packages")}
    about["pytest_llmfair"] = document["pytest_llmfair"]
    write_text(folder / MANIFEST, manifest_text(folder, about))
    cannot = [
        f"evidence: {each['nodeid']} {each['metric']} cannot be computed again: {why}"
        for each in by_test
        if (why := _kept(each)["data"].get("cannot"))
    ]
    return [*cannot, f"evidence: SHA-256 of {folder / MANIFEST} is {manifest_digest(folder)}"]


def _derived(
    document: Mapping[str, Any],
    bounds: Sequence[Mapping[str, Any]],
    statistics: Sequence[Mapping[str, Any]],
) -> dict[str, str]:
    """Return the files that follow from the others, with their texts."""
    # On the day of the run, so that the list is the same on every later day.
    day = datetime.datetime.fromisoformat(document["context"]["started"]).date()
    chosen = document.get("selections", ())
    files = _OWN if chosen else _OWN - {_SELECTION}
    filled = checklist(document, bounds=bounds, today=day, files=files)
    return {
        _PROMPTS: _lines(_prompts(statistics)),
        _PAGE: html_page(document),
        _CHECKLIST: checklist_page(filled),
        _CHECKLIST_DATA: _json(filled),
        _CARD: model_card(document),
        _LIMITS: limitations(document),
        **({_SELECTION: selection_page(chosen, document["results"])} if chosen else {}),
    }


def _earlier(folder: Path) -> set[str]:
    """Make the folder, or return the files of the evidence that it holds."""
    folder.mkdir(exist_ok=True)
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    if not present:
        return set()
    listed: set[str] = set()
    with suppress(OSError, *MALFORMED):
        files = json.loads((folder / MANIFEST).read_text("utf-8"))["files"]
        listed = {MANIFEST, *map(str, files)}
    if foreign := sorted(listed - _OWN):
        raise ValueError(
            f"{folder / MANIFEST} lists {foreign[0]!r}, which is no file of evidence; give a new "
            "folder"
        )
    if others := sorted(present - listed):
        raise ValueError(
            f"the folder {folder} holds other files ({', '.join(others[:3])}); give a new one"
        )
    return listed


def add_self_check(
    folder: Path, shares: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, str]]
) -> None:
    """Add to the evidence how often the suite errs; the page shows it, the manifest is renewed."""
    if found := problems(folder):
        raise ValueError(f"the evidence has been changed, so nothing is added: {found[0]}")
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    about = {key: manifest[key] for key in manifest if key not in ("files", "sha256")}
    document = json.loads((folder / _RUN).read_text(encoding="utf-8"))
    document["context"] = json.loads((folder / _CONTEXT).read_text(encoding="utf-8"))
    write_text(folder / _SELF_CHECK, _json(list(shares)))
    write_text(folder / _PAGE, html_page({**document, "self_check": list(rows)}))
    write_text(folder / MANIFEST, manifest_text(folder, about))


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def _lines(rows: Iterator[Any] | Sequence[Any]) -> str:
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


def _kept(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return record["recorded"] or {"data": {"cannot": "the run kept no data"}, "prompts": []}


def _prompts(statistics: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield every row of prompts once, as digests, with the tests that asked them."""
    asked: dict[tuple[str, ...], list[str]] = {}
    for record in statistics:
        for row in record["prompts"]:
            tests = asked.setdefault(tuple(row), [])
            if record["nodeid"] not in tests:
                tests.append(record["nodeid"])
    for row, tests in asked.items():
        yield {"sha256": list(row), "tests": tests}


def _stated(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sentence about a result's bound."""
    names = ("nodeid", "metric", "bound", "direction", "level", "mode", "file", "line")
    found = {name: record[name] for name in names}
    stated = ("rationale", "owner", "waiver")
    return found | {name: record[name] for name in stated if record.get(name)}


def _history(file: str, root: Path) -> dict[str, Any]:
    """Return the commit at which a file was last changed: when its bounds were frozen."""
    if not file:
        return dict.fromkeys(_HISTORY)
    commit, _, date = (git(root, "log", "-1", "--format=%H %cI", "--", file) or "").partition(" ")
    status = git(root, "status", "--porcelain", "--", file)
    changed = None if status is None else bool(status)
    return dict(zip(_HISTORY, (commit or None, date or None, changed), strict=True))


def problems(folder: Path) -> list[str]:
    """Recompute all evidence offline; return changed files, numbers and verdicts."""
    if found := list(changes(folder)):
        return found
    try:
        return _contradictions(folder)
    except MALFORMED as error:
        return [f"the evidence cannot be read: {type(error).__name__}: {error}"]


def _contradictions(folder: Path) -> list[str]:
    """Return the entries of the evidence that do not follow from its statistics and settings."""
    found = []
    document = read_run(folder / _RUN, folder / _CONTEXT)
    results = document["results"]
    lines = read_utf8(folder / _STATISTICS).splitlines()
    if not results:
        return ["the run judged nothing, so there is no evidence"]
    if len(lines) != len(results):
        return [f"{_STATISTICS} has {len(lines)} lines for {plural('result', len(results))}"]
    again: list[dict[str, Any]] = []
    statistics = [json_in(line, _STATISTICS, _REMEDY) for line in lines]
    for result, kept in zip(results, statistics, strict=True):
        name = f"{result['nodeid']} {result['metric']}"
        if (kept["nodeid"], kept["metric"]) != (result["nodeid"], result["metric"]):
            found.append(f"{name}: {_STATISTICS} holds data of {kept['metric']} in its place")
            continue
        try:
            judged = judge_again(kept["data"], result["nodeid"]).to_dict()
        except MALFORMED as error:
            found.append(f"{name} cannot be computed again: {error}")
            # The others of its family are corrected for it too.
            judged = {each: result[each] for each in _OF_THE_FAMILY}
        again.append({**judged, "nodeid": result["nodeid"]})
    adjust(again)
    uphold(again)
    for result, other in zip(results, again, strict=len(again) == len(results)):
        found += [
            f"{result['nodeid']} {result['metric']}: {field} is {result.get(field)!r}, computed "
            f"again {other[field]!r}"
            for field in (
                *differences(result, other),
                *(name for name in _ADJUSTED if result[name] != other[name]),
            )
        ]
    return found + _stale(folder, document, statistics)


def _stale(
    folder: Path, document: dict[str, Any], statistics: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the statements of the folder's documents that do not follow from the run."""
    found = []
    results = document["results"]
    counts = document["counts"]
    if counts != {**counts_of(results), "exit_status": counts["exit_status"]}:
        found.append(f"{_RUN}: the counts are not those of its results")
    bounds = read_json(folder / _BOUNDS, _REMEDY)
    stated = [{key: each[key] for key in each if key not in _HISTORY} for each in bounds]
    if stated != [_stated(each) for each in results]:
        found.append(f"{_BOUNDS}: the bounds are not those of the results")
    derived = {_PROMPTS: _lines(_prompts(statistics))}
    if not _not_derived(document):
        added = folder / _SELF_CHECK
        whole = dict(document)
        if added.is_file():
            shares = read_json(added, _REMEDY)
            whole["self_check"] = rows([Shares(**each) for each in shares])
        derived = _derived(whole, bounds, statistics)
    found += [
        f"{name} does not show the results of {_RUN}"
        for name, text in derived.items()
        if (folder / name).read_text(encoding="utf-8") != text
    ]
    return found


def _not_derived(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files that only the version of the run can make again."""
    return () if document["pytest_llmfair"] == __version__ else _WORDED


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``llmfair verify``."""
    parser.add_argument("folder", type=Path, help="a folder that --llmfair-evidence wrote")
    parser.add_argument(
        "--sha256",
        metavar="DIGEST",
        help=f"the SHA-256 of {MANIFEST} that the maker of the evidence published",
    )


def run(arguments: argparse.Namespace) -> int:
    """Compute everything again; return 1 if anything differs."""
    digest = manifest_digest(arguments.folder)
    found = problems(arguments.folder)
    given = arguments.sha256
    if given is not None and given.strip().lower() != digest:
        found.insert(0, f"the SHA-256 of {MANIFEST} is {digest}, not {given}: another evidence")
    if found:
        say("".join(f"{line}\n" for line in found))
        say(f"{arguments.folder}: {plural('problem', len(found))}\n")
        return 1
    manifest = json.loads((arguments.folder / MANIFEST).read_text(encoding="utf-8"))
    document = json.loads((arguments.folder / _RUN).read_text(encoding="utf-8"))
    say(
        f"{arguments.folder}: {plural('file', len(manifest['files']))} unchanged, "
        f"{plural('result', len(document['results']))} computed again with the same numbers and "
        f"verdicts\nSHA-256 of {MANIFEST}: {digest}\n"
    )
    if skipped := _not_derived(document):
        say(
            f"NOT COMPARED with the results: {', '.join(skipped)}. The run names pytest-llmfair "
            f"{document['pytest_llmfair']}, this is {__version__}; verify with that version.\n"
        )
    say("It is the digest that was given.\n" if given else _NO_PROOF)
    return 0
