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

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from pytest_llmfair.counterfactuals import generate_pairs, mentions

FOLDER = Path(__file__).with_name("pairs")
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

    def ours(self) -> str | list[str] | None:
        """Return the counterfactual, or the mentions, that this package finds."""
        if isinstance(self.expected, list):
            return [mention.text for mention in mentions(self.text, self.attribute)]
        pairs = generate_pairs([self.text], attribute=self.attribute, groups=self.groups)
        return pairs[0].counterfactual if pairs else None


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
