"""Whether a word that could be a name is one."""
