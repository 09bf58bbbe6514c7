"""One seed per sample, from what the sample is and never from when or beside what it is drawn."""

from __future__ import annotations

import hashlib


def sample_seed(seed: int, prompt: str, occurrence: int, sample: int, side: str = "") -> int:
    """Seed of one sample, an integer in [0, 2**64).

    `occurrence` is how many times the same text came earlier in the same call: equal prompts are
    asked anew and not copied. `side` keeps the members of a pair independent even when equal.
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in (str(seed), str(occurrence), str(sample), side, prompt):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return int.from_bytes(digest.digest(), "big")
