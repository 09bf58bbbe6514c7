"""Counterfactual pairs: a prompt and its twin, equal but for the protected attribute."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_llmfair.counterfactuals._loading import load_lexicons
from pytest_llmfair.counterfactuals._name_swaps import name_lexicon
from pytest_llmfair.counterfactuals.lexicon import Change, Lexicon, Mention
from pytest_llmfair.text import mask_words, replaced

_log = logging.getLogger("pytest_llmfair")


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement between the members of a pair.

    Attributes
    ----------
    start, end : int
        Span in the original.
    before, after : str
        What stands there in the original and in the counterfactual.
    counterfactual_start : int
        Where `after` starts in the counterfactual.
    """

    start: int
    end: int
    before: str
    after: str
    counterfactual_start: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A prompt and its counterfactual; outside the edits they are the same.

    Attributes
    ----------
    original, counterfactual : str
        The two prompts.
    from_group, to_group : str
        Group that the original names, and the one that takes its place. Where the original names
        both and they change places, `from_group` is the one named first.
    edits : tuple of Edit
        In order; articles that had to follow are edits of their own.
    attribute : str
        The protected attribute.
    """

    original: str
    counterfactual: str
    from_group: str
    to_group: str
    edits: tuple[Edit, ...]
    attribute: str


def generate_pairs(
    prompts: Iterable[str],
    attribute: str | Lexicon,
    groups: tuple[str, str] | None = None,
) -> list[Pair]:
    """Make counterfactual pairs by exchanging the mentions of a protected attribute.

    Only the mentions change (and an article before them that no longer fits): case, spacing,
    line breaks, quotes, contractions, addresses and code stay as they are.

    Parameters
    ----------
    prompts : iterable of str
        Prompts; one without a mention gives no pair.
    attribute : str or Lexicon
        Name of a shipped lexicon, or a lexicon.
    groups : (str, str), optional
        From and to, by label or alias: only mentions of the first group change. Without it every
        mention is exchanged with its counterpart, and an attribute of more than two groups gives
        one pair to every other group. For gender this exchanges female and male only.

    Returns
    -------
    list of Pair
        In the order of the prompts; empty when none has a mention.

    Raises
    ------
    ValueError
        If the attribute or a group is unknown, or the prompts are none, one text, or not texts.
    """
    lexicon = name_lexicon(groups) if attribute == "name" else lexicon_of(attribute)
    texts = _checked(prompts)
    wanted = _checked_groups(lexicon, groups)
    pairs = []
    dropped: Counter[str] = Counter()
    for text in texts:
        for to in _exchanges(lexicon, text, wanted):
            changes, lost = lexicon.exchanges(text, to)
            if lost:
                dropped.update(lost)
            elif changes:
                pairs.append(_pair(text, changes, to, lexicon.name))
    _tell(lexicon, wanted, dropped)
    return pairs


def mentions(text: str, attribute: str | Lexicon) -> list[Mention]:
    """Return where a text names a group of the attribute.

    Parameters
    ----------
    text : str
        Any text.
    attribute : str or Lexicon
        Name of a shipped lexicon, or a lexicon.

    Returns
    -------
    list of Mention
        In order; "he/she" is two mentions.
    """
    return lexicon_of(attribute).mentions(text)


def mask(text: str, attribute: str | Lexicon | Sequence[str]) -> str:
    """Return the text with a placeholder for every mention of the attribute.

    Parameters
    ----------
    text : str
        Any text.
    attribute : str, Lexicon or sequence of str
        Name of a shipped lexicon, a lexicon, or the words to mask.

    Returns
    -------
    str
        The same for both members of a counterfactual pair.
    """
    if isinstance(attribute, (str, Lexicon)):
        return lexicon_of(attribute).mask(text)
    return mask_words(text, attribute)


def lexicon_of(attribute: str | Lexicon) -> Lexicon:
    """Return the lexicon of an attribute.

    Raises
    ------
    ValueError
        If there is none; the message suggests the nearest names.
    """
    if isinstance(attribute, Lexicon):
        return attribute
    if attribute == "name":
        raise ValueError(
            "attribute 'name' needs to know which two names: give "
            'attribute=name_lexicon(("John", "Jane"))'
        )
    try:
        return load_lexicons()[attribute]
    except KeyError as error:
        raise ValueError(str(error)) from None


def _checked(prompts: Iterable[str]) -> list[str]:
    if isinstance(prompts, (str, bytes)):
        raise ValueError(f"prompts is one text, {prompts[:40]!r}; give a list of texts")
    texts = list(prompts)
    if not texts:
        raise ValueError("there are no prompts; give at least one text")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"prompt {row} is {text!r}, a {type(text).__name__}; give a text")
    return texts


def _checked_groups(lexicon: Lexicon, groups: tuple[str, str] | None) -> tuple[str, str] | None:
    if groups is None:
        return None
    known = () if isinstance(groups, str) else tuple(lexicon.group(group) for group in groups)
    if len(known) != 2 or known[0] == known[1]:
        raise ValueError(f"groups is {groups!r}; give two different ones: (from, to)")
    return known[0], known[1]


def _exchanges(
    lexicon: Lexicon, text: str, wanted: tuple[str, str] | None
) -> list[dict[str, str]]:
    """Return which groups become which, one mapping for each pair that the prompt gives."""
    if wanted:
        return [{wanted[0]: wanted[1]}]
    among = lexicon.default_groups
    first = among[0]
    if len(among) > 2:
        first = next((m.group for m in lexicon.mentions(text) if m.group in among), "")
    return [{first: group, group: first} for group in among if first and group != first]


def _pair(text: str, changes: list[Change], to: dict[str, str], attribute: str) -> Pair:
    edits = []
    shift = 0
    for start, end, after, _ in changes:
        edits.append(Edit(start, end, text[start:end], after, start + shift))
        shift += len(after) - (end - start)
    twin = replaced(text, [(edit.start, edit.end, edit.after) for edit in edits])
    source = changes[0].group
    return Pair(text, twin, source, to[source], tuple(edits), attribute)


def _tell(lexicon: Lexicon, wanted: tuple[str, str] | None, dropped: Counter[str]) -> None:
    if wanted is None and lexicon.default_groups != lexicon.groups:
        others = [group for group in lexicon.groups if group not in lexicon.default_groups]
        _log.info(
            "%s: exchanging %s only; for %s give groups=(from, to)",
            lexicon.name,
            " and ".join(lexicon.default_groups),
            ", ".join(others),
        )
    if dropped:
        words = ", ".join(f"{word!r} ({count})" for word, count in dropped.items())
        _log.info("%s: prompts left out, for no counterpart is listed of %s", lexicon.name, words)
