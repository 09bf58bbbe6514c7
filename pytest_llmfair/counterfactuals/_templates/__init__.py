"""Templates: slots, fillers, and the data files that ship with them."""
