"""Rules for reading English: which words name a person, which role a pronoun has."""
