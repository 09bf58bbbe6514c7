"""The policy of a repository: what each verdict does, and which results are waived.

It stands in ``[tool.llmfair]`` of ``pyproject.toml``, or in ``llmfair.yaml`` beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_llmfair._util.documents import Document, day, schema_of
from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.located import load_toml, load_yaml
from pytest_llmfair._util.validation import read_utf8
from pytest_llmfair.settings import OPTIONS
from pytest_llmfair.settings.waiver import Waiver

_OPTION_OF = {"INCONCLUSIVE": "inconclusive", "UNDERPOWERED": "underpowered"}

# A pull request may ask a small part of the prompts, so only what is proven blocks it.
PROFILES: dict[str, dict[str, Any]] = {
    "pr": {"INCONCLUSIVE": "warn", "UNDERPOWERED": "warn"},
    "nightly": {"INCONCLUSIVE": "warn", "UNDERPOWERED": "fail"},
    "release": {"mode": "strict"},
}


@dataclass(frozen=True, slots=True)
class Policy:
    """Options with their values as text, and waivers."""

    # The file they stand in; relative paths start from its folder.
    source: Path
    # Name of an option to its value, as users write it on the command line.
    options: dict[str, str]
    # What a FAIL does in mode gate: "fail" or "warn".
    failing: str = "fail"
    waivers: tuple[Waiver, ...] = ()


def find_policy(root: Path) -> Document | None:
    """Return the policy of a repository, compared with its schema; None where there is none."""
    project, own = root / "pyproject.toml", root / "llmfair.yaml"
    table: Any = None
    if project.is_file() and "llmfair" in (text := read_utf8(project)):
        tools = load_toml(text, str(project)).get("tool", {})
        table = tools.get("llmfair") if isinstance(tools, dict) else None
    if not own.is_file():
        return None if table is None else Document(table, str(project), _schema())
    if table is not None:
        raise ValueError(
            f"{project} has [tool.llmfair], and {own} exists too; keep the policy in one of them"
        )
    content = load_yaml(read_utf8(own), str(own))
    return Document({} if content is None else content, str(own), _schema())


def _schema() -> dict[str, Any]:
    """Return the schema with every option of the command line as a key."""
    schema = schema_of("gate/policy.schema.json")
    options = {option.name: {"$ref": "#/$defs/option"} for option in OPTIONS}
    profile = schema["$defs"]["profile"]
    profile = {**profile, "properties": {**profile["properties"], **options}}
    properties = {**options, **schema["properties"]}
    return {**schema, "properties": properties, "$defs": {**schema["$defs"], "profile": profile}}


def load_policy(root: Path, profile: str | None = None) -> Policy | None:
    """Return the policy of a repository in a profile, by default its own; None without both."""
    found = find_policy(root)
    if found is None and profile is None:
        return None
    document = found or Document({}, str(root / "pyproject.toml"), None)
    table = document.content
    profiles = dict(PROFILES)
    for name, each in table.pop("profiles", {}).items():
        # What a profile of this name already says stays, but for the keys given here.
        profiles[name] = {**PROFILES.get(name, {}), **each}
    waivers = [
        Waiver(
            **{key: each.get(key, "") for key in ("test", "metric", "reason", "approver")},
            expires=day(each["expires"]).isoformat(),
            worst=each.get("worst"),
            place=f"waiver {number} in {Path(document.source).name}",
        )
        for number, each in enumerate(table.pop("waivers", []), start=1)
        if document.is_right()
    ]
    named = table.pop("profile", None)
    profile = profile or named
    failing = "fail"
    if profile is not None and profile not in profiles:
        hint = suggestion(str(profile), profiles)
        document.add(
            ("profile",) if profile == named else (), f"there is no profile {profile!r}; {hint}"
        )
    elif profile is not None:
        chosen = dict(profiles[profile])
        failing = chosen.pop("FAIL", failing)
        chosen.pop("INVALID", None)
        # An outcome of the profile comes after an option of the policy, and before its own.
        outcomes = {_OPTION_OF[key]: chosen.pop(key) for key in _OPTION_OF if key in chosen}
        table |= {**outcomes, **chosen}
    document.check()
    options = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in table.items()
    }
    return Policy(Path(document.source), options, failing, tuple(waivers))
