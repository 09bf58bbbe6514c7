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
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.located import shipped
from pytest_llmfair._util.validation import check_is_list, install, number, whole
from pytest_llmfair.counterfactuals.pairs import pairs_of_part
from pytest_llmfair.lexicons.attributes import Attribute, lexicon_for
from pytest_llmfair.lexicons.intersections import Intersection
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.terms import WRITTEN, is_joined
from pytest_llmfair.responses import Pair

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = ["counterfactual_pairs", "prompts", "scores_by_group"]

_FILE = "counterfactuals/sentences.yaml"


def prompts(
    attribute: Attribute = "gender",
    groups: Sequence[str] | None = None,
    *,
    min_mentions: int = 1,
    max_mentions: int = 3,
    plain: bool = False,
) -> SearchStrategy[str]:
    """Texts that mention a protected attribute.

    Whole sentences around terms of the lexicon that may be written (no outdated words, no slurs),
    with other texts, spacing, punctuation, quotes and letters of any script around them. They
    shrink to one short sentence.

    Parameters
    ----------
    attribute : str, Lexicon or tuple of two of these
        Name of a shipped lexicon, or a lexicon; for "name", `groups` are two names. Of two
        attributes a mention is one of either, such as "black" and "female".
    groups : sequence of str, optional
        Groups to mention, by label or alias; by default those that are exchanged by default.
    min_mentions, max_mentions : int
        Fewest mentions of these groups, and most sentences that hold one.
    plain : bool
        Whether to leave out everything around the sentences.

    Raises
    ------
    ValueError
        If the attribute or a group is unknown, a group has no term that may be written, or the
        numbers are out of order.
    ImportError
        If Hypothesis is not installed.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(prompts("gender", plain=True), lambda text: True)
    'She asked for help.'
    """
    require_hypothesis("strategies need")
    from hypothesis import strategies as st

    if whole(min_mentions, "min_mentions") > whole(max_mentions, "max_mentions"):
        raise ValueError(
            f"min_mentions is {min_mentions}, max_mentions {max_mentions}; "
            "give min_mentions <= max_mentions"
        )
    lexicon, wanted = _wanted(attribute, groups)
    sentence = _sentence(lexicon, wanted)
    sentences = st.lists(sentence, min_size=min_mentions, max_size=max_mentions)
    if plain:
        return sentences.map(" ".join)
    data = shipped(_FILE)
    around, between, fringes = (
        st.sampled_from(data[key]) for key in ("around", "between", "fringes")
    )
    case: Any = st.sampled_from([str, str, str, str.upper])
    fringe = st.one_of(fringes, st.text(max_size=12))

    @st.composite
    def texts(draw: DrawFn) -> str:
        written = [draw(around).format(draw(case)(one)) for one in draw(sentences)]
        before, after = draw(fringe), draw(fringe)
        parts: list[str] = [part for part in (before, *written, after) if part]
        return parts[0] + "".join(draw(between) + part for part in parts[1:])

    named = [wanted]
    if isinstance(lexicon, Intersection):
        named = list(zip(*(lexicon.cells[label] for label in wanted), strict=True))

    def mentioned(text: str) -> bool:
        found = [mention.group for mention in lexicon.mentions(text, doubts=False)]
        return all(sum(group in own for group in found) >= min_mentions for own in named)

    return texts().filter(mentioned)


def counterfactual_pairs(
    attribute: Attribute = "gender",
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

    Raises
    ------
    ValueError
        As :func:`prompts`, or if `groups` are not two different ones.
    ImportError
        If Hypothesis is not installed.

    Examples
    --------
    >>> from hypothesis import find
    >>> entry = {"role": "noun", "day": "day nurse", "night": "night nurse"}
    >>> data = {"name": "shift", "groups": ["day", "night"], "entries": [entry]}
    >>> shifts = counterfactual_pairs(Lexicon.from_dict(data), plain=True)
    >>> find(shifts, bool).counterfactual
    'We met the night nurse.'
    """
    require_hypothesis("strategies need")
    from hypothesis import strategies as st

    lexicon, known = _wanted(attribute, groups)
    if groups is not None and (len(groups) != 2 or known[0] == known[1]):
        raise ValueError(f"groups is {groups!r}; give two different ones: (from, to)")
    named = groups[:1] if groups is not None and attribute != "name" else groups
    texts = prompts(
        lexicon, named, min_mentions=min_mentions, max_mentions=max_mentions, plain=plain
    )
    made = texts.map(lambda text: pairs_of_part([text], lexicon, groups))
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
        If there are fewer than two groups, one twice, the range or the sizes are out of order, or
        the effect does not fit into the range.
    ImportError
        If Hypothesis is not installed.

    Examples
    --------
    >>> from hypothesis import find
    >>> scores = find(scores_by_group(effect=0.25, min_size=2, max_size=2), bool)
    >>> {group: own.tolist() for group, own in scores.items()}
    {'female': [0.0, 0.0], 'male': [0.25, 0.25]}
    """
    require_hypothesis("strategies need")
    import numpy as np
    from hypothesis import strategies as st

    check_is_list(groups, "groups", "labels")
    labels = list(groups)
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise ValueError(f"groups is {groups!r}; give two or more labels, each once")
    low, high = number(low, "low"), number(high, "high")
    min_size, max_size = whole(min_size, "min_size", 0), whole(max_size, "max_size", 0)
    if low >= high or min_size > max_size:
        raise ValueError(
            f"low is {low}, high {high}, min_size {min_size}, max_size {max_size}; give "
            "low < high and min_size <= max_size"
        )
    if effect is not None and not 0.0 <= number(effect, "effect") <= high - low:
        raise ValueError(
            f"effect is {effect}; scores in [{low:g}, {high:g}] can differ by 0 to {high - low:g}"
        )

    def scores(most: float) -> SearchStrategy[list[float]]:
        value = st.floats(low, most, allow_subnormal=False)
        return st.lists(value, min_size=min_size, max_size=max_size)

    if effect is None:
        # `fixed_dictionaries` would draw the labels in an order of its own.
        arrays = scores(high).map(lambda own: np.array(own, float))
        free = st.tuples(*(arrays for _ in labels))
        return free.map(lambda found: dict(zip(labels, found, strict=True)))
    shift = effect

    @st.composite
    def shifted(draw: DrawFn) -> dict[str, npt.NDArray[np.float64]]:
        own = draw(scores(high - shift))
        found = {label: np.array(draw(st.permutations(own)), float) for label in labels}
        found[labels[-1]] = np.minimum(found[labels[-1]] + shift, high)
        return found

    return shifted()


def _sentence(lexicon: Lexicon, groups: tuple[str, ...]) -> SearchStrategy[str]:
    from hypothesis import strategies as st

    if isinstance(lexicon, Intersection):
        cells = [
            st.tuples(*map(_sentence, lexicon.parts, [(group,) for group in lexicon.cells[label]]))
            for label in groups
        ]
        return st.one_of(*cells).map(" ".join)
    # By role first: otherwise the few pronouns would be rare among hundreds of nouns.
    return st.one_of(*map(st.sampled_from, sentences_about(lexicon, groups)))


def require_hypothesis(who_needs: str) -> None:
    """Raise ``ImportError`` with the install command if Hypothesis is missing."""
    try:
        import hypothesis  # noqa: F401
    except ImportError:
        raise ImportError(f"{who_needs} hypothesis: {install('property')}") from None


def _wanted(attribute: Attribute, groups: Sequence[str] | None) -> tuple[Lexicon, tuple[str, ...]]:
    lexicon = lexicon_for(attribute, groups)
    if groups is not None:
        check_is_list(groups, "groups", "groups")
        if not len(groups):
            raise ValueError("groups is empty; name at least one, or leave it out")
    named = lexicon.default_groups if groups is None else tuple(map(lexicon.group, groups))
    return lexicon, named


@functools.cache
def sentences_about(lexicon: Lexicon, groups: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the sentences in which a term of the groups is found, by role, the simplest first."""
    made: dict[str, list[tuple[int, str]]] = {}
    written: set[str] = set()
    for entry in lexicon.entries:
        for rank, frame in enumerate(_frames(lexicon, entry.role)):
            start = frame.index("{}")
            for group in groups:
                for term in entry.terms.get(group, ()):
                    if entry.register(term) not in WRITTEN or is_joined(term):
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


def _frames(lexicon: Lexicon, role: str) -> list[str]:
    data: dict[str, Any] = shipped(_FILE)["languages"].get(
        lexicon.language, {"roles": {"other": ["{}"]}}
    )
    role = data.get("like", {}).get(role, role)
    own: list[str] | None = data.get("attributes", {}).get(lexicon.name, {}).get(role)
    return own or data["roles"].get(role) or data["roles"]["other"]
