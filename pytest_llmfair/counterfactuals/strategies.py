"""Hypothesis strategies: prompts that name a group, counterfactual pairs, scores by group.

For property tests of prompts, metrics and models::

    from hypothesis import given
    from pytest_llmfair.counterfactuals import strategies as fair

    @given(fair.prompts("gender"))
    def test_every_prompt_gets_an_answer(prompt): ...

Import the module under a name of its own as above: a fixture of the plugin is called
`counterfactual_pairs` too. Hypothesis is the extra `property`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from pytest_llmfair.counterfactuals._loading import load_yaml
from pytest_llmfair.counterfactuals._name_swaps import name_lexicon
from pytest_llmfair.counterfactuals.lexicon import Lexicon
from pytest_llmfair.counterfactuals.pairs import Pair, generate_pairs, lexicon_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = ["counterfactual_pairs", "prompts", "scores_by_group"]


def prompts(
    attribute: str | Lexicon = "gender",
    groups: Sequence[str] | None = None,
    *,
    min_mentions: int = 1,
    max_mentions: int = 3,
    plain: bool = False,
) -> SearchStrategy[str]:
    """Texts that mention a protected attribute.

    Whole sentences around terms of the lexicon that may be written (no outdated words, no slurs),
    with other texts, spacing, punctuation, quotes and letters of any script around them. They
    shrink to one short sentence, such as "She asked for help."

    Parameters
    ----------
    attribute : str or Lexicon
        Name of a shipped lexicon, or a lexicon; for "name", `groups` are two names.
    groups : sequence of str, optional
        Groups to mention, by label or alias; by default those that are exchanged by default.
    min_mentions, max_mentions : int
        Fewest mentions of these groups, and most sentences that hold one.
    plain : bool
        Whether to leave out everything around the sentences.

    Returns
    -------
    SearchStrategy of str

    Raises
    ------
    ValueError
        If the attribute or a group is unknown, a group has no term that may be written, or the
        numbers are out of order.
    ImportError
        If Hypothesis is not installed.
    """
    require_hypothesis("strategies need")
    from hypothesis import strategies as st

    if not 1 <= min_mentions <= max_mentions:
        raise ValueError(
            f"min_mentions is {min_mentions}, max_mentions {max_mentions}; "
            "give 1 <= min_mentions <= max_mentions"
        )
    lexicon, wanted = _wanted(attribute, groups)
    # By role first: otherwise the few pronouns would hardly come up among hundreds of nouns.
    sentence = st.one_of(*map(st.sampled_from, _sentences(lexicon, wanted)))
    sentences = st.lists(sentence, min_size=min_mentions, max_size=max_mentions)
    if plain:
        return sentences.map(" ".join)
    around, between, fringes = (st.sampled_from(_data()[key]) for key in _SURROUNDINGS)
    case: Any = st.sampled_from([str, str, str, str.upper])
    fringe = st.one_of(fringes, st.text(max_size=12))

    @st.composite
    def texts(draw: DrawFn) -> str:
        said = [draw(around).format(draw(case)(one)) for one in draw(sentences)]
        before, after = draw(fringe), draw(fringe)
        parts = [*([before] if before else []), *said, *([after] if after else [])]
        for place in range(1, len(parts)):
            parts[place] = draw(between) + parts[place]
        return "".join(parts)

    def mentioned(text: str) -> bool:
        return sum(found.group in wanted for found in lexicon.mentions(text)) >= min_mentions

    return texts().filter(mentioned)


def counterfactual_pairs(
    attribute: str | Lexicon = "gender",
    groups: tuple[str, str] | None = None,
    *,
    min_mentions: int = 1,
    max_mentions: int = 3,
    plain: bool = False,
) -> SearchStrategy[Pair]:
    """Counterfactual pairs of generated prompts.

    Parameters
    ----------
    attribute, groups
        As in :func:`pytest_llmfair.counterfactuals.generate_pairs`.
    min_mentions, max_mentions, plain
        As in :func:`prompts`.

    Returns
    -------
    SearchStrategy of Pair
        Each as `generate_pairs` makes it; a prompt that gives several gives any of them.
    """
    require_hypothesis("strategies need")
    from hypothesis import strategies as st

    named = groups[:1] if groups is not None and attribute != "name" else groups
    lexicon = _wanted(attribute, groups)[0]
    texts = prompts(
        lexicon, named, min_mentions=min_mentions, max_mentions=max_mentions, plain=plain
    )
    made = texts.map(lambda text: generate_pairs([text], lexicon, groups))
    return made.filter(bool).flatmap(st.sampled_from)


def scores_by_group(
    groups: Sequence[str] = ("female", "male"),
    *,
    effect: float | None = None,
    min_size: int = 1,
    max_size: int = 20,
    low: float = 0.0,
    high: float = 1.0,
) -> SearchStrategy[dict[str, npt.NDArray[np.float64]]]:
    """Scores of several groups, with a difference between them that is known, or with any.

    Parameters
    ----------
    groups : sequence of str
        Labels, at least two.
    effect : float, optional
        How much higher the last group scores: all groups hold the same scores, each in an order of
        its own, and those of the last are higher by `effect`, so that its mean, its quantiles and
        its distance to every other group are known. 0 makes a fair sample. None draws every
        group, and its size, by itself.
    min_size, max_size : int
        Scores per group.
    low, high : float
        Range of the scores.

    Returns
    -------
    SearchStrategy of dict
        Group to an array of floats of shape (n,), in the order of `groups`.

    Raises
    ------
    ValueError
        If there are fewer than two groups, one twice, or the effect does not fit into the range.
    """
    require_hypothesis("strategies need")
    import numpy as np
    from hypothesis import strategies as st

    labels = list(groups)
    if isinstance(groups, str) or len(labels) < 2 or len(set(labels)) < len(labels):
        raise ValueError(f"groups is {groups!r}; give two or more labels, each once")
    if effect is not None and not 0.0 <= effect <= high - low:
        raise ValueError(
            f"effect is {effect}; scores in [{low:g}, {high:g}] can differ by 0 to {high - low:g}"
        )

    def scores(most: float) -> SearchStrategy[list[float]]:
        value = st.floats(low, most, allow_subnormal=False)
        return st.lists(value, min_size=min_size, max_size=max_size)

    if effect is None:
        free = st.fixed_dictionaries({label: scores(high) for label in labels})
        return free.map(lambda found: {label: np.array(own) for label, own in found.items()})
    shift = effect

    @st.composite
    def shifted(draw: DrawFn) -> dict[str, npt.NDArray[np.float64]]:
        own = draw(scores(high - shift))
        found = {label: np.array(draw(st.permutations(own)), float) for label in labels}
        found[labels[-1]] = np.minimum(found[labels[-1]] + shift, high)
        return found

    return shifted()


_SURROUNDINGS = ("around", "between", "fringes")


def require_hypothesis(who_needs: str) -> None:
    """Raise ``ImportError`` with the extra to install unless Hypothesis is there."""
    try:
        import hypothesis  # noqa: F401
    except ImportError:
        raise ImportError(
            f'{who_needs} hypothesis: pip install "pytest-llmfair[property]"'
        ) from None


def _wanted(
    attribute: str | Lexicon, groups: Sequence[str] | None
) -> tuple[Lexicon, tuple[str, ...]]:
    if attribute == "name":
        return (lexicon := name_lexicon(groups)), lexicon.groups  # type: ignore[arg-type]
    lexicon = lexicon_of(attribute)
    if isinstance(groups, str):
        raise ValueError(f"groups is one text, {groups!r}; give a list of groups")
    named = lexicon.default_groups if groups is None else tuple(map(lexicon.group, groups))
    return lexicon, named


@functools.cache
def _data() -> dict[str, Any]:
    path = resources.files("pytest_llmfair.counterfactuals") / "grammar" / "sentences.yaml"
    data: dict[str, Any] = load_yaml(path.read_text(encoding="utf-8"), path.name)
    return data


@functools.cache
def _sentences(lexicon: Lexicon, groups: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return by role every sentence that a term of the groups makes, the simplest first.

    A sentence in which the lexicon does not find its own term (a colour, a surname) is left out.
    """
    made: dict[str, list[tuple[int, str]]] = {}
    written: set[str] = set()
    for entry in lexicon.entries:
        for rank, frame in enumerate(_frames(lexicon.name, entry.role)):
            start = frame.index("{}")
            for group in groups:
                for term in entry.terms.get(group, ()):
                    if entry.register(term) not in ("preferred", "neutral"):
                        continue
                    text = frame.format(term if start else term[0].upper() + term[1:])
                    found = [(m.start, m.end, m.group) for m in lexicon.mentions(text)]
                    if found == [(start, start + len(term), group)]:
                        made.setdefault(entry.role, []).append((rank, text))
                        written.add(group)
    for group in groups:
        if group not in written:
            raise ValueError(
                f"no sentence can be written about {lexicon.name} {group}: the lexicon has no "
                "term for it that is preferred or neutral; leave the group out, or add a term"
            )
    return tuple(
        tuple(dict.fromkeys(text for _, text in sorted(own, key=lambda item: item[0])))
        for own in made.values()
    )


def _frames(attribute: str, role: str) -> list[str]:
    data = _data()
    role = data["like"].get(role, role)
    own: list[str] | None = data["attributes"].get(attribute, {}).get(role)
    return own or data["roles"].get(role) or data["roles"]["other"]
