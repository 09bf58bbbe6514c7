"""What stands for a blank in JSON, HTML and wikis: an escaped line break, "&nbsp;"."""

from __future__ import annotations

import functools
import re

# A line break as JSON writes it, inside JSON too. A tab, but for the commands of TeX ("\\text").
_ESCAPE = re.compile(r"(?:\\{1,4}r)?\\{1,4}n|\\{1,4}t(?=[A-Z])")
_ENTITY = re.compile(r"&(?:nbsp|ensp|emsp|thinsp|#160|#xa0);|\{\{nbsp\}\}", re.IGNORECASE)


@functools.lru_cache(maxsize=8)  # it looks through a whole text, which can hold many terms
def with_blanks(text: str) -> str:
    """Return a text of the same length in which what stands for a blank is blank.

    So that its words are found and read as those of the text that is meant.
    """
    if "\\" in text:
        text = _ESCAPE.sub(_blank, text)
    if "&" in text or "{{" in text:
        text = _ENTITY.sub(lambda found: " " * len(found[0]), text)
    return text


def _blank(escape: re.Match[str]) -> str:
    return ("\n" if escape[0][-1] == "n" else "").rjust(len(escape[0]))
