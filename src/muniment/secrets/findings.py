"""What the screen reports: a kind, a grade and a place in the text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """What a finding asks for.

    ``BLOCK``: the span may not be stored anywhere. ``HOLD``: the span may stay in the
    event; what is derived from it waits for a person.
    """

    BLOCK = "block"
    HOLD = "hold"


@dataclass(frozen=True, slots=True)
class Finding:
    """One sensitive span; ``start`` and ``end`` are offsets into the text as it was given."""

    kind: str
    grade: Grade
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PathFinding:
    """A finding inside JSON-like data.

    ``path`` leads to the string: keys and list positions from the outside in. With
    ``in_key`` the finding lies in the last key of the path itself, not in its value.
    Offsets count within that key or value (for a number: within its decimal digits).
    """

    path: tuple[str | int, ...]
    in_key: bool
    finding: Finding
