"""English word classes and forms: persons, modifiers, verbs, the end of a phrase."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from importlib import resources

WORD = r"[^\W_]++(?:[-'\u2019][^\W_]++)*+"
LETTERS = r"[^\W\d_][\w'\u2019-]*"
TAG = r"</?[A-Za-z][^<>\n]{0,80}>"
# Inline tags; block tags separate sentences, as punctuation does.
_BLOCKS = r"p|div|li|[ou]l|d[dlt]|t[dhr]|table|h[1-6r]|blockquote|section|article"
INLINE_TAG = (
    rf"</?(?!(?:{_BLOCKS})\b|br\b[^<>\n]{{0,9}}>\s{{0,9}}[A-Z][a-z])[A-Za-z][^<>\n]{{0,80}}>"
)
_FILES = ("roles", "persons", "names", "terms", "writing")
_AGENTS = (
    *("er", "or", "ist", "ician", "crat", "eur", "man", "men", "woman", "women"),
    *("person", "people", "mate"),
)
# Most words with these endings are things; exceptions ("organizer") are in class "makers".
_THINGS = (
    *("izer", "iser", "ifier", "ier", "meter", "liter", "corder", "water", "paper"),
    *("flower", "power", "burger", "color", "door", "floor"),
)
_HISSING = ("ses", "xes", "zes", "ches", "shes", "oes")
_ADJECTIVES = ("ful", "ous", "ive", "less", "able", "ible", "ish", "ic", "al", "ing", "ed", "y")
_ABSTRACT = ("ness", "tion", "sion", "ity", "ism", "ment", "ence", "ance", "ship", "ics", "ology")
JOINS = ("and", "or", "nor", "but", "yet", "/", "&", "+", "though")
JOINED = frozenset((*JOINS, ","))


def is_one_of(word: str, kind: str) -> bool:
    """Whether a lower-case word belongs to a class of the word list, such as "closed"."""
    return word in _CLASSES[kind]


def words_of(kind: str) -> frozenset[str]:
    """Return a class of the word list."""
    return _CLASSES[kind]


def is_final(word: str) -> bool:
    """Whether the phrase ends with a lower-case word: no word, a mark or a closed one."""
    return not word or not word[0].isalnum() or is_closed(word)


def is_closed(word: str) -> bool:
    """Whether a word cannot begin the noun phrase of "her" or "his"; "you're" too."""
    first, apostrophe, _ = word.partition("'")  # "you're"
    return is_one_of(word, "closed") or (apostrophe != "" and is_one_of(first, "closed"))


def is_time(word: str, following: str) -> bool:
    """Whether a time begins: "last week", "Monday morning", "two years"."""
    if word in ("last", "next"):
        return not following or is_one_of(following, "times")
    if is_one_of(word, "calendar"):
        return is_final(following) or is_one_of(following, "times")
    return bool(word) and is_number(word) and is_one_of(following, "spans")


def is_predicative(word: str) -> bool:
    """Whether a lower-case word is an adjective that describes persons, by list or ending."""
    formed = word.endswith(("ous", "less", "ful", "able", "ible"))
    return is_one_of(word, "adjectives") or (formed and not is_one_of(word, "not_adjectives"))


def is_adverb(word: str) -> bool:
    """Whether a lower-case word is an adverb, or one where a phrase ends ("more")."""
    return is_ly_adverb(word) or is_one_of(word, "closed_if_final")


def is_ly_adverb(word: str) -> bool:
    """Whether it is an adverb in -ly."""
    return word.endswith("ly") and not is_one_of(word, "not_adverbs")


def is_participle(word: str) -> bool:
    """Whether it can be a participle in -ed."""
    return len(word) > 4 and word.endswith("ed") and not word.endswith("eed")


def is_owner(word: str) -> bool:
    """Whether a lower-case word is a possessor: "my", "Ann's"."""
    return is_one_of(word, "owners") or word.endswith(("'s", "s'"))


def is_number(word: str) -> bool:
    """Whether a lower-case word is a number, "sixty-four" too, or begins with a digit."""
    if is_one_of(word, "numbers") or word[0].isdigit():
        return True
    return "-" in word and words_of("numbers").issuperset(word.split("-"))


def _read() -> dict[str, frozenset[str]]:
    """Read the lists; a class that several files name is their union."""
    import yaml

    folder = resources.files("pytest_llmfair.lexicons") / "english"
    load = functools.partial(yaml.load, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    classes: dict[str, frozenset[str]] = {}
    for file in _FILES:
        for key, lines in load((folder / f"words_{file}.yaml").read_text("utf-8")).items():
            if key != "language":
                words = frozenset(word for line in lines for word in line.split())
                classes[key] = classes.get(key, frozenset()) | words
    return classes


class _Classes(dict[str, frozenset[str]]):
    """The word lists by name, read when the first is asked for."""

    def __missing__(self, kind: str) -> frozenset[str]:
        if not self:
            self.update(_read())
        if kind not in self:
            raise KeyError(kind)
        return self[kind]


# One mention needs about a hundred look-ups, so they go to a dict directly.
_CLASSES = _Classes()


@functools.lru_cache(maxsize=4096)
def is_person(word: str) -> bool:
    """Whether a lower-case word names a person or people, by list or by its ending."""
    single, *others = _singular_nouns(bare(word))
    if any(is_one_of(form, "person_nouns") or _is_agent(form) for form in (single, *others)):
        return True
    if any(is_one_of(form, "person_adjectives") or is_age_noun(form) for form in others):
        return True  # "professionals", "70-year-olds"
    return "-" in word and _is_composed(bare(word))


def is_age_noun(word: str) -> bool:
    """Whether it is an age that can name a person: "a 70-year-old"."""
    return word.endswith(("-year-old", "-month-old", "-something"))


def is_people(word: str) -> bool:
    """Whether a lower-case word names a people: "italian", "swede"."""
    return is_one_of(word, "demonyms") or is_one_of(word, "peoples_nouns")


def is_person_compound(word: str, following: str) -> bool:
    """Whether two words name a person that the second alone does not: "running back"."""
    forms = singulars(bare(following)) if following else []
    return any(is_one_of(f"{word}-{form}", "person_compounds") for form in forms)


@functools.lru_cache(maxsize=4096)
def is_modifier(word: str) -> bool:
    """Whether a lower-case word can come between an adjective and its person noun."""
    if is_one_of(word, "person_modifiers") or is_one_of(word, "demonyms") or word[0].isdigit():
        return True
    if "-" in word or " " in word:
        return True
    formed = len(word) > 4 and word.endswith(_ADJECTIVES)
    return formed and not is_one_of(word, "not_modifiers")


def is_adjective(word: str) -> bool:
    """Whether a lower-case word can be joined to another adjective: "old and frail"."""
    return word[:1].isalpha() and not is_one_of(word, "person_nouns") and is_modifier(word)


def is_abstract(word: str) -> bool:
    """Whether a lower-case word names a material or an idea."""
    return is_one_of(word, "mass_nouns") or (len(word) > 6 and word.endswith(_ABSTRACT))


def is_name(word: str, written: str) -> bool:
    """Whether a lower-case word is a name, judged by the capital it is written with."""
    if not written[:1].isupper():
        return False
    return not (is_one_of(word, "closed") or is_one_of(word, "not_names") or is_abstract(word))


def ends_phrase(word: str) -> bool:
    """Whether no noun phrase goes on with this lower-case word."""
    if not word or not word[0].isalnum() or is_one_of(word, "closed"):
        return True
    if "'" not in word:
        return False
    first = word.partition("'")[0]
    return len(first) > 1 and is_one_of(first, "closed")  # "who've"; not "A's"


def is_verb(word: str, following: str, *, bare: bool = False) -> bool:
    """Whether a word after a noun is its verb; with `bare` also one like "call"."""
    if is_one_of(word, "modals") or is_one_of(word, "finite_verbs"):
        return True
    noun = not bare and is_one_of(word, "noun_verbs")
    forms = [form for form in singulars(word) if form != word or not noun]
    if any(is_one_of(form, kind) for form in forms for kind in ("base_verbs", "person_verbs")):
        return True
    if is_one_of(word, "acted") and is_one_of(following, "articles"):  # "hit the ball"
        return True
    if _takes_object(word, following, bare):
        return True
    # "dominated area"
    past = is_participle(word) and (ends_phrase(following) or not is_one_of(word, "participles"))
    return past or is_ly_adverb(word)


def noun_phrase_ends(words: Sequence[str], *, bare: bool = False) -> bool:
    """Whether no noun phrase goes on with these words: its end or a verb follows."""
    word = words[0] if words else ""
    following = words[1] if len(words) > 1 else ""
    return ends_phrase(word) or is_verb(word, following, bare=bare)


@functools.lru_cache(maxsize=4096)
def is_adverbial(first: str, second: str) -> bool:
    """Whether an adverb follows a noun: "(a Dane) next time", "(a Dane) today"."""
    if not first:
        return False
    if first == "next" and second == "door":
        return True
    if first in ("next", "last"):
        return is_one_of(second, "times")
    if is_time(first, second):
        return True
    return (first == "first" or is_one_of(first, "closed_if_final")) and ends_phrase(second)


def is_plural(word: str) -> bool:
    """Whether a lower-case word looks like a plural noun."""
    if is_one_of(word, "plural_persons"):
        return True
    formed = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "'s", "us"))
    return formed and not is_one_of(word, "closed") and not is_one_of(word, "not_several")


def bare(word: str) -> str:
    """Return the word without a possessive ending."""
    return word.removesuffix("'s").removesuffix("'")


def is_any(word: str, kind: str) -> bool:
    """Whether a word, its singular or its owner ("bishops", "bishop's") belongs to a class."""
    word = bare(word)
    return is_one_of(word, kind) or is_one_of(word.removesuffix("s"), kind)


def without_end(words: Iterable[str], drops: Callable[[str], bool]) -> list[str]:
    """Return the words without those at the end that `drops` accepts."""
    kept = list(words)
    while kept and drops(kept[-1]):
        kept.pop()
    return kept


def in_classes(word: str, *kinds: str) -> bool:
    """Whether a lower-case word belongs to one of the classes."""
    return any(is_one_of(word, kind) for kind in kinds)


def singulars(word: str) -> list[str]:
    """Return a word and the words that it can be the plural, or the third person, of."""
    forms = [word]
    if word.endswith("ies"):
        forms.append(word[:-3] + "y")
    if word.endswith("es"):
        forms.append(word[:-2])
    if word.endswith("s") and not word.endswith("ss"):
        forms.append(word[:-1])
    return forms


def _takes_object(word: str, following: str, bare: bool) -> bool:
    """Whether an object follows a third person: "wants a seat", "needs to rest"."""
    forms = singulars(word)
    if bare:
        return any(is_one_of(form, "transitive") for form in forms)
    known = "before_to" if following == "to" else "transitive"
    if not any(is_one_of(form, known) for form in forms[1:]):
        return False
    return following == "to" or (following != "that" and is_one_of(following, "articles"))


def _singular_nouns(word: str) -> list[str]:
    """Return a word and its possible singulars; "spheres" does not give "spher"."""
    whole = not word.endswith("es") or word.endswith(("ies", *_HISSING))
    return singulars(word) if whole else [word, word[:-1]]


def _is_composed(word: str) -> bool:
    """Whether a hyphenated word names a person: "ex-wife", "sister-in-law", "mayor-elect"."""
    first, _, rest = word.partition("-")
    if is_one_of(first, "person_prefixes"):
        return is_person(rest)
    return is_one_of(rest, "person_suffixes") and is_person(first)


def _is_agent(word: str) -> bool:
    """Whether the ending makes a person: "welder"; not "blender", "oxidizer"."""
    if len(word) < 5 or not word.endswith(_AGENTS) or is_one_of(word, "not_persons"):
        return False
    return not word.endswith(_THINGS) or is_one_of(word.rpartition("-")[2], "makers")
