"""What a test over items and wordings leaves open, before its data."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_llmfair._util.validation import one_sided
from pytest_llmfair._util.wording import plural
from pytest_llmfair.judging.planning import Design, fair_sample
from pytest_llmfair.judging.power import search
from pytest_llmfair.stats.crossed_mean import FEWEST_LEVELS, alike
from pytest_llmfair.stats.two_way import half_width

# No study writes more wordings.
_MOST_WORDINGS = 1000
_ENDLESS = 10**9


@dataclass(frozen=True, slots=True)
class CrossedDesign:
    """A planned assertion with ``robust_over=("wording",)``; `ValueError` names what is wrong."""

    # Its units are the items.
    design: Design
    wordings: int
    # Share of the variance of one answer that wordings hold; items hold the rest of the ICC.
    wording_share: float

    def __post_init__(self) -> None:
        design = self.design
        sample = fair_sample(design.info, 4, max(design.generations, 2))
        rows = sample.contributions
        if rows is None or alike(sample, rows.values, range(len(rows.values))) is None:
            raise ValueError(
                f"{design.info.name} is no mean over rows; robust_over and --wordings are for "
                "means and paired differences of means"
            )
        if self.wordings < FEWEST_LEVELS:
            raise ValueError(
                f"{plural('wording', self.wordings)} cannot stand for others: only the worst is "
                f"judged then; give {FEWEST_LEVELS} or more"
            )
        if design.units < 2:
            raise ValueError(f"items is {design.units}; give at least 2")
        if not 0.0 <= self.wording_share <= design.icc:
            raise ValueError(
                f"wording-share is {self.wording_share:g}; give a number from 0 to the "
                f"correlation of answers to one prompt, icc = {design.icc:g}"
            )

    def half_width(
        self, items: int | None = None, wordings: int | None = None, times: float = 1.0
    ) -> float:
        """Half-width of the interval; `times` as many answers to each prompt."""
        design = self.design
        # A single answer to a single prompt.
        single = Design(design.info, design.bound, design.units, icc=1.0)
        variance = single.error(design.threshold.end) ** 2 * design.units
        of_wording = self.wording_share * variance
        of_item = (design.icc - self.wording_share) * variance
        sampling = (1.0 - design.icc) * variance / (design.generations * times)
        levels = (items or design.units, wordings or self.wordings)
        return half_width((of_item, of_wording), sampling, levels, one_sided(design.level))

    @property
    def floor(self) -> float:
        """Half-width that endless items would leave."""
        return self.half_width(items=_ENDLESS)


def report(plan: CrossedDesign) -> str:
    """Return a plan as text of at most 80 columns."""
    design, room = plan.design, plan.design.threshold.distance
    items, wordings = design.units, plan.wordings
    rarest = 100.0 * (1.0 - 0.05 ** (1.0 / wordings))
    answers = plural("answer", design.generations)
    rows = {
        "this plan": plan.half_width(),
        f"{2 * items:,} items": plan.half_width(items=2 * items),
        f"{2 * wordings:,} wordings": plan.half_width(wordings=2 * wordings),
        f"{2 * design.generations:,} answers to each": plan.half_width(times=2.0),
        "endless items": plan.floor,
    }
    lines = [
        f"{design.info.name}, bound {design.bound:g},",
        f"{items:,} items x {plural('wording', wordings)} x {answers}, "
        f"{100 * design.level:g} %, ICC {design.icc:g},",
        f"wordings hold {100 * plan.wording_share:g} % of the variance of one answer",
        "",
        "half-width of the interval, for other wordings too",
        *(f"  {what:<24} {width:.3f}" for what, width in rows.items()),
        "",
    ]
    needed = search(lambda n: plan.half_width(wordings=n) <= room, FEWEST_LEVELS, _MOST_WORDINGS)
    if plan.floor > room > 0.0:
        lines.append("UNDERPOWERED: no number of items decides; write more wordings")
    if room > 0.0 and needed is not None:
        lines.append(
            f"{plural('wording', needed)} or more keep it within {room:.3g}, the bound's room"
        )
    elif room > 0.0:
        lines.append(f"no number of wordings keeps it within {room:.3g}; add items as well")
    lines.append(f"a kind of wording rarer than {rarest:.0f} % may be missing among {wordings}")
    return "\n".join(lines)
