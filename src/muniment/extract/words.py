"""A pattern with a quick look first: which literals must be there for it to match at all.

Reading one sentence asks some three hundred patterns; nearly all of them can say no by the
literals that occur.  One pass over the text finds those for all patterns together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import reduce
from operator import add, or_
from threading import Lock
from typing import Any

# The parse tree of `re` is not public; without it every pattern is simply tried.
_parser: Any = getattr(re, "_parser", None)

_HINTS_MAX = 400
_SETS_MAX = 3
_KEY_CHARS = 3


class Hints:
    """Which literals of many patterns a text holds, found in one pass over it.

    A pattern's literals may be added while other threads look for those of others.
    """

    __slots__ = ("_adding", "_keys", "_sets", "size")

    def __init__(self) -> None:
        # By its first characters: the bits of the literal that is no longer, and the longer ones.
        self._keys: dict[str, tuple[int, tuple[tuple[str, int], ...]]] = {}
        self._sets: dict[frozenset[str], int] = {}
        self._adding = Lock()
        self.size = 0

    def add(self, needed: Iterable[frozenset[str]]) -> int:
        """The bits that a text must show which holds one literal of each set."""
        bits = 0
        with self._adding:
            for hints in needed:
                bits |= self._sets.get(hints) or self._new(hints)
        return bits

    def _new(self, hints: frozenset[str]) -> int:
        bit = self._sets[hints] = 1 << self.size
        for hint in hints:
            key = hint[:_KEY_CHARS]
            bits, longer = self._keys.get(key, (0, ()))
            if len(hint) > _KEY_CHARS:
                known = dict(longer)
                longer = tuple({**known, hint: known.get(hint, 0) | bit}.items())
            else:
                bits |= bit
            self._keys[key] = (bits, longer)
        self.size += 1
        return bit

    def scan(self, lowered: str) -> int:
        """The bits of the sets of which lower-cased text holds a literal."""
        pairs = list(map(add, lowered, lowered[1:]))
        found = 0
        for hit in map(self._keys.get, {*lowered, *pairs, *map(add, pairs, lowered[2:])}):
            if hit is not None:
                found |= hit[0]
                for hint, bit in hit[1]:
                    if hint in lowered:
                        found |= bit
        return found


#: What all patterns need, those of every catalogue too: one pass over a text answers for all.
LEXICON = Hints()


class Folded(str):
    """Text as it is matched, and which literals of the lexicon it holds.

    ``found`` has their bits, ``known`` how many there were when they were looked for.  A part
    takes over what the whole held: more than its own, never less.
    """

    __slots__ = ("found", "known")
    found: int
    known: int

    @classmethod
    def of(cls, text: str) -> Folded:
        """Text that is folded already."""
        made = cls(text)
        made.known = LEXICON.size
        made.found = LEXICON.scan(text.lower())
        return made

    def without(self, spans: Iterable[tuple[int, int]]) -> Folded:
        """The same with stretches of it blanked out."""
        text = str(self)
        for start, end in spans:
            text = text[:start] + " " * (end - start) + text[end:]
        made = Folded(text)
        made.known, made.found = self.known, self.found
        return made

    def part(self, start: int, end: int) -> Folded:
        """A stretch of it."""
        made = Folded(self[start:end])
        made.known, made.found = self.known, self.found
        return made


def found_in(text: str, upto: int) -> int:
    """The bits of the literals a text holds, of the first ``upto`` at least."""
    if type(text) is Folded and upto <= text.known:
        return text.found
    return LEXICON.scan(text.lower())


class Lazy:
    """An expression, case ignored by default, compiled when it is first needed."""

    __slots__ = ("_compiled", "_flags", "_source")

    def __init__(self, pattern: str, flags: int = re.IGNORECASE) -> None:
        self._source, self._flags = pattern, flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled expression; most are never needed by a short process."""
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled


class Words(Lazy):
    """A pattern, and what a text must hold for one of its alternatives to match.

    ``alternatives`` are the parts of which any match matches one; the pattern itself if it is
    not made of parts.
    """

    __slots__ = ("_any", "_needs", "_upto", "_wanted")

    def __init__(self, pattern: str, alternatives: Sequence[str] = ()) -> None:
        super().__init__(pattern)
        self._wanted = [needed_by(part) for part in alternatives or (pattern,)]
        self._needs = tuple(LEXICON.add(sets) for sets in self._wanted)
        # The most telling set of each: without any of these, none can be complete.
        first = [LEXICON.add(sets[:1]) for sets in self._wanted]
        self._upto = LEXICON.size
        self._any = reduce(or_, first) if all(first) else -1

    def excluded(self, text: str) -> bool:
        """Whether a text cannot hold a match; never wrongly yes."""
        if type(text) is Folded and self._upto <= text.known:
            found = text.found
            if not found & self._any and self._any != -1:
                return True
            for need in self._needs:  # noqa: SIM110 - asked fifty times a sentence
                if found & need == need:
                    return False
            return True
        lowered = text.lower()
        return not any(
            all(any(map(lowered.__contains__, hints)) for hints in sets) for sets in self._wanted
        )

    def search(self, text: str) -> re.Match[str] | None:
        """As `re.Pattern.search`."""
        return None if self.excluded(text) else self.pattern.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """As `re.Pattern.finditer`."""
        return iter(()) if self.excluded(text) else self.pattern.finditer(text)

    def match(self, text: str) -> re.Match[str] | None:
        """As `re.Pattern.match`."""
        return None if self.excluded(text) else self.pattern.match(text)


def needed_by(pattern: str) -> tuple[frozenset[str], ...]:
    """Sets of lower-case literals, of each of which every match contains one; the most telling."""
    return most_telling(literals_of(pattern))


def most_telling(sets: Iterable[frozenset[str]]) -> tuple[frozenset[str], ...]:
    """Those few sets that leave the fewest texts possible."""
    telling = sorted(sets, key=_telling, reverse=True)
    return tuple(hints for hints in telling if len(hints) <= _HINTS_MAX)[:_SETS_MAX]


def literals_of(pattern: str) -> frozenset[frozenset[str]]:
    """All sets of lower-case literals, of each of which every match of the pattern contains one."""
    if _parser is None:
        return frozenset()
    return frozenset(map(frozenset, _options(_parser.parse(pattern, re.IGNORECASE))))


def _telling(hints: Set[str]) -> tuple[int, int]:
    """The shortest literal decides; a Han character tells more than a letter."""
    return min(map(_weight, hints)), -len(hints)


def _weight(hint: str) -> int:
    return len(hint) if hint.isascii() else sum(1 if c.isascii() else 2 for c in hint)


def _options(items: Any) -> list[set[str]]:
    """Of things that must follow each other, what each must contain one of."""
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
        options += _of_one(name, argument)
    if run:
        options.append({run})
    return options


def _of_one(name: str, argument: Any) -> list[set[str]]:
    if name == "SUBPATTERN":
        return _options(argument[-1])
    if name in ("MAX_REPEAT", "MIN_REPEAT") and argument[0] >= 1:
        return _options(argument[2])
    if name == "BRANCH":
        found: set[str] = set()
        for branch in argument[1]:
            best = max(_options(branch), key=_telling, default=None)
            if best is None:
                return []
            found |= best
        return [found]
    return []
