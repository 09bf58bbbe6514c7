"""Rates of predictions and errors by group."""
