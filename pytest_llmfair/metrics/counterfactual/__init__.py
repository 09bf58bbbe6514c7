"""Metrics that compare the answers to the two members of counterfactual pairs."""
