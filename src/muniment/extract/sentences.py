"""Cuts a text into what can be read by itself, without losing the place of anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from muniment.extract.lexicon import concept, fold

SENTENCES_MAX = 2_000
# Longer stretches without an end are data (logs, minified code), not statements.
SENTENCE_CHARS_MAX = 1_000

_FENCE = re.compile(r"<muniment-memory[^>\n]{0,500}>|</muniment-memory\s*>", re.IGNORECASE)
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


@dataclass(frozen=True, slots=True)
class Piece:
    """Words with their place: ``text`` stands at ``start`` of the event's text."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """One past the last character."""
        return self.start + len(self.text)

    @property
    def folded(self) -> str:
        """The words as they are matched."""
        return fold(self.text)

    def part(self, start: int, end: int) -> Piece:
        """A stretch of it, without white space at either end."""
        text = self.text[start:end]
        lead = len(text) - len(text.lstrip())
        return Piece(text.strip(), self.start + start + lead)


def readable(text: str, *, code: bool = False) -> str:
    """The text with our own block, and (unless ``code``) fenced code, blanked out; same length.

    What we handed to a model is not evidence when it comes back, nor is a program a statement.
    A block that is never closed is blanked to the end: better nothing than an echo.
    """
    text = _blanked(text, _fenced(text))
    return text if code else _blanked(text, _coded(text))


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


def sentences(text: str) -> Iterator[Piece]:
    """The sentences of a text, ends kept on questions; overlong stretches are left out."""
    at, count = 0, 0
    for end in _END.finditer(text):
        piece = _sentence(text, at, end.end() if "?" in fold(end.group()) else end.start())
        at = end.end()
        if piece:
            yield piece
            count += 1
            if count >= SENTENCES_MAX:
                return
    if piece := _sentence(text, at, len(text)):
        yield piece


def _sentence(text: str, start: int, end: int) -> Piece | None:
    if end - start > SENTENCE_CHARS_MAX:
        return None
    piece = Piece(text[start:end], start).part(0, end - start)
    # List marks and quotation marks of the layout are no words.
    bare = re.match(r"(?:[-*•·>#]+|\d{1,2}[.)、])\s+", piece.text)
    piece = piece.part(bare.end(), len(piece.text)) if bare else piece
    return piece if piece.text else None


def segments(sentence: Piece) -> list[Piece]:
    """The sentence cut where it turns against itself: "…, but …", "…，但…"."""
    cuts = [0, *(m.end() for m in _CONTRAST.finditer(sentence.text) if m.start() > 0)]
    ends = [*(m.start() for m in _CONTRAST.finditer(sentence.text) if m.start() > 0), None]
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
        text = fold(segment.text[start:end]).strip()
        open_clause = bool(_ADVERBIAL.search(text)) or len(text) <= 3
    parts = (segment.part(a, b) for a, b in glued)
    return [part for part in parts if part.text]


def without_lead(piece: Piece) -> Piece:
    """The words without "记住：", "Remember that", "但" and the like before them."""
    for _ in range(4):
        lead = concept("lead").match(piece.folded)
        if not lead or not lead.end() or lead.end() >= len(piece.text):
            break
        piece = piece.part(lead.end(), len(piece.text))
    return piece
