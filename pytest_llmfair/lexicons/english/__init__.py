"""What the words around a term say: roles, articles, persons, parts to leave alone."""
