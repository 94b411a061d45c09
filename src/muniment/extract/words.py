"""A pattern with a quick look first: which literals must be there for it to match at all.

Reading one sentence asks some three hundred patterns; nearly all of them can say no by the
literals that occur.  One pass over the text finds those for all patterns together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import add
from threading import Lock
from typing import Any

# The parse tree of `re` is not public; without it every pattern is simply tried.
_parser: Any = getattr(re, "_parser", None)

_HINTS_MAX = 400
_KEY_CHARS = 3


class Hints:
    """Which of many patterns a text leaves possible, found in one pass over it."""

    __slots__ = ("_always", "_exact", "_longer", "size")

    def __init__(self) -> None:
        self._always = 0
        self._exact: dict[str, int] = {}
        self._longer: dict[str, tuple[tuple[str, int], ...]] = {}
        self.size = 0

    def add(self, hints: Iterable[str] | None) -> int:
        """The bit of a pattern any match of which contains one of ``hints``."""
        bit = 1 << self.size
        if hints is None:
            self._always |= bit
        for hint in hints or ():
            key = hint[:_KEY_CHARS]
            if len(hint) > _KEY_CHARS:
                self._longer[key] = (*self._longer.get(key, ()), (hint, bit))
            else:
                self._exact[key] = self._exact.get(key, 0) | bit
        self.size += 1
        return bit

    def scan(self, lowered: str) -> int:
        """The bits of the patterns that lower-cased text can hold a match of."""
        pairs = list(map(add, lowered, lowered[1:]))
        grams = {*lowered, *pairs, *map(add, pairs, lowered[2:])}
        found = self._always
        for gram in self._exact.keys() & grams:
            found |= self._exact[gram]
        for gram in self._longer.keys() & grams:
            for hint, bit in self._longer[gram]:
                if hint in lowered:
                    found |= bit
        return found


#: All patterns of the lexicon and the task words; those of a catalogue have their own.
LEXICON = Hints()
_ADDING = Lock()


class Folded(str):
    """Text as it is matched, and which patterns of the lexicon it leaves possible.

    A part takes over what the whole left possible: more than its own, never less.
    """

    __slots__ = ("_known", "_possible")
    _known: int
    _possible: int

    @property
    def possible(self) -> tuple[int, int]:
        """The bits, and how many patterns there were when they were found."""
        try:
            return self._possible, self._known
        except AttributeError:
            self._known = LEXICON.size
            self._possible = LEXICON.scan(self.lower())
            return self._possible, self._known

    def part(self, start: int, end: int) -> Folded:
        """A stretch of it."""
        made = Folded(self[start:end])
        made._possible, made._known = self.possible
        return made


class Lazy:
    """An expression, case ignored, compiled when it is first needed."""

    __slots__ = ("_compiled", "_source")

    def __init__(self, pattern: str) -> None:
        self._source = pattern
        self._compiled: re.Pattern[str] | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled expression; most are never needed by a short process."""
        if self._compiled is None:
            self._compiled = re.compile(self._source, re.IGNORECASE)
        return self._compiled


class Words(Lazy):
    """A pattern, and the literals one of which any match contains."""

    __slots__ = ("_at", "_bit", "hints")

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.hints = hints_of(pattern)
        with _ADDING:
            self._at = LEXICON.size
            self._bit = LEXICON.add(self.hints)

    def possible(self, text: str) -> bool:
        """Whether a text can hold a match; never wrongly no."""
        if isinstance(text, Folded):
            bits, known = text.possible
            if self._at < known:
                return bool(bits & self._bit)
        lowered = text.lower()
        return self.hints is None or any(map(lowered.__contains__, self.hints))

    def search(self, text: str) -> re.Match[str] | None:
        """As `re.Pattern.search`."""
        return self.pattern.search(text) if self.possible(text) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """As `re.Pattern.finditer`."""
        return self.pattern.finditer(text) if self.possible(text) else iter(())

    def match(self, text: str) -> re.Match[str] | None:
        """As `re.Pattern.match`."""
        return self.pattern.match(text) if self.possible(text) else None


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
