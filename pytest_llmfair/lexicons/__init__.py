"""Words of protected attributes, and how they are read."""
