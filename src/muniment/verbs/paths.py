"""File names that callers pass."""

from __future__ import annotations

from pathlib import Path

from muniment.errors import InvalidInput


def path_of(value: object) -> Path:
    """A path, or `InvalidInput` ``path.invalid`` for what cannot be one."""
    if isinstance(value, Path):
        value = str(value)
    if not isinstance(value, str) or not value or "\0" in value:
        raise InvalidInput("path.invalid", "path: name a file")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput("path.invalid", "path: not valid text") from None
    return Path(value)
