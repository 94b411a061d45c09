"""A pattern with a quick look first: which literals must be there for it to match at all.

Reading one sentence asks some three hundred patterns; nearly all of them can say no by a few
substring tests (measured: three quarters of the time).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# The parse tree of `re` is not public; without it every pattern is simply tried.
_parser: Any = getattr(re, "_parser", None)

_HINTS_MAX = 400


class Words:
    """A compiled pattern, case ignored, and the literals one of which any match contains."""

    __slots__ = ("hints", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = re.compile(pattern, re.IGNORECASE)
        self.hints = hints_of(pattern)

    def possible(self, lowered: str) -> bool:
        """Whether lower-cased text can hold a match; never wrongly no."""
        return self.hints is None or any(map(lowered.__contains__, self.hints))

    def search(self, text: str) -> re.Match[str] | None:
        """As `re.Pattern.search`."""
        return self.pattern.search(text) if self.possible(text.lower()) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """As `re.Pattern.finditer`."""
        return self.pattern.finditer(text) if self.possible(text.lower()) else iter(())

    def match(self, text: str) -> re.Match[str] | None:
        """As `re.Pattern.match`."""
        return self.pattern.match(text) if self.possible(text.lower()) else None


def hints_of(pattern: str) -> tuple[str, ...] | None:
    """Lower-case literals one of which every match contains; ``None`` where that is unknown."""
    if _parser is None:
        return None
    found = _sequence(_parser.parse(pattern, re.IGNORECASE))
    return tuple(sorted(found, key=len)) if found and len(found) <= _HINTS_MAX else None


def _sequence(items: Any) -> set[str] | None:
    """Of things that must follow each other, the one that tells most."""
    options: list[set[str]] = []
    run = ""
    for op, argument in items:
        name = str(op)
        if name == "LITERAL":
            run += chr(argument).lower()
            continue
        if run:
            options.append({run})
            run = ""
        if (found := _one(name, argument)) is not None:
            options.append(found)
    if run:
        options.append({run})
    return max(options, key=lambda o: (min(map(len, o)), -len(o)), default=None)


def _one(name: str, argument: Any) -> set[str] | None:
    if name == "SUBPATTERN":
        return _sequence(argument[-1])
    if name in ("MAX_REPEAT", "MIN_REPEAT") and argument[0] >= 1:
        return _sequence(argument[2])
    if name == "BRANCH":
        found: set[str] = set()
        for branch in argument[1]:
            one = _sequence(branch)
            if one is None:
                return None
            found |= one
        return found
    return None
