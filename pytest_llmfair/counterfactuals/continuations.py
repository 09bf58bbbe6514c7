"""What FairPair compares, from prompts and a model: both sides about the same group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_llmfair.checks import share, whole
from pytest_llmfair.counterfactuals.attribute import Attribute, lexicon_for
from pytest_llmfair.counterfactuals.lexicon import Lexicon
from pytest_llmfair.counterfactuals.pairs import Pair, generate_pairs
from pytest_llmfair.counterfactuals.rewriting import rewrite_pairs, with_names
from pytest_llmfair.counterfactuals.templates import Rows
from pytest_llmfair.text import replaced

if TYPE_CHECKING:
    from pytest_llmfair.responses import Answer, PairedResponses

_NOT_PERTURBED = "not perturbed"
_UNSPACED = (".", ",", ";", ":", "!", "?", ")", "'", "\u2019")


class TooFewAnswers(ValueError):
    """Too few answers are left to stand for all.

    Attributes
    ----------
    responses : PairedResponses
        What was collected; those to the original are perturbed, and `Missing` where that failed.
    """

    def __init__(self, message: str, responses: PairedResponses) -> None:
        super().__init__(message)
        self.responses = responses

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes a copy, so that it can be pickled."""
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

    Its continuations know the groups for which the lexicon has no terms, and the metric tells.
    """

    responses: PairedResponses
    missing: dict[str, dict[str, int]]
    left_out: int

    @property
    def rejection_rate(self) -> float:
        """Share of the answers that could not be perturbed."""
        lost = self.missing["original"].get(_NOT_PERTURBED, 0)
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
        If no prompt makes a pair, the prompts compare several pairs of groups, or a share is none.
    TooFewAnswers
        A ``ValueError``: too many answers are missing or cannot be perturbed.
    """
    from pytest_llmfair.clients import ModelClient
    from pytest_llmfair.responses import Missing

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
    responses = model.answer_pairs(pairs, generations, seed=seed)
    perturb = (
        _Exchange(exchanged)
        if perturber is None
        else _Rewriting(perturber, lexicon, dict(zip(sides, names or (), strict=False)))
    )
    perturbed = perturb.rows(responses.pairs, responses.original)
    responses = replace(responses, original=perturbed)
    found = FairPairAnswers()
    found.responses = responses
    found.missing = {}
    for side in ("original", "counterfactual"):
        rows = getattr(responses, side)
        lost = Counter(a.reason for row in rows for a in row if isinstance(a, Missing))
        found.missing[side] = dict(sorted(lost.items()))
        _refuse(responses, lost, len(pairs) * generations, side, max_missing, max_invalid)
    texts = [[[a for a in row if isinstance(a, str)] for row in both] for both in responses]
    kept = [i for i, both in enumerate(texts) if all(len(row) > 1 for row in both)]
    found.left_out = len(pairs) - len(kept)
    found["perturbed_continuations"] = Rows((texts[i][0] for i in kept), responses.lacks)
    found["continuations_of_perturbed"] = [texts[i][1] for i in kept]
    found["units"] = [pairs[i].original for i in kept]
    return found


def _sides(lexicon: Lexicon, groups: tuple[str, str] | None) -> tuple[str, str]:
    sides = lexicon.default_groups if groups is None else tuple(map(lexicon.group, groups))
    if len(sides) != 2:
        raise ValueError(
            f"{lexicon.name} has {len(sides)} groups, and FairPair compares two; give "
            f"groups=(from, to), of {', '.join(lexicon.groups)}"
        )
    return sides[0], sides[1]


def _refuse(
    responses: PairedResponses,
    lost: Mapping[str, int],
    asked: int,
    side: str,
    max_missing: float,
    max_invalid: float,
) -> None:
    """Raise :class:`TooFewAnswers` when too few answers are left to stand for all."""
    invalid = lost.get(_NOT_PERTURBED, 0)
    missing = sum(lost.values()) - invalid
    for count, limit, what, remedy in (
        (missing, max_missing, f"answers to the {side} prompts are missing", "fix the client"),
        (
            invalid,
            max_invalid,
            "continuations cannot be perturbed",
            "look at this error's .responses",
        ),
    ):
        if count > limit * asked:
            name = "max_missing" if what.endswith("missing") else "max_invalid"
            reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(lost.items()))
            raise TooFewAnswers(
                f"{count} of {asked} {what} ({reasons}), more than {name} = {limit:.0%}; "
                f"{remedy}, or raise {name}",
                responses,
            )


class _Exchange:
    """Perturbs continuations with the lexicon; each is read behind its prompt, for context."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def rows(
        self, pairs: Sequence[Pair], rows: Sequence[Sequence[Answer]]
    ) -> tuple[tuple[Answer, ...], ...]:
        return tuple(
            tuple(a if not isinstance(a, str) else self._perturbed(pair, a) for a in row)
            for pair, row in zip(pairs, rows, strict=True)
        )

    def _perturbed(self, pair: Pair, answer: str) -> Answer:
        from pytest_llmfair.responses import Missing

        begun = pair.original + _gap(pair.original, answer)
        to = {pair.from_group: pair.to_group, pair.to_group: pair.from_group}
        changes, lost = self._lexicon.exchanges(begun + answer, to)
        at = len(begun)
        if lost:
            return Missing(_NOT_PERTURBED, f"no counterpart is listed of {', '.join(lost)}")
        if any(change.start < at < change.end for change in changes):
            return Missing(_NOT_PERTURBED, "a term begins in the prompt and ends in the answer")
        return replaced(
            answer, [(c.start - at, c.end - at, c.after) for c in changes if c.start >= at]
        )


class _Rewriting:
    """Perturbs continuations with a model, together with their prompts."""

    def __init__(self, client: Any, lexicon: Lexicon, names: Mapping[str, str]) -> None:
        self._client = client
        self._lexicon = lexicon
        self._names = names

    def rows(
        self, pairs: Sequence[Pair], rows: Sequence[Sequence[Answer]]
    ) -> tuple[tuple[Answer, ...], ...]:
        made = [list(row) for row in rows]
        for groups in dict.fromkeys((pair.from_group, pair.to_group) for pair in pairs):
            own = [i for i, pair in enumerate(pairs) if (pair.from_group, pair.to_group) == groups]
            self._rewrite(groups, [pairs[i] for i in own], [made[i] for i in own])
        return tuple(map(tuple, made))

    def _rewrite(
        self, groups: tuple[str, str], pairs: list[Pair], rows: list[list[Answer]]
    ) -> None:
        from pytest_llmfair.responses import Missing

        # A text that came up twice is rewritten once.
        prefixes: dict[str, str] = {}
        for pair, row in zip(pairs, rows, strict=True):
            for answer in row:
                if isinstance(answer, str):
                    gap = _gap(pair.original, answer)
                    prefixes[pair.original + gap + answer] = pair.counterfactual + gap
        texts = list(prefixes)
        if not texts:
            return
        names = (self._names[groups[0]], self._names[groups[1]]) if self._names else None
        made = rewrite_pairs(
            texts,
            self._client,
            attribute=self._lexicon,
            groups=groups,
            names=names,
            prefixes=list(prefixes.values()),
        )
        outputs = {pair.original: pair.counterfactual for pair in made}
        reasons = {each.pair.original: "; ".join(each.reasons) for each in made.rejected}
        for pair, row in zip(pairs, rows, strict=True):
            for place, answer in enumerate(row):
                if isinstance(answer, str):
                    text = pair.original + _gap(pair.original, answer) + answer
                    row[place] = (
                        outputs[text][len(prefixes[text]) :]
                        if text in outputs
                        else Missing(_NOT_PERTURBED, reasons.get(text, "names nobody to change"))
                    )


def _gap(prompt: str, answer: str) -> str:
    """Return the blank that belongs between a prompt and its continuation, if any does."""
    joined = prompt[-1:].isspace() or answer[:1].isspace() or answer.startswith(_UNSPACED)
    return "" if joined else " "
