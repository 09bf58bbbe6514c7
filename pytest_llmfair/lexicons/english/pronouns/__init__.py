"""Which role a pronoun has: whose "her" and "his" it is."""
