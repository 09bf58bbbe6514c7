"""Counterfactual pairs: how many hand-labelled prompts come out right, and how fast.

    python benchmarks/pairs.py [--show] [--only CATEGORY ...]

Prints a line per category of ``pairs/*.yaml``, LangFair's generator on the same prompts beside it
(to the letter, and loosely: whatever the case and the blanks); then the speed of both on the same
prompts, alternating: short ones, long ones, and some without a mention; then our time for one
prompt of 10,000 and of 100,000 letters, and for 1,000, 10,000 and 100,000 prompts. Exits non-zero
below 97 % right overall or 95 % in a category, below 20 times LangFair's speed, or where time does
not grow linearly. LangFair runs in an environment of its own, see ``_langfair.py``; without it the
exit status is non-zero, but for --only, which leaves the speed out.

Speed is printed four times. LangFair runs as users have it, and with its tokeniser told not to
look for sentences, which takes two thirds of its time. Ours is `generate_pairs`, whose checks of
validity read every counterfactual anew, and the same without these checks, which LangFair lacks.
The target is the hardest of the four: pairs with their checks, and LangFair without sentences.
A last figure is no speed of pairs: the search for the words of both members alone, by methods of
strings that are written in C, before any rule looks at them. Pairs cannot be made faster.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytest_llmfair.counterfactuals import Pair, generate_pairs, load_lexicons, mentions
from pytest_llmfair.counterfactuals._pairing.pair import pair_of
from pytest_llmfair.text import WordFinder

if TYPE_CHECKING:
    from _langfair import LangFair

HERE = Path(__file__).resolve().parent
_OVERALL, _CATEGORY, _FASTER, _GROWTH = 97.0, 95.0, 20.0, 1.5
_LETTERS = 700  # about 120 words, as in kernels.py
# Words of a prompt, and how many of its words name a group.
_SHAPES = {"short": (31, (1, 2)), "long": (125, (7, 8, 9)), "no mention": (31, (0,))}
_LONG = {
    "many mentions": "She told her mother that he lost his keys; ",
    "no mention": "The weather was fine and the train left on time; ",
    "blanks": "he said" + 40 * " " + "\t no \n\n",
    "no blank": "he-she_his.her/",
    "quotes": "'he' \"she\" (his) ",
    "code": "SELECT he FROM her; he.she(her); ",
    "code, no blank": "home`-HE-22/",
    "tags, no blank": "woman<b>Tom's/",
    "tags": "her <br>",
    "code tags": "</code><code>",
    "fences": "~~~\n",
    "open brackets": "her [",
    "open code": "her `",
    "escapes": "she\\n",
    "entities": "her&nbsp;",
}


def accuracy(only: Sequence[str], show: bool) -> bool:
    """Print right answers by category and return whether the targets are met."""
    from _langfair import VARIABLE, LangFair
    from _pair_cases import cases
    from _pair_peers import langfair_is_right

    peer = LangFair(os.environ[VARIABLE], ["the"]) if VARIABLE in os.environ else None
    rows: dict[str, list[tuple[bool, ...]]] = {}
    for case in cases():
        if only and case.category not in only:
            continue
        got = case.ours()
        theirs = () if peer is None else langfair_is_right(peer, case)
        rows.setdefault(case.category, []).append((got == case.expected, *theirs))
        if show and got != case.expected:
            print(f"{case.text!r}\n  expected {case.expected!r}\n  got      {got!r}")
    print(f"{'right, %':16}{'cases':>7}{'ours':>7}{'LangFair':>10}{'loosely':>10}")
    met = True
    for name, right in [*rows.items(), ("all", [r for row in rows.values() for r in row])]:
        shares = [100 * sum(column) / len(right) for column in zip(*right, strict=True)]
        ok = shares[0] >= (_OVERALL if name == "all" else _CATEGORY)
        others = "".join(f"{share:10.1f}" for share in shares[1:])
        print(f"{name:16}{len(right):7d}{shares[0]:7.1f}{others}{'' if ok else '  MISSED'}")
        met = met and ok
    if peer is not None:
        print(peer.versions)
    return met


def speed() -> bool:
    """Print pairs per second of both, alternating, and return whether the target is met."""
    from _langfair import SETUP, VARIABLE, LangFair

    if VARIABLE not in os.environ:
        print(f"speed against LangFair: LangFair is not there: MISSED\n    to compare: {SETUP}")
        return False
    peer = LangFair(os.environ[VARIABLE], ["the"])
    met = True
    for attribute in ("gender", "race"):
        for shape in _SHAPES:
            met &= faster(peer, attribute, shape)
    return met


def faster(peer: LangFair, attribute: str, shape: str) -> bool:
    """Print the speed of both on prompts of a shape; return whether ours meets the target.

    It is counted in pairs made, of prompts without a mention in prompts.
    """
    texts = shaped(attribute, shape)
    words, counts = _SHAPES[shape]
    named = max(counts) > 0
    ours: dict[str, list[float]] = {"with checks": [], "without": [], "for words alone": []}
    entries = load_lexicons()[attribute].entries
    finder = WordFinder(t for entry in entries for listed in entry.terms.values() for t in listed)
    theirs: dict[str, list[float]] = {"as installed": [], "no sentences": []}
    pieces = [texts[start : start + 40] for start in range(0, len(texts), 40)]
    for place, piece in enumerate(pieces):
        for name, split in zip(theirs, (True, False), strict=True):
            # Where no text has a mention, LangFair's generator fails: its search alone is timed.
            call = "prompts" if named else "found"
            seconds, made = peer.call(
                call, texts=piece, attribute=attribute, words=None, split=split
            )
            # A text for each group and the original, which is one of them again.
            pairs = len(made["original_prompt"]) * (len(made) - 2) if named else len(piece)
            theirs[name].append(seconds / pairs)
        # Each on prompts that the other has not just read.
        other = pieces[place - len(pieces) // 2]
        makers: Iterable[tuple[str, Callable[[list[str], str], list[Pair]], list[str]]] = (
            ("with checks", generate_pairs, piece),
            ("without", unchecked, other),
        )
        for name, make, prompts in makers:
            start = time.perf_counter()
            pairs = len(make(prompts, attribute))
            ours[name].append((time.perf_counter() - start) / (pairs if named else len(prompts)))
        twins = [pair.counterfactual for pair in generate_pairs(other, attribute)]
        start = time.perf_counter()
        for text in (*other, *twins):
            finder.matches(text)
        seconds = time.perf_counter() - start
        ours["for words alone"].append(seconds / (len(twins) if named else len(other)))
    slow = {name: float(np.median(times)) for name, times in theirs.items()}
    fast = {name: float(np.median(times)) for name, times in ours.items()}
    met = slow["no sentences"] >= _FASTER * fast["with checks"]
    unit = "pairs/s" if named else "prompts/s"
    print(f"speed, {attribute}, {shape}: {words} words, {len(pieces)} alternations, {unit}")
    for name, seconds in slow.items():
        ratios = ", ".join(f"{seconds / ours:.1f}x {kind}" for kind, ours in fast.items())
        print(f"    LangFair {name}: {1 / seconds:,.0f}; ours {ratios}")
    rates = ", ".join(f"{1 / seconds:,.0f} {name}" for name, seconds in fast.items())
    missed = f"; below {_FASTER:g}x with checks, no sentences: MISSED"
    print(f"    ours: {rates}{'' if met else missed}")
    return met


def unchecked(texts: list[str], attribute: str) -> list[Pair]:
    """Make pairs as `generate_pairs` does, without the checks of validity."""
    lexicon = load_lexicons()[attribute]
    groups = lexicon.default_groups
    made = []
    for text in texts:
        found = lexicon.read(text)
        first = lexicon.first_named(found, groups)
        for group in groups:
            if first is not None and group != first:
                changes, lost = lexicon.exchanges(text, {first: group, group: first}, found)
                if changes and not lost:
                    made.append(pair_of(text, changes, (first, group), attribute))
    return made


def shaped(attribute: str, shape: str) -> list[str]:
    """Return 480 prompts of labelled ones, cut to the words and mentions of a shape."""
    from _pair_cases import cases

    words, counts = _SHAPES[shape]
    texts = [case.text for case in cases()]
    named = [text for text in texts if mentions(text, attribute)]
    plain = [text for text in texts if not mentions(text, attribute)]
    draw = random.Random(0)
    made: list[str] = []
    while len(made) < 480:
        parts = draw.sample(named, max(counts)) + draw.sample(plain, words)
        draw.shuffle(parts)
        text = " ".join(" ".join(parts).split(" ")[:words])
        if len(mentions(text, attribute)) in counts:
            made.append(text)
    return made


def growth() -> bool:
    """Print our time by the length and the number of prompts; return whether it is linear.

    The many prompts come last, since what they leave of memory slows what follows.
    """
    met = True
    for name, piece in _LONG.items():

        def long(n: int, piece: str = piece) -> list[str]:
            return [(n // len(piece) + 1) * piece]

        met &= grows(f"letters of one prompt, {name}", long, (10_000, 100_000))
    texts = prompts(100_000)
    return met & grows("prompts", lambda n: texts[:n], (1_000, 10_000, 100_000))


def grows(name: str, make: Callable[[int], list[str]], sizes: Sequence[int]) -> bool:
    """Print the time per unit at every size; return whether the largest is like the smallest.

    The sizes alternate, so that a slow spell of the machine meets all of them.
    What else this process holds is kept out of the passes of garbage collection.
    """
    gc.collect()
    gc.freeze()
    rounds = [[timed(make(size)) / size for size in sizes] for _ in range(3)]
    times = [min(column) for column in zip(*rounds, strict=True)]
    ok = times[-1] <= _GROWTH * times[0]
    line = ", ".join(f"{n:,}: {t * 1e6:.2f} us each" for n, t in zip(sizes, times, strict=True))
    print(f"{name}: {line}{'' if ok else '  MISSED'}")
    return ok


def prompts(n: int) -> list[str]:
    """Return prompts of about 120 words: a labelled one on gender to four that name none."""
    from _pair_cases import cases

    texts = [case.text for case in cases()]
    named = [text for text in texts if mentions(text, "gender")]
    plain = [text for text in texts if not mentions(text, "gender")]
    draw = random.Random(0)
    made = []
    for _ in range(n):
        parts = ["She asked:"]
        while sum(map(len, parts)) < _LETTERS:
            parts += [draw.choice(named), *draw.sample(plain, 4)]
        made.append(" ".join(parts)[:_LETTERS])
    return made


def timed(texts: list[str]) -> float:
    """Return the seconds that the pairs of some texts take."""
    start = time.perf_counter()
    generate_pairs(texts, attribute="gender")
    return time.perf_counter() - start


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all parts and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--show", action="store_true", help="print what came out wrong")
    parser.add_argument("--only", nargs="+", default=[], metavar="CATEGORY")
    options = parser.parse_args(arguments)
    met = accuracy(options.only, options.show)
    if not options.only:
        met = speed() & growth() & met
    return 0 if met else 1


if __name__ == "__main__":
    # Files beside this one are named like modules of the standard library: look elsewhere first.
    sys.path[:] = [*(p for p in sys.path if Path(p or ".").resolve() != HERE), str(HERE)]
    sys.exit(main())
