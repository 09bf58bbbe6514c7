"""Words of one religion that no other has, beside words of it that are exchanged.

"The church was founded by Christ" has no twin: a mosque was not.
"""

from __future__ import annotations

import re

from pytest_llmfair.counterfactuals._pairing.case import Case
from pytest_llmfair.counterfactuals._pairing.pair import Edit
from pytest_llmfair.lexicons.english.works import is_headline

_NEAR = 20
_ROLES = ("clergy", "place", "book")
_FOUNDER = r"Jesus Christ|Christ|Jesus of Nazareth"
# Beside a church or a priest also what belongs to them.
_HELD = (
    r"bishops?|archbishops?|deacons?|cathedrals?|churchyards?|parish(?:es)?|dioceses?"
    r"|archdioceses?|the Pope|gospels?|baptisms?|bapti[sz]ed|crucifix(?:es)?|eucharist"
    r"|holy communion|Virgin Mary|saints of"
    r"|(?:holds?|held|says?|said|celebrate[sd]?|attend(?:s|ed)?|Sunday|midnight|holy) mass"
)
_OWN = {
    "christian": (rf"(?:{_FOUNDER})", rf"(?:{_FOUNDER}|(?i:{_HELD}))"),
    "muslim": ("Prophet Muhammad", r"(?:Prophet Muhammad|minarets?)"),
    "buddhist": ("the Buddha", "the Buddha"),
}
# Mosques have none; temples have bells.
_UNHEARD = re.compile(
    r"\b(?:mosque|synagogue|gurdwara)(?:s?['\u2019]s?|s)? "
    r"(bells?|steeples?|spires?|choirs?|organs?)\b",
    re.IGNORECASE,
)
_FOUND = {
    group: tuple(re.compile(rf"\b{words}(?![\w-])") for words in both)
    for group, both in _OWN.items()
}


def no_word_of_faith(case: Case) -> str | None:
    """Check that no word stays that ties what is exchanged to its religion."""
    if case.pair.attribute != "religion":
        return None
    for _, sense, edit in case.named:
        if sense.role == "place" and (held := _held(case, edit)):
            return f"names {sense.group}: {held!r} has no counterpart"
    for group in {sense.group for _, sense, _ in case.named} & _FOUND.keys():
        roles = {sense.role for _, sense, _ in case.named if sense.group == group}
        own = _FOUND[group][not roles.isdisjoint(_ROLES)]
        word = own.search(case.pair.counterfactual)
        if word is not None:
            return f"names {group}: {word[0]!r} has no counterpart"
    return None


def _held(case: Case, edit: Edit) -> str:
    """Return what no other house has: its bells, or all believers ("trusts the Church")."""
    text = case.pair.counterfactual
    start, end = edit.counterfactual_start, edit.counterfactual_start + len(edit.after)
    if unheard := _UNHEARD.match(text, start, end + _NEAR):
        return unheard[1]
    body = edit.before == "Church" and text.startswith("the ", start - 4)
    return "the Church" if body and not is_headline(text, start, end) else ""
