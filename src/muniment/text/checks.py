"""What a text or an id has to be to come in.  Accepted values are returned unchanged."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from muniment.errors import InvalidInput
from muniment.text.normal import INVISIBLE, blank

ID_MAX_CHARS = 128

_SURROGATE = re.compile("[\ud800-\udfff]")
# Controls, invisible and format characters, surrogates, noncharacters; line and paragraph
# separators break a log line as a control would.
_NOT_IN_ID = re.compile(f"[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff{INVISIBLE}]")


def check_text(value: object, *, name: str, max_bytes: int) -> str:
    """Return ``value`` if it can be stored as a text, byte for byte as it came.

    ``max_bytes`` bounds its UTF-8 form.  Raises `InvalidInput` with code ``text.not_string``,
    ``text.too_long``, ``text.nul``, ``text.surrogate`` or ``text.empty`` (nothing in it is drawn),
    checked in this order.  Other control or invisible characters are let in: see `invisible`.
    """
    if not isinstance(value, str):
        raise InvalidInput("text.not_string", f"{name} must be a string, not {_kind(value)}.")
    # A character takes at least one byte: what is too long is refused before it is copied.
    if len(value) > max_bytes or len(value.encode("utf-8", "surrogatepass")) > max_bytes:
        raise InvalidInput("text.too_long", f"{name} must be at most {max_bytes} bytes of UTF-8.")
    if "\x00" in value:
        raise InvalidInput("text.nul", f"{name} must not contain NUL (U+0000).")
    if _SURROGATE.search(value):
        raise InvalidInput("text.surrogate", f"{name} has half of a surrogate pair; send Unicode.")
    if blank(value):
        raise InvalidInput("text.empty", f"{name} must contain something visible.")
    return value


def check_id(value: object, *, name: str) -> str:
    """Return ``value`` if it can name a tenant, a user or a part of a scope; unchanged.

    1 to 128 characters, none of them a control, invisible, format or half-pair character, no
    white space at either end, and not ``*``.  Nothing is folded or trimmed: ``a``, ``A`` and the
    full-width ``ａ`` are three ids, and ``%``, ``_``, ``/``, ``:``, ``&`` mean nothing here.
    Raises `InvalidInput` with code ``id.invalid``; the message never repeats the value.
    """
    if not isinstance(value, str):
        raise InvalidInput("id.invalid", f"{name} must be a string, not {_kind(value)}.")
    fault = _known_fault(value) if len(value) <= ID_MAX_CHARS else _id_fault(value)
    if fault is not None:
        raise InvalidInput("id.invalid", f"{name} {fault}.")
    return value


@lru_cache(maxsize=4096)
def _known_fault(value: str) -> str | None:
    """The same few ids name everything a tenant does."""
    return _id_fault(value)


def _id_fault(value: str) -> str | None:
    if not 1 <= len(value) <= ID_MAX_CHARS:
        return f"must have 1 to {ID_MAX_CHARS} characters, not {len(value)}"
    if value != value.strip():
        return "must not begin or end with white space"
    if value == "*":
        return "must not be '*'"
    # `_NOT_IN_ID` knows what this Python's Unicode tables call Cf in the planes it looks at;
    # the category check covers the rest.
    if _NOT_IN_ID.search(value) or any(
        unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in value
    ):
        return "must not contain control, invisible or format characters"
    return None


def _kind(value: object) -> str:
    return type(value).__name__
