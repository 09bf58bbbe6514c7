"""What docstrings of several metrics share: written once, and added to each of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_LINE = "\n---"
_SECTION = re.compile(r"(?:^|\n\n)(?=\w+\n-+\n)")
_HEADING = "Parameters\n----------\n"


def described(*shared: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Add to a docstring the parameters and the sections that it leaves out."""
    parts = [part for text in shared for part in _SECTION.split(inspect.cleandoc(text))]
    given = "\n".join(part for part in parts if not _SECTION.match(part))
    sections = [part for part in parts if _SECTION.match(part)]

    def complete(function: Callable[P, R]) -> Callable[P, R]:
        text = inspect.cleandoc(function.__doc__ or "")
        for section in sections:
            if f"\n{section.partition(_LINE)[0]}{_LINE}" not in text:
                text = text.replace("\nExamples\n", f"\n{section}\n\nExamples\n", 1)
        if _HEADING not in text:
            text = text.replace("\nReturns\n", f"\n{_HEADING}\n\nReturns\n", 1)
        before, _, rest = text.partition(_HEADING)
        own, blank, after = rest.partition("\n\n")
        place = {name: i for i, name in enumerate(inspect.signature(function).parameters)}
        found = {**_entries(given), **_entries(own)}
        known = sorted(found.keys() & place.keys(), key=place.__getitem__)
        # Names that share a description are keys of the same one.
        entries = dict.fromkeys(found[name] for name in known)
        function.__doc__ = before + _HEADING + "\n".join(entries) + blank + after
        return function

    return complete


def _entries(text: str) -> dict[str, str]:
    """Map each name to its description: a line "name, name : type", and what is indented below."""
    entries = re.findall(r"^\S.*(?:\n[ ].*)*", text, re.MULTILINE)
    return {name: entry for entry in entries for name in entry.partition(" :")[0].split(", ")}


def sampling(unit: str) -> str:
    """Describe `units` and `population` of a metric whose rows are its sampling units."""
    return f"""
    units : sequence, optional
        One label per {unit}; {unit}s with equal labels are one sampling unit. Default: each
        {unit}.
    population : {{"sampled", "fixed"}}
        Whether the {unit}s were drawn from a larger population or are all of it.
    """


CANDIDATES = """
scores : array_like of shape (n_candidates,), or mapping
    One score per candidate, higher is better; or scores by (pool, candidate) as
    :func:`pairwise_scores` gives them, with `groups` from candidate to group.
groups : array_like of shape (n_candidates,), or mapping
    Protected-attribute label of each candidate.
reference : object, list or "rest"
    Label of the reference group, a list of labels (their union), or "rest": everyone outside
    the group that is compared.
rounds : sequence, optional
    Pool of each candidate, also the sampling unit. Default: the pools of a mapping; without pools
    each candidate is a unit.
qualified : array_like of bool of shape (n_candidates,), optional
    Only qualified candidates are compared (equal opportunity). Default: all.
strata : array_like of shape (n_candidates,), optional
    Job or topic of each candidate: candidates are compared inside a stratum only and the worst
    is judged, so that opposite biases of two jobs do not cancel.
k : int, optional
    Quota in deployment: the notes then show the selection gap at it; needs rounds.
units : sequence, optional
    Another name for `rounds`; giving both is an error.
population : {"sampled", "fixed"}
    Whether the units were drawn from a larger population or are all of it.

Raises
------
ValueError
    If a score is NaN, lengths differ, the reference is no group, or there is one group only.
TypeError
    If both `rounds` and `units` are given.
"""

RESPONSES = """
responses : list of str, or list of list of str
    Texts, or several answers to each prompt.
group_words : mapping
    Two or more groups, each with its words or terms of several words. The longest of overlapping
    mentions counts.
target_words : list of str
    Neutral words or terms. Stop words and words that name a group are left out.
units : sequence, optional
    One label per response (per row of several); equal labels are one sampling unit.
population : {"sampled", "fixed"}
    Whether the units were drawn from a larger population or are all of it.

Raises
------
ValueError
    If there are fewer than two groups, a list of words is empty or a word names two groups, or a
    response is no text.
"""
