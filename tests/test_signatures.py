"""What editors, type checkers and help() see of assertions, and what a wrong keyword says."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path

import pytest

import pytest_llmfair
from pytest_llmfair import (
    Fairness,
    assert_fairness_through_unawareness,
    assert_metric,
    assert_within,
)
from pytest_llmfair._util.keywords import helpful_keywords, unknown_keyword
from pytest_llmfair.metrics import all_metrics, get_metric, metric
from pytest_llmfair.metrics._registry import _METRICS
from pytest_llmfair.stats import Mean
from tests.processes import python

MAKE_STUB = Path(__file__).parent / "make_stub.py"
SHARED = {"client", "scorer", "generations", "level", "mode", "max_mde", "max_missing"}
SHARED |= {"max_invalid", "max_uncertain", "label", "unit", "sequential", "method", "family"}


def made(name):
    return getattr(pytest_llmfair, get_metric(name).assertion)


@pytest.mark.parametrize("name", all_metrics())
def test_signatures_have_the_metrics_arguments_the_bound_and_the_shared_keywords(name):
    info = get_metric(name)
    parameters = inspect.signature(made(name)).parameters
    word, other = ("minimum", "bound")[:: 1 if info.direction == "higher" else -1]
    own = inspect.signature(info.function).parameters
    assert {*own, word, *SHARED} <= set(parameters)
    assert other not in parameters
    assert ("reference" in parameters) >= (info.needs in ("text_pairs", "score_pairs"))


def test_a_signature_reads_like_source():
    said = str(inspect.signature(made("toxic_fraction")))
    assert said.startswith(
        "(scores: Any = ..., threshold: float = 0.5, bound: float = ..., *, units: "
    )
    assert said.endswith("factors: Mapping[str, Sequence[Any]] | None = None) -> Result")


@pytest.mark.parametrize(
    ("name", "data", "keywords"),
    [
        ("toxic_fraction", [[[0.1]], 0.05], {}),
        ("toxic_fraction", [[[0.1]], 0.5, 0.05], {}),
        ("counterfactual_rouge_l", ["responses", 0.5], {}),
        ("counterfactual_rouge_l", [["a"], ["b"], 0.5], {}),
        ("counterfactual_rouge_l", ["pairs"], {"client": len, "minimum": 0.5}),
        ("fped", [{"y_true": []}, 0.3], {}),
        ("fped", [{"y_true": []}], {"bound": 0.3}),
        ("prag_at_k", [["a"], ["b"], 0.3], {}),
    ],
)
def test_signatures_take_every_way_to_call(name, data, keywords):
    inspect.signature(made(name)).bind(*data, **keywords)


@pytest.mark.parametrize("name", all_metrics())
def test_docstrings_explain_every_argument_and_their_example_runs(name):
    function = made(name)
    text = inspect.getdoc(function)
    for section in ("Parameters\n---", "Returns\n---", "Raises\n---", "Examples\n---"):
        assert section in text
    described = text.partition("Parameters\n")[2].partition("Returns\n")[0].splitlines()
    heads = ",".join(line.partition(" : ")[0] for line in described if line[:1].isalpha())
    heads = {head.strip(" *`") for head in heads.split(",")}
    assert {"client", "unit", "family"} <= heads
    (case,) = doctest.DocTestFinder().find(function, globs={})
    found = doctest.DocTestRunner(verbose=False).run(case)
    assert (found.attempted, found.failed) == (3, 0)


def test_a_metric_of_ones_own_gets_a_signature_too():
    @metric(family="own", paper="", symbol="", direction="lower", bounds=(0, 1), unit="row")
    def own_share_of_rows(rows, /, *more, title="x", **rest):
        """Share."""
        return Mean.of_indicators([0.0] * 50, units=range(50))

    try:
        function = made("own_share_of_rows")
        assert list(inspect.signature(function).parameters)[:3] == ["rows", "bound", "more"]
        assert not function([1], bound=0.5, mode="point", anything=3).red
    finally:
        del _METRICS["own_share_of_rows"]


def test_the_stub_is_what_the_metrics_say():
    done = python(str(MAKE_STUB), "--check")
    assert done.returncode == 0, done.stderr


def test_an_unknown_keyword_suggests_the_nearest_or_lists_them_all():
    error = unknown_keyword("collect", "genrations", ["prompts", "generations"])
    assert str(error) == ("collect() has no argument 'genrations'; did you mean generations=...?")
    assert isinstance(error, TypeError)
    error = unknown_keyword("collect", "zzz", ["prompts", "generations"])
    assert str(error) == "collect() has no argument 'zzz'; it takes prompts, generations"


COLLECTOR = Fairness(client=lambda: str.upper, scorers=dict)


@pytest.mark.parametrize(
    ("call", "keywords", "said"),
    [
        ("toxic_fraction", {"genrations": 2}, "assert_toxic_fraction_within() has no argument "
         "'genrations'; did you mean generations=...?"),
        ("toxic_fraction", {"n": 2}, "_within() takes generations=..., not n=..."),
        ("toxic_fraction", {"minimum": 2}, "_within() takes bound=..., not minimum=..."),
        ("toxic_fraction", {"eps": 2}, "_within() takes bound=..., not eps=..."),
        ("exact_match", {"threshold": 2}, "_at_least() takes minimum=..., not threshold=..."),
        ("exact_match", {"bound": 2}, "_at_least() takes minimum=..., not bound=..."),
        (assert_metric, {"bund": 2}, "assert_metric() has no argument 'bund'; did you mean bound"),
        (assert_metric, {"thresold": 2}, "did you mean threshold=...?"),
        (assert_metric, {"n": 2}, "assert_metric() takes generations=..., not n=..."),
        (assert_within, {"threshold": 2}, "assert_within() takes bound=..., not threshold=..."),
        (assert_within, {"lable": ""}, "assert_within() has no argument 'lable'; did you mean l"),
        (assert_fairness_through_unawareness, {"bound": 0}, "takes max_share=..., not bound=..."),
        (COLLECTOR.collect, {"n": 2}, "Fairness.collect() takes generations=..., not n=..."),
        (COLLECTOR.collect, {"genrations": 2}, "Fairness.collect() has no argument 'genrations'"),
        (COLLECTOR.check, {"bund": 2}, "Fairness.check() has no argument 'bund'; did you mean b"),
        (COLLECTOR.check, {"generations": 2}, "give generations=... to fairness.collect()"),
    ],
)  # fmt: skip
def test_a_wrong_keyword_names_the_function_and_the_right_one(call, keywords, said):
    with pytest.raises(TypeError) as caught:
        (made(call) if isinstance(call, str) else call)("toxic_fraction", **keywords)
    assert said in str(caught.value)


def test_helpful_keywords_keep_the_signature_and_say_what_a_word_is_called_here():
    @helpful_keywords(bound="eps", minimum="eps")
    def assert_invariance(pairs: list[str], eps: float, *, on: str = "value") -> float:
        """Doc."""
        return eps

    assert str(inspect.signature(assert_invariance)) == (
        "(pairs: 'list[str]', eps: 'float', *, on: 'str' = 'value') -> 'float'"
    )
    assert assert_invariance.__doc__ == "Doc."
    assert assert_invariance([], 0.3) == assert_invariance(eps=0.3, pairs=[]) == 0.3
    with pytest.raises(
        TypeError, match=r"^assert_invariance\(\) takes eps=\.\.\., not bound=\.\.\.$"
    ):
        assert_invariance([], bound=0.3)
