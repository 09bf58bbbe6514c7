"""Templates: sentences with slots, filled for every group alike (Czarnowska 2021, section 5)."""
