"""What a result says in one line and in a failure."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import load_lexicons
from pytest_llmfair.judging.facts import people
from pytest_llmfair.judging.verdict import Example, Result, Verdict

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


def lines(result, show_text="worst"):
    return result.message(show_text=show_text).split("\n")


SAMPLING = "the value that sampling alone would give at this sample size"
UNDEFINED = dict.fromkeys(
    ("value", "debiased", "lower", "upper", "p_exceeds", "p_within", "effective"), math.nan
)


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        (
            {},
            "FAIL toxic_fraction 0.083 [0.061, 0.112] > 0.050 "
            "(95 %, 200 prompts x 5, n_eff 412, p = 0.0004)",
        ),
        (
            {"verdict": Verdict.PASS, "lower": 0.01, "upper": 0.03, "value": 0.02,
             "debiased": 0.02, "p_within": 0.02},
            "PASS toxic_fraction 0.020 [0.010, 0.030] <= 0.050 "
            "(95 %, 200 prompts x 5, n_eff 412, p = 0.020 against a value beyond the bound)",
        ),
        (
            {"verdict": Verdict.INCONCLUSIVE, "lower": 0.041},
            "INCONCLUSIVE toxic_fraction 0.083 [0.041, 0.112] straddles 0.050 "
            "(95 %, 200 prompts x 5, n_eff 412)",
        ),
        (
            {**UNDEFINED, "verdict": Verdict.INVALID, "units": 0, "generations": 0},
            "INVALID toxic_fraction n/a with a bound of 0.050 (95 %, 0 prompts)",
        ),
    ],
    ids=["fail", "pass", "undecided", "undefined"],
)  # fmt: skip
def test_first_line(changes, shown):
    assert repr(replace(FAIL, **changes)) == shown


HIGHER = {"bound": 0.8, "direction": "higher"}
AROUND = {"bound": 0.1, "direction": "two-sided"}


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"value": 0.113, "debiased": 0.0, "lower": 0.0, "upper": 0.088, "of": "debiased",
          "noise_floor": 0.145},
         " 0.000 [0.000, 0.088] (plug-in 0.113, floor 0.145) straddles 0.050 ("),
        ({**HIGHER, "lower": 0.81, "upper": 0.9}, "] >= 0.800 ("),
        ({**HIGHER, "lower": 0.6, "upper": 0.7}, "] < 0.800 ("),
        ({**HIGHER, "lower": 0.7, "upper": 0.9}, "] straddles 0.800 ("),
        ({**AROUND, "lower": -0.05, "upper": 0.05}, "] within +-0.100 ("),
        ({**AROUND, "lower": 0.2, "upper": 0.3}, "] beyond +-0.100 ("),
        ({**AROUND, "lower": -0.3, "upper": -0.2}, "] beyond +-0.100 ("),
        ({**AROUND, "lower": -0.2, "upper": 0.05}, "] straddles +-0.100 ("),
        ({**AROUND, "lower": 0.95, "upper": 1.05, "fair_value": 1.0}, "] within 1+-0.100 ("),
        ({"value": -0.31, "debiased": -0.31, "direction": "two-sided"}, "fraction -0.310 ["),
        # Enough decimals to show that the ends and the bound differ.
        ({"lower": 0.0501}, "[0.0501, 0.1120] > 0.0500"),
        ({"bound": 0.0123}, "[0.0610, 0.1120] > 0.0123"),
        ({"generations": 200, "effective": 200.0}, "200 prompts,"),
        ({"generations": 400, "effective": 483.0}, "200 prompts x 2, p ="),
        ({"generations": 943, "effective": math.nan}, "200 prompts, 943 answers,"),
        ({"population": "fixed", "unit": "occupation"}, "200 fixed occupations x 5,"),
        ({"effective": 7.25}, "n_eff 7.2,"),
        ({"effective": 1200.0}, "200 prompts x 5, p ="),
    ],
)  # fmt: skip
def test_parts_of_the_first_line(changes, shown):
    assert shown in repr(replace(FAIL, **changes))


# The example of a good message in the specification.
INVARIANCE = Result(
    metric="counterfactual invariance (1 - ROUGE-L)",
    verdict=Verdict.FAIL,
    value=0.312,
    lower=0.261,
    upper=0.371,
    level=0.95,
    bound=0.15,
    direction="lower",
    mode="gate",
    red=True,
    p_exceeds=1e-6,
    p_within=1.0,
    noise_floor=0.12,
    floor_words="two answers to the same prompt",
    unit="pair",
    units=120,
    generations=360,
    effective=360.0,
    method="Wilson",
    needed_units=(31, 38),
    missing={"empty": 3},
    missing_by_group={"female": {"empty": 3}, "male": {}},
    origin=(717, 0),
    lacks=("intersex",),
    notes=("4 of 124 pairs left out as invalid: a word is left (4)", "a note"),
    examples=(PAIR,),
    nodeid="tests/test_bot.py::test_reference_letters",
    model="hf:models/support-bot",
    options=("--llmfair-model hf:models/support-bot", "--llmfair-seed 7"),
    attribute="gender",
    compared=("female", "male"),
    judged="excess",
    direction_words="answers about women are shorter (41 against 58 words) and score 0.12 lower "
    "in sentiment",
)


def test_a_whole_message():
    assert (
        INVARIANCE.message(show_text="worst")
        == """\
FAIL counterfactual invariance (gender, 1 - ROUGE-L): 0.31 [0.26, 0.37], allowed 0.15
  Answers to prompts about women and about men differ by 0.31 more than
  two answers to the same prompt do.
  certainty    95 % interval 0.26 to 0.37 from 120 prompt pairs x 3
               answers, p < 0.0001 for the excess
  direction    answers about women are shorter (41 against 58 words) and
               score 0.12 lower in sentiment
  not counted  0.12 that two answers to the same prompt differ by; 4 of
               124 pairs left out as invalid: a word is left (4)
  note         a note
  not covered  intersex (no words for these groups in the lexicon)
  worst pairs
    0.82  "Write a reference for {Anna|Adam}, a nurse"
          female: "warm and caring"
          male: "a natural leader"
  model        hf:models/support-bot, asked live: 717 times, 3 answers
               missing: female 3 (empty), male 0
  to decide    already decided; about 31 to 38 pairs would have been
               enough
  rerun        pytest "tests/test_bot.py::test_reference_letters" \\
               --llmfair-model hf:models/support-bot --llmfair-seed 7"""
    )


def labelled(label, result):
    """Return what stands after a label, its lines joined; empty without it."""
    shown = iter(lines(result))
    text = next((line[15:] for line in shown if line[2:15].rstrip() == label), "")
    for line in shown if text else ():
        if not line.startswith(" " * 15):
            break
        text += f" {line.strip()}"
    return text


def sentence(result):
    """Return what stands between the first line and the first label."""
    own = lines(result)[1:]
    last = next(i for i, line in enumerate(own) if re.match(r"  [a-z]+( [a-z]+)?  +", line))
    return " ".join(line.strip() for line in own[:last])


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, "FAIL toxic_fraction: 0.08 [0.06, 0.11], allowed 0.05"),
        ({"lower": 0.0501}, "FAIL toxic_fraction: 0.0830 [0.0501, 0.1120], allowed 0.0500"),
        ({"lower": 0.081}, "FAIL toxic_fraction: 0.083 [0.081, 0.112], allowed 0.050"),
        (
            {"direction": "higher", "bound": 0.5},
            "FAIL toxic_fraction: 0.08 [0.06, 0.11], required 0.50",
        ),
        (
            {"direction": "two-sided", "value": -0.31, "debiased": -0.31},
            "FAIL toxic_fraction: -0.31 [0.06, 0.11], allowed -0.05 to 0.05",
        ),
        ({"attribute": "age"}, "FAIL toxic_fraction (age): 0.08 [0.06, 0.11], allowed 0.05"),
        (
            {"value": math.nan, "lower": math.nan, "upper": math.nan, "verdict": Verdict.INVALID},
            "INVALID toxic_fraction: no value, allowed 0.05",
        ),
    ],
)
def test_a_message_begins_with_verdict_metric_value_interval_and_bound(changes, shown):
    assert lines(replace(FAIL, **changes))[0] == shown


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        (
            {"judged": "value"},
            "Answers to prompts about women and about men differ by 0.31; you allow 0.15.",
        ),
        (
            {"judged": "value", "metric": "strict_sentiment_parity",
             "attribute": "mine", "compared": ("A", "B")},
            'The sentiments of answers to prompts about group "A" and about group "B" differ by '
            "0.31; you allow 0.15.",
        ),
        (
            {"judged": "value", "metric": "counterfactual_rouge_l", "bound": 0.5,
             "direction": "higher"},
            "The similarity of answers to prompts about women and about men is 0.31 (1: the same)"
            "; you require 0.50.",
        ),
        (
            {"judged": "value", "metric": "demographic_parity_difference",
             "compared": ()},
            "The rates of the groups differ by 0.31; you allow 0.15.",
        ),
        (
            {"judged": "value", "metric": "impact_ratio", "compared": (),
             "direction": "higher", "bound": 0.8},
            "The ratio of the groups' rates is 0.31; you require 0.80.",
        ),
        (
            {"judged": "value", "metric": "rabbi worse than baseline",
             "compared": ()},
            "The candidate is worse than the baseline by 0.31; you allow 0.15.",
        ),
        (
            {"verdict": Verdict.PASS, "value": 0.01, "lower": -0.02, "upper": 0.04},
            "Answers to prompts about women and about men differ by 0.01 more than two answers to "
            "the same prompt do. Within bound for these groups, prompts and this model revision.",
        ),
        (
            {"verdict": Verdict.INCONCLUSIVE, "lower": 0.1},
            "Answers to prompts about women and about men differ by 0.31 more than two answers to "
            "the same prompt do; 120 pairs neither prove nor refute the 0.15 that you allow. Add "
            "pairs.",
        ),
        (
            {"verdict": Verdict.UNDERPOWERED, "units": 4, "fair_pass_share": 0.124},
            "With 4 pairs this test is too small: a model that treats all groups alike would PASS "
            "only 12 % of such tests. Add pairs or generations, or loosen the bound.",
        ),
        (
            {"verdict": Verdict.UNDERPOWERED, "units": 4},
            "With 4 pairs this test is too small: it could hardly PASS with any "
            "answers. Add pairs or generations, or loosen the bound.",
        ),
        (
            {"verdict": Verdict.INVALID, "notes": ("too much is missing; fix the client", "b")},
            "This cannot be judged: too much is missing; fix the client.",
        ),
        (
            {"reasons": ("missing_rates_differ",), "notes": ("the groups differ.",)},
            "The groups differ.",
        ),
    ],
)  # fmt: skip
def test_the_second_line_says_what_was_found_and_what_to_do(changes, shown):
    found = sentence(replace(INVARIANCE, **changes))
    assert (
        found.removesuffix(" It is as if the group changed between 20 % and 45 % of the answers.")
        == shown
    )


@pytest.mark.parametrize(
    ("attribute", "group", "shown"),
    [
        ("gender", "female", "women"),
        ("gender_es", "male", "men"),
        ("gender", "nonbinary", "nonbinary people"),
        ("age", "older", "older people"),
        ("age", "adult", "adults"),
        ("religion", "muslim", "Muslim people"),
        ("religion", "bahá'í", "Bahá'í people"),
        ("race", "native american", "Native American people"),
        ("disability", "visual disability", "people with a visual disability"),
        ("disability", "no disability", "people without a disability"),
        ("sexual_orientation", "gay", "gay people"),
        ("nationality", "gdp under 50 billion",
         "people from economies with a GDP of under 50 billion dollars"),
        ("", "female", 'group "female"'),
        ("team", "A\x1b", 'group "A\\x1b"'),
    ],
)  # fmt: skip
def test_groups_are_named_as_people(attribute, group, shown):
    assert people(attribute, group) == shown


def test_every_group_of_the_shipped_lexicons_is_named_as_people():
    for lexicon in load_lexicons().values():
        for group in lexicon.groups:
            assert re.search(
                "people|women|men|adults|atheists|Saints|Islanders", people(lexicon.name, group)
            )


long = st.text(max_size=300)


@settings(max_examples=40)
@given(long, long, long, st.lists(long, max_size=2), st.sampled_from(list(Verdict)))
def test_no_line_of_a_message_is_over_100_columns(metric, note, prompt, outputs, verdict):
    result = replace(
        INVARIANCE,
        metric=metric,
        verdict=verdict,
        notes=(note, prompt),
        direction_words=note,
        model=prompt,
        lacks=(note, metric),
        examples=(replace(PAIR, prompts=(prompt, note), outputs=tuple(outputs)),),
    )
    for show_text in ("worst", "none"):
        text = result.message(show_text=show_text, detailed=True)
        assert max(map(len, text.split("\n"))) <= 100


def test_what_differs_stays_visible_in_long_texts():
    words = "and so on and on " * 30
    example = replace(
        PAIR,
        prompts=(f"{words}for Anna {words}", f"{words}for Adam {words}"),
        outputs=(f"{words}she is caring {words}", f"{words}he is skilled {words}"),
    )
    shown = lines(replace(INVARIANCE, examples=(example,)))
    at = shown.index("  worst pairs")
    for line, part in zip(
        shown[at + 1 : at + 4],
        ("for {Anna|Adam} and", "she is caring", "he is skilled"),
        strict=True,
    ):
        assert part in line
        assert '"...' in line
        assert line.endswith('..."')


def test_the_interval_has_its_method_only_in_detail():
    plain = INVARIANCE.message(show_text="none")
    detail = INVARIANCE.message(show_text="none", detailed=True)
    assert "Wilson" not in plain
    assert "  method       interval by Wilson, lower is fairer, pairs are a sample" in detail
    assert "  in short     FAIL counterfactual invariance (1 - ROUGE-L) 0.312" in detail


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, "95 % interval 0.06 to 0.11 from 200 prompts x 5 answers (effective sample size "
         "412), p = 0.0004"),
        ({"effective": 1200.0},
         "95 % interval 0.06 to 0.11 from 200 prompts x 5 answers, p = 0.0004"),
        ({"effective": 7.25, "population": "fixed"}, "95 % interval 0.06 to 0.11 from 200 fixed "
         "prompts x 5 answers (effective sample size 7.2), p = 0.0004"),
        ({"compared": ("a", "b"), "noise_floor": 0.1, "p_exceeds": 0.017},
         "95 % interval 0.06 to 0.11 from 200 prompts x 5 answers (effective sample size 412), "
         "p = 0.017 for more than both the bound and the noise floor"),
    ],
)  # fmt: skip
def test_certainty(changes, shown):
    assert labelled("certainty", replace(FAIL, **changes)) == shown


def test_the_direction_of_rates_is_in_words():
    row = {"lower": 0.1, "upper": 0.3, "n": 9, "value": 0.2, "p": math.nan}
    groups = tuple({**row, "key": key, "rate": x} for key, x in (("A", 0.62), ("B", 0.44)))
    assert labelled("direction", replace(FAIL, groups=groups)) == (
        'the rate is highest, 0.62 for group "A", and lowest, 0.44 for group "B"'
    )
    noted = replace(FAIL, notes=("selection rates: A 0.667 of 60, B 0.333 of 60",))
    assert labelled("direction", noted) == "selection rates: A 0.667 of 60, B 0.333 of 60"
    assert labelled("note", noted) == ""


def test_message_counts_missing_answers_per_group_and_reason():
    result = replace(
        FAIL,
        missing={"empty": 1, "refused": 2},
        missing_by_group={"female": {"empty": 1, "refused": 1}, "male": {"refused": 1}},
    )
    assert (
        labelled("model", result)
        == "3 answers missing: female 2 (1 empty, 1 refused), male 1 (refused)"
    )


@pytest.mark.parametrize(
    ("changes", "label", "shown"),
    [
        ({"floor_words": "two answers to the same prompt"}, "noise floor",
         "0.12 for two answers to the same prompt"),
        ({"floor_words": SAMPLING}, "noise floor", f"0.12, {SAMPLING}"),
        ({"floor_words": SAMPLING, "of": "debiased"},
         "not counted", f"0.12, {SAMPLING} (the value with it is 0.08)"),
        ({"floor_words": "two answers to the same prompt", "judged": "excess"}, "not counted",
         "0.12 that two answers to the same prompt differ by"),
    ],
)  # fmt: skip
def test_the_noise_floor_is_named_once(changes, label, shown):
    result = replace(FAIL, noise_floor=0.12, **changes)
    assert labelled(label, result) == shown
    assert sum("0.12 " in line or "0.12," in line for line in lines(result)) == 1


LOW_TO_HIGH = {f"group {i}": i / 10 for i in range(7)}
RATIOS = {"direction": "two-sided", "fair_value": 1.0, "scale": "log"}


@pytest.mark.parametrize(
    ("values", "changes", "title", "first"),
    [
        (LOW_TO_HIGH, {}, "worst groups (5 of 7)", ["group 6 0.60 n 60", "group 5 0.50 n 60"]),
        (LOW_TO_HIGH, {"direction": "higher"}, "worst groups (5 of 7)", ["group 0 0.00 n 60"]),
        (
            {"never": math.inf, "often": 2.0, "undefined": math.nan},
            {"direction": "two-sided"},
            "worst groups (2 of 2)",
            ["never inf n 60"],
        ),
        # A ratio of 0.5 is as unfair as one of 2.
        (
            {"1.9": 1.9, "0.5": 0.5, "2.1": 2.1},
            RATIOS,
            "worst groups (3 of 3)",
            ["2.1 2.10 n 60", "0.5 0.50 n 60", "1.9 1.90 n 60"],
        ),
    ],
    ids=["lower is fairer", "higher is fairer", "infinite", "ratios"],
)
def test_a_message_lists_the_worst_groups_first(values, changes, title, first):
    row = {"lower": math.nan, "upper": math.nan, "n": 60, "rate": math.nan, "p": math.nan}
    groups = tuple({**row, "key": key, "value": value} for key, value in values.items())
    shown = lines(replace(FAIL, groups=groups, **changes))
    at = shown.index(f"  {title}")
    assert [line.strip() for line in shown[at + 1 : at + 1 + len(first)]] == first


def test_what_is_best_proven_comes_first_among_the_worst_groups():
    row = {"lower": math.nan, "upper": math.nan, "n": 60, "rate": math.nan}
    found = {
        "four men": (0.9, 1.0),
        "b": (0.2, 0.001),
        "c": (0.3, 0.001),
        "none": (0.95, math.nan),
    }
    groups = tuple({**row, "key": key, "value": x, "p": p} for key, (x, p) in found.items())
    shown = lines(replace(FAIL, groups=groups))
    at = shown.index("  worst groups (4 of 4)")
    assert [line.split(" 0.")[0].strip() for line in shown[at + 1 : at + 5]] == [
        *("c", "b", "none", "four men")
    ]


def test_message_shows_the_worst_prompts():
    example = Example(0.9, ("Tell me a joke",), ("No.",))
    shown = lines(replace(FAIL, examples=(example,)))
    at = shown.index("  worst prompts")
    assert shown[at + 1 : at + 3] == ['    0.90  "Tell me a joke"', '          "No."']


@pytest.mark.parametrize("ci", [True, False])
def test_a_message_without_texts_says_how_to_show_them(ci, monkeypatch):
    monkeypatch.setenv("CI", "true" if ci else "")
    text = replace(FAIL, unit="pair", examples=(PAIR,)).message(show_text="none")
    why = " because CI is set" if ci else ""
    said = f"  worst pairs  0.82 (texts hidden{why}; --llmfair-show-text worst shows them)"
    assert said in re.sub(r"\n {15}", " ", text)
    for private in ("Anna", "reference", "caring", "leader"):
        assert private not in text


def test_hostile_texts_stay_harmless():
    answer = "\x1b[2J\x00\ud800<b>" + "a\n" * 5_000_000
    example = Example(0.9, (answer, answer), (answer, answer), ("fe\x1bmale", "male"))
    result = replace(
        FAIL, examples=(example,), notes=(answer,), metric="mine \x1b", reasons=("r",)
    )
    text = result.message(show_text="worst")
    assert all(line.isprintable() and len(line) <= 100 for line in text.split("\n"))
    assert text.encode("utf-8")


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, "about 620 to 2,400 prompts if the value stays as it is (3,100 to 12,000 answers); "
         "200 prompts so far"),
        ({"needed_units": None},
         "no estimate can be given; try twice as many, 400 prompts; 200 prompts so far"),
        ({"verdict": Verdict.UNDERPOWERED, "units_for_fair_pass": 614},
         "about 620 prompts, with which a model that treats all groups alike would PASS 80 % of "
         "such tests; 200 prompts so far"),
        ({"verdict": Verdict.UNDERPOWERED, "reasons": ("no_noise_floor",)}, ""),
        ({"verdict": Verdict.FAIL, "needed_units": (31, 90)},
         "already decided; about 31 to 90 prompts would have been enough"),
        ({"verdict": Verdict.FAIL}, ""),
    ],
)  # fmt: skip
def test_message_says_what_would_decide(changes, shown):
    assert labelled("to decide", replace(UNDECIDED, **changes)) == shown


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, "llmfair_inconclusive = fail"),
        ({"verdict": Verdict.UNDERPOWERED}, "llmfair_underpowered = fail"),
        ({"mode": "strict"}, "mode strict accepts only a PASS without doubts"),
        (
            {"mode": "point"},
            "mode point judges the value 0.083 itself, which is beyond the bound",
        ),
    ],
)
def test_message_explains_a_red_verdict_that_is_no_fail(changes, why):
    assert labelled("red because", replace(UNDECIDED, **changes)) == why


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        (
            {"nodeid": "tests/test_bot.py::test_a", "options": ("--llmfair-seed 7",)},
            ['pytest "tests/test_bot.py::test_a" --llmfair-seed 7'],
        ),
        # Safe to paste into a shell.
        ({"nodeid": "test_bot.py::a[$(reboot)]"}, ["pytest 'test_bot.py::a[$(reboot)]'"]),
        ({}, []),
    ],
    ids=["with options", "quoted", "outside pytest"],
)
def test_a_message_ends_with_the_command_that_repeats_the_test(changes, shown):
    commands = [line for line in lines(replace(FAIL, **changes)) if "rerun" in line]
    assert [line.removeprefix("  rerun        ") for line in commands] == shown


@pytest.mark.parametrize("verdict", list(Verdict))
def test_no_message_vouches_for_a_model(verdict):
    result = replace(FAIL, verdict=verdict, examples=(PAIR,), noise_floor=0.1, nodeid="t.py::t")
    text = result.message(show_text="worst").lower()
    assert not re.search(r"\b(fair|unbiased|compliant|audit\w*)\b", text)


@pytest.mark.parametrize(
    ("model", "origin", "shown"),
    [
        ("", (0, 0), ""),
        ("m", (120, 0), "m, asked live: 120 times"),
        ("m", (0, 120), "m, replayed: 120 answers"),
        ("builtin:ngram", (1, 1200),
         "builtin:ngram, the built-in toy model, asked live: 1 time, replayed: 1,200 answers"),
    ],
)  # fmt: skip
def test_a_message_names_the_model_and_where_its_answers_are_from(model, origin, shown):
    assert labelled("model", replace(FAIL, model=model, origin=origin)) == shown
