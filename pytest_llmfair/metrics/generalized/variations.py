"""Preparing data: variations of source examples, and tags of longer terms (Czarnowska 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from pytest_llmfair._util.validation import whole, whole_seed
from pytest_llmfair.metrics.arguments import flat_scores
from pytest_llmfair.sampling import sampled_product
from pytest_llmfair.text.bilou import MARKS, expand_label

__all__ = ["class_probability", "expand_label", "variation_product"]


def variation_product(variations: Any, limit: int = 100, seed: int = 0) -> list[tuple[Any, ...]]:
    """Combine the variations of one source example: one of each group, in every way.

    Czarnowska et al. (2021), section 5: metrics that take one example per group are evaluated on
    the Cartesian product of the groups' variations; of a large product a sample of combinations
    is drawn without replacement.

    Parameters
    ----------
    variations : sequence of sequences, or mapping of group to sequence
        Variations of each group: texts, scores or probabilities, for example.
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


_ROUNDING = 1e-6


def class_probability(token_probabilities: ArrayLike, labels: Any) -> float:
    """Probability of a class at an identity term: its tags summed, its tokens averaged.

    Czarnowska et al. (2021), section 5.1: for each token the probabilities of the tags of the
    class are added up; the probability of a term is the mean over its tokens.

    Parameters
    ----------
    token_probabilities : array_like of shape (n_tokens, n_tags), or list of mappings
        Probability of each tag, per token of the identity term. One token may be given alone.
    labels : list of int, list of str, or str
        Tags of the class: columns, or keys of the mappings (a tag that a mapping lacks has
        probability 0). A class such as "LOC" stands for its B, I, L and U tags.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If there is no token or tag, a probability is outside [0, 1], a column does not exist, no
        mapping has any of the tags, or the tags of a token add up to more than 1.

    Examples
    --------
    >>> from pytest_llmfair.metrics import class_probability
    >>> class_probability([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]], [0, 1])
    0.875
    """
    tags = [f"{mark}-{labels}" for mark in MARKS] if isinstance(labels, str) else list(labels)
    if not tags or len(dict.fromkeys(tags)) < len(tags):
        raise ValueError(f"labels is {labels!r}; name each tag of the class once")
    tokens = _tokens(token_probabilities)
    if not tokens:
        raise ValueError("token_probabilities is empty; give at least one token")
    named = [isinstance(token, Mapping) for token in tokens]
    if all(named) and not any(tag in token for token in tokens for tag in tags):
        raise ValueError(f"no token has a probability of {' or '.join(map(str, tags))}")
    sums = [_sum_of(token, tags, row) for row, token in enumerate(tokens)]
    return sum(sums) / len(sums)


def _tokens(given: Any) -> list[Any]:
    if isinstance(given, Mapping):
        return [given]
    tokens = list(given)
    return [tokens] if tokens and not hasattr(tokens[0], "__len__") else tokens


def _sum_of(token: Any, tags: Sequence[Any], row: int) -> float:
    where = f"token_probabilities of token {row}"
    if isinstance(token, Mapping):
        chosen = [token.get(tag, 0.0) for tag in tags]
    else:
        columns = list(token)
        for tag in tags:
            if isinstance(tag, bool) or not isinstance(tag, int) or not 0 <= tag < len(columns):
                raise ValueError(
                    f"labels holds {tag!r}; {where} has the columns 0 to {len(columns) - 1}"
                )
        chosen = [columns[tag] for tag in tags]
    values = flat_scores(chosen, where)
    total = float(values.sum())
    if values.min() < 0.0 or total > 1.0 + _ROUNDING:
        raise ValueError(f"{where}: {values.tolist()} add up to {total:g}; give probabilities")
    return min(total, 1.0)
