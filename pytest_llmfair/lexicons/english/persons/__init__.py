"""Whether a word speaks of a person: rules by context, and what they look at."""
