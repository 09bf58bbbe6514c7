"""Generalized metrics of Czarnowska et al. (2021), and their data and tests."""
