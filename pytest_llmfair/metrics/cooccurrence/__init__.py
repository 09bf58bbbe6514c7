"""Words and groups side by side: lists, counts and gaps."""
