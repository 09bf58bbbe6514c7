"""The data that FairPair compares: continuations of both prompts, perturbed to one group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from pytest_llmfair._util.validation import share, whole
from pytest_llmfair.counterfactuals.pairs import generate_pairs
from pytest_llmfair.counterfactuals.templates.filling import MetricRows
from pytest_llmfair.lexicons.attributes import Attribute, lexicon_for
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.probing.rewriting import rewrite_pairs, with_names
from pytest_llmfair.responses import Answer, Missing, Pair, PairedResponses
from pytest_llmfair.text import replaced

# Reason of an answer that is missing because it could not be perturbed.
NOT_PERTURBED = "not perturbed"
_UNSPACED = (".", ",", ";", ":", "!", "?", ")", "'", "\u2019")


class TooFewAnswers(ValueError):
    """Too few answers remain to represent all prompts.

    Attributes
    ----------
    responses : PairedResponses
        What was collected; those to the original are perturbed, and `Missing` where that failed.
    """

    def __init__(self, message: str, responses: PairedResponses) -> None:
        super().__init__(message)
        self.responses = responses

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the parts of a copy, so that it can be pickled."""
        return type(self), (*self.args, self.responses), self.__dict__


class FairPairAnswers(dict[str, Any]):
    """Arguments of the metric ``fairpair``, and what was left out on the way.

    Attributes
    ----------
    responses : PairedResponses
        All pairs with their answers; those to the original are perturbed, and `Missing` where
        that failed.
    missing : dict
        Side ("original", "counterfactual") to reason to number of missing answers.
    left_out : int
        Pairs with fewer than two answers on a side.

    Its continuations carry the groups for which the lexicon has no terms; the metric reports them.
    """

    responses: PairedResponses
    missing: dict[str, dict[str, int]]
    left_out: int

    @property
    def rejection_rate(self) -> float:
        """Share of the answers that could not be perturbed."""
        lost = self.missing["original"].get(NOT_PERTURBED, 0)
        return lost / sum(map(len, self.responses.original))


def collect_fairpair(
    prompts: Iterable[str],
    client: Any,
    *,
    attribute: Attribute = "gender",
    groups: tuple[str, str] | None = None,
    names: tuple[str, str] | None = None,
    generations: int = 100,
    perturber: Any = None,
    max_missing: float = 0.05,
    max_invalid: float = 0.10,
    seed: int | None = None,
) -> FairPairAnswers:
    """Collect what ``fairpair`` compares: p(g(x)) and g(p(x)) for every prompt x.

    For ``assert_fairpair_within(collect_fairpair(prompts, client), bound=1.1)``.

    Parameters
    ----------
    prompts : iterable of str
        Beginnings of texts that name a group.
    client : ModelClient or callable
        The model g.
    attribute, groups
        As in :func:`generate_pairs`; an attribute of more than two groups needs `groups`.
    names : (str, str), optional
        Names that stand for the groups and change with them, such as ("John", "Jane"), in the
        order of `groups`.
    generations : int
        Continuations a side, at least 2; the paper works with 100.
    perturber : ModelClient or callable, optional
        Model that rewrites the continuations, see :func:`rewrite_pairs`. By default the lexicon
        exchanges both groups in them, so that "her husband" becomes "his wife" as it would in the
        continuation of the perturbed prompt.
    max_missing, max_invalid : float
        Largest share of answers that may be missing on a side, or not perturbed.
    seed : int, optional
        Of the answers; by default the client's.

    Returns
    -------
    FairPairAnswers
        Mapping with `perturbed_continuations`, `continuations_of_perturbed` and `units`.

    Raises
    ------
    ValueError
        If no prompt makes a pair, the prompts compare several pairs of groups, or a share is
        outside [0, 1].
    TooFewAnswers
        A ``ValueError``: too many answers are missing or cannot be perturbed.

    Examples
    --------
    >>> def model(prompt):
    ...     return "she was late."
    >>> answers = collect_fairpair(["She said that"], model, generations=2)
    >>> answers["perturbed_continuations"], answers["continuations_of_perturbed"]
    ([['he was late.', 'he was late.']], [['she was late.', 'she was late.']])
    """
    from pytest_llmfair.clients import ModelClient

    generations = whole(generations, "generations", 2)
    max_missing, max_invalid = share(max_missing, "max_missing"), share(max_invalid, "max_invalid")
    lexicon = lexicon_for(attribute, groups)
    sides = _sides(lexicon, groups)
    exchanged = lexicon if names is None else with_names(lexicon, sides, names)
    pairs = generate_pairs(prompts, exchanged, groups)
    if not pairs:
        raise ValueError(
            f"no prompt makes a pair: no mention of {lexicon.name} that could be exchanged; name "
            "a group in the prompts"
        )
    model = client if hasattr(client, "answer_pairs") else ModelClient.of(client)
    responses = perturb_answers(
        model.answer_pairs(pairs, generations, seed=seed),
        attribute=lexicon,
        groups=sides,
        names=names,
        perturber=perturber,
    )
    found = FairPairAnswers()
    found.responses = responses
    found.missing = {}
    for side in ("original", "counterfactual"):
        rows = getattr(responses, side)
        lost = Counter(a.reason for row in rows for a in row if isinstance(a, Missing))
        found.missing[side] = dict(sorted(lost.items()))
        if reason := _too_few(lost, len(pairs) * generations, side, max_missing, max_invalid):
            raise TooFewAnswers(reason, responses)
    texts = [[[a for a in row if isinstance(a, str)] for row in both] for both in responses]
    kept = [i for i, both in enumerate(texts) if all(len(row) > 1 for row in both)]
    found.left_out = len(pairs) - len(kept)
    found["perturbed_continuations"] = MetricRows((texts[i][0] for i in kept), responses.lacks)
    found["continuations_of_perturbed"] = [texts[i][1] for i in kept]
    found["units"] = [pairs[i].original for i in kept]
    return found


def perturb_answers(
    responses: PairedResponses,
    *,
    attribute: Attribute = "gender",
    groups: tuple[str, str],
    names: tuple[str, str] | None = None,
    perturber: Any = None,
) -> PairedResponses:
    """Perturb the answers to the original prompts, or make them `Missing` with the reason."""
    lexicon = lexicon_for(attribute, groups)
    sides = _sides(lexicon, groups)
    if perturber is None:
        perturb = _exchange(lexicon if names is None else with_names(lexicon, sides, names))
    else:
        by_group = dict(zip(sides, names or (), strict=False))
        perturb = _rewriting(responses, perturber, lexicon, by_group)
    original = tuple(
        tuple(perturb(pair, answer) if isinstance(answer, str) else answer for answer in row)
        for pair, row in zip(responses.pairs, responses.original, strict=True)
    )
    return replace(responses, original=original)


def _sides(lexicon: Lexicon, groups: tuple[str, str] | None) -> tuple[str, str]:
    sides = lexicon.default_groups if groups is None else tuple(map(lexicon.group, groups))
    if len(sides) != 2:
        raise ValueError(
            f"{lexicon.name} has {len(sides)} groups, and FairPair compares two; give "
            f"groups=(from, to), of {', '.join(lexicon.groups)}"
        )
    return sides[0], sides[1]


def _too_few(
    lost: Mapping[str, int], asked: int, side: str, max_missing: float, max_invalid: float
) -> str:
    """Say why too few answers are left; "" if enough are."""
    invalid = lost.get(NOT_PERTURBED, 0)
    missing = sum(lost.values()) - invalid
    if missing > max_missing * asked:
        what, name, limit = (
            f"answers to the {side} prompts are missing",
            "max_missing",
            max_missing,
        )
        count, remedy = missing, "fix the client"
    elif invalid > max_invalid * asked:
        what, name, limit = "continuations cannot be perturbed", "max_invalid", max_invalid
        count, remedy = invalid, "look at this error's .responses"
    else:
        return ""
    reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(lost.items()))
    return (
        f"{count} of {asked} {what} ({reasons}), more than {name} = {limit:.0%}; "
        f"{remedy}, or raise {name}"
    )


def _exchange(lexicon: Lexicon) -> Callable[[Pair, str], Answer]:
    """Perturb a continuation with the lexicon, read after its prompt for context."""

    def perturb(pair: Pair, answer: str) -> Answer:
        begun = pair.original + _gap(pair.original, answer)
        to = {pair.from_group: pair.to_group, pair.to_group: pair.from_group}
        changes, lost = lexicon.exchanges(begun + answer, to)
        at = len(begun)
        if lost:
            return Missing(NOT_PERTURBED, f"no counterpart is listed for {', '.join(lost)}")
        if any(change.start < at < change.end for change in changes):
            return Missing(NOT_PERTURBED, "a term begins in the prompt and ends in the answer")
        own = [(c.start - at, c.end - at, c.after) for c in changes if c.start >= at]
        return replaced(answer, own)

    return perturb


def _rewriting(
    responses: PairedResponses, client: Any, lexicon: Lexicon, names: Mapping[str, str]
) -> Callable[[Pair, str], Answer]:
    """Perturb continuations together with their prompts, with a model."""
    # By groups and text, what the rewritten text begins with: each text is rewritten once.
    prefixes: dict[tuple[str, str], dict[str, str]] = {}
    for pair, row in zip(responses.pairs, responses.original, strict=True):
        for answer in row:
            if isinstance(answer, str):
                gap = _gap(pair.original, answer)
                own = prefixes.setdefault((pair.from_group, pair.to_group), {})
                own[pair.original + gap + answer] = pair.counterfactual + gap
    made: dict[tuple[str, str, str], Answer] = {}
    for groups, own in prefixes.items():
        rewritten = rewrite_pairs(
            list(own),
            client,
            attribute=lexicon,
            groups=groups,
            names=(names[groups[0]], names[groups[1]]) if names else None,
            prefixes=list(own.values()),
        )
        for failed in rewritten.rejected:
            reason = "; ".join(failed.reasons)
            made[(*groups, failed.pair.original)] = Missing(NOT_PERTURBED, reason)
        for pair in rewritten:
            begun = len(own[pair.original])
            made[(*groups, pair.original)] = pair.counterfactual[begun:]
    unnamed = Missing(NOT_PERTURBED, "has no mention to change")

    def perturb(pair: Pair, answer: str) -> Answer:
        text = pair.original + _gap(pair.original, answer) + answer
        return made.get((pair.from_group, pair.to_group, text), unnamed)

    return perturb


def _gap(prompt: str, answer: str) -> str:
    """Return the space between a prompt and its continuation, if one belongs there."""
    joined = prompt[-1:].isspace() or answer[:1].isspace() or answer.startswith(_UNSPACED)
    return "" if joined else " "
