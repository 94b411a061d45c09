"""Texts as they come in, are compared, searched, counted and shown.

Pure functions without I/O.  A stored text is never changed by any of them.
"""

from muniment.text.checks import ID_MAX_CHARS, check_id, check_text
from muniment.text.grounds import identifiers, negated, quote_terms
from muniment.text.normal import (
    blank,
    inert,
    invisible,
    normalise,
    safe_for_terminal,
    strip_invisible,
)
from muniment.text.scripts import TOKEN_COUNTER, language, token_count
from muniment.text.tokenise import (
    FUNCTION_CHARACTERS,
    TOKEN_CHARS_MAX,
    TOKENISER,
    query_tokens,
    tokens,
)

__all__ = [
    "FUNCTION_CHARACTERS",
    "ID_MAX_CHARS",
    "TOKENISER",
    "TOKEN_CHARS_MAX",
    "TOKEN_COUNTER",
    "blank",
    "check_id",
    "check_text",
    "identifiers",
    "inert",
    "invisible",
    "language",
    "negated",
    "normalise",
    "query_tokens",
    "quote_terms",
    "safe_for_terminal",
    "strip_invisible",
    "token_count",
    "tokens",
]
