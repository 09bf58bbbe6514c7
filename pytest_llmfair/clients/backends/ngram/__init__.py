"""The built-in model: a word-class n-gram model of a small corpus."""
