"""Whether an adjective is said of a person: "my boss is old", "born deaf", "anyone disabled"."""

from __future__ import annotations

from collections.abc import Callable

from pytest_llmfair.lexicons.english.english import is_one_of, is_owner, words_of
from pytest_llmfair.lexicons.english.persons.clauses import follows_relative
from pytest_llmfair.lexicons.english.persons.lists import is_listed, is_name
from pytest_llmfair.lexicons.english.persons.portions import is_portion
from pytest_llmfair.lexicons.english.persons.standing import is_several
from pytest_llmfair.lexicons.english.persons.subjects import (
    PERCENT,
    has_person_subject,
    is_counted,
    is_subject_word,
)
from pytest_llmfair.lexicons.english.persons.surroundings import Words
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    bare,
    ends_phrase,
    is_adjective,
    is_adverbial,
    is_modifier,
    is_person,
    is_verb,
)

_FAR = 6  # words between a fronted adjective and its comma
_COMES = ("come", "comes", "came", "coming")  # "your baby came out black"
_RELATIVE = frozenset(("who", "that", "who's", "that's"))
_NO_COLOURS = ("rarely", "seldom", "hardly", "scarcely", "never", "always", "not", "simply", "so")
_WHILE = ("while", "when", "though", "although", "once")
_IS = ("is", "was", "it's", "isn't", "wasn't", "be", "that's")
_BEYOND = ("in", "into", "past", "over", "up", "down", "out", "from")


def is_predicate(
    raw: Words, before: Words, behind: Words, earlier: Callable[[], Words] = tuple
) -> bool:
    """Whether the term behind `before` is said of a person.

    Parameters
    ----------
    raw : tuple of str
        The words and marks of the sentence without the term, as they are written.
    before, behind : tuple of str
        Those in front of the term and behind it, in lower case.
    earlier : callable
        Gives those in front of the sentence, as they are written.
    """
    following = behind[0] if behind else ""
    told_to = following == "to" and before[-2:] == ("out", "as")  # "came out as gay to"
    complement = is_one_of(following, "not_said_of_person") and not told_to
    if complement and not ((before or following == "by") and _goes_on(behind)):
        return False
    if is_beside_colour(before, behind):
        return False
    whose = "who" in before[-4:] or any(is_one_of(word, "indefinite") for word in before[-1:])
    relative = whose and (
        is_one_of(following, "plural_verbs")
        or is_verb(following, " ".join(behind[1:2]), bare=True)
    )
    if not (relative or ends_phrase(following) or is_adverbial(behind)):
        related = whose or not _RELATIVE.isdisjoint(before[-4:])
        if not (related and follows_relative(before, behind)):
            return False
    if following in ("a", "as") and raw[len(before)] in ("A", "As"):
        return False  # a grade: "straight As"
    if not before:
        return _is_fronted(behind, raw)
    words = _without_joined(before)
    if not words:
        headed = words is not None and before[-1] in PERCENT and _is_headed(earlier())
        return headed or (words is not None and _is_fronted(behind, raw[len(before) :]))
    verb = words[-1]
    beyond = complement or following in _BEYOND  # "looked straight in the direction of"
    if beyond and following != "to" and is_one_of(verb, "looking"):
        return False
    titled = is_one_of(verb, "abbreviations") or is_one_of(verb, "titles")
    if titled and raw[len(words) - 1][0].isupper():
        return False  # "called Dr. Black"
    if is_portion(raw, words, earlier):
        return True
    subject, written = words[:-1], raw[: len(words) - 1]
    deemed = verb.endswith("ed") and is_one_of(verb, "deem") and verb != "called"
    if deemed and subject and (is_person(subject[-1]) or subject[-1] == "those"):
        return True  # "people considered Asian"
    made = deemed or is_one_of(verb, "made_so")
    if made and subject and is_one_of(subject[-1], "be"):
        verb, subject, written = subject[-1], subject[:-1], written[:-1]  # "was left blind"
    if is_one_of(verb, "be_contracted") or is_one_of(verb, "indefinite"):
        return not is_one_of(following, "person_objects")  # "will somebody blind me"
    if verb.endswith("'s") and is_subject_word(bare(verb), raw[len(words) - 1], True):
        return True
    if verb in (",", "("):
        aside = bool(subject) and is_person(subject[-1]) and _is_aside(before, words, behind)
        return aside or is_listed(raw, words, behind)
    if verb.isdigit() or (is_one_of(verb, "quantities") and not is_person(verb)):
        return _is_gapped(raw, subject, earlier)
    if verb in ("other", "others") and subject[-1:] == ("the",):
        return _is_gapped(raw, subject[:-1], earlier)  # "one is Asian, the other Black"
    if is_one_of(verb, "begun"):
        return verb != "up" or (bool(subject) and is_one_of(subject[-1], "grown"))
    if verb == "as":
        return _is_told_as(subject)
    if verb in _WHILE:
        return not subject and _is_fronted(behind, raw[len(before) :])
    if verb in ("growing", "getting") and not subject:
        return True
    if verb == "for" and " ".join(subject[-1:]).startswith("pass"):  # "passes for white"
        return len(subject) < 2 or has_person_subject(subject[:-1], written, "pass")
    if verb in ("being", "becoming") and not _has_subject(subject):
        return True
    if is_one_of(verb, "be") or is_one_of(verb, "turning"):
        if has_person_subject(subject, written, verb) or is_counted(subject, earlier):
            return True
        return bool(subject) and _is_share(subject, before[len(words) :])
    if verb == "out" and " ".join(subject[-1:]) in _COMES and "they" not in subject[-2:]:
        return has_person_subject(subject[:-1], written, verb)
    if is_one_of(verb, "person_objects") or is_person(verb) or written_name(raw, len(words) - 1):
        deemed = bool(subject) and is_one_of(subject[-1], "deem")
        # "My mother is Black, my father white"
        owned = bool(subject) and is_one_of(subject[-1], "determiners")
        gapped = owned and is_person(verb) and _is_gapped(raw, subject[:-1], earlier)
        return deemed or gapped or _is_asked(subject)
    if is_one_of(verb, "person_subjects"):
        return bool(subject) and (is_one_of(subject[-1], "be") or is_one_of(subject[-1], "deem"))
    return False


def tells_group(before: Words, behind: Words) -> bool:
    """Whether it is said of what a group goes by: "her nationality is", "my race is listed as"."""
    if words_of("told_of").isdisjoint(before):
        return False  # the usual case at less cost
    following = behind[0] if behind else ""
    changed = is_one_of(following, "not_said_of_person") and not is_one_of(following, "said_by")
    if changed or not ends_phrase(following):
        return False
    words = list(before)
    while words and is_one_of(words[-1], "predicate_adverbs"):
        words.pop()
    told = words[-1:] == ["as"]
    if told:
        words.pop()
        if words and is_one_of(words[-1], "identify"):
            words.pop()
    while words and (is_one_of(words[-1], "be") or is_one_of(words[-1], "verb_chain")):
        words.pop()
        told = True
    if not told or not words or not is_one_of(words[-1], "told_of"):
        return False
    owner = next((word for word in reversed(words[:-1]) if not is_modifier(word)), "")
    return not owner or is_owner(owner)


def is_beside_colour(before: Words, behind: Words) -> bool:
    """Whether "and" joins a colour that no person is called by: "black and blue all over"."""
    if "and" not in (*behind[:1], *before[-1:]):
        return False  # the usual case
    following, third = (*behind[1:3], "", "")[:2]
    if following == "white" and before and before[-1] in _NO_COLOURS:  # "rarely black and white"
        return any(word in _IS for word in before[-3:-1])
    if behind[:1] == ("and",) and is_one_of(following, "other_colours"):
        return ends_phrase(third) or third == "now" or is_adverbial(behind[2:])
    return before[-1:] == ("and",) and is_one_of(" ".join(before[-2:-1]), "other_colours")


def _goes_on(behind: Words) -> bool:
    """Whether a complement leaves the adjective its meaning: "gay with a son", "French by birth".

    It changes it in "blind to", "straight with me", "white with fear".
    """
    first, second, third = (*behind[:3], "", "")[:3]
    if first == "to":
        return second == "the" and is_one_of(third, "inmost")  # "Italian to the core"
    if first == "through":
        return (second, third) == ("and", "through")
    if first == "with":
        begun = second in ("a", "an", "no") or second.isdigit()
        if not (begun or is_one_of(second, "quantities") or is_one_of(second, "demonyms")):
            return False
        had = [form for word in behind[2:_FAR] for form in (word, word.removesuffix("s"))]
        return any(is_one_of(word, "kin") or is_one_of(word, "persons_have") for word in had)
    return is_one_of(first, "said_by") and not (first == "by" and _is_beset(behind[1:]))


def _is_beset(behind: Words) -> bool:
    """Whether a feeling or a burden is what follows: "(paralysed by) stage fright"."""
    for word in behind[:_FAR]:
        if is_one_of(word, "what_besets"):
            return True
        if ends_phrase(word) and not is_one_of(word, "determiners"):
            return False
    return False


def _is_gapped(raw: Words, subject: Words, earlier: Callable[[], Words]) -> bool:
    """Whether a number repeats what was said of others: "three were white and one Black"."""
    if not subject:  # "four women: two Black, one white"
        headed = earlier()
        return headed[-1:] == (":",) and len(headed) > 1 and _are_persons(headed[-2].lower())
    if len(subject) < 3 or not (subject[-1] in JOINS or subject[-1] == ","):
        return False
    words = subject[:-1]
    if subject[-1] == "," and is_person(words[-1]):
        return True  # "the twins, one Asian and one white,"
    while len(words) > 1 and (
        is_adjective(words[-1]) or is_person(words[-1]) or is_one_of(words[-1], "contrasted")
    ):
        words = words[:-1]  # "three were Pacific Islander and one Black"
    return len(words) < len(subject) - 1 and is_predicate(raw, words, (), earlier)


def _are_persons(word: str) -> bool:
    return is_several(word) and (is_person(word) or is_one_of(word, "groups_of_persons"))


def written_name(raw: Words, place: int) -> bool:
    """Whether the word at `place` is a name by its capital."""
    return place > 0 and is_name(raw[place].lower(), raw[place])


def _without_joined(before: Words) -> Words | None:
    """Drop adverbs and joined adjectives: "is tall and openly"; None if what is joined is none."""
    words = list(before)
    joined = False
    while words:
        word = words[-1]
        if (
            word in JOINS
            or (word == "," and joined)
            or (word == "," and len(words) > 1 and is_adjective(words[-2]))
        ):
            joined = True
        elif joined and is_adjective(word) and not is_one_of(word, "be"):
            joined = False
            words.pop()
            while (
                words and is_modifier(words[-1]) and not is_one_of(words[-1], "predicate_adverbs")
            ):
                words.pop()
            continue
        elif joined and is_person(word) and not PERCENT.isdisjoint(words[-4:]):
            joined = False  # "40 % Pacific Islander and 30 %"
            while words and words[-1] not in PERCENT:
                words.pop()
            continue
        elif word in PERCENT:
            while words and (words[-1] in PERCENT or _is_amount(words[-1])):
                words.pop()
            continue
        elif (word == "longer" and words[-2:-1] == ["no"]) or (
            word == "that" and _is_denied(words)
        ):
            words.pop()
        elif not is_one_of(word, "predicate_adverbs") or _is_deemed(words):
            break
        words.pop()
    return None if joined else tuple(words)


def _is_denied(words: list[str]) -> bool:
    """Whether the last word is denied: "is not that", "isn't that"."""
    front = " ".join(words[-2:-1])
    return front == "not" or front.endswith("n't")


def _is_amount(word: str) -> bool:
    """Whether it is a number, or a word of its size: "over 40 percent"."""
    return word[0].isdigit() or is_one_of(word, "numbers") or is_one_of(word, "amounts")


def _is_share(subject: Words, told: Words) -> bool:
    """Whether it is said of a part of people: "the class is mostly white", "half the class is"."""
    if subject[-1] in ("which", "that") and len(subject) > 1:  # "the suburb of Leeds which is"
        far = is_one_of(" ".join(subject[-3:-2]), "prepositions")
        subject = subject[: -3 if far else -1]
        if not subject:
            return False
    group, front = subject[-1], subject[-_FAR:-1]
    if any(is_one_of(word, "wholes") for word in front) and is_one_of(group, "bodies"):
        return True
    shared = any(word in PERCENT or is_one_of(word, "shares") for word in told)
    parted = any(word in PERCENT or is_one_of(word, "parts") for word in front)
    return (shared or parted) and is_one_of(group, "groups_of_persons")


def _is_headed(earlier: Words) -> bool:
    """Whether people are a label in front: "Respondents: 40% white"."""
    head = earlier[-2].lower() if earlier[-1:] == (":",) and len(earlier) > 1 else ""
    return is_person(head) or is_one_of(head, "groups_of_persons")


def _is_deemed(words: list[str]) -> bool:
    """Whether the last word is no adverb but an object: "considers herself"."""
    return len(words) > 1 and words[-1].endswith("self") and is_one_of(words[-2], "deem")


def _is_aside(before: Words, words: Words, behind: Words) -> bool:
    """Whether it is set off by commas: "two officers, both white, were"."""
    if "new" in (*before[-2:], *behind[1:2]):
        return False  # "users, both old and new"
    if behind[:1] == ("by",) and _goes_on(behind):
        return True  # "her husband, Turkish by birth, runs"
    ended = not behind or behind[0] in (",", ")", *JOINS)
    return ended and len(before) > len(words)


def _is_fronted(behind: Words, raw: Words) -> bool:
    """Whether the adjective begins the sentence and a person follows: "Blind since birth, she"."""
    comma = behind.index(",") if "," in behind[:_FAR] else len(behind)
    early = not words_of("early_life").isdisjoint(behind[:comma])
    if comma > len(behind) - 2 or (behind[0] in ("from", "after") and not early):
        return False  # "Straight from work, she"
    if is_one_of(behind[comma + 1], "person_subjects"):
        return True
    if not (early or behind[0] == "since"):
        return False  # "White, the coach, left", "Black and blue, the boxer"
    for word, written in zip(behind[comma + 1 :], raw[comma + 1 :], strict=True):
        if is_one_of(word, "determiners") or is_modifier(word) or word.endswith(("'s", "s'")):
            continue
        return is_subject_word(word, written, True)
    return False


def _is_told_as(subject: Words) -> bool:
    """Whether it is told of a person: "identifies as", "described him as"; not "as white as"."""
    words = list(subject)
    if words and (is_one_of(words[-1], "person_objects") or is_person(words[-1])):
        while words and not (is_one_of(words[-1], "identify") or _is_spoken_of(words)):
            words.pop()
        return bool(words)
    spoken = _is_spoken_of(words)
    if not (spoken or (words and is_one_of(words[-1], "identify"))):
        return False
    verb = words.pop()
    if spoken:
        words.pop()
    if verb.startswith(("identif", "self", "pass", "liv")) or verb == "out":
        return True
    while words and (is_one_of(words[-1], "be") or is_one_of(words[-1], "verb_chain")):
        words.pop()
    told = " ".join(words[-1:])
    return told == "those" or is_one_of(told, "person_subjects") or is_person(told)


def _is_spoken_of(words: list[str]) -> bool:
    """Whether the words end with "think of", "refer to" and the like."""
    return (
        len(words) > 1
        and words[-1] in ("of", "to", "on", "upon")
        and is_one_of(words[-2], "speak_of")
    )


def _has_subject(words: Words) -> bool:
    """Whether a noun stands before "being", which then is not said of people in general."""
    last = words[-1] if words else ""
    return bool(last) and not ends_phrase(last) and not is_one_of(last, "prepositions")


def _is_asked(subject: Words) -> bool:
    """Whether a form of "be" stands before the noun phrase: "is the suspect"."""
    words = list(subject)
    while words and (is_modifier(words[-1]) or is_one_of(words[-1], "determiners")):
        words.pop()
    kinds = ("titles", "abbreviations")
    if len(words) > 1 and (words[-1] == "so" or any(is_one_of(words[-1], k) for k in kinds)):
        words.pop()  # "why are so few nurses Black?", "is Ms Lee Black?"
    return bool(words) and is_one_of(words[-1], "be") and len(words) < 4
