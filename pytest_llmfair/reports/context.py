"""Differences between runs that find the same: time, place, commit and CI."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

# Packages whose versions can change the numbers of a run.
_PACKAGES = ("numpy", "scipy", "rapidfuzz", "vaderSentiment", "torch", "transformers", "detoxify")

# Name of a CI system, the variable that tells it, and the variable with the address of the run.
_CI = (
    ("GitHub Actions", "GITHUB_ACTIONS", ""),
    ("GitLab CI", "GITLAB_CI", "CI_JOB_URL"),
    ("CircleCI", "CIRCLECI", "CIRCLE_BUILD_URL"),
    ("Buildkite", "BUILDKITE", "BUILDKITE_BUILD_URL"),
    ("Travis CI", "TRAVIS", "TRAVIS_BUILD_WEB_URL"),
    ("Jenkins", "JENKINS_URL", "BUILD_URL"),
    ("CI", "CI", ""),
)


def context_of(
    root: Path, started: float, ended: float, calls: Sequence[int], outputs: Sequence[str | None]
) -> dict[str, Any]:
    """Return when and where a session ran, and what it wrote; times are seconds since 1970."""
    return {
        "started": _moment(started),
        "ended": _moment(ended),
        "seconds": round(ended - started, 3),
        "git": git_state(root, [Path(each).resolve() for each in outputs if each]),
        "ci": ci_run(os.environ),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: found for name in _PACKAGES if (found := package_version(name))},
        "answers": {"live": calls[0], "replayed": calls[1]},
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def package_version(package: str) -> str:
    """Return the version of an installed package; empty if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def git_state(folder: Path, outputs: Sequence[Path]) -> dict[str, Any] | None:
    """Return commit, branch, and whether tracked files but `outputs` are changed; else None."""
    commit, top = git(folder, "rev-parse", "HEAD"), git(folder, "rev-parse", "--show-toplevel")
    if not commit or not top:
        return None
    branch = git(folder, "symbolic-ref", "--short", "-q", "HEAD")
    names = git(folder, "diff", "--name-only", "-z", "HEAD")
    changed = [Path(top, name).resolve() for name in (names or "").split("\0") if name]
    # A folder that holds the tests is no output.
    own = {*outputs}.difference((folder.resolve(), *folder.resolve().parents))
    dirty = any(own.isdisjoint((path, *path.parents)) for path in changed)
    return {"commit": commit, "branch": branch or None, "dirty": None if names is None else dirty}


def git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git about a folder; None where it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def ci_run(environment: Mapping[str, str]) -> dict[str, str | None] | None:
    """Return the CI system and the address of its run; None outside CI."""
    for provider, sign, address in _CI:
        if environment.get(sign, "").lower() in ("", "false", "0"):
            continue
        url = environment.get(address) if address else None
        if sign == "GITHUB_ACTIONS" and {"GITHUB_REPOSITORY", "GITHUB_RUN_ID"} <= set(environment):
            server = environment.get("GITHUB_SERVER_URL", "https://github.com")
            repository, run = environment["GITHUB_REPOSITORY"], environment["GITHUB_RUN_ID"]
            url = f"{server}/{repository}/actions/runs/{run}"
        return {"provider": provider, "run_url": url}
    return None
