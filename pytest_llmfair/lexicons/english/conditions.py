"""Whether a person has a condition or an origin: "a man with epilepsy", "a woman from Kenya"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.context import (
    Phrase,
    is_before_name,
    is_headline,
    low,
    phrase_at,
)
from pytest_llmfair.lexicons.english.labels import is_value
from pytest_llmfair.lexicons.english.predicates import is_predicate
from pytest_llmfair.lexicons.english.subjects import is_person_or_name, without_aside
from pytest_llmfair.lexicons.english.words import (
    JOINED,
    bare,
    ends_phrase,
    is_adverbial,
    is_any,
    is_modifier,
    is_one_of,
    is_person,
    is_person_compound,
    is_plural,
    is_verb,
    noun_phrase_ends,
    without_end,
)
from pytest_llmfair.lexicons.grammar import Verdict

_OWNERS = ("my", "your", "his", "her", "our", "their", "whose", "one's", "xyr")
_BETWEEN = ("as", "not", "never", "started", "began", "still", "also", "does", "did", "do")
# Words that refer to persons before a condition: "one with autism", "those with autism".
_PERSON_PRONOUNS = ("one", "another", "those", "many", "some", "others", "ones", "people")


def counts(text: str, start: int, end: int) -> Verdict:
    """Return whether a condition or a country is what a person has or comes from."""
    phrase = phrase_at(text, start, end)
    term = text[start:end]
    if _is_from(phrase):
        return Verdict(not (phrase.after and is_before_name(phrase)))
    if not _is_country(term, phrase) and (_is_had(phrase) or _is_owned(phrase)):
        return Verdict(True)
    return Verdict(is_value(text, start, end))


def _is_country(term: str, phrase: Phrase) -> bool:
    """Whether it looks like a country: "Kenya", "the US"; not "PTSD", "Down syndrome"."""
    words = term.removeprefix("the ").split()
    if any(word.islower() and word not in ("and", "of") for word in words):
        return False
    acronym = any(word.isupper() and len(word) > 2 and "." not in word for word in words)
    known = acronym or "'" in low(term) or is_one_of(low(words[-1]), "conditions")
    return not (known or not phrase.before or is_headline(phrase.raw))


def _is_from(phrase: Phrase) -> bool:
    """Allow "a man from Kenya", "born in Turkey", "citizens of Peru"; not "wine from France"."""
    raw = _without_joined(list(phrase.raw[: len(phrase.before)]))
    words = list(phrase.before[: len(raw)])
    if len(words) < 2:
        return False
    if words[-1] in ("in", "of"):
        return is_one_of(words[-2], "born_in" if words[-1] == "in" else "belong_to")
    if words[-1] != "from":
        return False
    words.pop()
    while words and (is_one_of(words[-1], "after_moved") or words[-2:] == [",", "not"]):
        words.pop()
    verb = words[-1] if words else ""
    if verb in (",", "(") and len(words) > 1:
        return is_person(words[-2])  # "the woman, originally from Peru,"
    further = " ".join(phrase.raw[len(phrase.before) :][1:2])
    if is_one_of(verb, "journeys") and phrase.next == "to" and further[:1].isupper():
        return False  # "flew from Peru to Canada"
    if is_person_compound(" ".join(words[-2:-1]), verb) or is_person(verb):
        return True
    if is_one_of(verb, "indefinite") or is_one_of(verb, "person_objects"):
        return True
    if is_one_of(verb.removesuffix("s"), "demonyms"):
        return True  # "an Italian from Italy"
    raw = raw[: len(words)]
    if is_one_of(verb, "come_from"):
        words[-1] = raw[-1] = "is"
    return is_predicate(phrase._replace(raw=tuple(raw)), tuple(words), ())


def _without_joined(raw: list[str]) -> list[str]:
    """Drop countries joined before: "from Mexico, the Gambia, and", "from Peru, not from"."""
    words = list(raw)
    while len(words) > 2:
        at = len(words)
        while at > 2 and words[at - 1] in (*JOINED, "not", "from", "the"):
            at -= 1
        named = at
        while at > 2 and words[at - 1][:1].isupper():
            at -= 1
        joined = set(words[named:]) & JOINED
        if at == named or not joined or words[at - 1] not in ("from", "the", ",", "in", "of"):
            break
        words = words[: at - 1] if words[at - 1] == "the" else words[:at]
    return words


def _is_had(phrase: Phrase) -> bool:
    """Allow "a student with depression", "has severe anxiety"; not "the Great Depression"."""
    words = list(phrase.before)
    _drop_joined(words)
    words = without_end(words, _qualifies)
    had = len(words)
    while words and (is_one_of(words[-1], "having") or (len(words) < had and _is_aux(words[-1]))):
        words.pop()
    if len(words) == had:
        return False
    if not words:  # "Living with diabetes is hard"
        return phrase.before[0] == "living" and noun_phrase_ends(phrase.after)
    begin = len(words)
    if len(subject := without_aside(words)) < len(words) - 1:  # "Ann, 41, has"
        words = subject
    first = phrase.before[begin]
    owner, written = words[-1], phrase.raw[len(words) - 1]
    if first == "got" and owner.endswith(("'s", "'ve")):  # "she's got"
        owner, written = owner.partition("'")[0], written[: owner.index("'")]
    if phrase.next == "about" or not _ends(phrase, first, owner):
        return False  # "has anxiety about the test", "with depression medication"
    if first == "with" and owner in _PERSON_PRONOUNS:
        return True
    known = is_one_of(owner, "person_subjects") or is_one_of(owner, "person_objects")
    return known or is_person_or_name(owner, written, True)


def _ends(phrase: Phrase, first: str, owner: str) -> bool:
    """Whether no noun follows that the condition only describes."""
    if noun_phrase_ends(phrase.after, bare=first == "with") or is_adverbial(
        *(*phrase.after, "", "")[:2]
    ):
        return True
    several = owner in _PERSON_PRONOUNS[2:] or is_plural(owner)
    verb = phrase.next if several else phrase.next.removesuffix("s")
    needs = (several or verb != phrase.next) and is_one_of(verb, "needing")
    # "How can a child with ADHD focus", "are pupils with ADHD calmer than"
    return needs or is_one_of(phrase.next, "having") or "than" in phrase.after[1:3]


def _qualifies(word: str) -> bool:
    """Whether it describes a condition: "severe", "significant"."""
    known = is_one_of(word, "severities") or is_modifier(word)
    return known and not is_one_of(word, "having")


def _drop_joined(words: list[str]) -> None:
    """Drop conditions joined before: "has ADHD and", "with autism, anxiety or"."""
    while len(words) > 2 and words[-1] in JOINED:
        at = len(words)
        while at > 1 and words[at - 1] in JOINED:
            at -= 1
        if not is_one_of(words[at - 1], "conditions"):
            return
        at -= 1
        while at and (
            words[at - 1] in ("a", "an", "no")
            or _qualifies(words[at - 1])
            or is_one_of(words[at - 1], "condition_parts")
        ):
            at -= 1
        del words[at:]


def _is_aux(word: str) -> bool:
    """Whether a word can come between a person and "living with": "has not been", "started"."""
    known = word in _BETWEEN or is_one_of(word, "be") or is_one_of(word, "verb_chain")
    return known or word.endswith("ly")


def _is_owned(phrase: Phrase) -> bool:
    """Allow "his dyslexia", "a customer's disability"; not "her disability claim"."""
    if not phrase.before:
        return False
    owner, written = phrase.last, bare(phrase.raw[len(phrase.before) - 1])
    if owner.endswith(("'s", "s'")):
        known = is_one_of(bare(owner), "indefinite") or is_person_or_name(
            bare(owner), written, True
        )
    else:
        known = owner in _OWNERS
    following, second = (*phrase.after[:2], "", "")[:2]
    if not known or is_any(following, "disability_things"):
        return False
    if ends_phrase(following):
        return following != "to"  # "his blindness to the risk"
    if is_adverbial(*(*phrase.after, "", "")[:2]) or (
        following.endswith("s") and ends_phrase(second)
    ):
        return True  # "his asthma last year", "her dyslexia manifests as"
    acted = is_one_of(following, "acted") or following == "cost"
    if acted and (is_one_of(second, "determiners") or is_one_of(second, "person_objects")):
        return True  # "cost her the job", "kept him at home"
    return is_verb(following, second) and not is_any(following, "noun_verbs")
