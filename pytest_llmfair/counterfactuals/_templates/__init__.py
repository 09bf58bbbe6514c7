"""Templates: slots, fillers, terms of groups, files."""
