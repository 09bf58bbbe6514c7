"""Recorded answers: the file, its records, replay, locks between processes, and tools."""
