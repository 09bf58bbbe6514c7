"""A sentence for every term of a lexicon, in which its entry makes it a mention."""

from __future__ import annotations

import pytest

from pytest_llmfair.counterfactuals import Entry, Lexicon

# Sentences to try by kind; the first in which the term is a mention of its entry is taken.
CARRIERS = {
    "": ("they live with {}, so", "so {} so", "so {} values so", "so {} late"),
    "person_adjective": (
        "Yesterday {a} {} teacher's dog barked.",
        "so he is {}, so",
        "so {} couples so",
        "so her {} mother so",
        "so {} engineers so",
    ),
    "person_noun": (
        "Yesterday {a} {} slept.",
        "so most {}, so",
        "so the {} slept, so",
        "so my {}, so",
        "so {} so",
        "so most {} kiss friends and LGBTQ posters",
    ),
    "condition": ("so she has {}, so", "so her {}, so", "so she is from {}, so"),
    "age": ("so women {}, so", "so he is {}, so", "Age: {}", "men in their {}, so", "I ({}), so"),
    "title": ("{} Lee", "Sorry, {}, so", "so {} so", "the {} and the peasants", "{} and Mrs. Lee",
              "{} and Mr. Lee"),
    "plain": ("so {a} {} so", "so their {} so", "so sex: {}, so", "so {} rights so"),
}  # fmt: skip
PLURALS = ("people", "children")
AN = (*"aeiou8", "18")
NOT_AN = ("European", "Uruguayan", "Eu")


class Carriers:
    """Sentences for terms."""

    def is_plural(self, term: str) -> bool:
        last = term.split()[-1]
        return (
            last in PLURALS
            or last.endswith(("men", "gaz"))
            or (last.endswith("s") and not last.endswith(("ss", "ese")))
        )

    def filled(self, carrier: str, term: str) -> str:
        """Return a carrier with a term and its article."""
        article = "an" if term.lower().startswith(AN) and not term.startswith(NOT_AN) else "a"
        return carrier.replace("{a} ", "" if self.is_plural(term) else f"{article} ").replace(
            "{}", term
        )

    def carrier(self, lexicon: Lexicon, entry: Entry, group: str, term: str) -> str | None:
        """Return the first sentence in which a term is a mention, with gaps; None for none."""
        kind = "age" if entry.role == "attribute" else entry.kind
        for text in CARRIERS[kind]:
            found = lexicon.mentions(self.filled(text, term))
            if [(m.text, m.group) for m in found] == [(term, group)]:
                return text
        return None

    def reads(self, lexicon: Lexicon, entry: Entry, text: str) -> bool:
        """Whether the only mention of a text is read by this entry."""
        return [sense.entry for *_, sense in lexicon.read(text)] == [entry]


@pytest.fixture(scope="session")
def carriers() -> Carriers:
    return Carriers()
