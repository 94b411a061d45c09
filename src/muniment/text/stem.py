"""English words for the search index: what is dropped and what is cut to its stem."""

from __future__ import annotations

import threading
from functools import lru_cache

from snowballstemmer.english_stemmer import EnglishStemmer

# Snowball's Python class, named directly: `snowballstemmer.stemmer()` prefers PyStemmer when it is
# installed, whose release (and so whose stems) need not be the one the index was built with.
_STEMMER = EnglishStemmer()
_STEMMER_LOCK = threading.Lock()  # a stemmer keeps the word it works on in itself

# The longest English word anyone says; beyond it is a hash or base64, and stemming is not cheap.
STEMMED_CHARS_MAX = 28

# Left in on purpose: not, no, never, without, stop (they turn a memory round), and every noun.
_STOPPED = """
a about am an and are as at be been being but by can could did do does doing done for from had
has have having he her hers herself him himself his how i if in into is it its itself just may
me might must my myself of on or our ours ourselves shall she should so some such than that the
their theirs them themselves then there these they this those to too us very was we were what
when where which who whom whose why will with would you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOPPED.split())


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """Return the Porter2 stem of a case-folded ASCII ``word``; words above 28 letters stay."""
    if not 2 < len(word) <= STEMMED_CHARS_MAX:
        return word
    with _STEMMER_LOCK:
        return str(_STEMMER.stemWord(word))
