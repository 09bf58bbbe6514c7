"""How English is read: which words name a person, which role a pronoun has, what stays."""
