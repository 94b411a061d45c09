"""Cuts a text into what can be read by itself, without losing the place of anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from muniment.extract.lexicon import concept, fold
from muniment.extract.people import person_in
from muniment.extract.words import Folded

SENTENCES_MAX = 2_000
# Longer stretches without an end are data (logs, minified code), not statements.
SENTENCE_CHARS_MAX = 1_000

_FENCE = re.compile(r"<muniment-memory[^>\n]{0,500}>|</muniment-memory\s*>", re.IGNORECASE)
_MARK = re.compile(r"(?:[-*•·>#]+|\d{1,2}[.)、])\s+")
_CODE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
# A full stop ends a sentence only before white space; abbreviations keep theirs.
_END = re.compile(
    r"[。！？；\n]+|(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?;]+(?=\s|$)|[!?](?=[^\x00-\x7f])"
)
_CONTRAST = re.compile(
    r"[,，;；]?\s*(?=(?:但是?|不过|然而|可是|只是)(?![是过]?凡))|(?<=[,，])\s*(?=(?:除非|除了))"
    r"|[,;]\s*(?=(?:but|however|although|though|except)\b)",
    re.IGNORECASE,
)
_COMMA = re.compile(r"(?<!\d)[,，]|[,，](?!\d)")
_ADVERBIAL = re.compile(
    r"(?:时|时候|后|之后|以后|前|之前|以前|的话|情况下|期间|起|开始)$"
    r"|^(?:如果|若是?|当|要是|一旦|凡是|只要|除非|在)"
    r"|^(?:when|whenever|if|after|before|once|for|in|on|at|unless|except|during|while|as|since|"
    r"until|with|from now on|going forward|by default|always)\b",
    re.IGNORECASE,
)


class Piece:
    """Words with their place: ``text`` stands at ``start`` of the event's text.

    ``folded`` is the text as it is matched.
    """

    __slots__ = ("_bare", "_person", "folded", "start", "text")

    def __init__(self, text: str, start: int, folded: Folded | None = None) -> None:
        self.text = text
        self.start = start
        self.folded = fold(text) if folded is None else folded
        self._bare: Piece | None = None
        self._person: str | None = ""

    @property
    def end(self) -> int:
        """One past the last character."""
        return self.start + len(self.text)

    def part(self, start: int, end: int) -> Piece:
        """A stretch of it, without white space at either end."""
        cut = self.text[start:end]
        text = cut.strip()
        if len(text) == len(self.text):
            return self
        start += len(cut) - len(cut.lstrip())
        return Piece(text, self.start + start, self.folded.part(start, start + len(text)))

    @property
    def bare(self) -> Piece:
        """The words without "记住：", "Remember that", "但" and the like before them."""
        if self._bare is None:
            self._bare = _without_lead(self)
        return self._bare

    @property
    def person(self) -> str | None:
        """The subject it is about, where that is somebody else; see `people.person_in`."""
        if self._person == "":
            self._person = person_in(self.text)
        return self._person


def readable(text: str, *, code: bool = False) -> str:
    """The text with our own block, and (unless ``code``) fenced code, blanked out; same length.

    What we handed to a model is not evidence when it comes back, nor is a program a statement.
    A block that is never closed is blanked to the end: better nothing than an echo.
    """
    if "<" in text:
        text = _blanked(text, _fenced(text))
    coded = not code and ("```" in text or "~~~" in text)
    return _blanked(text, _coded(text)) if coded else text


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    depth = opened = 0
    for mark in _FENCE.finditer(text):
        if mark.group().startswith("</"):
            depth = max(0, depth - 1)
            if depth == 0:
                yield opened, mark.end()
                opened = mark.end()
        else:
            opened = mark.start() if depth == 0 else opened
            depth += 1
    if depth:
        yield opened, len(text)


def _coded(text: str) -> Iterator[tuple[int, int]]:
    marks = [m.start() for m in _CODE.finditer(text)]
    for start, stop in zip_longest(marks[::2], marks[1::2], fillvalue=len(text)):
        end = text.find("\n", stop)
        yield start, len(text) if end < 0 else end


def _blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    out, at = [], 0
    for start, end in spans:
        start = max(start, at)
        out += [text[at:start], _spaces(text[start:end])]
        at = max(at, end)
    return "".join([*out, text[at:]])


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


class Passage:
    """A text to be read: its sentences, ends kept on questions, overlong stretches left out."""

    __slots__ = ("_pieces", "text", "whole")

    def __init__(self, text: str) -> None:
        self.text = text
        # A short text is looked at once for all its sentences.
        self.whole = Piece(text, 0) if len(text) <= SENTENCE_CHARS_MAX else None
        self._pieces: list[Piece] | None = None

    def head(self, chars: int) -> Folded:
        """How it begins, as it is matched."""
        return (self.whole or Piece(self.text[:chars], 0)).part(0, chars).folded

    def sentences(self) -> list[Piece]:
        """Its sentences, in order."""
        if self._pieces is None:
            self._pieces = list(self._cut())
        return self._pieces

    def _cut(self) -> Iterator[Piece]:
        for start, end in _spans(self.text):
            if self.whole is not None:
                yield self.whole.part(start, end)
            else:
                yield Piece(self.text[start:end], start)


def sentences(text: str) -> list[Piece]:
    """The sentences of a text; see `Passage`."""
    return Passage(text).sentences()


def sentence_texts(text: str) -> list[str]:
    """The same sentences, as mere text."""
    return [text[start:end] for start, end in _spans(text)]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    at, count = 0, 0
    for mark in _END.finditer(text):
        asks = "?" in mark.group() or "？" in mark.group()
        span = _span(text, at, mark.end() if asks else mark.start())
        at = mark.end()
        if span:
            yield span
            count += 1
            if count >= SENTENCES_MAX:
                return
    if span := _span(text, at, len(text)):
        yield span


def _span(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where its words stand; list marks and quotation marks of the layout are no words."""
    if end - start > SENTENCE_CHARS_MAX:
        return None
    start, end = _trimmed(text, start, end)
    if mark := _MARK.match(text, start, end):
        start, end = _trimmed(text, mark.end(), end)
    return (start, end) if start < end else None


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    cut = text[start:end]
    bare = cut.lstrip()
    start += len(cut) - len(bare)
    return start, start + len(bare.rstrip())


def segments(sentence: Piece) -> list[Piece]:
    """The sentence cut where it turns against itself: "…, but …", "…，但…"."""
    turns = [m for m in _CONTRAST.finditer(sentence.folded) if m.start() > 0]
    if not turns:
        return [sentence]
    cuts = [0, *(m.end() for m in turns)]
    ends = [*(m.start() for m in turns), None]
    parts = (
        sentence.part(a, len(sentence.text) if b is None else b)
        for a, b in zip(cuts, ends, strict=True)
    )
    return [part for part in parts if part.text]


def clauses(segment: Piece) -> list[Piece]:
    """The comma-parted clauses, an adverbial one ("…后,", "when …,") glued to the next."""
    bounds, at = [], 0
    for comma in _COMMA.finditer(segment.text):
        bounds.append((at, comma.start()))
        at = comma.end()
    bounds.append((at, len(segment.text)))
    glued: list[tuple[int, int]] = []
    open_clause = False
    for start, end in bounds:
        if open_clause and glued:
            glued[-1] = (glued[-1][0], end)
        else:
            glued.append((start, end))
        text = segment.folded[start:end].strip()
        open_clause = bool(_ADVERBIAL.search(text)) or len(text) <= 3
    parts = (segment.part(a, b) for a, b in glued)
    return [part for part in parts if part.text]


def without_lead(piece: Piece) -> Piece:
    """The words without "记住：", "Remember that", "但" and the like before them."""
    return piece.bare


def _without_lead(piece: Piece) -> Piece:
    for _ in range(4):
        lead = concept("lead").match(piece.folded)
        if not lead or not lead.end() or lead.end() >= len(piece.text):
            break
        piece = piece.part(lead.end(), len(piece.text))
    return piece
