"""The collector of the `fairness` fixture: one sample, several checks, one report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import currentframe
from pathlib import Path
from types import TracebackType
from typing import Any

from pytest_llmfair._util.keywords import check_known, helpful_keywords
from pytest_llmfair._util.validation import whole
from pytest_llmfair.judging.assertion import Assertion, bound_of, check_keywords, unpacked
from pytest_llmfair.judging.collecting import collect
from pytest_llmfair.judging.outcome import conclude_all, record
from pytest_llmfair.judging.pairs import is_pair
from pytest_llmfair.judging.pipeline import evaluate
from pytest_llmfair.judging.result import FairnessAssertionError, Result
from pytest_llmfair.judging.rules import Rules, is_number
from pytest_llmfair.judging.scoring import TextScorer
from pytest_llmfair.labels.answers import Columns
from pytest_llmfair.labels.assertion import assert_corrected_gap_within, corrected_gap_result
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.responses import PairedResponses, Responses
from pytest_llmfair.results.compare import Comparison, comparison_of, prompts_of
from pytest_llmfair.results.registry import read_results
from pytest_llmfair.session import active
from pytest_llmfair.stats.corrected_gap import CORRECTED_GAP

_COLLECT_FIRST = "call fairness.collect(...) first, or give data"
# Keywords of the assertion on labels, besides those that name columns, with their defaults.
_ASKED = {"labels": None, "plan": None, "design": "planned", "scale": None, "ratio": False}


class Fairness:
    """Collects answers once and checks several metrics on them.

    Parameters
    ----------
    client : callable
        Returns the model client; called when answers are first collected.
    scorers : callable
        Returns the scorers by name; called when texts are first scored.

    Examples
    --------
    In a test the fixture `fairness` is one of these, and raises what was red at the end.

    >>> fairness = Fairness(client=lambda: str.upper, scorers=dict)
    >>> len(fairness.collect(["a prompt", "another"]))
    2
    >>> polite = lambda texts: [0.0] * len(texts)
    >>> fairness.check("toxic_fraction", bound=0.5, scorer=polite, mode="point").red
    False
    """

    def __init__(
        self, *, client: Callable[[], Any], scorers: Callable[[], Mapping[str, Any]]
    ) -> None:
        self._client = client
        self._scorers = scorers
        self._checks: list[tuple[Result, TracebackType | None]] = []
        self.responses: Responses | PairedResponses | None = None
        # Groups and units of a result file, for its own scores.
        self._compared: Comparison | None = None

    @helpful_keywords(n="generations")
    def collect(
        self, prompts_or_pairs: Any, generations: int | None = None
    ) -> Responses | PairedResponses:
        """Ask the model for answers to every prompt, or to both members of every pair.

        Parameters
        ----------
        prompts_or_pairs : list of str or list of Pair
            What to ask.
        generations : int, optional
            Answers per prompt; by default 1, for pairs 2: two answers to the same prompt show
            how much answers differ without a change of group.

        Returns
        -------
        Responses or PairedResponses
            Also kept for the checks that follow.

        Examples
        --------
        >>> fairness = Fairness(client=lambda: str.upper, scorers=dict)
        >>> fairness.collect(["a prompt"], generations=2)[0]
        ('A PROMPT', 'A PROMPT')
        """
        if isinstance(prompts_or_pairs, Iterator):
            prompts_or_pairs = list(prompts_or_pairs)
        if generations is None:
            listed = prompts_or_pairs if isinstance(prompts_or_pairs, Sequence) else ()
            generations = 2 if any(map(is_pair, listed)) else 1
        n, self._compared = whole(generations, "generations"), None
        self.responses = collect(prompts_or_pairs, self._client(), n)
        recorder = active()
        if recorder is not None:
            recorder.collected = True
        return self.responses

    @helpful_keywords(folder="path", file="path")
    def load(
        self,
        path: str | Path,
        *,
        group: str | Sequence[str] = (),
        pair_by: str | Sequence[str] = (),
        groups: Mapping[str, str] | None = None,
    ) -> Responses | PairedResponses:
        """Take the answers of an audit, or of a result file of another tool.

        Parameters
        ----------
        path : str or Path
            What ``llmfair audit --out`` named (scores that the audit has are not computed again),
            or a file that ``llmfair doctor`` can read.
        group, pair_by : str or sequence of str
            Fields of a result file with the group, and with what the groups share ("prompt" for
            prompts that are equal once the group is masked); together they make pairs.
        groups : mapping of str to str, optional
            Values of the field, or words of the prompts, to their group.

        Returns
        -------
        Responses or PairedResponses
            Also kept for the checks that follow. After a result file with groups
            ``check("score_difference", score=NAME, bound=...)`` takes its own scores.

        Raises
        ------
        ValueError
            If the folder holds no audit, or one that is not complete; or nothing reads the file,
            it lacks a field, or only one of group and pair_by is given.

        Examples
        --------
        >>> Fairness(client=lambda: str.upper, scorers=dict).load("no/such/folder")
        Traceback (most recent call last):
            ...
        ValueError: no/such/folder holds no audit; ...
        """
        from pytest_llmfair.clients.session import current_runner

        self._compared = None
        if Path(path).is_file():
            self.responses = self._of_file(path, group, pair_by, groups)
        else:
            from pytest_llmfair.audit import load

            audited = load(path)
            audited.use_scores()
            self.responses = audited.responses
        current_runner().counts.replayed += self.responses.origin[1]
        recorder = active()
        if recorder is not None:
            recorder.collected = True
        return self.responses

    def _of_file(
        self, path: str | Path, group: Any, pair_by: Any, groups: Mapping[str, str] | None
    ) -> Responses | PairedResponses:
        group, pair_by = ([x] if isinstance(x, str) else list(x) for x in (group, pair_by))
        results = read_results([path])
        if not (group or groups or pair_by):
            return prompts_of(results)
        if not (group or groups) or not pair_by:
            raise ValueError(
                f"{path} needs group=... and pair_by=..., as `llmfair doctor` proposes; a guess "
                "may describe a file, and only a declaration may judge it"
            )
        self._compared = comparison_of(results, group=group, groups=groups, pair_by=pair_by)
        return self._compared.pairs()

    def check(
        self,
        name: str,
        *data: Any,
        bound: float | None = None,
        minimum: float | None = None,
        scorer: Any = None,
        level: float | None = None,
        mode: str | None = None,
        max_mde: float | None = None,
        max_missing: float | None = None,
        max_invalid: float | None = None,
        max_uncertain: float | None = None,
        label: str = "",
        unit: str = "",
        method: str | None = None,
        family: str = "session",
        robust_over: Sequence[str] = (),
        factors: Mapping[str, Sequence[Any]] | None = None,
        **keywords: Any,
    ) -> Result:
        """Judge a metric on the collected answers, or on `data`; a red verdict raises at the end.

        Parameters are those of :func:`pytest_llmfair.assert_metric`. All checks of a test are
        reported; the red ones raise together at the end of the test's call phase.

        Returns
        -------
        Result
            Whatever the verdict.

        Examples
        --------
        >>> fairness = Fairness(client=lambda: str.upper, scorers=dict)
        >>> fairness.check("toxic_fraction", [[0.1, 0.2]] * 100, bound=0.1).verdict.value
        'PASS'
        """
        if name == CORRECTED_GAP:
            of_columns = Columns._fields[1:]
            check_known(assert_corrected_gap_within, keywords, [*_ASKED, *of_columns], {})
            if not data and self.responses is None:
                raise ValueError(f"nothing to check {name} on: {_COLLECT_FIRST}")
            columns = Columns(scorer, *map(keywords.get, of_columns))
            asked: Any = [keywords.get(key, default) for key, default in _ASKED.items()]
            given, rules = data[0] if data else self.responses, Rules.of(locals())
            found = corrected_gap_result(given, bound, rules, columns, asked, self._scorers)
            return self._kept(found)
        info = get_metric(name)
        if "generations" in keywords or "client" in keywords:
            raise TypeError(
                "Fairness.check() judges the answers collected before; give generations=... to "
                "fairness.collect(), and another model by the fixture model_client"
            )
        check_keywords(self.check, info, keywords)
        given = bound_of(info, bound, minimum)
        data, keywords = unpacked(info, data, keywords)
        only_bound = len(data) == 1 and is_number(data[0])
        if not data or (given is None and only_bound):
            if self.responses is None:
                raise ValueError(f"nothing to check {info.name} on: {_COLLECT_FIRST}")
            own: Any = self.responses
            if self._compared is not None and "score" in keywords and scorer is None:
                own = self._compared.scores(keywords.pop("score"))
            data = (own, *data)
        rules = Rules.of(locals())
        text_scorer = TextScorer(info, scorer, self._scorers)
        assertion = Assertion.of(
            info,
            data,
            given,
            rules,
            scorer=text_scorer,
            keywords=keywords,
            robust_over=robust_over,
            factors=factors,
        )
        return self._kept(evaluate(assertion))

    def _kept(self, result: Result) -> Result:
        where = _caller()
        found = record(result)
        self._checks += [(each, where) for each in found]
        recorder = active()
        if recorder is not None and self not in recorder.collectors:
            recorder.collectors.append(self)
        return found[0]

    def finish(self) -> None:
        """Raise what was red, all of it in one message; skip or xfail as the policies say."""
        __tracebackhide__ = True
        checks, self._checks = self._checks, []
        try:
            conclude_all([result for result, _ in checks])
        except FairnessAssertionError as error:
            where = next(where for result, where in checks if result is error.result)
            raise error.with_traceback(where) from None


def _caller() -> TracebackType | None:
    """Return the place of the check in the test: the error comes later and still points there."""
    here = currentframe()
    frame = here.f_back.f_back.f_back if here and here.f_back and here.f_back.f_back else None
    return TracebackType(None, frame, frame.f_lasti, frame.f_lineno) if frame else None
