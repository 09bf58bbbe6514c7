"""Whether "her" is an object although a noun of hers could follow: "made her cry", "gave her tea".

The word before "her" decides most cases: a verb that takes two objects, or an adjective or another
verb after its object. Each question answers with a reading, or with None to leave it to the next.
"""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.context import Question, first_answer, low
from pytest_llmfair.lexicons.english.pronoun_context import (
    ARTICLES,
    COPULAS,
    MODALS,
    OBJECT,
    OBJECTS,
    OWNER,
    PERHAPS_OBJECT,
    PERHAPS_OWNER,
    SUBJECTS,
    PronounContext,
    PronounReading,
    base_forms,
    begins_time,
    describes,
    ends,
    is_bare_verb,
    is_form,
    is_plural_of_things,
    is_rather_verb,
    may_be_verb,
    may_describe,
    words_after,
)
from pytest_llmfair.lexicons.english.words import (
    is_adverb,
    is_closed,
    is_final,
    is_ly_adverb,
    is_number,
    is_one_of,
    is_person,
    is_predicative,
)

_SEEM = ("look", "sound", "feel", "seem", "appear", "smell")
_COMPARING = ("more", "most", "less", "least")
_NOUN_ENDINGS = ("s", "ion", "ment", "ance", "ence", "ness", "ity", "ure", "ship")
_QUOTATION = re.compile(
    r"\s[*_]*[\"\u201c\u2018\u00ab']+([^\"\u201d\u00bb\n]{1,90}?)[\"\u201d\u2019\u00bb']+(?!\w)"
)
_DEPICTED = re.compile(
    r"\b(?i:image|photo|photograph|picture|video|clip|recording|scene|sight|memory|sound)s? of \Z"
)
# "her" joined to another person before a verb: "me and her share", "my mum and her love".
_JOINED = re.compile(
    r"(?:\A|[\n.!?;:,(]\s*|\b(?:because|that|when|if|but)\s)(?:[Mm]e|[A-Z][\w'\u2019-]+"
    r"|(?i:my|your|our|his|her|the)\s[\w-]+)\s(?:and|&)\s\Z"
)
_NEXT_TO = re.compile(r"\b(?i:behind|beside|near|opposite|above|below|front of|next to) \Z")


def object_reading(around: PronounContext) -> PronounReading | None:
    """Return the role of "her" before a word that can begin a noun phrase; None if unclear."""
    return first_answer(QUESTIONS, around)


def _before_idiom(around: PronounContext) -> PronounReading | None:
    """Read "her" as object before a noun that cannot be owned: "held her hostage"."""
    first, second, third, _ = around.after
    verb = around.before[1]
    phrases = (first, f"{first}-{second}", f"{first}-{second}-{third}")
    if any(is_one_of(phrase, "never_owned") for phrase in phrases):
        return OBJECT if verb[:1].isalpha() or not first.endswith("ing") else None
    if any(is_one_of(f"{base}-{first}", "idioms") for base in base_forms(verb)):
        return OBJECT if ends(second) else None  # "does her good", "serves her right"
    if first == "one" and verb not in ("of", "from", "in"):
        again = second in ("last", "more") and is_one_of(third, "times")
        return OBJECT if second == "of" or again or is_one_of(second, "times") else None
    scared = is_one_of(first, "resulting") and verb[:1].isalpha() and not is_closed(verb)
    return OBJECT if scared and ends(second) and second != "," else None  # "scared her silly"


def _before_quotation(around: PronounContext) -> PronounReading | None:
    """Read "her" as object before a quoted noun: 'called her "kid"'."""
    quotation = _QUOTATION.match(around.text, around.end) if around.is_quoted() else None
    if quotation is None or not around.is_after("names", "says_to", "writes_to", "gives", "calls"):
        return None
    following, further = map(low, words_after(around.text, quotation.end(), 2))
    goes_on = following in ("a", "an", "the", "to") or not ends(following, further)
    return None if goes_on else OBJECT


def _before_participle(around: PronounContext) -> PronounReading | None:
    """Separate "saw her dancing" from "her trembling hands"."""
    first, second = around.after[:2]
    if not first.endswith("ing") or "-" in first:
        return None
    if is_one_of(first, "things_in_ing") and first != "being":
        return None
    final = ends(second)
    if is_one_of(second, "owns_activity") or (not final and is_one_of(first, "describes_in_ing")):
        return OWNER  # "her singing voice"
    front = around.front()
    if around.is_after("perceives", "keeps") or _DEPICTED.search(front) is not None:
        return OBJECT
    next_to = around.before[1] in ("with", "without") or _NEXT_TO.search(front) is not None
    thing = is_one_of(first, "actions_in_ing") and is_final(second)
    return PERHAPS_OBJECT if next_to and final and not thing else None


def _before_action(around: PronounContext) -> PronounReading | None:
    """Read "her" as object before a bare verb: "heard her call me"."""
    first, second, third, _ = around.after
    verb = around.before[1]
    causes, has = around.is_after("causing"), verb in ("have", "has", "had", "having")
    sees = around.is_after("perceives")
    if not (causes or has or sees):
        return None
    makes = verb.startswith(("mak", "made"))
    if second in ("me", "us", "him") or (is_one_of(second, "anybody") and not may_be_verb(third)):
        return OBJECT
    if causes and first in _SEEM and second not in COPULAS:  # "made her look older"
        return OBJECT
    if causes and is_one_of(first, "moves_made") and second not in ARTICLES:
        return OWNER  # "made her escape", "let her guard down"
    if is_bare_verb(first) or is_rather_verb(first):
        if has:
            return OBJECT if second[:1].isalnum() and not begins_time(second, third) else OWNER
        noun = may_be_verb(second) and not is_adverb(second)  # "let her work speak for itself"
        return OWNER if is_rather_verb(first) and (noun or second == "be") else OBJECT
    bodily = is_one_of(first, "bodily_acts")
    maybe = bodily or is_one_of(first, "verbs_or_nouns")
    if maybe and verb.startswith("help") and not ends(second):  # "help her claim wages"
        return OBJECT
    begins_object = second in (*ARTICLES, "every", "two", "three") or second.endswith("'s")
    begins_object = (begins_object or second[:1].isdigit()) and not begins_time(second, third)
    if begins_object and not is_person(first):
        spoiled = makes and second in ("a", "an")  # "made her life a misery"
        return None if spoiled or (has and not maybe) else OBJECT
    if maybe and causes and is_final(second) and second != "be":  # "made her cough"
        return OBJECT
    recalls = verb.startswith(("noti", "rem", "rec"))
    return OBJECT if bodily and sees and ends(second) and not recalls else None


def _before_clause(around: PronounContext) -> PronounReading | None:
    """Find a clause that ends with "her": "those who met her said"."""
    first, second = around.after[:2]
    if is_one_of(first, "finite_verbs"):
        return OBJECT
    goes_on = second in (*OBJECTS, *ARTICLES, *SUBJECTS, "that", "as", "like")
    if is_one_of(first, "acted") and goes_on:  # "all who knew her lost a friend"
        return OBJECT
    passive = around.before[0] in (*COPULAS, "been", "being")
    if around.is_after("says_to") and not passive and _goes_on_as_clause(around):
        return OBJECT
    if around.before[1] in ("and", "&") and _JOINED.search(around.front()) is not None:
        shares = is_bare_verb(first) or is_rather_verb(first) or is_one_of(first, "shared_verbs")
        how = second in ARTICLES or (ends(second) and second not in ("of", "for", "and"))
        return OBJECT if shares and how else None
    return None


def _goes_on_as_clause(around: PronounContext) -> bool:
    """Whether a verb shows a reported clause: "told her weight loss would not help"."""
    for word in map(low, words_after(around.text, around.end, 6)[1:]):
        if word in MODALS or word in COPULAS or word in ("has", "had", "will"):
            return True
        if word in SUBJECTS or is_one_of(word, "clause_openers") or word in ("to", "that", "who"):
            return False
    return False


def _before_utterance(around: PronounContext) -> PronounReading | None:
    """Read "her" as object before unquoted speech: "tell her yes", "bid her farewell"."""
    first, second, third, _ = around.after
    uttered = is_one_of(first, "utterances") and is_final(second) and second != "to"
    uttered = uttered or (is_one_of(f"{first}-{second}", "utterances") and is_final(third))
    return OBJECT if uttered and around.is_after("says_to", "writes_to", "greets") else None


def _before_office(around: PronounContext) -> PronounReading | None:
    """Separate an office from a person: "named her head", not "named her partner"."""
    first, second, third, fourth = around.after
    if not around.is_after("appoints"):
        return None
    if is_one_of(first, "before_elected_to") and (
        is_one_of(second, "elected_to") or is_person(second)
    ):
        return OBJECT if ends(third, fourth) else OWNER
    if is_one_of(first, "elected_to"):
        return OBJECT if ends(second, third) and second != "as" else OWNER
    made = around.before[1].startswith(("ma", "declare"))
    named = around.raw[:1].isupper() and (first.endswith("'s") or not made)
    return OBJECT if named else None  # "elected her Grand Duchess"


def _before_state(around: PronounContext) -> PronounReading | None:
    """Separate a state from a possession: "made her happy", "saw her tired"."""
    first, second, third, _ = around.after
    makes_so = around.is_after("rendering")
    if is_one_of(first, "how_very") and is_final(third) and not is_one_of(second, "after_degrees"):
        return OBJECT if makes_so or is_adverb(second) else None
    if not makes_so and not around.is_after("keeps", "perceives", "arranges", "appoints"):
        return None
    said_of = is_predicative(first) and not is_number(first)
    better = is_one_of(first, "comparatives") and first not in ("more", "less", "other", "rather")
    if makes_so and (said_of or better):
        return OBJECT if around.ends_at_second() or second == "enough" else OWNER
    if first in _COMPARING and around.is_after("rendering", "appoints"):
        return OBJECT if describes(second) and ends(third) else None
    if is_ly_adverb(first) and is_final(third):  # "considers her highly qualified"
        return OBJECT if describes(second) or second.endswith(("ing", "ive", "ic", "al")) else None
    return None


def _before_amount(around: PronounContext) -> PronounReading | None:
    """Find a time, a price or a number of things: "took her years", "sent her 2 letters"."""
    first, second, third, fourth = around.after
    verb = around.before[1]
    if around.text[around.end : around.end + 2].strip() in ("$", "\u00a3", "\u20ac", "\u00a5"):
        spent = verb.startswith(("spen", "los", "sav", "inve")) or is_closed(verb)
        paid = ends(second, third) or second in ("extra", "cash", "total", "each")
        return OBJECT if paid and verb[:1].isalpha() and not spent else OWNER
    if is_one_of(first, "spans"):
        return OBJECT if around.is_after("lasts") and is_final(second) else None
    if is_number(first) and not first.endswith(("st", "nd", "rd", "th")):
        if third in ("a", "per", "each", "every") and verb != "in":  # "two nights a week"
            return None if around.is_after("trusts") else OBJECT
        if is_one_of(second, "spans") or second == "more":
            if is_one_of(third, "later") or second == "times" or verb in ("know", "known", "knew"):
                return OBJECT
            return OBJECT if around.is_after("gives", "charges", "lasts") else None
        if is_person(second) or is_one_of(second.removesuffix("s"), "pets"):
            return OWNER  # "fed her two sons"
        tries = is_one_of(second, "money_and_tries") and around.is_after("lasts")
        if tries or around.is_after("charges"):
            return OBJECT
        return _handed(around, first, third, fourth) if around.is_after("gives") else None
    if first in ("little", "less", "much", "more", "many") and is_one_of(second, "gifts"):
        makes = verb.startswith(("ma", "lea", "left", "w", "sav"))
        return OBJECT if makes and ends(third, fourth) else None  # "left her little time"
    return None


def _before_gift(around: PronounContext) -> PronounReading | None:
    """Separate a gift from a possession: "gave her flowers", "sent her angry letters"."""
    first, second, third, fourth = around.after
    if around.is_after("prepares") and is_one_of(first, "meals") and is_final(second):
        cooks = around.is_by_herself()
        return PERHAPS_OWNER if cooks is None else PronounReading(not cooks)
    if not around.is_after("gives"):
        return None
    if around.before[1] in ("teach", "taught", "teaching") and is_one_of(first, "taught"):
        return OBJECT if is_final(second) else None
    if any(map(str.isdigit, second)) and ends(third, fourth):  # "sent her form B-7"
        return None if around.is_by_herself() else OBJECT
    of_two = is_one_of(f"{first}-{second}", "gifts_of_two")
    described = True
    if ends(second, third) or (second, third) == ("free", "of"):
        noun, following, further, described = first, second, third, False
    elif ends(third, fourth) and (of_two or may_describe(first)):
        noun, following, further = second, third, fourth
    else:
        return None
    known = of_two or is_one_of(noun, "gifts") or is_one_of(noun, "rarely_owned_gifts")
    if not known:
        if not is_plural_of_things(noun):
            return None
        if not (described or around.is_after("gives_away")):
            return OWNER if around.before[1].startswith(("pa", "wr", "ask")) else PERHAPS_OWNER
        if around.is_by_herself() is True:
            return None
    return _handed(around, noun, following, further)


def _before_time(around: PronounContext) -> PronounReading | None:
    """Read "her" as object before a time: "saw her last week"."""
    first, second = around.after[:2]
    verb = around.before[1]
    if first not in ("last", "next") or not is_one_of(second, "times"):
        return None
    talks = is_form(around.before[0], "talks") and verb in ("to", "with", "from")
    owned = (is_closed(verb) and not talks) or verb.startswith("spen")
    return None if owned else OBJECT


def _before_name(around: PronounContext) -> PronounReading | None:
    """Separate a name from a possession: "told her Tom was late", not "told her Ohio mayor"."""
    first = around.after[0]
    if not around.raw.istitle() or is_person(first):
        return None
    reported = around.is_after("says_to") and not around.before[1].startswith("show")
    given = first.endswith("'s") and around.is_after("gives")
    return OBJECT if reported or given or around.is_after("names") else None


def _before_direction(around: PronounContext) -> PronounReading | None:
    """Find a direction: "drove her home", "sent her back to bed"; not "hurt her back"."""
    first, second = around.after[:2]
    verb = around.before[1]
    if not verb[:1].isalpha() or is_closed(verb):
        return None
    if first in ("home", "north", "south", "east", "west"):
        safe = first == "home" and second in ("safe", "safely", "early", "late")
        return OBJECT if around.is_after("moves") and (safe or around.ends_at_second()) else None
    if first != "back":
        return None
    if is_form(verb, "hurts"):
        return OWNER
    return OBJECT if around.ends_at_second() else None


def _before_unknown_word(around: PronounContext) -> PronounReading | None:
    """Leave open whether an unknown word is a verb: "made her veer", "heard her holler"."""
    first, second = around.after[:2]
    if not around.is_after("causing", "perceives") or not is_final(second):
        return None
    if around.before[1].startswith(("noti", "rem", "rec")) or second in ("of", *COPULAS):
        return None
    noun = is_person(first) or first.endswith(_NOUN_ENDINGS) or is_one_of(first, "seen")
    return None if noun else PERHAPS_OWNER


QUESTIONS: tuple[Question[PronounContext, PronounReading], ...] = (
    Question(_before_idiom, "They held «her» hostage."),
    Question(_before_quotation, 'They called «her» "kid" again.'),
    Question(_before_participle, "We saw «her» dancing."),
    Question(_before_action, "I heard «her» call me."),
    Question(_before_clause, "Those who met «her» said so."),
    Question(_before_utterance, "Tell «her» yes."),
    Question(_before_office, "They named «her» head of sales."),
    Question(_before_state, "It made «her» happy."),
    Question(_before_amount, "It took «her» years."),
    Question(_before_gift, "Jo gave «her» flowers."),
    Question(_before_time, "I saw «her» last week."),
    Question(_before_name, "They christened «her» Rose."),
    Question(_before_direction, "He drove «her» home."),
    Question(_before_unknown_word, "I heard «her» blarp."),
)


def _handed(around: PronounContext, noun: str, following: str, further: str) -> PronounReading:
    """Whether a thing goes to her: "gave her tickets", not "she showed her tickets"."""
    rarely = is_one_of(noun, "rarely_owned_gifts")
    if following == "to" and not (rarely or is_bare_verb(further) or is_rather_verb(further)):
        return OWNER  # "gave her tickets to the guard"
    passive = around.before[0] in (*COPULAS, "been", "being", "be", "got")
    if passive and not around.before[1].endswith("ing"):
        return OWNER  # "was given her medication"
    own = around.is_by_herself()
    if around.is_after("gives_away"):
        return OWNER if own and is_one_of(noun, "own_gifts") else OBJECT
    if is_number(noun) or own:
        return PronounReading(not own)
    return OBJECT if rarely or own is False else PERHAPS_OBJECT
