"""One module per kind of model; the table in ``clients/spec.py`` names them."""
