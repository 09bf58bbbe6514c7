"""The settings of a session: command line, ini file, policy, defaults. PYTEST_DONT_REWRITE.

Standard library and pytest only: the plugin loads this at start-up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmfair.settings import OPTIONS, Settings
from pytest_llmfair.settings.options import Option

if TYPE_CHECKING:
    from pytest_llmfair.gate.policy import Policy

# How our options of the command line begin.
OUR_FLAGS = "--llmfair-"
# Keys of ours in ini and TOML files.
_OUR_KEYS = r"^[ \t]*[\"']?(llmfair[_-][\w-]+)[\"']?[ \t]*[=:]"


def settings_of(config: pytest.Config) -> Settings:
    """Return the settings: the command line beats the ini file, and that a policy."""
    profile = config.getoption("llmfair_profile") or config.getini("llmfair_profile")
    files = [config.rootpath / name for name in ("pyproject.toml", "llmfair.yaml")]
    policy: Policy | None = None
    if profile or any(map(_may_hold_policy, files)):
        # Imported here because most sessions have no policy.
        from pytest_llmfair.gate.policy import load_policy

        try:
            policy = load_policy(config.rootpath, profile or None)
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None
    _check_keys(config)
    settings = _resolved(config, policy)
    if policy is None:
        return settings
    return settings.replaced(failing=policy.failing, waivers=policy.waivers)


def _may_hold_policy(file: Path) -> bool:
    if not file.is_file():
        return False
    return file.suffix == ".yaml" or "llmfair" in file.read_text("utf-8", "replace")


def _resolved(config: pytest.Config, policy: Policy | None) -> Settings:
    values: dict[str, Any] = {"detailed": config.getoption("verbose", 0) >= 2}
    for option in OPTIONS:
        source, folder = option.flag, config.invocation_params.dir
        text = None if option.ini_only else config.getoption(option.key)
        if text is not None:
            values["given"] = (*values.get("given", ()), option.name)
        else:
            source, folder = option.key, (config.inipath or config.rootpath / "ini").parent
            text = config.getini(option.key)
        if text is None and policy is not None:
            source, folder = f"{option.name} in {policy.source}", policy.source.parent
            text = policy.options.get(option.name)
        if text is not None:
            values[option.name] = _parsed(option, text, source, folder)
    _check_together(values)
    return Settings(**values)


def _parsed(option: Option, text: str, source: str, folder: Path) -> Any:
    """Return the value of an option; a relative path begins at `folder`."""
    try:
        value = option.parse(text.strip())
        if option.name == "model":
            # Imported here because most sessions name no model.
            from pytest_llmfair.clients.spec import ModelSpec

            ModelSpec.parse(value)
    except (KeyError, ValueError) as error:
        if option.name == "model" and text.strip():
            # "model 'opena:gpt': unknown scheme ...", with secrets removed.
            raise pytest.UsageError(str(error).replace("model", f"{source} is", 1)) from None
        raise pytest.UsageError(f"{source} is {text!r}; give {option.legal}") from None
    if not option.path:
        return value
    path = folder / Path(value).expanduser()
    if why := _unusable(option, path):
        raise pytest.UsageError(f"{source} is {text!r}; {why}")
    return str(path)


def _unusable(option: Option, path: Path) -> str:
    """Return the reason an option cannot have a path; an empty string if it can."""
    if option.name in ("cassette", "cassette_used", "prices") and path.is_dir():
        return "that is not a file"
    if option.name == "prices":
        return "" if path.is_file() else "that is not a file"
    # The folder of a cassette is made where it does not exist.
    return "" if option.name == "cassette" else _unwritable(path, folder=option.path == "folder")


def _unwritable(path: Path, *, folder: bool) -> str:
    """Return the reason a file or folder cannot be written; an empty string if it can."""
    if path.exists() and path.is_dir() != folder:
        if folder:
            return "that is a file; give the path of a folder"
        return "that is a folder; give the path of a file"
    if not path.parent.is_dir():
        return f"the folder {path.parent} does not exist; create it first"
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return "that path is not writable; choose another"
    return ""


def _check_together(values: Mapping[str, Any]) -> None:
    """Raise ``UsageError`` where an option needs another one."""
    for option in OPTIONS:
        # A switch can be off.
        value = values.get(option.name, False)
        if not option.needs or option.needs in values or value is False:
            continue
        needed: Option = getattr(Settings, option.needs)
        remedy = f"{needed.flag} {needed.metavar}"
        if option.switch:
            raise pytest.UsageError(f"{option.flag} needs {remedy}")
        raise pytest.UsageError(
            f"{option.flag} is {value!r}, but there is no {needed.name}; add {remedy}"
        )
    baseline = values.get("baseline")
    if baseline is not None and not values.get("update_baseline", False):
        if values.get("margin") is None and not values.get("ratchet", False):
            raise pytest.UsageError(
                "--llmfair-baseline needs --llmfair-margin X: how much less fair than the "
                "baseline a check may be, on the scale of its metric"
            )
        if not Path(baseline).is_file():
            raise pytest.UsageError(
                f"--llmfair-baseline is {baseline!r}; there is no such file: "
                "--llmfair-update-baseline writes it"
            )


def check_flags(unknown: Sequence[str]) -> None:
    """Raise ``UsageError`` if an option that pytest does not know is one of ours, mistyped."""
    ours = [each.partition("=")[0] for each in unknown if each.startswith(OUR_FLAGS)]
    if not ours:
        return
    from pytest_llmfair._util.keywords import suggestion

    name, start = ours[0], len(OUR_FLAGS)
    # Some are keys of ini files only.
    keys = {each.flag: f"give -o {each.key}={each.metavar}" for each in OPTIONS if each.ini_only}
    flags = [option.flag[start:] for option in OPTIONS if not option.ini_only]
    hint = keys.get(name) or suggestion(name[start:], flags, OUR_FLAGS)
    raise pytest.UsageError(f"there is no option {name}; {hint}")


def _check_keys(config: pytest.Config) -> None:
    """Raise ``UsageError`` for an unknown key of ours; pytest itself only warns of it."""
    given = {"-o": "\n".join(config.getoption("override_ini", None) or ())}
    if config.inipath is not None:
        given[str(config.inipath)] = config.inipath.read_text("utf-8", "replace")
    names = [option.name for option in OPTIONS]
    for source, text in given.items():
        # Most files do not name us, and to compile the pattern takes every session time.
        keys = re.findall(_OUR_KEYS, text, re.M | re.I) if "llmfair" in text.lower() else ()
        for key in keys:
            try:
                config.getini(key)  # other plugins may have keys like ours
            except ValueError:
                from pytest_llmfair._util.keywords import suggestion

                hint = suggestion(key[len("llmfair_") :].lower().replace("-", "_"), names)
                raise pytest.UsageError(f"{source} has the unknown key {key!r}; {hint}") from None
