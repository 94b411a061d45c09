"""Files that hold what was confided: for their owner alone, from the first byte."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from muniment.errors import Unavailable

MODE = 0o600


def make_private(path: Path) -> None:
    """Make an empty file only its owner can read, where there is none yet.

    SQLite gives its write-ahead log and shared memory the mode of the database.  A file that is
    there keeps its mode: `doctor` tells where others can read it.  Raises `OSError`.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE))


def open_private(path: Path) -> None:
    """`make_private` for a store about to be opened; raises `Unavailable`."""
    try:
        make_private(path)
    except OSError as error:
        raise Unavailable(
            "store.unreachable", f"cannot make the file {path}: {error.strerror}"
        ) from None


def readable_by_others(path: Path) -> bool:
    """Whether anyone but the owner may read or write a file that is there."""
    return path.exists() and bool(path.stat().st_mode & 0o077)
