"""The policy that the documentation shows is one, and does what the page says."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_llmfair.gate.policy import PROFILES, load_policy

PAGE = (Path(__file__).parents[2] / "docs" / "policy.md").read_text("utf-8")
EXAMPLE = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.M | re.S)


def test_the_policy_shown_is_valid(tmp_path):
    (tmp_path / "pyproject.toml").write_text("".join(EXAMPLE), encoding="utf-8")
    nightly = load_policy(tmp_path, "nightly")
    assert (nightly.options["max_cost"], nightly.options["family"]) == ("5", "holm")
    assert nightly.options["underpowered"] == "fail"
    (waiver,) = nightly.waivers
    assert (waiver.expires, waiver.worst) == ("2027-01-31", 0.2)
    assert load_policy(tmp_path).options["underpowered"] == PROFILES["pr"]["UNDERPOWERED"]


def test_the_table_of_profiles_is_right():
    rows = dict(re.findall(r"^\| `(\w+)` \| red \| red \| (.*)\|$", PAGE, re.M))
    rows = {name: tuple(cells.split(" | ")[:2]) for name, cells in rows.items()}

    def outcome(profile, verdict):
        strict = profile.get("mode") == "strict"
        return "red" if strict or profile[verdict] == "fail" else "listed"

    assert rows == {
        name: (outcome(each, "UNDERPOWERED"), outcome(each, "INCONCLUSIVE"))
        for name, each in PROFILES.items()
    }
