"""Answers and lists of two sides, compared pair by pair."""
