"""How English is read: which words name a person, and which form a pronoun has."""
