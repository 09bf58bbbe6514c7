"""The results of a run as Markdown: for a page of a CI run, or one comment on a pull request."""

from __future__ import annotations

import argparse
import html
import json
import os
import re
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.wording import escape, plural
from pytest_llmfair.judging.facts import Record
from pytest_llmfair.judging.message import PASS_MEANS, in_words, metric_name
from pytest_llmfair.reports.columns import (
    COLUMNS,
    SIGNS,
    accepted,
    facts,
    is_address,
    urgency,
    without_verdict,
    worst_first,
)
from pytest_llmfair.reports.record import read_run
from pytest_llmfair.reports.suites import COLUMNS as SUITE_COLUMNS
from pytest_llmfair.reports.suites import DEBIASED, suite_views
from pytest_llmfair.reports.terminal import last_line

# GitHub takes 65,536 characters a comment.
LONGEST = 60_000
_WORST = 3


def marker(name: str = "") -> str:
    """Return the hidden line by which a comment is found again."""
    shown = re.sub(r"[^\w .-]|--", "", name)
    return f"<!-- pytest-llmfair report{f': {shown}' if shown else ''} -->"


def markdown(document: Mapping[str, Any], *, name: str = "", longest: int = LONGEST) -> str:
    """Return a run as Markdown without prompts and answers; `name` tells suites apart."""
    records = sorted(document["results"], key=urgency)
    errors = plain_text(without_verdict(document.get("errors", ())))
    suites = _suites(document)
    if not records:
        parts = ("No fairness assertion was judged.", errors, _fitting(suites, longest - 1000))
        text = "\n\n".join(filter(None, (part.rstrip() for part in parts)))
        return f"{marker(name)}\n## Fairness\n\n{text}\n"
    sign = _sign(records)
    if errors and sign == SIGNS["PASS"]:
        sign = SIGNS["INVALID"]
    title = f"## {sign} Fairness{f': {plain_text(name)}' if name else ''}"
    head = [marker(name), title, "", f"**{plain_text(last_line(records))}**", ""]
    head += [f"**{errors}**", ""] if errors else []
    tail = ["", *_worst(records)]
    passes = any(record["verdict"] == "PASS" for record in records)
    notes = [
        f"{label}: {text if is_address(text) else plain_text(text)}"
        for label, text in facts(document)
    ]
    if (url := _run_url(document)) is None:
        notes.append("the whole report is in the artefacts of the run")
    else:
        notes.append(f"[the whole report is in the artefacts of the run]({url})")
    tail += [f"PASS: {PASS_MEANS}.", ""] if passes else []
    below = " \N{MIDDLE DOT} ".join(notes)
    tail += [f"<sub>{below}</sub>", ""]
    room = longest - sum(len(line) + 1 for line in (*head, *tail)) - 100
    table = _table(records, room)
    # What was judged comes first; what suites measured has the room that is left.
    room -= sum(len(line) + 1 for line in table)
    return "\n".join([*head, *table, "", *_fitting(suites, room).splitlines(), *tail])


def _sign(records: Sequence[Record]) -> str:
    """Return the sign of the most urgent verdict that is neither expected nor waived."""
    found = [record["verdict"] for record in records if not accepted(record)]
    return SIGNS[found[0]] if found else SIGNS["PASS"]


def _table(records: Sequence[Record], room: int) -> list[str]:
    columns = [column for column in COLUMNS if column.html]
    headings = ["test", *(column.heading for column in columns)]
    lines = [f"| {' | '.join(headings)} |", f"|{' --- |' * len(headings)}"]
    room -= sum(len(line) + 1 for line in lines)
    for i, record in enumerate(records):
        test = record["nodeid"].partition("::")[2] or record["nodeid"]
        cells = [_code(test), *(plain_text(column.cell(record)) for column in columns)]
        line = f"| {' | '.join(cells)} |"
        room -= len(line) + 1
        if room < 0:
            return [*lines, "", f"and {plural('check', len(records) - i)} more"]
        lines.append(line)
    return lines


def _suites(document: Mapping[str, Any]) -> list[list[str]]:
    """Return the values and tables of every suite, in blocks that may be left out."""
    blocks = []
    for suite in suite_views(document):
        found = suite.found
        rows = [tuple(map(plain_text, row.cells)) for row in suite.rows]
        lines = [f"### {plain_text(suite.title)}", ""]
        # The comparison of several models has tables only.
        lines += [*_rows(SUITE_COLUMNS, rows), ""] if rows else []
        lines += [DEBIASED.replace("*", "&#42;"), ""] if suite.debiased else []
        lines += [f"**Not valid** {plain_text(text)}\n" for text in found["invalid"]]
        if found["unmeasured"]:
            names = plain_text(", ".join(found["unmeasured"]))
            lines += [f"**Without a value, because the run or the task ended early: {names}**", ""]
        lines += _undefined(found)
        lines += [
            f"- {_code(each['name'])}: {plain_text(each['note'])}" for each in found["tasks"]
        ]
        lines += [f"- {plain_text(limit)}" for limit in found["limits"]]
        blocks.append([*lines, ""])
        for table in suite.tables:
            rows = [tuple(plain_text(text) for text, _ in row) for row in table.cells]
            summary = f"<details><summary>{plain_text(table.title)}</summary>"
            note = [plain_text(table.note), ""] if table.note else []
            blocks.append([summary, "", *_rows(table.columns, rows), "", *note, "</details>", ""])
    return blocks


def _undefined(found: Mapping[str, Any]) -> list[str]:
    """Return the reasons for undefined values of a suite, each once."""
    reasons: dict[str, list[str]] = {}
    for value in found["values"]:
        for note in value["notes"] if value["value"] is None else ():
            reasons.setdefault(note, []).append(f"{value['task']} {value['metric']}")
    lines = [
        f"- undefined: {plain_text(', '.join(names))}: {plain_text(note)}"
        for note, names in reasons.items()
    ]
    return [*lines, ""] if lines else []


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    head = [f"| {' | '.join(map(plain_text, columns))} |", f"|{' --- |' * len(columns)}"]
    return [*head, *(f"| {' | '.join(row)} |" for row in rows)]


def _fitting(blocks: Sequence[Sequence[str]], room: int) -> str:
    """Return the blocks that fit, whole, and how many do not."""
    kept, left_out = [], 0
    for block in blocks:
        text = "\n".join(block) + "\n"
        room -= len(text)
        if room < 100:
            left_out += 1
        else:
            kept.append(text)
    if left_out:
        kept.append(f"and {plural('table', left_out)} of suites more, in the JSON record\n")
    return "".join(kept)


def _worst(records: Sequence[Record]) -> list[str]:
    """Return the largest differences in words."""
    open_ones = (record for record in records if record["verdict"] not in ("PASS", "INVALID"))
    found = [record for record in open_ones if worst_first(record)[1] < 0.0]
    found.sort(key=lambda record: (bool(accepted(record)), *worst_first(record)))
    if not found:
        return []
    lines = ["### Largest differences", ""]
    for i, record in enumerate(found[:_WORST], start=1):
        (_, sentence), *labelled = in_words(record)
        said = [
            sentence,
            *(
                f"{text[:1].upper()}{text[1:]}."
                for label, text in labelled
                if label == "direction"
            ),
        ]
        why = f" ({accepted(record)})" if accepted(record) else ""
        name = f"**{record['verdict']}{why}** {plain_text(metric_name(record))}"
        lines.append(f"{i}. {name}: {plain_text(' '.join(said))[:2000]}")
    return [*lines, ""]


def _run_url(document: Mapping[str, Any]) -> str | None:
    ci = (document.get("context") or {}).get("ci") or {}
    url = ci.get("run_url") or ""
    # The file may come from someone else: its address must not become other Markdown.
    return url if is_address(url) else None


def plain_text(text: str) -> str:
    """Return a text that Markdown shows as it is: no markup, no mention, no reference."""
    shown = html.escape(escape(text), quote=False)
    # An underscore inside a word is no markup.
    special = r"[\\`*\[|~]|(?<![^\W_])_|_(?![^\W_])"
    shown = re.sub(special, lambda found: f"&#{ord(found[0])};", shown)
    # GitHub links @name, #12 and addresses in what is rendered, so entities do not help.
    return re.sub(r"(?<!&)([@#])(?=\w)|(?<=\w)(:)(?=//)|(?i:\bwww)(?=\.)", _apart, shown)


def _apart(found: re.Match[str]) -> str:
    return f"{found[0]}\N{WORD JOINER}"


def _code(text: str) -> str:
    return f"<code>{plain_text(text)}</code>"


_SECONDS = 30
_PER_PAGE = 100
_MOST_PAGES = 50
_MEANS = {
    401: "GITHUB_TOKEN is not valid; give the token of the workflow",
    403: "GITHUB_TOKEN may not do this; the workflow needs `permissions: pull-requests: write`, "
    "and runs for forks have no such token",
    404: "there is no such repository or pull request, or GITHUB_TOKEN cannot see it",
    410: "the pull request takes no comments",
    422: "GitHub did not accept the text of the comment",
}


class _NoRedirects(HTTPRedirectHandler):
    """Follow no redirect: it would send the token to another server."""

    def redirect_request(self, *arguments: Any, **keywords: Any) -> None:
        """Return None, so that a redirect is an error."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("run", help="the file that pytest --llmfair-json wrote")
    parser.add_argument("--repo", required=True, metavar="OWNER/NAME", help="the repository")
    parser.add_argument("--pr", required=True, type=int, metavar="N", help="the pull request")
    parser.add_argument(
        "--name", default="", help="tells the comments of several suites apart (default one)"
    )
    parser.add_argument(
        "--run-id", type=int, metavar="N", help="the run of GitHub Actions to link to (no link)"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the comment, and send nothing"
    )


def run(arguments: argparse.Namespace) -> int:
    """Post or update the comment, and print its address."""
    document = _linked(read_run(arguments.run), arguments.repo, arguments.run_id)
    text = markdown(document, name=arguments.name)
    if arguments.dry_run:
        say(text)
        return 0
    found = post_comment(
        text, arguments.repo, arguments.pr, marker(arguments.name), environment=os.environ
    )
    say(f"{found}\n")
    return 0


def _linked(document: dict[str, Any], repository: str, run_id: int | None) -> dict[str, Any]:
    """Return a run that links to this repository only: the record may come from anyone."""
    ci = None
    if run_id is not None:
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        address = f"{server}/{repository}/actions/runs/{run_id}"
        ci = {"provider": "GitHub Actions", "run_url": address}
    context = document.get("context")
    return {**document, "context": {**context, "ci": ci}} if context else document


def post_comment(
    text: str, repository: str, number: int, mark: str, *, environment: Mapping[str, str]
) -> str:
    """Post a comment, or update the author's with the first line `mark`; return what was done."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise ValueError(f"--repo is {repository!r}; give OWNER/NAME")
    if number < 1:
        raise ValueError(f"--pr is {number}; give the number of a pull request, from 1")
    token = environment.get("GITHUB_TOKEN", "").strip()
    if not token:
        raise ValueError(
            "GITHUB_TOKEN is not set; in a workflow give the step "
            "`env: GITHUB_TOKEN: ${{ github.token }}`"
        )
    root = _checked_address(environment.get("GITHUB_API_URL") or "https://api.github.com")
    # GitHub Enterprise has both interfaces under /api, the first as /api/v3.
    graphql = f"{root.removesuffix('/v3')}/graphql"
    me = _asked("POST", graphql, token, {"query": "{viewer{login}}"})
    try:
        login = me["data"]["viewer"]["login"]
    except (KeyError, TypeError):
        raise ValueError(f"{graphql} does not say whose GITHUB_TOKEN this is") from None
    issues = f"{root}/repos/{repository}/issues"
    for page in range(1, _MOST_PAGES + 1):
        comments = _asked(
            "GET", f"{issues}/{number}/comments?per_page={_PER_PAGE}&page={page}", token
        )
        for comment in comments:
            # Whoever wrote a comment can change it later, so that of someone else is left alone.
            mine = (comment.get("user") or {}).get("login") == login
            if mine and str(comment.get("body", "")).startswith(mark):
                address = f"{issues}/comments/{int(comment['id'])}"
                made = _asked("PATCH", address, token, {"body": text})
                return f"updated {made.get('html_url', '')}".rstrip()
        if len(comments) < _PER_PAGE:
            break
    made = _asked("POST", f"{issues}/{number}/comments", token, {"body": text})
    return f"posted {made.get('html_url', '')}".rstrip()


def _checked_address(address: str) -> str:
    parts = urlsplit(address)
    here = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme != "https" and not (parts.scheme == "http" and here):
        raise ValueError(
            f"GITHUB_API_URL is {address!r}; a token is sent over https only, such as to "
            "https://api.github.com"
        )
    return address.rstrip("/")


def _asked(method: str, address: str, token: str, body: Mapping[str, Any] | None = None) -> Any:
    """Return the answer of GitHub as plain data."""
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {token}",
        "User-Agent": "pytest-llmfair",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    data = None if body is None else json.dumps(body).encode()
    request = Request(address, data=data, headers=headers, method=method)
    where = f"{method} {address.partition('?')[0]}"
    try:
        with build_opener(_NoRedirects).open(request, timeout=_SECONDS) as answer:
            return json.loads(answer.read())
    except HTTPError as error:
        error.close()
        why = _MEANS.get(error.code, "try again later, or look at GITHUB_API_URL")
        raise ValueError(f"GitHub answered {error.code} to {where}: {why}") from None
    except (URLError, HTTPException, TimeoutError) as error:
        reason = str(getattr(error, "reason", error)).replace(token, "...")
        raise ValueError(
            f"GitHub did not answer {where}: {reason}; check GITHUB_API_URL and the network"
        ) from None
    except json.JSONDecodeError:
        raise ValueError(
            f"the answer to {where} is no JSON; check that GITHUB_API_URL is GitHub's"
        ) from None
