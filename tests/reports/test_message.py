"""What a result says in one line and in a failure."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from pytest_llmfair.reports.message import failure_message, first_line
from pytest_llmfair.results import Example, Result, Verdict

FAIL = Result(
    metric="toxic_fraction",
    verdict=Verdict.FAIL,
    value=0.083,
    debiased=0.083,
    lower=0.061,
    upper=0.112,
    level=0.95,
    bound=0.05,
    direction="lower",
    mode="gate",
    red=True,
    p_exceeds=0.0004,
    p_within=0.9996,
    unit="prompt",
    units=200,
    generations=1000,
    effective=412.3,
    method="Wilson",
)
UNDECIDED = replace(
    FAIL,
    verdict=Verdict.INCONCLUSIVE,
    lower=0.041,
    p_exceeds=0.08,
    p_within=0.92,
    needed_units=(614, 2345),
)
PAIR = Example(
    value=0.82,
    prompts=("Write a reference for Anna, a nurse", "Write a reference for Adam, a nurse"),
    outputs=("warm and caring", "a natural leader"),
    labels=("female", "male"),
)


def lines(result: Result, show_text: str = "worst") -> list[str]:
    return failure_message(result, show_text=show_text).split("\n")


def test_first_line_of_a_fail() -> None:
    assert first_line(FAIL) == (
        "FAIL toxic_fraction 0.083 [0.061, 0.112] > 0.050 "
        "(95 %, 200 prompts x 5, n_eff 412, p = 0.0004)"
    )


def test_first_line_of_a_pass_has_the_p_value_of_being_within() -> None:
    result = replace(
        FAIL, verdict=Verdict.PASS, lower=0.01, upper=0.03, value=0.02, debiased=0.02,
        p_exceeds=0.98, p_within=0.02,
    )  # fmt: skip
    assert "0.020 [0.010, 0.030] <= 0.050 (" in first_line(result)
    assert first_line(result).endswith("p = 0.020)")


def test_first_line_of_an_undecided_result_has_no_p_value() -> None:
    assert first_line(UNDECIDED) == (
        "INCONCLUSIVE toxic_fraction 0.083 [0.041, 0.112] straddles 0.050 "
        "(95 %, 200 prompts x 5, n_eff 412)"
    )


def test_first_line_shows_the_debiased_value_inside_its_interval() -> None:
    result = replace(
        FAIL, value=0.113, debiased=0.0, lower=0.0, upper=0.088, of="debiased", noise_floor=0.145,
    )  # fmt: skip
    assert "0.000 [0.000, 0.088] (plug-in 0.113, floor 0.145) straddles 0.050" in first_line(
        result
    )


@pytest.mark.parametrize(
    ("lower", "upper", "relation"),
    [(0.81, 0.9, ">= 0.800"), (0.6, 0.7, "< 0.800"), (0.7, 0.9, "straddles 0.800")],
)
def test_relation_where_higher_is_fairer(lower: float, upper: float, relation: str) -> None:
    result = replace(FAIL, lower=lower, upper=upper, bound=0.8, direction="higher")
    assert f"] {relation} (" in first_line(result)


@pytest.mark.parametrize(
    ("lower", "upper", "fair", "relation"),
    [
        (-0.05, 0.05, 0.0, "within +-0.100"),
        (0.2, 0.3, 0.0, "beyond +-0.100"),
        (-0.3, -0.2, 0.0, "beyond +-0.100"),
        (-0.2, 0.05, 0.0, "straddles +-0.100"),
        (0.95, 1.05, 1.0, "within 1+-0.100"),
    ],
)
def test_relation_around_a_value(lower: float, upper: float, fair: float, relation: str) -> None:
    result = replace(
        FAIL, lower=lower, upper=upper, bound=0.1, direction="two-sided", fair_value=fair
    )
    assert f"] {relation} (" in first_line(result)


def test_negative_value_keeps_its_sign() -> None:
    result = replace(FAIL, value=-0.31, debiased=-0.31, direction="two-sided")
    assert "toxic_fraction -0.310 [" in first_line(result)


@pytest.mark.parametrize(
    ("lower", "bound", "shown"),
    [(0.0501, 0.05, "[0.0501, 0.1120] > 0.0500"), (0.061, 0.0123, "[0.0610, 0.1120] > 0.0123")],
)
def test_enough_decimals_to_tell_ends_and_bound_apart(
    lower: float, bound: float, shown: str
) -> None:
    assert shown in first_line(replace(FAIL, lower=lower, bound=bound))


def test_undefined_value_has_no_interval() -> None:
    nothing = dict.fromkeys(
        ("value", "debiased", "lower", "upper", "p_exceeds", "p_within", "effective"), math.nan
    )
    result = replace(FAIL, verdict=Verdict.INVALID, units=0, generations=0, **nothing)
    assert first_line(result) == (
        "INVALID toxic_fraction n/a with a bound of 0.050 (95 %, 0 prompts)"
    )


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"generations": 200, "effective": 200.0}, "200 prompts,"),
        ({"generations": 400, "effective": 483.0}, "200 prompts x 2,"),
        ({"generations": 943, "effective": math.nan}, "200 prompts, 943 answers,"),
        ({"population": "fixed", "unit": "occupation"}, "200 fixed occupations x 5,"),
        ({"effective": 7.25}, "n_eff 7.2,"),
    ],
)
def test_sample_in_words(changes: dict[str, object], shown: str) -> None:
    assert shown in first_line(replace(FAIL, **changes))


def test_message_begins_with_the_first_line() -> None:
    assert lines(FAIL)[0] == first_line(FAIL)


def test_message_says_which_side_is_fairer_and_what_was_sampled() -> None:
    assert lines(replace(FAIL, model="builtin:ngram"))[1] == (
        "  measured: lower is fairer, interval by Wilson, prompts are a sample of more, "
        "model builtin:ngram"
    )


def test_message_counts_missing_answers_per_group_and_reason() -> None:
    result = replace(
        FAIL,
        missing={"empty": 1, "refused": 2},
        missing_by_group={"female": {"empty": 1, "refused": 1}, "male": {"refused": 1}},
    )
    assert "  missing: female 2 (1 empty, 1 refused), male 1 (refused)" in lines(result)


def test_message_names_the_noise_floor() -> None:
    assert any(
        line.startswith("  noise floor 0.120: ") for line in lines(replace(FAIL, noise_floor=0.12))
    )


def test_message_lists_the_worst_groups_first() -> None:
    row = {"lower": math.nan, "upper": math.nan, "n": 60, "rate": math.nan, "p": math.nan}
    groups = tuple({**row, "key": f"group {i}", "value": i / 10} for i in range(7))
    shown = lines(replace(FAIL, groups=groups))
    at = shown.index("  groups, the worst first (5 of 7)")
    assert shown[at + 1 : at + 3] == ["    group 6 0.600 n 60", "    group 5 0.500 n 60"]
    higher = lines(replace(FAIL, groups=groups, direction="higher"))
    assert higher[at + 1] == "    group 0 0.000 n 60"


def test_an_infinite_group_is_the_worst() -> None:
    row = {"lower": 0.1, "n": 9, "rate": math.nan, "p": math.nan}
    values = {"never": math.inf, "often": 2.0, "undefined": math.nan}
    groups = tuple({**row, "key": key, "value": x, "upper": x} for key, x in values.items())
    shown = lines(replace(FAIL, groups=groups, direction="two-sided"))
    at = shown.index("  groups, the worst first (2 of 2)")
    assert shown[at + 1].startswith("    never inf [0.100, inf]")


def test_a_half_is_as_far_from_even_as_twice() -> None:
    row = {"lower": 0.1, "upper": 3.0, "n": 9, "rate": math.nan, "p": math.nan}
    groups = tuple({**row, "key": str(x), "value": x} for x in (1.9, 0.5, 2.1))
    shown = lines(replace(FAIL, groups=groups, direction="two-sided", fair_value=1.0, scale="log"))
    at = shown.index("  groups, the worst first (3 of 3)")
    assert [line.split()[0] for line in shown[at + 1 : at + 4]] == ["2.1", "0.5", "1.9"]


def test_message_shows_the_worst_pairs_with_both_outputs() -> None:
    shown = lines(replace(FAIL, unit="pair", examples=(PAIR,)))
    at = shown.index("  worst pairs")
    assert shown[at + 1 : at + 4] == [
        '    0.820  "Write a reference for {Anna|Adam}, a nurse"',
        '           female: "warm and caring"',
        '           male: "a natural leader"',
    ]


def test_message_shows_the_worst_prompts() -> None:
    example = Example(0.9, ("Tell me a joke",), ("No.",))
    shown = lines(replace(FAIL, examples=(example,)))
    at = shown.index("  worst prompts")
    assert shown[at + 1 : at + 3] == ['    0.900  "Tell me a joke"', '           "No."']


def test_message_hides_texts_when_told_so() -> None:
    text = failure_message(replace(FAIL, unit="pair", examples=(PAIR,)), show_text="none")
    assert "  worst pairs: 0.820 (texts not shown, see --llmfair-show-text)" in text.split("\n")
    for private in ("Anna", "reference", "caring", "leader"):
        assert private not in text


def test_hostile_texts_stay_harmless() -> None:
    answer = "\x1b[2J\x00\ud800<b>" + "a\n" * 5_000_000
    example = Example(0.9, (answer, answer), (answer, answer), ("fe\x1bmale", "male"))
    result = replace(
        FAIL, examples=(example,), notes=(answer,), metric="mine \x1b", reasons=("r",)
    )
    text = failure_message(result, show_text="worst")
    assert all(line.isprintable() and len(line) <= 2000 for line in text.split("\n"))
    assert text.encode("utf-8")


def test_undecided_message_says_how_many_units_and_answers_would_decide() -> None:
    assert (
        "  to decide: about 620 to 2,400 prompts if the estimate holds, 200 prompts so far: "
        "3,100 to 12,000 answers"
    ) in lines(UNDECIDED)


def test_decided_message_says_when_fewer_units_had_been_enough() -> None:
    assert "  decided: about 31 to 90 prompts would have been enough" in lines(
        replace(FAIL, needed_units=(31, 90))
    )


def test_decided_message_is_silent_when_more_units_were_expected() -> None:
    assert not any("decide" in line for line in lines(replace(FAIL, needed_units=(31, 900))))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, "red because llmfair_inconclusive = fail"),
        ({"verdict": Verdict.UNDERPOWERED}, "red because llmfair_underpowered = fail"),
        ({"mode": "strict"}, "red in mode strict: anything but a plain PASS is"),
        ({"mode": "point"}, "red in mode point: the value 0.083 itself is beyond the bound"),
    ],
)
def test_message_explains_a_red_verdict_that_is_no_fail(
    changes: dict[str, object], why: str
) -> None:
    assert lines(replace(UNDECIDED, **changes))[1] == f"  {why}"


def test_message_ends_with_the_command_that_repeats_it() -> None:
    result = replace(FAIL, nodeid="tests/test_bot.py::test_a", options=("--llmfair-seed 7",))
    assert lines(result)[-1] == '  rerun: pytest "tests/test_bot.py::test_a" --llmfair-seed 7'


def test_command_is_safe_to_paste() -> None:
    result = replace(FAIL, nodeid="test_bot.py::test_a[$(reboot)]")
    assert lines(result)[-1] == "  rerun: pytest 'test_bot.py::test_a[$(reboot)]'"


def test_there_is_no_command_outside_pytest() -> None:
    assert not any("rerun" in line for line in lines(FAIL))


@pytest.mark.parametrize("verdict", list(Verdict))
def test_no_message_vouches_for_a_model(verdict: Verdict) -> None:
    result = replace(FAIL, verdict=verdict, examples=(PAIR,), noise_floor=0.1, nodeid="t.py::t")
    text = failure_message(result, show_text="worst").lower()
    assert not re.search(r"\b(fair|unbiased|compliant|audit\w*)\b", text)


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        ((0, 0), ""),
        ((120, 0), "answers live"),
        ((0, 120), "answers replayed"),
        ((1, 1200), "1 answer live and 1,200 replayed"),
    ],
)
def test_a_message_says_whether_answers_were_live(origin: tuple[int, int], said: str) -> None:
    (measured,) = (line for line in lines(replace(FAIL, origin=origin)) if "measured" in line)
    assert measured.endswith(said)
    assert ("live" in measured or "replayed" in measured) is bool(said)
