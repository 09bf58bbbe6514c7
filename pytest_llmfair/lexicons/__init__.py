"""Words of protected attributes, and how a language uses them."""
