"""Words of one religion that no other has, beside words of it that are exchanged.

"The church was founded by Christ" has no twin: a mosque was not.
"""

from __future__ import annotations

import re

from pytest_llmfair.counterfactuals._pairing.case import Case

_ROLES = ("clergy", "place", "book")
_FOUNDER = r"Jesus Christ|Christ|Jesus of Nazareth"
# Beside a church or a priest also what belongs to them.
_HELD = (
    r"bishops?|archbishops?|vicars?|deacons?|cathedrals?|churchyards?|parish(?:es)?|dioceses?"
    r"|archdioceses?|the Pope|gospels?|baptisms?|bapti[sz]ed|crucifix(?:es)?|eucharist"
    r"|holy communion|Virgin Mary|saints of"
)
_OWN = {
    "christian": (rf"(?:{_FOUNDER})", rf"(?:{_FOUNDER}|(?i:{_HELD}))"),
    "muslim": ("Prophet Muhammad", r"(?:Prophet Muhammad|minarets?)"),
    "buddhist": ("the Buddha", "the Buddha"),
}
_FOUND = {
    group: tuple(re.compile(rf"\b{words}(?![\w-])") for words in both)
    for group, both in _OWN.items()
}


def no_word_of_faith(case: Case) -> str | None:
    """Check that no word stays that ties what is exchanged to its religion."""
    if case.pair.attribute != "religion":
        return None
    for group in {sense.group for _, sense, _ in case.named} & _FOUND.keys():
        roles = {sense.role for _, sense, _ in case.named if sense.group == group}
        own = _FOUND[group][not roles.isdisjoint(_ROLES)]
        word = own.search(case.pair.counterfactual)
        if word is not None:
            return f"names {group}: {word[0]!r} has no counterpart"
    return None
