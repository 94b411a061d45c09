"""The stream scrubber: keeps the fence and what is inside it out of what users see.

A model may repeat the block.  Chunks can cut a mark anywhere, so the scrubber holds back only
what could still become one; everything else passes at once.
"""

from __future__ import annotations

import re

_OPEN = re.compile(r"<\s{0,4}muniment-memory\b[^<>]{0,64}>", re.IGNORECASE | re.ASCII)
_CLOSE = re.compile(r"<\s{0,4}/\s{0,4}muniment-memory\s{0,4}>", re.IGNORECASE | re.ASCII)
_EITHER = re.compile(f"{_OPEN.pattern}|{_CLOSE.pattern}", re.IGNORECASE | re.ASCII)
_NAME = "muniment-memory"
_MARK_CHARS_MAX = 96
GAP = "\u2026"  # no mark tolerates it, where a blank could still be read as part of one
_BLANKS = " \t\n\r\f\v"


class Scrubber:
    """Feed it chunks, show what it returns, and `close` it at the end.

    Promised: for any way of cutting a text into chunks the output is the same, holds no fence
    mark (not even one that removing another would put together) and nothing between an opening
    and its closing mark.  An opening mark that is never closed hides the rest.
    """

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        self._shown = ""  # the end of what has been let out: a cut must not complete a mark there
        self._cut = False

    def feed(self, chunk: str) -> str:
        """What of the text so far can be shown."""
        self._held += chunk
        out: list[str] = []
        while self._step(out):
            pass
        return "".join(out)

    def close(self) -> str:
        """The end: what was held back and turned out harmless."""
        out: list[str] = []
        if not self._inside:
            self._let_out(self._held, out)
        self._held, self._inside, self._shown, self._cut = "", False, "", False
        return "".join(out)

    def _step(self, out: list[str]) -> bool:
        """Pass the next safe part; whether there may be more to do."""
        match = (_CLOSE if self._inside else _EITHER).search(self._held)
        if match is not None:
            if self._inside:
                self._inside = False
            else:
                self._let_out(self._held[: match.start()], out)
                self._inside = _OPEN.fullmatch(match.group()) is not None
            self._cut = True
            self._held = self._held[match.end() :]
            return True
        length = _safe_length(self._held)
        if not self._inside:
            self._let_out(self._held[:length], out)
        self._held = self._held[length:]
        return False

    def _let_out(self, text: str, out: list[str]) -> None:
        if not text:
            return
        if self._cut and _ends_open(self._shown):
            out.append(GAP)
        self._cut = False
        out.append(text)
        self._shown = (self._shown + text)[-_MARK_CHARS_MAX:]


def _ends_open(text: str) -> bool:
    """Whether the text ends in what could be the beginning of a mark."""
    at = text.rfind("<")
    return at >= 0 and _could_open(text[at + 1 :])


def _safe_length(text: str) -> int:
    """How much of the text cannot be the beginning of a mark."""
    start = max(len(text) - _MARK_CHARS_MAX, 0)
    while (at := text.find("<", start)) >= 0:
        if _could_open(text[at + 1 :]):
            return at
        start = at + 1
    return len(text)


def _could_open(rest: str) -> bool:
    if "<" in rest or ">" in rest:
        return False
    body = rest.lstrip(_BLANKS).removeprefix("/").lstrip(_BLANKS)
    return _NAME.startswith(_ascii_lower(body[: len(_NAME)]))


def _ascii_lower(text: str) -> str:
    return text.translate(_LOWER)


_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
