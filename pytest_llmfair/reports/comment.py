"""``llmfair comment``: one comment on a pull request, posted once and updated after that."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from pytest_llmfair._util.printing import say
from pytest_llmfair.reports.markdown import markdown, marker
from pytest_llmfair.reports.record import read_run

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
        "--name", default="", help="name that tells the comments of several suites apart"
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
