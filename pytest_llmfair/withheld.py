"""An answer of which a cassette keeps a digest only: equal or not, scored or not, never read."""

from __future__ import annotations

from typing import Any, NoReturn

REMEDY = (
    "the cassette keeps digests and scores, no texts (--llmfair-cassette-text digest), so that "
    "only recorded scores can be judged again; record with --llmfair-cassette-text full"
)


class Withheld(str):
    """Stands for a text that was recorded as a digest; reading it is an error.

    Two of them are equal where the texts were.

    Parameters
    ----------
    digest : str
        Digest of the text.
    cut : bool
        Whether the text ended at a limit given on purpose.
    """

    __slots__ = ("cut", "digest")

    digest: str
    cut: bool

    def __new__(cls, digest: str, *, cut: bool = False) -> Withheld:
        """Make the stand-in of a text."""
        made = super().__new__(cls, f"(text withheld, digest {digest})")
        made.digest, made.cut = digest, cut
        return made

    def _refuse(self, *arguments: Any, **keywords: Any) -> NoReturn:
        raise TypeError(f"this answer cannot be read: {REMEDY}")

    # Whatever looks into a text: a wrong number would come of it, and nobody would know.
    __contains__ = __add__ = casefold = count = encode = endswith = find = index = _refuse
    lower = partition = replace = rpartition = rsplit = split = splitlines = startswith = _refuse
    strip = translate = upper = _refuse
