"""Forms of a text for comparing and for showing.  None of them is ever stored."""

from __future__ import annotations

import re
import unicodedata

# Format characters (category Cf) that *are* visible: Arabic, Syriac and Kaithi number signs.
_VISIBLE_FORMAT = frozenset(
    [*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD]
)
# Not Cf, yet drawn as nothing: joiners, Hangul and Khmer fillers, variation selectors, and the
# whole "tags" plane 14 block, where text can be hidden letter by letter.
_INVISIBLE_OTHERS = [
    *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0),
    *range(0x180B, 0x1810),
    *range(0xFE00, 0xFE10),
    *range(0xFFF0, 0xFFF9),
    *range(0xE0000, 0xE1000),
]
_MARKS_PER_LETTER_MAX = 30  # the limit of Unicode's Stream-Safe Text Format (UAX #15, section 13)


def _char_class(codes: list[int]) -> str:
    """Return the body of a regular-expression class for sorted code points, as ranges."""
    spans: list[list[int]] = []
    for code in codes:
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in spans)


def _marks_and_formats() -> tuple[list[int], list[int]]:
    # Nothing of category M or Cf lives between the CJK blocks or beyond the first planes and
    # plane 14; skipping them keeps the import at a few milliseconds.
    marks, formats = [], []
    for code in (*range(0xA0, 0x3100), *range(0xA000, 0xAC00), *range(0xFB00, 0x20000)):
        category = unicodedata.category(chr(code))
        if category == "Cf":
            formats.append(code)
        elif category[0] == "M":
            marks.append(code)
    return marks, formats


_MARKS, _FORMATS = _marks_and_formats()
MARKS = _char_class(_MARKS)
"""Combining marks, as the body of a regular-expression class."""

INVISIBLE = _char_class(
    sorted({code for code in _FORMATS if code not in _VISIBLE_FORMAT} | {*_INVISIBLE_OTHERS})
)
"""Zero-width, bidirectional, filler, tag and other undrawn characters, likewise."""

_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]+")
_LONG_MARKS = re.compile(f"([{MARKS}]{{{_MARKS_PER_LETTER_MAX}}})[{MARKS}]+")
# An emoji may carry a variation selector and be joined to the next one; those draw something.
_EMOJI = "\\u200d\\ufe0f\\u20e3\\u00a9\\u00ae\\u203c-\\u3299\\U0001f000-\\U0001faff"
_EMOJI_GLUE = re.compile(f"(?<=[#*0-9{_EMOJI}])(?:\\ufe0f|\\ufe0e|\\u200d(?=[{_EMOJI}]))")


def compose(text: str) -> str:
    """Return NFKC of ``text`` without invisible characters; case and white space stay.

    Runs of combining marks are cut to 30 first, because ordering a run is quadratic in Python's
    ``unicodedata`` (measured: 100,000 marks take 10 s); no language writes so many.
    """
    if text.isascii():
        return text
    text = _LONG_MARKS.sub(r"\1", _INVISIBLE.sub("", text))
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


def normalise(text: str) -> str:
    """Return the form in which two texts are compared.

    NFKC, case folded, invisible and control characters removed, runs of white space one space,
    none at the ends.  Idempotent, linear.  For comparison only: full-width and half-width, ``ﬁ``
    and ``fi``, ``ß`` and ``ss`` fall together, so it must never be stored in place of a text nor
    used to compare ids.
    """
    if text.isascii():  # nothing to compose, nothing that folding could undo
        return " ".join(_CONTROL.sub("", text).lower().split())
    for _ in range(4):
        # Folding can undo composition and the reverse (Greek, mostly); two rounds settle it.
        folded = compose(compose(_CONTROL.sub("", text)).casefold())
        if folded == text:
            break
        text = folded
    return " ".join(text.split())


def invisible(text: str) -> bool:
    """Return whether ``text`` carries characters that are not drawn.

    Zero-width, bidirectional controls, fillers, tag characters, soft hyphens; not white space.
    Joiners and variation selectors *inside an emoji* do not count.  Those between letters do,
    even where a script needs them (Persian, Indic): this is a mark for a reader, not a refusal.
    """
    if text.isascii():
        return False
    return _INVISIBLE.search(_EMOJI_GLUE.sub("", text)) is not None


def strip_invisible(text: str) -> str:
    """Return ``text`` without any undrawn character, emoji joiners included; the rest stays."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def blank(text: str) -> bool:
    """Return whether nothing in ``text`` is drawn: only white space, controls, invisible ones."""
    return not _CONTROL.sub("", strip_invisible(text)).strip()


_UNSAFE = re.compile(f"[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff{INVISIBLE}]")


def safe_for_terminal(text: str) -> str:
    r"""Return ``text`` with everything that could act on a terminal written out as an escape.

    Controls (C0, DEL, C1: so every ANSI sequence), line separators, lone surrogates and invisible
    characters, bidirectional ones among them, become ``\x1b``, ``\u202e``, ``\U000e0041``.  Tab
    and line feed stay; CR LF becomes LF.  What was written as a backslash stays one, so the
    result is for reading and cannot be turned back.  Emoji joined by zero-width joiners come
    apart.  The result can always be encoded as UTF-8.
    """
    return _UNSAFE.sub(_escape, text.replace("\r\n", "\n"))


def inert(text: str) -> str:
    """Text that can be read and nothing more: one line, no markup that could close the fence,
    no terminal codes, no invisible or direction marks, no images."""
    flat = " ".join(safe_for_terminal(text.replace("\r", " ").replace("\n", " ⏎ ")).split())
    return flat.replace("<", "‹").replace(">", "›").replace("![", "! [")


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
