"""A share of what is right, scaled by how near another share is to one half (ICAT)."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats.mean import Mean


@dataclass(eq=False, kw_only=True)
class IdealizedScore(Estimate):
    """One share times the nearness of another to one half, over the same rows.

    The product is not smooth where the second share is one half, so its interval is what the
    product can be where both shares are in intervals that share the error (Bonferroni).
    """

    share: Mean
    balance: Mean
    method: str = "projection of two intervals"
    near_normal = False

    @classmethod
    def of_parts(cls, share: Mean, balance: Mean) -> IdealizedScore:
        """Join ``share`` and ``balance`` of the same rows.

        Examples
        --------
        >>> share, balance = Mean.of_values([0.8, 0.9, 1.0]), Mean.of_values([0.5, 0.6, 0.4])
        >>> IdealizedScore.of_parts(share, balance)
        IdealizedScore 0.900 [0.038, 1.000] (95 %, 3 units)
        """
        findings = tuple(dict.fromkeys((*share.findings, *balance.findings)))
        return cls(
            value=share.value * _nearness(balance.value),
            sample=share.sample,
            attainable=(0.0, 1.0),
            findings=findings,
            share=share,
            balance=balance,
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        ends = self.balance.lower_bound(alpha / 4.0), self.balance.upper_bound(alpha / 4.0)
        return self.share.lower_bound(alpha / 2.0) * min(map(_nearness, ends))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        low, high = self.balance.lower_bound(alpha / 4.0), self.balance.upper_bound(alpha / 4.0)
        return self.share.upper_bound(alpha / 2.0) * _nearness(min(max(0.5, low), high))


def _nearness(share: float) -> float:
    """Return 1 for one half and 0 for all or nothing."""
    return min(share, 1.0 - share) / 0.5
