"""The version of the package, for its root and for reports; the build reads this file."""

__version__ = "0.1.0"
