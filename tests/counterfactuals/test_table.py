"""Pairs as a table: columns, widths, what is shown of the rejected."""

from __future__ import annotations

import pytest

from pytest_llmfair.counterfactuals import Pairs, generate_pairs


def cells(table: str) -> str:
    """Return the words of a table whatever the wrapping of a single column is."""
    return " ".join(table.split())


def test_it_has_a_row_for_a_pair_with_groups_edits_and_checks() -> None:
    table = generate_pairs(["Ask her son."], "gender").table(100)
    head, _, *row = table.partition("\n\n")[2].splitlines()
    assert head.split() == ["original", "counterfactual", "edits", "checks"]
    assert row[0].split("  ")[0] == "Ask her son."
    assert "Ask his daughter." in row[0]
    assert "female -> male" in row[0]
    assert row[0].endswith("all passed")
    assert [line.strip() for line in row[1:3]] == ["her -> his", "son -> daughter"]


def test_rejected_pairs_follow_with_their_reasons() -> None:
    pairs = generate_pairs(["John met Jane.", "John left."], "name", groups=("John", "Jane"))
    before, head, after = pairs.table(240).partition("rejected because")
    assert head
    assert "John left." in before
    assert "John met Jane." in after
    assert "the prompt already contains" in after


def test_it_begins_with_what_was_left_out() -> None:
    pairs = generate_pairs(
        ["Nothing.", "The queen left.", "She left."], "gender", groups=("female", "nonbinary")
    )
    assert pairs.table(200).splitlines()[0] == (
        "1 pair; 0 rejected; 0 uncertain; 1 prompt without a mention; "
        "no counterpart for 'queen' (1); "
        f"groups without terms: {', '.join(pairs.lacks)}"
    )


def test_it_says_which_groups_were_left_as_they_are() -> None:
    left = "left as they are without groups=(from, to): nonbinary, transgender"
    assert left in cells(generate_pairs(["She left."], "gender").table(100))
    assert left not in cells(
        generate_pairs(["She left."], "gender", ("female", "male")).table(100)
    )


def test_of_no_pairs_is_one_line() -> None:
    assert Pairs().table(80) == "0 pairs; 0 rejected; 0 uncertain; 0 prompts without a mention"


@pytest.mark.parametrize("width", [60, 80, 133])
def test_no_line_is_wider_than_asked(width: int) -> None:
    prompts = [
        "My mother " + "told her that he was late and " * 9,
        "she" * 70,
        "A blind\tman\nleft",
    ]
    for attribute in ("gender", "disability"):
        table = generate_pairs(prompts, attribute, placebo=True).table(width)
        assert max(map(len, table.splitlines())) <= width


def test_it_fits_the_terminal_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    table = generate_pairs(["My mother " + "told her that he was late and " * 9], "gender").table()
    assert max(map(len, table.splitlines())) <= 72


def test_a_limit_says_how_many_more_there_are() -> None:
    table = generate_pairs(["she", "he", "her son"], "gender").table(80, limit=1)
    assert "and 2 more" in table
    assert "daughter" not in table


def test_variant_and_placebo_are_shown() -> None:
    pairs = generate_pairs(
        ["A blind man"], "disability", groups=("sight", "without"), placebo=True
    )
    table = cells(pairs.table(200))
    assert "omission blind -> (left out)" in table
    assert "explicit blind -> sighted" in table
    assert "placebo: A visually impaired man" in table


def test_control_characters_are_escaped() -> None:
    table = generate_pairs(["She\x1b[31m said:\nno \ud800"], "gender").table(200)
    assert "She\\x1b[31m said:\\nno \\ud800" in table


def test_a_width_that_is_too_small_is_an_error() -> None:
    with pytest.raises(ValueError, match="width is 40; a table needs 60"):
        Pairs().table(40)


def test_a_limit_below_zero_is_an_error() -> None:
    with pytest.raises(ValueError, match="limit is -1; give the most pairs to show"):
        Pairs().table(80, limit=-1)
