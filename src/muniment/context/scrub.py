"""The stream scrubber: keeps the fence and what is inside it out of what users see.

A model may repeat the block.  Chunks can cut a mark anywhere, so the scrubber holds back only
what could still become one; everything else passes at once.
"""

from __future__ import annotations

import re

_OPEN = re.compile(r"<\s{0,4}muniment-memory\b[^<>]{0,64}>", re.IGNORECASE)
_CLOSE = re.compile(r"<\s{0,4}/\s{0,4}muniment-memory\s{0,4}>", re.IGNORECASE)
_NAME = "muniment-memory"
_MARK_CHARS_MAX = 96


class Scrubber:
    """Feed it chunks, show what it returns, and `close` it at the end.

    Promised: for any way of cutting a text into chunks the output is the same, holds no fence
    mark and nothing between an opening and its closing mark.  An opening mark that is never
    closed hides the rest.
    """

    def __init__(self) -> None:
        self._held = ""
        self._inside = False

    def feed(self, chunk: str) -> str:
        """What of the text so far can be shown."""
        self._held += chunk
        out: list[str] = []
        while self._step(out):
            pass
        return "".join(out)

    def close(self) -> str:
        """The end: what was held back and turned out harmless."""
        rest = "" if self._inside else _strip(self._held)
        self._held, self._inside = "", False
        return rest

    def _step(self, out: list[str]) -> bool:
        """Pass the next safe part; whether there may be more to do."""
        pattern = _CLOSE if self._inside else _either
        match = pattern.search(self._held)
        if match is not None:
            if not self._inside:
                out.append(self._held[: match.start()])
                self._inside = _OPEN.fullmatch(match.group()) is not None
            else:
                self._inside = False
            self._held = self._held[match.end() :]
            return True
        cut = _safe_length(self._held)
        if not self._inside:
            out.append(self._held[:cut])
        self._held = self._held[cut:]
        return False


_either = re.compile(f"{_OPEN.pattern}|{_CLOSE.pattern}", re.IGNORECASE)


def _strip(text: str) -> str:
    return _either.sub("", text)


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
    body = rest.lstrip().removeprefix("/").lstrip().lower()
    return _NAME.startswith(body[: len(_NAME)])
