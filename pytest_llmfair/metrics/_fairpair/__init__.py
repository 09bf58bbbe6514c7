"""Dissimilarities of continuations within and between two sides."""
