"""Result files of other tools: one table of answers, scores and fields, and who reads what."""

from pytest_llmfair.results.registry import reader
from pytest_llmfair.results.source import File, ResultsError
from pytest_llmfair.results.table import Results, Row, flattened, label_or_number

__all__ = [
    "File",
    "Results",
    "ResultsError",
    "Row",
    "flattened",
    "label_or_number",
    "reader",
]
