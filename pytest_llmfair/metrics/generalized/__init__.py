"""What the generalized metrics share (Czarnowska et al. 2021)."""
