"""The pair that a model answers most differently, with the shortest prompt that shows it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.validation import check_is_list, share, whole, whole_seed
from pytest_llmfair.counterfactuals.pairs import generate_pairs
from pytest_llmfair.counterfactuals.strategies import require_hypothesis
from pytest_llmfair.lexicons.attributes import Attribute, lexicon_of
from pytest_llmfair.probing.proof import leading, lower_end
from pytest_llmfair.probing.searching import (
    PAIRS_TESTED,
    BudgetedClient,
    PairDatabase,
    Search,
    smallest_p,
)
from pytest_llmfair.responses import Pair
from pytest_llmfair.text import replaced

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_MOST_DRAWN = 500
_MOST_ROUNDS = 20
_WIDTH = 160


@dataclass(frozen=True, slots=True)
class WorstPair:
    """What `find_worst_pair` found.

    Attributes
    ----------
    pair : Pair or None
        The pair, shortened; None when no difference is above the threshold and beyond noise.
    answers, twin_answers : tuple of str
        Answers to its members, sampled after it was chosen.
    dissimilarity : float
        Mean dissimilarity of these answers across the sides; NaN without a pair.
    floor : float
        Mean dissimilarity of two of them on the same side.
    lower : float or None
        With `confirm`, the lower end of the gap on these answers.
    p : float
        P-value of the permutation test that both sides have one distribution, on these answers.
    found_as : str
        The prompt before it was shortened.
    shortest : bool
        Whether no word can be removed without losing the difference; False if the budget ended
        first, or new answers did not confirm it.
    replayed : bool
        Whether the pair is known from an earlier run.
    calls, max_calls : int
        Answers asked for, and the most that were allowed.
    tried : int
        Pairs asked in the search.
    missing : mapping
        Reason to number of missing answers; they never count as different.
    reason : str
        Why there is no pair; empty when there is one.
    metric, attribute : str
        Dissimilarity and protected attribute.
    """

    pair: Pair | None
    answers: tuple[str, ...] = ()
    twin_answers: tuple[str, ...] = ()
    dissimilarity: float = float("nan")
    floor: float = float("nan")
    p: float = 1.0
    found_as: str = ""
    shortest: bool = False
    replayed: bool = False
    calls: int = 0
    max_calls: int = 0
    tried: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""
    lower: float | None = None
    metric: str = ""
    attribute: str = ""

    def __str__(self) -> str:
        spent = f"{self.calls} of {self.max_calls} calls, {self.tried} pairs tried"
        if self.missing:
            lost = ", ".join(f"{count} {reason}" for reason, count in self.missing.items())
            spent += f", missing answers: {lost}"
        if self.pair is None:
            return f"no worst pair ({self.metric}, {self.attribute}): {self.reason}\n  {spent}"
        proof = "" if self.lower is None else f", proven gap of at least {self.lower:.2f}"
        edits = [(e.start, e.end, f"{{{e.before}|{e.after}}}") for e in self.pair.edits]
        lines = [
            f"worst pair ({self.metric}, {self.attribute}): {self.dissimilarity:.2f}, "
            f"noise floor {self.floor:.2f}, p = {self.p:.2g} on {len(self.answers)} and "
            f"{len(self.twin_answers)} new answers{proof}",
            f"  {_shown(replaced(self.pair.original, edits))}",
            f"    {self.pair.from_group}: {_shown(self.answers[0])}",
            f"    {self.pair.to_group}: {_shown(self.twin_answers[0])}",
        ]
        if self.found_as != self.pair.original:
            lines.append(f"  shortened from {_shown(self.found_as)}")
        if not self.shortest:
            lines.append("  perhaps not the shortest: raise max_calls to go on")
        if self.replayed:
            lines.append("  known from an earlier run")
        return "\n".join([*lines, f"  {spent}"])


def find_worst_pair(
    client: Any,
    prompts: Iterable[str] | SearchStrategy[str],
    metric: str | Callable[[str, str], float] = "rouge_l",
    *,
    attribute: Attribute = "gender",
    groups: tuple[str, str] | None = None,
    threshold: float = 0.0,
    max_calls: int = 200,
    generations: int = 5,
    level: float = 0.95,
    mask: Any = None,
    scorer: Any = None,
    seed: int = 0,
    database: Any = "default",
    confirm: bool = False,
) -> WorstPair:
    """Search for the pair that a model answers most differently, and shorten its prompt.

    First as many pairs as half of the budget allows are asked, and the one whose answers differ
    most beyond the noise floor is kept. Then words are removed from its prompt while the answers
    still differ. Finally the pair is asked again. It is reported only if these new answers differ
    by more than `threshold` and a permutation test shows that they differ by more than repeats do.
    A model whose repeats agree needs fewer calls.

    Parameters
    ----------
    client : ModelClient or callable
        The model.
    prompts : iterable of str, or SearchStrategy of str
        Prompts, or a strategy such as :func:`pytest_llmfair.counterfactuals.strategies.prompts`.
    metric : str or callable
        Dissimilarity of two answers, as in ``assert_counterfactual_invariance``.
    attribute, groups
        As in :func:`generate_pairs`.
    threshold : float
        A difference must be above it, in [0, 1): the `eps` of your assertion.
    max_calls : int
        Most answers that are asked for, retries of the backend aside.
    generations : int
        Answers a side of the last test.
    level : float
        Probability with which a model that treats all pairs alike gets no pair reported.
    mask, scorer
        As in ``assert_counterfactual_invariance``. Mask the attribute, unless you want to detect a
        model that repeats the prompt.
    seed : int
        Of the answers, and of the choice among more prompts than can be asked. What a strategy
        draws also depends on the version of Hypothesis and on your own modules that are loaded.
        For a search that is the same everywhere, give a list of prompts.
    database : ExampleDatabase, "default" or None
        Hypothesis database that stores the pair, by model, metric, attribute and prompts. The next
        run tries it first, and searches only if it no longer differs. "default" is the
        database of the Hypothesis settings in force.
    confirm : bool
        Prove the gap: keep half of the budget for new answers, and report the pair only if an
        interval at `level` puts its gap above `threshold`. The gap is the difference of mean
        scores, or what answers differ by beyond the noise floor. The shortened prompt and the one
        it was found as are tested, each at half of the error rate.

    Returns
    -------
    WorstPair
        ``.pair`` is None when nothing was proven; ``.reason`` then says what was seen.

    Raises
    ------
    ValueError
        If no prompt makes a pair, an argument is out of range, or `database` is not a database.
    ImportError
        If Hypothesis is not installed.

    Examples
    --------
    >>> def model(prompt):
    ...     return "No." if prompt.startswith("She") else "Sure."
    >>> found = find_worst_pair(model, ["She asked for help with a form."], database=None)
    >>> found.pair.original, found.answers[0], found.twin_answers[0]
    ('She', 'No.', 'Sure.')
    """
    require_hypothesis("find_worst_pair needs")
    from pytest_llmfair.judging.invariance import measure_of

    seed = whole_seed(seed)
    alpha = (1.0 - share(level, "level")) / PAIRS_TESTED
    _check(threshold, max_calls, generations, alpha)
    measure = measure_of(metric, mask, scorer)
    budgeted = BudgetedClient(client, measure, max_calls, seed)
    name = attribute if isinstance(attribute, str) else lexicon_of(attribute).name

    def pairs_of(text: str) -> Sequence[Pair]:
        return generate_pairs([text], attribute, groups)

    texts = _texts(prompts, max_calls, seed)
    pairs = list(dict.fromkeys(generate_pairs(texts, attribute, groups)))
    if not pairs:
        raise ValueError(
            f"none of the {len(texts)} prompts makes a pair: no mention of {name} that could be "
            "exchanged; name a group in the prompts"
        )
    # A strategy can draw other texts in another session, so its pair is stored by its name.
    asked_about = texts if isinstance(prompts, Iterable) else repr(prompts)
    memory = PairDatabase.of(database, budgeted.name, measure.symbol, name, groups, asked_about)
    search = Search(budgeted, pairs_of, threshold, generations, alpha, confirm)
    return replace(
        _found(search, memory, pairs, seed),
        calls=budgeted.calls,
        max_calls=max_calls,
        tried=search.tried,
        missing=dict(sorted(budgeted.missing.items())),
        metric=measure.symbol,
        attribute=name,
    )


def _found(search: Search, memory: PairDatabase, pairs: Sequence[Pair], seed: int) -> WorstPair:
    """Screen the pairs, shorten the worst prompt, and test both prompts on new answers."""
    known = search.known(memory)
    start = known
    if start is None:
        start = leading(search, pairs, seed) if search.confirm else search.screen(pairs, seed)
    if start is None:
        return WorstPair(None, reason=search.reason)
    shorter = search.shortened(start)
    lower = None
    for pair, last in search.tests(list(dict.fromkeys([shorter, start]))):
        proven = last.proven(search.threshold, search.alpha)
        if search.confirm:
            lower = lower_end(search.client, last, search.alpha / PAIRS_TESTED)
            proven = lower > search.threshold
        if proven:
            memory.keep(pair)
            return WorstPair(
                pair,
                last.answers,
                last.twin_answers,
                last.value,
                last.floor,
                last.p,
                found_as=start.original,
                shortest=pair == shorter and not search.stopped,
                replayed=known is not None,
                lower=lower,
            )
    proof = "" if lower is None else f"; a gap of at least {lower:.2f} is proven"
    return WorstPair(None, reason=search.reason + proof)


def _check(threshold: float, max_calls: int, generations: int, alpha: float) -> None:
    if share(threshold, "threshold") == 1.0:
        raise ValueError(f"threshold is {threshold}; dissimilarities are in [0, 1], give less")
    whole(max_calls, "max_calls")
    if not 0.0 < alpha < 0.5:
        raise ValueError(f"level is {1 - PAIRS_TESTED * alpha:g}; give a share such as 0.95")
    needed = next(n for n in itertools.count(1) if smallest_p(n) <= alpha)
    if whole(generations, "generations") < needed:
        raise ValueError(
            f"generations is {generations!r}; no difference can be proven at level "
            f"{1 - PAIRS_TESTED * alpha:g} with fewer than {needed} answers a side"
        )


def _texts(prompts: Any, max_calls: int, seed: int) -> Any:
    """Return the prompts, or as many of a strategy as the budget could ask about."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from hypothesis.strategies import SearchStrategy

    if not isinstance(prompts, SearchStrategy):
        check_is_list(prompts)
        return list(prompts)
    drawn: dict[str, None] = {}
    wanted = min(max_calls, _MOST_DRAWN)

    @settings(
        max_examples=wanted,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(prompts)
    def draw(text: str) -> None:
        if len(drawn) < wanted:
            drawn.setdefault(text)

    # Draws repeat, so draw again until there are enough, or until a round adds nothing.
    for again in range(_MOST_ROUNDS):
        before = len(drawn)
        seeded(seed + again)(draw)()
        if len(drawn) in (before, wanted):
            break
    return list(drawn)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "\u2026")
