"""How often a name in the place of another one agrees with the words around it.

Each prompt of `names/agreement.yaml` says which gender a name must have there. A prompt is kept if
it makes pairs, and wrong if one of 16 names in turn has another gender.

    python benchmarks/names.py [--show]          prompts that fixed the rules
    python benchmarks/names.py --held            prompts held back from them
"""

from __future__ import annotations

import argparse
from pathlib import Path

import yaml

from pytest_llmfair.counterfactuals import NameLexicon, pairs_from_templates

GROUPS = ("turkish", "white", "west african")
FILE = Path(__file__).parent / "names" / "agreement.yaml"


def outcome(expected: str, prompt: str) -> tuple[str, str]:
    """Return "right", "wrong" or "left out", and what shows it."""
    pairs = pairs_from_templates([prompt], "names", GROUPS, names_per_prompt=16)
    if not pairs:
        why = pairs.uncertain[0].reason if pairs.uncertain else "no name found"
        return ("right" if expected == "neither" else "left out"), why
    texts = dict.fromkeys(pair.original for pair in pairs)
    people = NameLexicon.of_groups(GROUPS).people[GROUPS[0]]
    shown = {each.gender for each in people for text in texts if each.first in text}
    wrong = expected == "neither" or (expected != "any" and not shown <= {expected})
    return ("wrong" if wrong else "right"), " | ".join([*texts][:2])


def main() -> None:
    """Print the shares, and with --show each prompt that is wrong or left out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    cases = yaml.safe_load(FILE.read_text("utf-8"))["held" if options.held else "developed"]
    found = [(*outcome(*case), *case) for case in cases]
    left = [each for each in found if each[0] == "left out"]
    wrong = [each for each in found if each[0] == "wrong"]
    kept = len(found) - len(left)
    print(f"{len(found)} prompts, {kept} decided, {len(left)} left out, {len(wrong)} wrong")
    print(f"wrong among decided: {len(wrong) / kept:.1%}")
    if options.show:
        for what, shown, expected, prompt in wrong + left:
            print(f"{what}: {expected}: {prompt!r}: {shown}")


if __name__ == "__main__":
    main()
