"""Candidates with scores, their comparison with a reference group, and selection at a quota."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pytest_llmfair._util.validation import whole
from pytest_llmfair.metrics.allocation._comparisons import (
    PairwiseScores,
    groups_of,
    judge_findings,
)
from pytest_llmfair.metrics.arguments import (
    Floats,
    RowNumbers,
    flags,
    flat_scores,
    known_population,
    labels,
    note_constant,
    reference_groups,
)
from pytest_llmfair.stats import (
    Estimate,
    Finding,
    GroupRow,
    MaxDistance,
    MaxPairwiseDifference,
    Population,
    Sample,
    Table,
    Undefined,
)

E = TypeVar("E", bound=Estimate)

# Up to so many labels comparing whole arrays is faster than row by row.
_FEW_LABELS = 32
# So many rows show whether labels are few.
_FIRST = 1000


@dataclass(frozen=True, slots=True)
class Candidates:
    """Checked candidates, column by column."""

    # `group` is the index in `names` of each candidate's group, `pool` the index in `pools` of its
    # pool, and `unit` the number of its sampling unit. Only candidates with `qualified` are
    # compared, and only within `strata`.

    scores: Floats
    names: list[Hashable]
    group: RowNumbers
    pools: list[Hashable]
    pool: RowNumbers | None
    unit: RowNumbers | None
    qualified: npt.NDArray[np.bool_] | None
    strata: list[Hashable] | None
    judge: Sequence[Finding] = ()

    @classmethod
    def read(
        cls,
        scores: Any,
        groups: Any,
        *,
        rounds: Any,
        units: Any,
        qualified: Any = None,
        strata: Any = None,
    ) -> Candidates:
        """Check the columns; a mapping from (pool, candidate) brings its pools along."""
        if rounds is not None and units is not None:
            raise TypeError("give rounds or units, not both: they are the same thing")
        pools, argument = (rounds, "rounds") if units is None else (units, "units")
        judge: Sequence[Finding] = ()
        if isinstance(scores, Mapping):
            keys = _pool_keys(scores)
            if not isinstance(groups, Mapping):
                raise ValueError(
                    f"groups is a {type(groups).__name__}; scores by (pool, candidate) need a "
                    "mapping from candidate to group"
                )
            if isinstance(scores, PairwiseScores):
                own = groups_of(scores.comparisons, groups)
                judge = judge_findings(scores.comparisons, own, scores.max_inconsistent)
            if rounds is None:
                pools, argument = [pool for pool, _ in keys], "rounds"
            groups, pools, units, qualified, strata = (
                _by_candidate(values, keys, name)
                for values, name in (
                    (groups, "groups"),
                    (pools, argument),
                    (units, "units"),
                    (qualified, "qualified"),
                    (strata, "strata"),
                )
            )
            scores = list(scores.values())
        values = flat_scores(scores)
        n = len(values)
        names, group = _numbered(groups, "groups", n)
        known, pool = ([], None) if pools is None else _numbered(pools, argument, n)
        return cls(
            values,
            names,
            group,
            known,
            pool,
            pool if units is None else _numbered(units, "units", n)[1],
            None if qualified is None else np.array(flags(qualified, "qualified", n)),
            None if strata is None else labels(strata, "strata", n),
            judge,
        )

    def compare(
        self,
        reference: Any,
        population: Population,
        make: Callable[[RowNumbers, RowNumbers], E],
        *,
        rate: Callable[[RowNumbers], float] | None = None,
        worst: type[MaxPairwiseDifference] = MaxPairwiseDifference,
    ) -> E | MaxPairwiseDifference | Undefined:
        """Compare every group with its reference: one estimate, or the worst of several."""
        # `make` turns the rows of a group and of its reference into an estimate.
        known_population(population)
        rows = self.contrasts(reference)
        word = "against" if worst is MaxDistance else "minus"
        compared: dict[Hashable, E | Undefined] = {
            key: make(a, b)
            if a.size and b.size
            else self._empty_comparison(key, a, reference, population)
            for key, (a, b) in rows.items()
        }
        several = len(compared) > 1 or self.strata is not None
        estimate = one_or_worst(
            compared,
            {key: len(a) for key, (a, _) in rows.items()},
            {key: rate(a) for key, (a, _) in rows.items() if rate is not None and a.size},
            worst if several else None,
        )
        if several:
            # The candidates of the reference are in every pair, but count once.
            estimate = replace(estimate, sample=self._sample(population))
        estimate = replace(estimate, unit="" if self.pool is None else "round")
        estimate = estimate.with_findings(
            *(
                Finding.note(
                    f"{describe_key(key)} {word} {describe_reference(reference)}: "
                    f"{len(a)} against {len(b)} candidates"
                )
                for key, (a, b) in rows.items()
            )
        )
        return note_constant(estimate, [self.scores]).with_findings(*self.judge)

    def compare_scores(
        self,
        reference: Any,
        population: Population,
        make: Callable[..., E],
        worst: type[MaxPairwiseDifference] = MaxPairwiseDifference,
        quota: Any = None,
    ) -> E | MaxPairwiseDifference | Undefined:
        """Compare scores with the reference's, and note gaps of the selection at a quota."""
        of_rows = partial(self.between, make, self.scores, population=population)
        estimate = self.compare(reference, population, of_rows, worst=worst)
        if quota is None:
            return estimate
        k = whole(quota, "k")
        chosen = self.selected(k, f"k={k}")
        gaps = [
            f"{describe_key(key)} {chosen[a].mean() - chosen[b].mean():+.3f}"
            for key, (a, b) in self.contrasts(reference).items()
            if a.size and b.size
        ]
        shown = (
            f"selection rate minus the reference's at k = {k}: {', '.join(gaps) or 'none'} (a "
            "bound on the value above does not bound this)"
        )
        return estimate.with_findings(Finding.note(shown))

    def between(
        self,
        make: Callable[..., E],
        values: Floats,
        rows_a: Any,
        rows_b: Any,
        *,
        population: Population,
    ) -> E:
        """Compare values of two sets of rows."""
        return make(
            values[rows_a],
            values[rows_b],
            units_a=self.units(rows_a),
            units_b=self.units(rows_b),
            population=population,
        )

    def contrasts(self, reference: Any) -> dict[Hashable, tuple[RowNumbers, RowNumbers]]:
        """Return the qualified rows of every group and of its reference, also by stratum."""
        against = contrasts(self.names, reference)
        number = {name: i for i, name in enumerate(self.names)}
        found: dict[Hashable, tuple[RowNumbers, RowNumbers]] = {}
        for stratum, group in self._strata():
            sides = {}
            for name, others in against.items():
                # The last entry is for -1, the rows of other strata.
                opposite = np.zeros(len(number) + 1, dtype=np.bool_)
                opposite[[number[other] for other in others]] = True
                sides[name] = group == number[name], opposite[group]
            sides = {name: (a, b) for name, (a, b) in sides.items() if a.any()}
            if not sides or not all(b.any() for _, b in sides.values()):
                present = [str(name) for name in self.names if (group == number[name]).any()]
                raise ValueError(
                    f"stratum {stratum} holds {' and '.join(present)} only; it needs a group and "
                    f"its reference ({describe_reference(reference)}): leave it out or merge it"
                )
            for name, (a, b) in sides.items():
                key = name if self.strata is None else stratum
                if self.strata is not None and len(against) > 1:
                    key = (stratum, name)
                found[key] = self.rows(a), self.rows(b)
        return found

    def units(self, rows: RowNumbers) -> RowNumbers | None:
        """Return the numbers of the sampling units of some rows; None when each is its own."""
        return None if self.unit is None else self.unit[rows]

    def selected(self, k: int, who: str) -> Floats:
        """Return the probability of each to be among the top k of its pool; ties share places."""
        scores, pool = self.scores, self.pools_for(who)
        sizes = np.bincount(pool)
        if (sizes < k).any():
            small = int(np.argmax(sizes < k))
            raise ValueError(
                f"round {self.pools[small]} has {sizes[small]} candidates, fewer than k = {k}; "
                "lower k or leave the round out"
            )
        order = np.lexsort((-scores, pool))
        ends = np.cumsum(sizes)
        cut = scores[order][ends - sizes + k - 1][pool]
        above = np.bincount(pool, weights=scores > cut)
        tied = np.bincount(pool, weights=scores == cut)
        left = ((k - above) / tied)[pool]
        return np.where(scores > cut, 1.0, np.where(scores == cut, left, 0.0))

    def pools_for(self, who: str) -> RowNumbers:
        """Return the number of each candidate's pool, which a selection needs."""
        if self.pool is None:
            raise TypeError(
                f"{who} needs rounds=..., the pool of each candidate; one label for all if there "
                "is one pool"
            )
        return self.pool

    def _strata(self) -> Iterator[tuple[Hashable, RowNumbers]]:
        """Yield each stratum with the number of each row's group, -1 outside the stratum."""
        if self.strata is None:
            yield None, self.group
            return
        names, inside = _numbered(self.strata, "strata", len(self.group))
        for i, name in enumerate(names):
            yield name, np.where(inside == i, self.group, -1)

    def rows(self, inside: npt.NDArray[np.bool_]) -> RowNumbers:
        """Return the qualified rows among some."""
        return np.flatnonzero(inside if self.qualified is None else inside & self.qualified)

    def _empty_comparison(
        self, key: Hashable, rows: RowNumbers, reference: Any, population: Population
    ) -> Undefined:
        who = describe_reference(reference) if rows.size else describe_key(key)
        return Undefined(
            undefined=f"no candidate of {who} is qualified: there is nothing to compare",
            sample=self._sample(population),
        )

    def _sample(self, population: Population) -> Sample:
        """Count the units and candidates that are compared."""
        rows = self.rows(np.ones(len(self.scores), dtype=np.bool_))
        sizes = np.bincount(rows if self.unit is None else self.unit[rows])
        return Sample.of_sizes(sizes[sizes > 0], population)


def contrasts(names: Sequence[Hashable], reference: Any) -> dict[Hashable, list[Hashable]]:
    """Return, for each group that is compared, the groups of its reference."""
    if len(names) < 2:
        raise ValueError(
            f"groups holds {len(names)} group ({', '.join(map(str, names))}); "
            "a comparison needs at least two"
        )
    against = reference_groups(reference, names)
    if against is None:
        # With two groups the second comparison is the first one with the opposite sign.
        compared = names if len(names) > 2 else names[:1]
        return {name: [other for other in names if other != name] for name in compared}
    if not against:
        raise ValueError("reference is an empty list; name at least one group")
    for name in against:
        if name not in names:
            raise ValueError(
                f"reference {name!r} is no group with candidates; "
                f"groups are {', '.join(map(str, names))}"
            )
    others = [name for name in names if name not in against]
    if not others:
        raise ValueError(
            f"every group is in the reference {describe_reference(reference)}; leave one out"
        )
    return dict.fromkeys(others, against)


def one_or_worst(
    compared: Mapping[Hashable, E | Undefined],
    sizes: Mapping[Hashable, int],
    rates: Mapping[Hashable, float],
    worst: type[MaxPairwiseDifference] | None,
) -> E | MaxPairwiseDifference | Undefined:
    """Return the only comparison, or the largest size of any, with a table of all."""
    estimate: E | MaxPairwiseDifference | Undefined
    table: Mapping[Hashable, GroupRow]
    if worst is None:
        ((key, estimate),) = compared.items()
        table = {key: GroupRow(estimate.value, 0, estimate=estimate)}
    else:
        estimate = worst.of_pairs(compared)
        table = estimate.groups
        missing = [part.undefined for part in compared.values() if part.undefined is not None]
        if missing:
            why = "; ".join(dict.fromkeys(missing))
            estimate = Undefined(undefined=why, sample=estimate.sample)

    def row(key: Hashable) -> GroupRow:
        return replace(table[key], n=sizes[key], rate=rates.get(key, table[key].rate))

    return replace(estimate, groups=Table(table, row))


def describe_reference(reference: Any) -> str:
    """Return the name of a reference."""
    if isinstance(reference, str) and reference == "rest":
        return "everyone else"
    if isinstance(reference, (list, tuple, np.ndarray)):
        return " or ".join(map(str, reference))
    return str(reference)


def describe_key(key: Hashable) -> str:
    """Return the name of a group, a stratum, or both."""
    return " / ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _numbered(values: Any, argument: str, rows: int) -> tuple[list[Hashable], RowNumbers]:
    """Return the distinct labels in order of appearance, and the number of each row's."""
    plain = type(values) is np.ndarray and values.shape == (rows,) and values.dtype.kind in "biuU"
    if plain and len(set(values[:_FIRST].tolist())) <= _FEW_LABELS:
        names: list[Hashable] = []
        index, left = np.zeros(rows, dtype=np.intp), np.ones(rows, dtype=np.bool_)
        while left.any() and len(names) < _FEW_LABELS:
            name = values[left.argmax()]
            same = values == name
            index += same * len(names)
            left ^= same
            names.append(name.item())
        if not left.any():
            return names, index
    numbers: dict[Hashable, int] = {}
    found = (numbers.setdefault(label, len(numbers)) for label in labels(values, argument, rows))
    index = np.fromiter(found, dtype=np.intp, count=rows)
    return list(numbers), index


def _pool_keys(scores: Mapping[Any, Any]) -> list[tuple[Hashable, Hashable]]:
    keys = list(scores)
    for key in keys:
        if not (isinstance(key, tuple) and len(key) == 2):
            raise ValueError(
                f"scores has the key {str(key)[:60]!r}; give a list, or keys (pool, candidate)"
            )
    return keys


def _by_candidate(values: Any, keys: Sequence[tuple[Hashable, Hashable]], argument: str) -> Any:
    """Return one entry per (pool, candidate) from a mapping of either."""
    if not isinstance(values, Mapping):
        return values
    for key in keys:
        if key not in values and key[1] not in values:
            raise ValueError(f"{argument} has no entry for candidate {key[1]!r}; add it")
    return [values.get(key, values.get(key[1])) for key in keys]
