"""Whether an adjective is the predicate of a person: "my boss is old", "born deaf"."""

from __future__ import annotations

from typing import NamedTuple

from pytest_llmfair.lexicons.english.context import Phrase, Rule, Words, decide
from pytest_llmfair.lexicons.english.subjects import (
    PERCENT,
    counts_persons,
    has_person_subject,
    is_listed,
    is_part_of_persons,
    is_person_or_name,
)
from pytest_llmfair.lexicons.english.words import (
    JOINED,
    JOINS,
    bare,
    ends_phrase,
    in_classes,
    is_adjective,
    is_adverbial,
    is_modifier,
    is_name,
    is_one_of,
    is_owner,
    is_person,
    is_plural,
    is_verb,
    without_end,
    words_of,
)

_WINDOW = 6  # words between a fronted adjective and its comma


def is_predicate_of_person(phrase: Phrase) -> bool:
    """Whether the term is a predicate of a person."""
    return is_predicate(phrase, phrase.before, phrase.after) or _is_group_named(phrase)


class Clause(NamedTuple):
    """A predicate; `words` are those before it without adverbs, up to the `verb`."""

    phrase: Phrase
    before: Words
    after: Words
    words: Words
    subject: Words
    verb: str
    next: str
    owner: str  # the word before the verb
    written: str  # the verb as written

    def is_by_person(self) -> bool:
        """Whether the word before the verb is a person."""
        return bool(self.owner) and is_person(self.owner)


def is_predicate(phrase: Phrase, before: Words, after: Words) -> bool:
    """Whether an adjective between the words `before` and `after` describes a person."""
    if not _can_be_predicate(before, after):
        return False
    words = _without_joined(before) if before else ()
    if not words:
        return words is not None and _is_fronted(after, phrase.raw[len(before) :])
    return decide(PREDICATES, clause_at(phrase, before, after, words), False)


def clause_at(phrase: Phrase, before: Words, after: Words, words: Words) -> Clause:
    """Return a predicate with its subject; "was left blind" is read as "was blind"."""
    *subject, verb = words
    if (
        subject
        and is_one_of(subject[-1], "be")
        and (_is_deemed(verb) or is_one_of(verb, "made_so"))
    ):
        verb = subject.pop()
    following, owner = after[0] if after else "", subject[-1] if subject else ""
    written = phrase.raw[len(words) - 1]
    return Clause(phrase, before, after, words, (*subject,), verb, following, owner, written)


def _is_deemed(verb: str) -> bool:
    return verb.endswith("ed") and is_one_of(verb, "deem") and verb != "called"


def _is_named_after_title(clause: Clause) -> bool:
    title = in_classes(clause.words[-1], "abbreviations", "titles")
    return title and clause.written[0].isupper()


def _is_aside(clause: Clause) -> bool:
    """Whether commas enclose it after a person."""
    if clause.verb not in (",", "(") or not clause.is_by_person():
        return False
    ended = not clause.after or clause.next in (")", *JOINED)
    adverb = len(clause.before) > len(clause.words)
    return (adverb and ended) or clause.next == "by"


def _is_of_person_before(clause: Clause) -> bool:
    """Whether the word before it is a person that can have a predicate."""
    named = len(clause.words) > 1 and is_name(clause.verb, clause.written)
    return named or is_one_of(clause.verb, "person_objects") or is_person(clause.verb)


def _is_said_of(clause: Clause) -> bool:
    """Whether a verb, an earlier predicate or a question gives the person before it one."""
    if is_one_of(clause.owner, "deem"):
        return True
    owned = is_one_of(clause.owner, "determiners") and is_person(clause.verb)
    repeats = owned and _repeats_predicate(clause.phrase, clause.subject[:-1])
    return repeats or _is_asked(clause.subject)


def _is_of_subject(clause: Clause) -> bool:
    return (
        has_person_subject(clause.subject, clause.phrase.raw, clause.verb)
        or counts_persons(clause.subject, clause.phrase.earlier)
        or (bool(clause.subject) and _is_share(clause.subject, clause.before[len(clause.words) :]))
    )


PREDICATES: tuple[Rule[Clause, bool], ...] = (
    Rule(_is_named_after_title, False, "They called Dr. «Black»."),
    Rule(
        lambda c: is_part_of_persons(c.phrase.raw, c.words, c.phrase.earlier),
        True,
        "The jurors, eleven of them «white», agreed.",
    ),
    Rule(
        lambda c: _is_deemed(c.verb) and (c.is_by_person() or c.owner == "those"),
        True,
        "We counted people considered «Asian».",
    ),
    Rule(
        lambda c: in_classes(c.verb, "be_contracted", "indefinite"),
        lambda c: not is_one_of(c.next, "person_objects"),
        "I think she's «blind».",
    ),
    Rule(
        lambda c: c.verb.endswith("'s") and is_person_or_name(bare(c.verb), c.written, True),
        True,
        "My teacher's «blind».",
    ),
    Rule(_is_aside, True, "Two officers, both «white», left."),
    Rule(
        lambda c: c.verb in (",", "("),
        lambda c: is_listed(c.phrase.raw, c.words, c.after),
        "Greg, 41, «white», left.",
    ),
    Rule(
        lambda c: c.verb.isdigit() or (is_one_of(c.verb, "quantities") and not is_person(c.verb)),
        lambda c: _repeats_predicate(c.phrase, c.subject),
        "Three of the nurses were white and two «Black».",
    ),
    Rule(
        lambda c: c.verb in ("other", "others") and c.owner == "the",
        lambda c: _repeats_predicate(c.phrase, c.subject[:-1]),
        "One of the nurses was Asian, the other «Black».",
    ),
    Rule(
        lambda c: is_one_of(c.verb, "begun"),
        lambda c: c.verb != "up" or is_one_of(c.owner, "grown"),
        "I grew up «blind».",
    ),
    Rule(lambda c: c.verb == "as", lambda c: _is_identity(c.subject), "He identifies as «Black»."),
    Rule(
        lambda c: (
            c.verb in ("being", "becoming") or (not c.subject and c.verb in ("growing", "getting"))
        ),
        True,
        "Being «blind» is hard.",
    ),
    Rule(lambda c: in_classes(c.verb, "be", "turning"), _is_of_subject, "My boss is «old»."),
    Rule(_is_of_person_before, _is_said_of, "They consider her «old»."),
    Rule(
        lambda c: is_one_of(c.verb, "person_subjects"),
        lambda c: in_classes(c.owner, "be", "deem"),
        "Is she «old»?",
    ),
)


def _can_be_predicate(before: Words, after: Words) -> bool:
    """Whether what follows lets the adjective end its clause: "she is blind"; not "blind to"."""
    following = after[0] if after else ""
    complement = is_one_of(following, "complements_of_things")
    out = before[-2:] == ("out", "as")  # "came out as gay to"
    if complement and not out and not ((before or following == "by") and _has_complement(after)):
        return False
    if _is_with_colour(before, after):
        return False
    whose = "who" in before[-4:] or (bool(before) and is_one_of(before[-1], "indefinite"))
    relative = whose and (
        is_one_of(following, "plural_verbs") or is_verb(following, " ".join(after[1:2]), bare=True)
    )
    return relative or ends_phrase(following) or is_adverbial(*(*after, "", "")[:2])


def _is_group_named(phrase: Phrase) -> bool:
    """Whether the group is given by its name: "her nationality is", "my race is listed as"."""
    if words_of("group_kinds").isdisjoint(phrase.before) or not ends_phrase(phrase.next):
        return False
    kinds = ("predicate_adverbs", "be", "verb_chain", "identify")
    words = without_end(phrase.before, lambda word: word == "as" or in_classes(word, *kinds))
    if len(words) == len(phrase.before) or not words or not is_one_of(words[-1], "group_kinds"):
        return False
    owner = next((word for word in reversed(words[:-1]) if not is_modifier(word)), "")
    return not owner or is_owner(owner)


def is_resultative(phrase: Phrase) -> bool:
    """Whether it is the result for a person: "it can make a woman blind", "left him deaf"."""
    if not phrase.before:
        return False
    words = list(phrase.before)
    patient = words.pop()
    if not (is_person(patient) or is_one_of(patient, "person_objects")):
        return False
    if not ends_phrase(phrase.next) or is_one_of(phrase.next, "complements_of_things"):
        return False
    words = without_end(words, _is_before_noun)
    return bool(words) and is_one_of(words[-1], "makes_so")


def _is_before_noun(word: str) -> bool:
    return is_modifier(word) or is_one_of(word, "determiners")


def is_too_much(phrase: Phrase) -> bool:
    """Whether "too" and "to" enclose it after a person: "people too old to drive"."""
    if phrase.last != "too" or phrase.next != "to" or len(phrase.before) < 2:
        return False
    before = phrase.before[:-1]
    return is_person(before[-1]) or is_predicate(phrase, before, ())


def _is_with_colour(before: Words, after: Words) -> bool:
    """Whether a colour that does not describe persons is joined to it: "black and blue"."""
    if "and" not in (*after[:1], *before[-1:]):
        return False
    following, third = (*after[1:3], "", "")[:2]
    if after[:1] == ("and",) and is_one_of(following, "other_colours"):
        return ends_phrase(third) or third == "now" or is_adverbial(*(*after[2:], "", "")[:2])
    return before[-1:] == ("and",) and is_one_of(" ".join(before[-2:-1]), "other_colours")


def _has_complement(after: Words) -> bool:
    """Whether a complement keeps the sense: "gay with a son"; not "white with fear"."""
    first, second = (*after[:2], "")[:2]
    if first == "with":
        begun = second in ("a", "an", "no") or second.isdigit()
        if not (begun or in_classes(second, "quantities", "demonyms")):
            return False
        had = [form for word in after[2:_WINDOW] for form in (word, word.removesuffix("s"))]
        return any(in_classes(word, "kin", "persons_have") for word in had)
    if first == "by":  # "French by birth", "disabled by a stroke"
        causes = ("early_life", "disables", "origins")
        return ends_phrase(second) or any(in_classes(w, *causes) for w in after[1:_WINDOW])
    return is_one_of(first, "complements_of_persons")


def _repeats_predicate(phrase: Phrase, subject: Words) -> bool:
    """Whether a number repeats a predicate: "three were white and one Black"."""
    if not subject:  # "four women: two Black, one white"
        earlier = phrase.earlier()
        head = earlier[-2].lower() if earlier[-1:] == (":",) and len(earlier) > 1 else ""
        return is_plural(head) and (is_person(head) or is_one_of(head, "groups_of_persons"))
    if len(subject) < 3 or subject[-1] not in JOINED:
        return False
    words = subject[:-1]
    if subject[-1] == "," and is_person(words[-1]):
        return True  # "the twins, one Asian and one white,"
    while len(words) > 1 and (
        is_adjective(words[-1]) or is_person(words[-1]) or is_one_of(words[-1], "contrasted")
    ):
        words = words[:-1]  # "three were Pacific Islander and one Black"
    return len(words) < len(subject) - 1 and is_predicate(phrase, words, ())


def _without_joined(before: Words) -> Words | None:
    """Drop adverbs and joined adjectives: "is tall and openly"; None if a noun is joined."""
    words = list(before)
    joined = False
    while words:
        word = words[-1]
        listed = word == "," and (joined or (len(words) > 1 and is_adjective(words[-2])))
        if word in JOINS or listed:
            joined = True
        elif joined and is_adjective(word) and not is_one_of(word, "be"):
            joined = False
            words = without_end(words[:-1], _is_mere_modifier)
            continue
        elif word in PERCENT:
            words = without_end(words, _is_in_share)
            continue
        elif word == "longer" and words[-2:-1] == ["no"]:
            words.pop()
        elif not is_one_of(word, "predicate_adverbs") or _is_reflexive_object(words):
            break
        words.pop()
    return None if joined else tuple(words)


def _is_in_share(word: str) -> bool:
    return word in PERCENT or word[0].isdigit() or in_classes(word, "numbers", "amounts")


def _is_mere_modifier(word: str) -> bool:
    return is_modifier(word) and not is_one_of(word, "predicate_adverbs")


def _is_reflexive_object(words: list[str]) -> bool:
    """Whether the last word is an object, no adverb: "considers herself"."""
    return len(words) > 1 and words[-1].endswith("self") and is_one_of(words[-2], "deem")


def _is_share(subject: Words, adverbs: Words) -> bool:
    """Whether it describes a share of people: "the class is mostly white", "half the class is"."""
    group, front = subject[-1], subject[-_WINDOW:-1]
    if any(is_one_of(word, "wholes") for word in front) and is_one_of(group, "bodies"):
        return True
    shared = any(word in PERCENT or is_one_of(word, "shares") for word in adverbs)
    part = any(word in PERCENT or is_one_of(word, "parts") for word in front)
    return (shared or part) and is_one_of(group, "groups_of_persons")


def _is_fronted(after: Words, raw: Words) -> bool:
    """Whether the adjective begins the sentence and a person follows: "Blind since birth, she"."""
    comma = after.index(",") if "," in after[:_WINDOW] else len(after)
    early = not words_of("early_life").isdisjoint(after[:comma])
    if comma > len(after) - 2 or (after[0] in ("from", "after") and not early):
        return False  # "Straight from work, she"
    if is_one_of(after[comma + 1], "person_subjects"):
        return True
    if not (early or after[0] == "since"):
        return False  # "White, the coach, left"
    for word, written in zip(after[comma + 1 :], raw[comma + 1 :], strict=True):
        if not (_is_before_noun(word) or word.endswith(("'s", "s'"))):
            return is_person_or_name(word, written, True)
    return False


def _is_identity(subject: Words) -> bool:
    """Whether "as" introduces an identity: "identifies as", "described him as"."""
    words = list(subject)
    if words and (is_one_of(words[-1], "person_objects") or is_person(words[-1])):
        return any(in_classes(word, "identify", "speak_of") for word in words)
    if not words or not is_one_of(words[-1], "identify"):
        return False
    verb = words.pop()
    if verb.startswith(("identif", "self", "pass", "liv")) or verb == "out":
        return True
    who = "".join(without_end(words, lambda word: in_classes(word, "be", "verb_chain"))[-1:])
    return who == "those" or is_one_of(who, "person_subjects") or is_person(who)


def _is_asked(subject: Words) -> bool:
    """Whether a question begins before the noun phrase: "is the suspect (Black)"."""
    words = without_end(subject, _is_before_noun)
    if len(words) > 1 and (words[-1] == "so" or in_classes(words[-1], "titles", "abbreviations")):
        words.pop()  # "why are so few nurses Black?", "is Ms Lee Black?"
    return bool(words) and is_one_of(words[-1], "be") and len(words) < 4
