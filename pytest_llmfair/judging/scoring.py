"""Scores of an assertion: of texts by a scorer or for a reader, and those that files have."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate
from typing import Any, cast

import numpy as np

from pytest_llmfair._util.keywords import keyword_names
from pytest_llmfair._util.wording import plural
from pytest_llmfair.judging.inputs import (
    MetricInputs,
    Rows,
    count_missing,
    missing_data_of,
    rows_left_out,
)
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.replies import FACTS
from pytest_llmfair.responses import Missing
from pytest_llmfair.results.compare import ScoredAnswers
from pytest_llmfair.scorers import EmbeddingScorer, load_scorers, name_of, score
from pytest_llmfair.scorers.base import RowCache
from pytest_llmfair.scorers.facts import FactScorer
from pytest_llmfair.session import note_used
from pytest_llmfair.stats import Finding

Texts = list[list[str]]
Scorer = Callable[[Sequence[str]], Any]


def takes(info: MetricInfo, keyword: str) -> bool:
    """Return whether a metric has an argument of this name."""
    return keyword in (keyword_names(info.function) or ())


def reads(info: MetricInfo) -> bool:
    """Return whether a metric lets a reader guess from all that answers hold."""
    return "features" in inspect.signature(info.function).parameters


class TextScorer:
    """Texts to scores, by the metric's own scorer or another; it loads when there are texts."""

    def __init__(
        self,
        info: MetricInfo,
        scorer: Any = None,
        scorers: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        asked = info.scorer if scorer is None else scorer
        self._asked = list(asked) if isinstance(asked, tuple) else asked
        self._info = info
        self._vectors = info.needs == "embedding_pairs"
        self._scorers = scorers
        self._memory: Any = None

    @functools.cached_property
    def chosen(self) -> Any:
        """The scorer itself."""
        if not isinstance(self._asked, str):
            return self._asked
        return (self._scorers or load_scorers)()[self._asked]

    @property
    def _each_asked(self) -> list[Any]:
        return self._asked if isinstance(self._asked, list) else [self._asked]

    @property
    def name(self) -> str:
        """The scorer's name in reports."""
        asked = [each for each in self._each_asked if each is not None]
        return ", ".join(each if isinstance(each, str) else name_of(each) for each in asked)

    @property
    def version(self) -> str:
        """What tells scorers of one name apart, such as the rubric of a judge."""
        return str(getattr(self._asked, "version", None) or "")

    def check(self, info: MetricInfo) -> None:
        """Raise for a name that no scorer has, or a range beyond the metric's; load nothing."""
        for each in self._each_asked:
            if isinstance(each, str):
                known = (self._scorers or load_scorers)()
                if each not in known:
                    known[each]
        if self._asked == info.scorer or self._vectors or takes(info, "score_range"):
            return
        unlimited = -math.inf, math.inf
        low, high = getattr(TextScorer(info).chosen, "range", unlimited)
        # A judge has a scale; with a range it would be audited, which costs money.
        scale = getattr(self.chosen, "scale", (low, high))
        least, most = getattr(self.chosen, "range", scale)
        if least < low or most > high:
            raise ValueError(
                f"the scorer {self.name} gives scores from {least:g} to {most:g}, and {info.name} "
                f"needs scores from {low:g} to {high:g}; rescale them, or use score_difference, "
                "which takes scores of any range"
            )

    @property
    def fact(self) -> FactScorer | None:
        """The scorer, if it reads a fact of answers for a metric of scores."""
        if self._info.needs not in ("scores", "score_pairs"):
            return None
        chosen = self._asked if isinstance(self._asked, list) else self.chosen
        return chosen if isinstance(chosen, FactScorer) else None

    def reading(self, named: object) -> TextScorer:
        """Return the scorer of the fact that `score` names; this one where it names none."""
        if not isinstance(named, str) or not named.startswith(FACTS):
            return self
        if self._asked not in (self._info.scorer, named):
            raise ValueError(
                f"score={named!r} and scorer={self.name!r} name two; give one of them"
            )
        return TextScorer(self._info, named, self._scorers)

    @property
    def several(self) -> list[TextScorer]:
        """Each of the scorers that were asked for."""
        asked = [each for each in self._each_asked if each is not None]
        return [TextScorer(self._info, each, self._scorers) for each in asked]

    def numbers(self, texts: Sequence[str]) -> list[Any]:
        """Return one score or one vector per text, as plain numbers."""
        if isinstance(self.chosen, EmbeddingScorer):
            return list(self.chosen(texts).tolist())
        if hasattr(self.chosen, "range"):
            return list(self(texts).tolist())
        found = np.asarray(self.chosen(texts), dtype=np.float64)
        return list((found if found.ndim == 2 else score(lambda _: found, texts)).tolist())

    def __call__(self, texts: Sequence[str]) -> Any:
        """Return one score per text, or one vector for metrics on embeddings."""
        note_used("scorer", name_of(self.chosen), self.chosen)
        if self.fact is not None:
            # Equal texts may have different facts.
            return self.fact(texts)
        if self._vectors:
            return self.chosen(texts)
        ask = functools.partial(score, self.chosen)
        return ask(texts) if self._memory is None else self._memory(texts, ask)

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """Ask for the score of a text once, however often the metric is computed."""
        self._memory = RowCache()
        try:
            yield
        finally:
            self._memory = None


def scored(rows: Texts, scorer: Scorer) -> list[Any]:
    """Score every text once and keep the rows."""
    flat = [text for row in rows for text in row]
    scores = iter([float(x) for x in scorer(flat)])
    return [[next(scores) for _ in row] for row in rows]


def embedded(rows: Texts, encoder: Scorer) -> list[Any]:
    """Embed every text once and keep the rows: one array (n_generations, dim) each."""
    vectors = encoder([text for row in rows for text in row])
    ends = list(accumulate(len(row) for row in rows))
    return [vectors[end - len(row) : end] for end, row in zip(ends, rows, strict=True)]


def features_of(
    scorer: TextScorer, texts: Sequence[Any], keywords: Mapping[str, Any]
) -> list[Any] | None:
    """Score the masked answers with every scorer that the caller chose, side by side."""
    from pytest_llmfair.metrics.counterfactual.predictability import texts_to_read

    given = [*texts, *(keywords[name] for name in ("texts_a", "texts_b") if name in keywords)]
    if not scorer.several or len(given) != 2:
        return None
    hidden = (keywords.get(name) for name in ("mask", "mask_names", "ignore"))
    sides, _, _ = texts_to_read(*given, *hidden)
    texts = list(dict.fromkeys(text for side in sides for row in side for text in row))
    found = []
    for each in scorer.several:
        of_text = dict(zip(texts, each.numbers(texts), strict=True))
        found.append([[[of_text[text] for text in row] for row in side] for side in sides])
    return found


def unmasked(
    inputs: MetricInputs, names: bool | None, ignore: Any, shared_seeds: tuple[int, int]
) -> MetricInputs:
    """Mask what pairs do not name: given names, and what the caller ignores."""
    from pytest_llmfair.metrics.counterfactual.predictability import NAMED, hider

    if names is None:
        names = not NAMED.isdisjoint(inputs.attribute.split(" x "))
    hide_names, hide_ignored = hider(names, None), hider(False, ignore)
    named: set[str] = set()

    def hide(text: str) -> str:
        found = hide_names(text)
        if found != text:
            named.add(text)
        return hide_ignored(found)

    sides = tuple([[hide(text) for text in row] for row in side] for side in inputs.args)
    inputs = replace(inputs, args=sides, keywords={**inputs.keywords, "mask_names": False})
    if named:
        text = f"given names in {plural('different answer', len(named))} are masked as well"
        inputs = inputs.with_findings(Finding.note(f"{text} (mask_names=False reads them)"))
    if any(shared_seeds):
        text = (
            f"{shared_seeds[1]} prompts share {plural('seed', shared_seeds[0])}: a sampler makes "
            "the same choices for all of them, so that a reader can tell two lists of seeds "
            "apart; record answers with a seed for each prompt"
        )
        inputs = inputs.with_findings(Finding("shared_seeds", text, "invalid"))
    return inputs


class FileData(dict[str, Any]):
    """Arguments of a metric from a file; `asked` counts rows that lack a value, by group."""

    def __init__(
        self,
        arguments: Mapping[str, Any],
        asked: Mapping[str, Any] | None = None,
        factors: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(arguments)
        self.asked = asked or {}
        self.factors = factors or {}


def with_rows_left_out(
    inputs: MetricInputs, asked: Mapping[str, Any], max_missing: float
) -> MetricInputs:
    """Count the rows of a file that lack a value, by group."""
    if not asked:
        return inputs
    counts = count_missing(asked, max_missing)
    names, total = tuple(asked), sum(map(len, asked.values()))
    lost = sum(isinstance(a, Missing) for rows in asked.values() for row in rows for a in row)
    units = [[(name, i) for i in range(len(asked[name]))] for name in names]
    inputs = inputs.with_findings(*counts.findings, *rows_left_out(lost, total, "rows", counts))
    data = missing_data_of(list(asked.values()), names if len(names) > 1 else (), units)
    return replace(inputs, missing=counts.missing, missing_data=data)


def check_scored(info: MetricInfo) -> None:
    """Raise ``ValueError`` for a metric that does not compare scores of any kind."""
    if not takes(info, "score_range"):
        raise ValueError(
            f"{info.name} makes its scores from texts and takes none of a file; use "
            "score_difference"
        )


def from_scored(given: ScoredAnswers, max_missing: float) -> MetricInputs:
    """Return the scores as pairs where two groups have the same units, else by group."""
    # Scores are counted as answers are: what is missing is a `Missing`.
    names, paired = tuple(given.of.grouping.names), given.of.units is not None
    by_group = {name: [row for row in given.rows if row.group == name] for name in names}
    asked = cast("Mapping[str, Rows]", {n: [r.scores for r in own] for n, own in by_group.items()})
    counts = count_missing(asked, max_missing)
    kept = [
        row._replace(scores=there)
        for own in by_group.values()
        for row in own
        if (there := [x for x in row.scores if not isinstance(x, Missing)])
    ]
    if paired:
        groups: dict[str, set[str]] = {}
        for row in kept:
            groups.setdefault(row.unit, set()).add(row.group)
        kept = [row for row in kept if len(groups[row.unit]) > 1]
    findings = [*counts.findings, *_absent(*given.of.absent, max_missing)]
    units = {row.unit for row in given.rows}
    if text := given.of.left_out:
        findings.append(Finding("rows_left_out", text, "note"))
    if not kept:
        invalid = any(each.kind == "invalid" for each in findings)
        remedy = "" if invalid else "; run the evaluation again"
        findings.append(
            Finding.undefined(f"none of {len(units)} units has scores of two groups{remedy}")
        )
    elif lost := len(units) - len({row.unit for row in kept}):
        text = f"{lost} of {len(units)} units left out: a score is missing"
        findings.append(Finding("rows_left_out", text, "note"))
    keywords: dict[str, Any] = {"score": given.score}
    if given.range is not None:
        keywords["score_range"] = given.range
    two = paired and len(names) == 2
    sides = [[row for row in kept if not two or row.group == name] for name in names[: 1 + two]]
    keywords["units"] = [row.unit for row in sides[0]]
    keywords |= {"names": names} if two else {"groups": [row.group for row in kept]}
    return MetricInputs(
        args=tuple([row.scores for row in side] for side in sides),
        keywords=keywords,
        findings=tuple(findings),
        missing=counts.missing,
        missing_data=missing_data_of(
            list(asked.values()), names, [[r.unit for r in own] for own in by_group.values()]
        ),
        origin=(0, sum(len(row.scores) for row in given.rows)),
        prompts=[tuple(row.prompt for row in rows) for rows in zip(*sides, strict=True)],
        outputs=[
            # Scores may come without their answers.
            tuple(row.answers for row in rows) if all(row.answers for row in rows) else ()
            for rows in zip(*sides, strict=True)
        ],
        labels=names if two else (),
        attribute=given.of.grouping.attribute,
        model=given.of.model,
    )


def _absent(lost: int, planned: int, max_missing: float) -> list[Finding]:
    """Report planned answers that the file does not have, which nothing says the group of."""
    if not lost:
        return []
    text = f"{lost} of {planned} planned answers are not in the file"
    if lost / planned <= max_missing:
        return [Finding("answers_absent", text, "note")]
    text += f", more than max_missing = {max_missing:.0%}; run the evaluation to its end"
    return [Finding("missing", text, "invalid")]
