"""Hand-labelled prompts of ``pairs/*.yaml``: what each must become, or what it must mention.

A file is a category. It names the attribute and the groups of its cases once; a case can name its
own:

    attribute: gender
    cases:
      - {text: She left., expected: He left.}
      - {text: I miss you., expected: null}
      - {text: He left., groups: [male, nonbinary], expected: Xe left.}
      - {text: A blind man waited., attribute: disability, mentions: [blind]}

Without groups every mention is exchanged with its counterpart, which an attribute of two groups
(gender: female and male) allows; others name (from, to). `expected` is null where no pair may
come. `mentions` lists, in order, the words that name a group; none where it is empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from pytest_llmfair.counterfactuals import generate_pairs, mentions

FOLDER = Path(__file__).with_name("pairs")
Outcome = Literal["right", "uncertain", "wrong"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the package made of a prompt.

    Attributes
    ----------
    found : str, list of str or None
        The counterfactual, None without one, or the words that name a group.
    doubts : tuple of str
        Why the package is uncertain; empty where it is not.
    outcome : {"right", "uncertain", "wrong"}
        How that compares with the label.
    """

    found: str | list[str] | None
    doubts: tuple[str, ...]
    outcome: Outcome


# The same as yaml.safe_load and ten times as fast, where PyYAML was built with it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Case:
    """One labelled prompt.

    Attributes
    ----------
    category : str
        Name of the file.
    text : str
        The prompt.
    attribute : str
        The protected attribute.
    groups : (str, str) or None
        From and to, as ``generate_pairs`` takes them.
    expected : str, list of str or None
        The counterfactual, None where no pair may come, or the words that name a group.
    """

    category: str
    text: str
    attribute: str
    groups: tuple[str, str] | None
    expected: str | list[str] | None

    def answer(self) -> Answer:
        """Ask the package for the counterfactual, or for the mentions."""
        found: str | list[str] | None
        if isinstance(self.expected, list):
            listed = mentions(self.text, self.attribute)
            found = [mention.text for mention in listed]
            doubts = tuple(m.text for m in listed if str(m.confidence) == "uncertain")
        else:
            pairs = generate_pairs([self.text], attribute=self.attribute, groups=self.groups)
            found = pairs[0].counterfactual if pairs else None
            # A pair that was made answers the case, whatever else was uncertain.
            unsure = () if pairs else getattr(pairs, "uncertain", ())
            doubts = tuple(str(getattr(item, "reason", item)) for item in unsure)
        if doubts:
            return Answer(found, doubts, "uncertain")
        return Answer(found, (), "right" if found == self.expected else "wrong")


@dataclass(frozen=True, slots=True)
class Tally:
    """How many answers are right, uncertain and wrong."""

    right: int
    uncertain: int
    wrong: int

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Tally:
        """Count outcomes."""
        counts = Counter(outcomes)
        return cls(counts["right"], counts["uncertain"], counts["wrong"])

    @property
    def total(self) -> int:
        """All answers."""
        return self.right + self.uncertain + self.wrong

    @property
    def kept(self) -> float:
        """Answers that are not uncertain, in percent."""
        return 100 * (self.right + self.wrong) / self.total

    @property
    def wrong_among_kept(self) -> float:
        """Wrong answers in percent of those that are not uncertain."""
        return 100 * self.wrong / max(1, self.right + self.wrong)

    def __str__(self) -> str:
        """Return the figures in a line."""
        return (
            f"{self.right} right, {self.uncertain} uncertain, {self.wrong} wrong of {self.total}; "
            f"{self.kept:.1f} % kept, {self.wrong_among_kept:.1f} % wrong among kept"
        )


def cases(*, folder: Path = FOLDER) -> Iterator[Case]:
    """Yield the cases of every file, in the order of the names of the files."""
    for path in sorted(folder.glob("*.yaml")):
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)
        for case in data["cases"]:
            # The groups of a file are those of its attribute.
            groups = case.get("groups", None if "attribute" in case else data.get("groups"))
            yield Case(
                path.stem,
                case["text"],
                case.get("attribute", data.get("attribute")),
                None if groups is None else (groups[0], groups[1]),
                case["mentions"] if "mentions" in case else case["expected"],
            )
