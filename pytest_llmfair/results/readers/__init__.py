"""One file for each tool whose results can be read."""
