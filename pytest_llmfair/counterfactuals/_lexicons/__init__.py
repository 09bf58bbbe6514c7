"""Lexicons: from files to checked terms, crossed attributes, names."""
