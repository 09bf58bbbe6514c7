"""Which grammar reads the texts of a language.

The grammar of English is imported at the first text, because its linear model loads numpy.
"""

from __future__ import annotations

from pytest_llmfair.lexicons.grammar import EveryMention, Grammar


def grammar_for(language: str, attribute: str = "") -> Grammar:
    """Return the grammar of a language for the terms of an attribute; only English has rules."""
    if language != "en":
        return EveryMention()
    from pytest_llmfair.lexicons.english.english import English, SecondOpinion

    return SecondOpinion(English(), attribute)


def rules_of(grammar: Grammar) -> Grammar:
    """Return a grammar without its second opinion, which never changes an answer."""
    from pytest_llmfair.lexicons.english.english import SecondOpinion

    return grammar.rules if isinstance(grammar, SecondOpinion) else grammar
