"""Candidates, judges and quotas: what the allocation metrics share."""
