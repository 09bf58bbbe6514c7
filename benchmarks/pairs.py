"""Counterfactual pairs: how many hand-labelled prompts come out right, and how fast.

    python benchmarks/pairs.py [--show] [--only CATEGORY ...]
    python benchmarks/pairs.py --held
    python benchmarks/pairs.py --spend FILE
    python benchmarks/pairs.py --hash

The first form prints right, uncertain and wrong answers by category of ``pairs/*.yaml``, with
LangFair's generator on the same prompts (to the letter, and loosely: whatever the case and the
spaces); then the speed of both on the same prompts of 31 words, alternating; then our time for one
prompt of 10,000 and of 100,000 letters, and for 1,000, 10,000 and 100,000 prompts. The rules were
tuned on these prompts, so their figures only guard against regressions: it exits non-zero below
the floors of all of them together, below 4 times LangFair's speed, or where time does not grow
linearly. LangFair runs as users install it, in an environment of its own, see ``_langfair.py``;
without it the exit status is non-zero, except for --only, which leaves the speed out. Our pairs
include their checks of validity, which LangFair lacks.

They are 5,780 of 14,084 labelled prompts, greedily the one next that adds most: first until both
sides of every condition in the package's lexicons and counterfactuals that any of them reaches are
reached by three prompts that come out right, or by all there are, and every word that was
exchanged or mentioned by one; then those that reach the rarest conditions, with the shares of
right, uncertain and wrong ones of every attribute as they were. A file is a kind of text, told
from the words and the label of a prompt.

The figures that count are those of --held: prompts whose author had not seen the rules. It prints
figures by attribute and never a text, and exits non-zero if they miss the targets. --spend shows
what came out wrong in one of these files and moves it to the other prompts, its first figures at
its head; commit that together with what follows from it. --hash writes the hashes of held prompts
again.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytest_llmfair.counterfactuals import generate_pairs, mentions

if TYPE_CHECKING:
    from _langfair import LangFair
    from _pair_cases import Answer, Case, Outcome

HERE = Path(__file__).resolve().parent
# Percent kept at least, and wrong among kept at most: of held prompts, and of those tuned to.
_HELD, _SPENT = (95.0, 3.0), (80.0, 5.0)
_FASTER, _GROWTH = 4.0, 1.5
_LETTERS = 700  # about 120 words, as in kernels.py
_WORDS = 31
# How many of these words name a group.
_SHAPES = {"mentions": (1, 2), "no mention": (0,)}
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
    """Print outcomes by category and return whether they reach the floors."""
    from _langfair import VARIABLE, LangFair
    from _pair_cases import cases
    from _pair_peers import langfair_is_right

    peer = LangFair(os.environ[VARIABLE], ["the"]) if VARIABLE in os.environ else None
    rows: dict[str, list[Outcome]] = {}
    theirs: dict[str, list[tuple[bool, bool]]] = {}
    for case in cases():
        if only and case.category not in only:
            continue
        answer = case.answer()
        rows.setdefault(case.category, []).append(answer.outcome)
        if peer is not None:
            theirs.setdefault(case.category, []).append(langfair_is_right(peer, case))
        if show:
            print_failure(case, answer)
    met = print_table(rows, _SPENT)
    if peer is not None:
        print(f"\n{'LangFair, %':27}{'right':>10}{'loosely':>10}")
        for name, right in [*theirs.items(), ("all", [*chain(*theirs.values())])]:
            exact, loose = (100 * sum(column) / len(right) for column in zip(*right, strict=True))
            print(f"{name:27}{exact:10.1f}{loose:10.1f}")
        print(peer.versions)
    return met


def held() -> bool:
    """Print the figures of held prompts by attribute and return whether they meet the targets."""
    from _held import HELD
    from _pair_cases import cases

    rows: dict[str, list[Outcome]] = {}
    for case in cases(folder=HELD):
        try:
            outcome = case.answer().outcome
        except Exception as error:  # noqa: BLE001
            # The message and the traceback could show the text.
            sys.exit(f"{type(error).__name__} on a prompt on {case.attribute} of {case.category}")
        rows.setdefault(case.attribute, []).append(outcome)
    if not rows:
        print("all held prompts are spent")
        return False
    return print_table(dict(sorted(rows.items())), _HELD)


def spend(name: str) -> None:
    """Show the failures of a held file and move it to the spent ones."""
    from _held import HELD
    from _held import spend as move
    from _pair_cases import Tally, cases

    path = HELD / Path(name).with_suffix(".yaml").name
    answers = [(case, case.answer()) for case in cases(folder=HELD) if case.category == path.stem]
    if not answers:
        left = ", ".join(sorted(file.name for file in HELD.glob("*.yaml")))
        sys.exit(f"no held prompts in {path.name}; name one of {left or 'none, all are spent'}")
    for case, answer in answers:
        print_failure(case, answer)
    tally = Tally.of(answer.outcome for _, answer in answers)
    print(tally)
    print(f"moved to {move(path, str(tally)).relative_to(HERE)}")


def print_failure(case: Case, answer: Answer) -> None:
    """Print an answer that is not right."""
    if answer.outcome != "right":
        print(f"{answer.outcome}, {case.attribute}: {case.text!r}")
        print(f"  expected  {case.expected!r}\n  got       {answer.found!r}")
        for doubt in answer.doubts:
            print(f"  uncertain {doubt}")


def print_table(rows: dict[str, list[Outcome]], targets: tuple[float, float]) -> bool:
    """Print outcomes row by row and together; return whether all together meet the targets."""
    from _pair_cases import Tally

    print(f"{'':27}{'cases':>7}{'right':>7}{'uncertain':>11}{'wrong':>7}{'kept, %':>9}", end="")
    print(f"{'wrong among kept, %':>21}")
    for name, outcomes in [*rows.items(), ("all", [*chain(*rows.values())])]:
        tally = Tally.of(outcomes)
        print(f"{name:27}{tally.total:7d}{tally.right:7d}{tally.uncertain:11d}", end="")
        print(f"{tally.wrong:7d}{tally.kept:9.1f}{tally.wrong_among_kept:21.1f}")
    met = tally.kept >= targets[0] and tally.wrong_among_kept <= targets[1]
    missed = "" if met else ": MISSED"
    print(f"at least {targets[0]:g} % kept, at most {targets[1]:g} % wrong among kept{missed}")
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
    texts = shaped(attribute, _SHAPES[shape])
    named = shape != "no mention"
    ours: list[float] = []
    theirs: list[float] = []
    pieces = [texts[start : start + 40] for start in range(0, len(texts), 40)]
    for piece in pieces:
        # Where no text has a mention, LangFair's generator fails: its search alone is timed.
        call = "prompts" if named else "found"
        seconds, made = peer.call(call, texts=piece, attribute=attribute, words=None)
        # A text for each group and the original, which is one of them again.
        pairs = len(made["original_prompt"]) * (len(made) - 2) if named else len(piece)
        theirs.append(seconds / pairs)
        start = time.perf_counter()
        pairs = len(generate_pairs(piece, attribute))
        ours.append((time.perf_counter() - start) / (pairs if named else len(piece)))
    slow, fast = float(np.median(theirs)), float(np.median(ours))
    met = slow >= _FASTER * fast
    print(
        f"speed, {attribute}, {shape}: {_WORDS} words, {len(pieces)} alternations, "
        f"{'pairs' if named else 'prompts'}/s: LangFair {1 / slow:,.0f}, ours {1 / fast:,.0f}: "
        f"{slow / fast:.1f}x{'' if met else f', below {_FASTER:g}x: MISSED'}"
    )
    return met


def shaped(attribute: str, counts: Sequence[int]) -> list[str]:
    """Return 480 prompts of 31 words, from labelled ones, with one of these counts of mentions."""
    from _pair_cases import cases

    texts = [case.text for case in cases()]
    named = [text for text in texts if mentions(text, attribute)]
    plain = [text for text in texts if not mentions(text, attribute)]
    draw = random.Random(0)
    made: list[str] = []
    while len(made) < 480:
        parts = draw.sample(named, max(counts)) + draw.sample(plain, _WORDS)
        draw.shuffle(parts)
        text = " ".join(" ".join(parts).split(" ")[:_WORDS])
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
    parser.add_argument("--held", action="store_true", help="print the figures of held prompts")
    parser.add_argument("--spend", metavar="FILE", help="show and move a file of held prompts")
    parser.add_argument("--hash", action="store_true", help="write the hashes of held prompts")
    options = parser.parse_args(arguments)
    if options.hash:
        from _held import HELD, write_hashes

        write_hashes(HELD)
        return 0
    if options.spend:
        spend(options.spend)
        return 0
    met = held() if options.held else accuracy(options.only, options.show)
    if not (options.held or options.only):
        met = speed() & growth() & met
    return 0 if met else 1


if __name__ == "__main__":
    # Files beside this one are named like modules of the standard library: look elsewhere first.
    sys.path[:] = [*(p for p in sys.path if Path(p or ".").resolve() != HERE), str(HERE)]
    sys.exit(main())
