"""From data to a judged result."""
