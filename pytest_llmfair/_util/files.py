"""Text files that users write."""

from __future__ import annotations

from pathlib import Path


def read_utf8(path: Path) -> str:
    """Return the text of a file, without a byte order mark.

    Raises
    ------
    ValueError
        If it is not UTF-8; the message names the file and the byte.
    OSError
        If the file cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}; give the path of one") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{path} is a folder; give the path of a file in it") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 (byte {error.start}); save it as UTF-8") from None
