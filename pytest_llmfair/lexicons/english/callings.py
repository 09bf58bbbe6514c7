"""Whether "woman" or "man" tells the sex of the person named behind it: "one woman MP"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.beside import NEXT, low, word_before
from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.words import is_any, is_person, is_verb
from pytest_llmfair.lexicons.english.works import is_no_work

_WORDS = ("woman", "lady", "man", "women", "men")
_AUXILIARIES = ("be", "have", "modals")
# "the family man actor"
_COMPOUNDS = (
    "family",
    "common",
    "straight",
    "business",
    "front",
    "con",
    "funny",
    "leading",
    "best",
)


def is_calling(text: str, start: int, end: int) -> bool:
    """Whether a noun for a person of the same number follows: "a woman bus driver".

    Not where something is done to women ("a woman hater"), where it is a verb ("saw the woman
    nurse her son", "did the woman judge"), or where a clause begins ("the men officers arrested",
    "a man coach Lind knew"). Both sexes are read alike.
    """
    behind = NEXT.match(text, end)
    if behind is None:
        return False
    if is_one_of(low(behind[1]), "of_callings"):
        behind = NEXT.match(text, behind.end()) or behind
    said = behind[1]
    word = low(said).removesuffix("'s")
    if not is_person(word):
        return False  # the usual case at less cost
    own = low(text[start:end])
    if own not in _WORDS or text[start - 1 : start] == "-":
        return False
    plural = own.endswith("men")
    if word.endswith("ess") or is_any(word, "no_callings"):
        return False
    if plural != (word.endswith(("s", "men")) and not word.endswith("ss")):
        return False
    if text[start].isupper():
        if not is_no_work(text, start, end):  # "the Society of Women Engineers"
            return False
    elif said[0].isupper() and not said[:2].isupper():
        return False
    following = NEXT.match(text, behind.end())
    if following is None:
        return True
    after = low(following[1])
    if following[1][0].isupper() or after == "than" or is_one_of(after, "articles"):
        return False
    said, begin = word_before(text, start)
    if said in _COMPOUNDS:
        return False
    before = low(said)
    if plural and is_verb(after, ""):
        verb = NEXT.match(text, following.end())
        return verb is None or not any(is_one_of(low(verb[1]), kind) for kind in _AUXILIARIES)
    asked = is_one_of(before, "determiners") and low(word_before(text, begin)[0])
    return not (asked and is_one_of(asked, "asking"))
