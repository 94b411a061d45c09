"""A folded view of a text, each of whose characters knows where it came from.

Rules are written for plain ASCII. People (and people who hide things) write full-width
letters, zero-width joints, other scripts' digits, Chinese numerals and typographic dashes. The
view folds those, character by character and without regard to neighbours, so that replacing one
part of a text never changes how the rest is read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

MASK = "\x00"
"""Stands in a view where something was already replaced; no rule may match it."""

_CACHE_LIMIT = 20_000
_ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]")
# Kept as they are: they end a value in Chinese prose, where their ASCII twins may be part of it.
_KEPT = frozenset("，！？；（）")
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_QUOTES = {"“": '"', "”": '"', "「": '"', "」": '"', "『": '"', "』": '"', "‘": "'", "’": "'"}
# A number read out in Chinese, as on the phone; words with these characters fold too, harmlessly.
_NUMERALS = {
    char: str(value)
    for value, chars in enumerate(
        ("〇零", "一壹幺", "二贰貳", "三叁參", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖")
    )
    for char in chars
}
_SPECIAL: dict[str, str] = (
    dict.fromkeys(_KEPT, "")
    | dict.fromkeys(_DASHES, "-")
    | _QUOTES
    | {"\t": "\t", "\n": "\n", "\r": "\r", "\v": " ", "\f": " ", "\u2028": "\n", "\u2029": "\n"}
    | dict.fromkeys("\u115f\u1160\u3164\uffa0", "")
    | {"\u0130": "I"}  # the one letter whose lower case is longer
    | _NUMERALS
) | {kept: kept for kept in _KEPT}


@dataclass(frozen=True, slots=True)
class View:
    """``text[i]`` was folded from ``original[starts[i]:ends[i]]``."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def to_original(self, start: int, end: int) -> tuple[int, int]:
        """The original's offsets of a non-empty span of the view."""
        return self.starts[start], self.ends[end - 1]

    def hide(self, spans: Sequence[tuple[int, int]]) -> View:
        """The same view with the given spans (sorted, in view offsets) masked.

        A span grows to whole original characters, as a replacement would cover those.
        """
        if not spans:
            return self
        parts: list[str] = []
        at = 0
        for start, end in spans:
            first, last = self.to_original(start, end)
            while start > at and self.starts[start - 1] >= first:
                start -= 1
            while end < len(self.text) and self.starts[end] < last:
                end += 1
            parts += (self.text[at:start], MASK * (end - max(start, at)))
            at = max(end, at)
        parts.append(self.text[at:])
        return View("".join(parts), self.starts, self.ends)


def view_of(text: str) -> View:
    """Fold a text: NFKC, digits of all scripts, dashes, quotes; invisible characters dropped."""
    if text.isascii() and not _ASCII_CONTROLS.search(text):
        return _straight(text)
    if all(len(_FOLDS[ord(char)]) == 1 for char in set(text)):
        return _straight(text.translate(_FOLDS))
    pieces: list[str] = []
    starts: list[int] = []
    for index, char in enumerate(text):
        folded = _FOLDS[ord(char)]
        pieces.append(folded)
        starts.extend([index] * len(folded))
    return View("".join(pieces), starts, [start + 1 for start in starts])


def _straight(folded: str) -> View:
    return View(folded, range(len(folded)), range(1, len(folded) + 1))


def _is_invisible(char: str) -> bool:
    code = ord(char)
    return (
        unicodedata.category(char) in ("Cf", "Cc")
        or 0x0300 <= code <= 0x036F  # combining marks drawn over a letter
        or 0x20D0 <= code <= 0x20FF
        or 0xFE00 <= code <= 0xFE0F  # variation selectors
        or 0xE0100 <= code <= 0xE01EF
        or 0x180B <= code <= 0x180F
    )


def _fold(char: str) -> str:
    if (special := _SPECIAL.get(char)) is not None:
        return special
    if _is_invisible(char):
        return ""
    if (digit := unicodedata.decimal(char, None)) is not None:
        return str(digit)
    folded = unicodedata.normalize("NFKC", char)
    if folded == char:
        return char
    return "".join(_SPECIAL.get(one, "" if _is_invisible(one) else one) for one in folded)


class _Folds(dict[int, str]):
    """Folds by code point, filled as they are met and bounded."""

    def __missing__(self, code: int) -> str:
        folded = _fold(chr(code))
        if len(self) < _CACHE_LIMIT:
            self[code] = folded
        return folded


_FOLDS = _Folds()
