"""The policy of a repository: what each verdict does, and which results are waived.

It stands in ``[tool.llmfair]`` of ``pyproject.toml``, or in ``llmfair.yaml`` beside it.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_llmfair._util.safe_yaml import safe_yaml
from pytest_llmfair.settings import Waiver
from pytest_llmfair.settings.options import OPTIONS, instead

# What each verdict may do. INVALID evidence is always red: an error of ours is never a pass.
_OUTCOMES = {
    "FAIL": ("fail", "warn"),
    "INCONCLUSIVE": ("warn", "skip", "xfail", "fail"),
    "UNDERPOWERED": ("warn", "skip", "xfail", "fail"),
    "INVALID": ("fail",),
}
_OPTION_OF = {"FAIL": "failing", "INCONCLUSIVE": "inconclusive", "UNDERPOWERED": "underpowered"}

# A pull request may ask a small part of the prompts, so only what is proven blocks it.
PROFILES: dict[str, dict[str, Any]] = {
    "pr": {"INCONCLUSIVE": "warn", "UNDERPOWERED": "warn"},
    "nightly": {"INCONCLUSIVE": "warn", "UNDERPOWERED": "fail"},
    "release": {"mode": "strict"},
}
_WAIVER_KEYS = ("test", "metric", "reason", "approver", "expires", "worst")


@dataclass(frozen=True, slots=True)
class Policy:
    """Options with their values as text, and waivers.

    Attributes
    ----------
    source : Path
        The file they stand in; relative paths start from its folder.
    options : dict
        Name of an option to its value, as users write it on the command line.
    failing : {"fail", "warn"}
        What a FAIL does in mode gate.
    waivers : tuple of Waiver
        Results that are known and accepted for a time.
    """

    source: Path
    options: dict[str, str]
    failing: str = "fail"
    waivers: tuple[Waiver, ...] = ()


def find_policy(root: Path) -> tuple[Path, Mapping[str, Any]] | None:
    """Return the file of the policy and what it holds; None where there is none.

    Raises
    ------
    ValueError
        If two files hold a policy, or one cannot be read.
    """
    project, own = root / "pyproject.toml", root / "llmfair.yaml"
    table: Any = None
    if project.is_file() and "llmfair" in (text := project.read_text(encoding="utf-8")):
        import tomllib

        try:
            table = tomllib.loads(text).get("tool", {}).get("llmfair")
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{project} is not TOML: {error}") from None
    if not own.is_file():
        return None if table is None else (project, table)
    if table is not None:
        raise ValueError(
            f"{project} has [tool.llmfair], and {own} exists too; keep the policy in one of them"
        )
    import yaml

    # Dates stay texts here, so that a wrong one is named with its key.
    loader: Any = type("TextDates", (yaml.SafeLoader,), {})
    loader.add_constructor("tag:yaml.org,2002:timestamp", yaml.SafeLoader.construct_yaml_str)
    try:
        table = safe_yaml(own.read_text(encoding="utf-8"), loader)
    except yaml.YAMLError as error:
        raise ValueError(f"{own} is not YAML: {error}") from None
    return own, {} if table is None else table


def load_policy(root: Path, profile: str | None = None) -> Policy | None:
    """Return the policy of a repository in one of its profiles.

    Parameters
    ----------
    root : Path
        Root folder of the tests.
    profile : str, optional
        A profile of the policy, or one of pr, nightly and release; by default the one that the
        policy names, if any.

    Returns
    -------
    Policy or None
        None if there is no policy and no profile is asked for.

    Raises
    ------
    ValueError
        If the policy is wrong; the message names the file, the key and what is possible.

    Examples
    --------
    >>> load_policy(Path("."), "release").options["mode"]
    'strict'
    """
    found = find_policy(root)
    if found is None and profile is None:
        return None
    source, table = found or (root / "pyproject.toml", {})
    try:
        return _policy(source, table, profile)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def _policy(source: Path, table: Any, profile: str | None) -> Policy:
    _check_table(table, "the policy")
    own = table.get("profiles", {})
    _check_table(own, "profiles")
    names = [option.name for option in OPTIONS]
    _check_keys(table, (*names, "profiles", "waivers"), "the policy")
    profiles = dict(PROFILES)
    for name, each in own.items():
        _check_table(each, f"profile {name}")
        _check_keys(each, (*_OUTCOMES, *names), f"profile {name}")
        # What a profile of this name already says stays, but for the keys given here.
        profiles[name] = {**PROFILES.get(name, {}), **each}
    values = {key: each for key, each in table.items() if key in names}
    profile = profile or values.get("profile")
    values.pop("profile", None)
    failing = "fail"
    if profile is not None:
        if profile not in profiles:
            raise ValueError(f"there is no profile {profile!r}{instead(profile, profiles)}")
        chosen = dict(profiles[profile])
        for verdict, possible in _OUTCOMES.items():
            if (outcome := chosen.pop(verdict, None)) is None:
                continue
            if outcome not in possible:
                raise ValueError(
                    f"profile {profile} says {verdict} = {outcome!r}; choose "
                    f"{' or '.join(possible)}"
                )
            if verdict == "FAIL":
                failing = outcome
            elif verdict in _OPTION_OF:
                values[_OPTION_OF[verdict]] = outcome
        values |= chosen
    options = {name: _as_text(name, value) for name, value in values.items()}
    return Policy(source, options, failing, tuple(_waivers(table.get("waivers", []), source.name)))


def _as_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    raise ValueError(f"{name} is {value!r}; give one value")


def _waivers(given: Any, file: str) -> list[Waiver]:
    if not isinstance(given, list):
        raise ValueError(f"waivers is a {type(given).__name__}; give a list")
    made = []
    for i, each in enumerate(given, start=1):
        where = f"waiver {i}"
        _check_table(each, where)
        _check_keys(each, _WAIVER_KEYS, where)
        for key in ("test", "reason", "approver", "expires"):
            if not each.get(key):
                raise ValueError(
                    f"{where} has no {key}; a waiver needs all keys but metric and worst"
                )
        expires = each["expires"]
        if isinstance(expires, str):
            with suppress(ValueError):
                expires = datetime.date.fromisoformat(expires)
        if type(expires) is not datetime.date:
            raise ValueError(f"{where} expires {expires!r}; give a date such as 2027-01-31")
        worst = each.get("worst")
        if worst is not None and (type(worst) not in (int, float) or not math.isfinite(worst)):
            raise ValueError(
                f"{where}: worst is {worst!r}; give a number, the worst value that you accept"
            )
        texts = {key: str(each.get(key, "")) for key in ("test", "metric", "reason", "approver")}
        place = f"{where} in {file}"
        made.append(Waiver(**texts, expires=expires.isoformat(), worst=worst, place=place))
    return made


def _check_table(given: Any, what: str) -> None:
    if not isinstance(given, Mapping):
        raise ValueError(f"{what} is a {type(given).__name__}; give a table of keys and values")


def _check_keys(given: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    for key in given:
        if key not in known:
            raise ValueError(f"{what} has the unknown key {key!r}{instead(key, known)}")
