"""Metrics of who is selected: scores of candidates, quotas, and pairwise judges."""
