"""Metrics of words that occur together with groups in answers."""
