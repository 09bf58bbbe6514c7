"""The evidence of a release: a folder whose every number can be computed again offline."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.version import __version__
from pytest_llmfair._util.wording import plural
from pytest_llmfair.gate.check_file import selections
from pytest_llmfair.gate.checklist import checklist, checklist_page
from pytest_llmfair.gate.limitations import limitations
from pytest_llmfair.gate.manifest import MANIFEST, changes, manifest_text
from pytest_llmfair.gate.model_card import model_card
from pytest_llmfair.gate.shares import Shares, rows
from pytest_llmfair.judging import multiplicity
from pytest_llmfair.judging.recorded import differences, judge_again
from pytest_llmfair.reports.files import write_text
from pytest_llmfair.reports.html import html_page
from pytest_llmfair.reports.record import json_text
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
# What the session adds to a result after it was judged.
_ADJUSTED = ("p_adjusted", "family_size")
_OF_THE_FAMILY = ("metric", "family", "p_exceeds", "level", "postponed", "red")


def write_evidence(
    folder: Path,
    document: Mapping[str, Any],
    records: Sequence[Mapping[str, Any]],
    settings: Settings,
    root: Path,
) -> list[str]:
    """Write everything that a release needs to show, with a manifest of all files.

    Parameters
    ----------
    folder : Path
        Made if it does not exist; files of an earlier run in it are replaced or removed.
    document : mapping
        The record of the run, with its context.
    records : sequence of mapping
        The results, each with what was recorded of it.
    settings : Settings
        The settings of the run.
    root : Path
        Root folder of the tests, whose repository says when bounds were last changed.

    Returns
    -------
    list of str
        The results that cannot be computed again, and why.

    Raises
    ------
    ValueError
        If the folder holds files that no evidence of an earlier run lists.
    """
    earlier = _earlier(folder)
    by_test = sorted(records, key=lambda record: str(record["nodeid"]))
    # Also the page holds texts only where the user asks for that.
    document = json.loads(json_text(document, texts=settings.save_text))
    bounds = [_bound(record, root) for record in by_test]
    filled = checklist(document, bounds=bounds)
    files = {
        _RUN: json_text(document, texts=settings.save_text, context=False),
        _CONTEXT: _json(document["context"]),
        _STATISTICS: _lines(
            {**{key: each[key] for key in ("nodeid", "metric")}, **_kept(each)} for each in by_test
        ),
        _PROMPTS: _lines(_prompts(by_test)),
        _BOUNDS: _json(bounds),
        _PAGE: html_page(document),
        _CHECKLIST: checklist_page(filled),
        _CHECKLIST_DATA: _json(filled),
        _CARD: model_card(document),
        _LIMITS: limitations(document),
    }
    if selected := selections((str(record["file"]) for record in by_test), root):
        files[_SELECTION] = selected
    for name in earlier - files.keys():
        (folder / name).unlink(missing_ok=True)
    for name, text in files.items():
        write_text(folder / name, text)
    about = {key: document["context"][key] for key in ("python", "packages")}
    about["pytest_llmfair"] = document["pytest_llmfair"]
    write_text(folder / MANIFEST, manifest_text(folder, about))
    return [
        f"evidence: {each['nodeid']} {each['metric']} cannot be computed again: {why}"
        for each in by_test
        if (why := _kept(each)["data"].get("cannot"))
    ]


def _earlier(folder: Path) -> set[str]:
    """Make the folder, or return the files of the evidence that it holds."""
    folder.mkdir(exist_ok=True)
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    if not present:
        return set()
    listed: set[str] = set()
    with suppress(OSError, ValueError, KeyError, TypeError):
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
    """Add to the evidence how often the suite errs; the page shows it, the manifest is renewed.

    Raises
    ------
    ValueError
        If the evidence does not verify as it is.
    """
    if found := problems(folder):
        raise ValueError(f"the evidence is not what was written, so nothing is added: {found[0]}")
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


def _prompts(records: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield every row of prompts once, as digests, with the tests that asked them."""
    asked: dict[tuple[str, ...], list[str]] = {}
    for record in records:
        for row in _kept(record)["prompts"]:
            tests = asked.setdefault(tuple(row), [])
            if record["nodeid"] not in tests:
                tests.append(record["nodeid"])
    for row, tests in asked.items():
        yield {"sha256": list(row), "tests": tests}


def _bound(record: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """Return a bound with the commit at which its file was last changed: when it was frozen."""
    names = ("nodeid", "metric", "bound", "direction", "level", "mode", "file", "line")
    found = {name: record[name] for name in names}
    found |= {name: record[name] for name in ("rationale", "owner") if record.get(name)}
    file = record["file"]
    commit, _, date = _git(root, "log", "-1", "--format=%H %cI", "--", file).partition(" ")
    changed = bool(_git(root, "status", "--porcelain", "--", file))
    return {**found, "commit": commit or None, "committed": date or None, "changed_since": changed}


def _git(root: Path, *arguments: str) -> str:
    try:
        asked = ["git", "-C", str(root), *arguments]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def problems(folder: Path) -> list[str]:
    """Return what is wrong with the evidence: changed files, numbers and verdicts.

    Every number and verdict is computed again from ``statistics.jsonl``, offline.

    Parameters
    ----------
    folder : Path
        A folder that ``--llmfair-evidence`` wrote.

    Returns
    -------
    list of str
        One message per problem; empty where everything holds.

    Raises
    ------
    FileNotFoundError
        If the folder holds no evidence.
    """
    found = list(changes(folder))
    if found:
        return found
    document = json.loads((folder / _RUN).read_text(encoding="utf-8"))
    results = document["results"]
    lines = (folder / _STATISTICS).read_text(encoding="utf-8").splitlines()
    if not results:
        return ["the run judged nothing, so there is no evidence"]
    if len(lines) != len(results):
        return [f"{_STATISTICS} has {len(lines)} lines for {plural('result', len(results))}"]
    again: list[dict[str, Any]] = []
    for result, line in zip(results, lines, strict=True):
        kept = json.loads(line)
        name = f"{result['nodeid']} {result['metric']}"
        if (kept["nodeid"], kept["metric"]) != (result["nodeid"], result["metric"]):
            found.append(f"{name}: {_STATISTICS} holds data of {kept['metric']} in its place")
            continue
        try:
            judged = judge_again(kept["data"], result["nodeid"]).to_dict()
        except (ValueError, TypeError, KeyError) as error:
            found.append(f"{name} cannot be computed again: {error}")
            # The others of its family are corrected for it too.
            judged = {each: result[each] for each in _OF_THE_FAMILY}
        again.append({**judged, "nodeid": result["nodeid"]})
    multiplicity.adjust(again)
    multiplicity.upheld(again)
    for result, other in zip(results, again, strict=len(again) == len(results)):
        found += [
            f"{result['nodeid']} {result['metric']}: {field} is {result.get(field)!r}, computed "
            f"again {other[field]!r}"
            for field in (*differences(result, other), *_different(result, other))
        ]
    return found + _stale(folder, document)


def _different(result: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return [name for name in _ADJUSTED if result[name] != other[name]]


def _stale(folder: Path, document: dict[str, Any]) -> list[str]:
    """Return what in the documents of the folder does not follow from the run."""
    found = []
    results = document["results"]
    verdicts = dict(sorted(Counter(result["verdict"] for result in results).items()))
    if document["counts"]["verdicts"] != verdicts or document["counts"]["checks"] != len(results):
        found.append(f"{_RUN}: the counts are not those of its results")
    bounds = json.loads((folder / _BOUNDS).read_text(encoding="utf-8"))
    stated = [(each["nodeid"], each["metric"], each["bound"]) for each in bounds]
    if stated != [(each["nodeid"], each["metric"], each["bound"]) for each in results]:
        found.append(f"{_BOUNDS}: the bounds are not those of the results")
    if document["pytest_llmfair"] != __version__:
        # Another version may word its pages in another way.
        return found
    context = json.loads((folder / _CONTEXT).read_text(encoding="utf-8"))
    added = folder / _SELF_CHECK
    whole = {**document, "context": context}
    if added.is_file():
        shares = json.loads(added.read_text(encoding="utf-8"))
        whole["self_check"] = rows([Shares(**each) for each in shares])
    pages = {_PAGE: html_page(whole), _CARD: model_card(whole), _LIMITS: limitations(whole)}
    found += [
        f"{name} does not show the results of {_RUN}"
        for name, text in pages.items()
        if (folder / name).read_text(encoding="utf-8") != text
    ]
    return found


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``llmfair verify``."""
    parser.add_argument("folder", type=Path, help="a folder that --llmfair-evidence wrote")


def run(arguments: argparse.Namespace) -> int:
    """Compute everything again; return 1 if anything differs."""
    found = problems(arguments.folder)
    if found:
        say("".join(f"{line}\n" for line in found))
        say(f"{arguments.folder}: {plural('problem', len(found))}\n")
        return 1
    manifest = json.loads((arguments.folder / MANIFEST).read_text(encoding="utf-8"))
    results = json.loads((arguments.folder / _RUN).read_text(encoding="utf-8"))["results"]
    say(
        f"{arguments.folder}: {plural('file', len(manifest['files']))} unchanged, "
        f"{plural('result', len(results))} computed again with the same numbers and verdicts\n"
    )
    return 0
