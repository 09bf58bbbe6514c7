"""The evidence of a release: a folder whose every number can be computed again offline."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_llmfair._util.wording import plural
from pytest_llmfair.gate.manifest import MANIFEST, changes, manifest_text
from pytest_llmfair.judging.recorded import AS_TOLD, judge_again
from pytest_llmfair.reports.files import write_text

RUN, STATISTICS, PROMPTS, BOUNDS = "run.json", "statistics.jsonl", "prompts.jsonl", "bounds.json"
# What a test adds to a result after it was judged.
_OF_THE_SESSION = ("attempt", "outcome", "expected", "p_adjusted", "family_size", "message")
