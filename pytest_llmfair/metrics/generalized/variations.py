"""Variations of source examples: one identity term per group at a time (Czarnowska 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_llmfair._util.validation import whole, whole_seed
from pytest_llmfair.sampling import sampled_product

__all__ = ["variation_product"]


def variation_product(variations: Any, limit: int = 100, seed: int = 0) -> list[tuple[Any, ...]]:
    """Combine the variations of one source example: one of each group, in every way.

    Czarnowska et al. (2021), section 5: metrics that take one example per group are evaluated on
    the Cartesian product of the groups' variations; of a large one some combinations are drawn,
    all different and all equally likely.

    Parameters
    ----------
    variations : sequence of sequences, or mapping of group to sequence
        Variations of each group: texts, scores, probabilities or whatever stands for them.
    limit : int
        Most combinations to return, at least 1.
    seed : int
        Of the draw; the same seed gives the same combinations.

    Returns
    -------
    list of tuple
        One variation per group in each, in the order of the product.

    Raises
    ------
    ValueError
        If there is no group, a group has no variation (named), `limit` is below 1, or a number is
        not whole.

    Examples
    --------
    >>> from pytest_llmfair.metrics import variation_product
    >>> variation_product([["Ada", "Bea"], ["Carl"]])
    [('Ada', 'Carl'), ('Bea', 'Carl')]
    """
    limit, seed = whole(limit, "limit"), whole_seed(seed)
    if isinstance(variations, (str, bytes)) or not hasattr(variations, "__iter__"):
        raise ValueError(f"variations is {variations!r}; give the variations of each group")
    named = dict(variations) if isinstance(variations, Mapping) else dict(enumerate(variations))
    if not named:
        raise ValueError("variations is empty; give the variations of each group")
    groups = []
    for name, own in named.items():
        if isinstance(own, (str, bytes)) or not hasattr(own, "__iter__"):
            raise ValueError(f"variations of group {name} are {own!r}; give a list of them")
        groups.append(list(own))
        if not groups[-1]:
            raise ValueError(f"group {name} has no variation; every group needs one per example")
    return sampled_product(groups, limit, seed)
