"""Search tokens: one function for what is indexed and for what is asked.

A text is cut into runs by script, and each script gives what makes a short query find it without
a dictionary (a dictionary's words drift with its version; rows indexed before stop matching):

==================  ==============================================================================
Latin and others    words; English ones stemmed, stop words dropped; identifiers whole *and* split
Han, kana           every pair of neighbours, across Han and kana too; single Han characters
Hangul              the whole eojeol and every pair of syllables in it
Thai, Lao, …        every three neighbours (a shorter run is one token)
==================  ==============================================================================

Function characters (的了是在和 …) give no single token, but pairs with them are indexed.  Without
them 地址, 目的, 存在 and 后端 would be lost, and so would every two-character query with one; they
cost 20 % more tokens in Chinese.  As query terms pairs with a particle (的了吗呢吧…) only add noise
to a long question, so `query_tokens` leaves those out there; others it keeps, for 过敏 and 后端 are
what is asked for.  Measured as recall on two Chinese memory sets (MADial-Bench:
171 memories, 160 queries; five files of MemDaily pooled: 3,768 messages, 500 queries; BM25 with
k1 1.2, b 0.75):

=======================  ==========  ===========  ============  =============
pairs with one of them   MADial r@5  MADial r@10  MemDaily r@5  MemDaily r@10
=======================  ==========  ===========  ============  =============
nowhere                  .489        .579         .292          .369
in index and query       .485        .576         .283          .367
in the index only        .487        .591         .291          .368
=======================  ==========  ===========  ============  =============

(The last row left out every pair with a function character; with particles alone the figures lie
between the last two.)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import version

from muniment.text.normal import MARKS, compose
from muniment.text.scripts import HAN, HANGUL, KANA, UNSPACED
from muniment.text.stem import STOP_WORDS, stem

TOKENISER = f"muniment-tokens-1/snowball-{version('snowballstemmer')}"
"""Stamp of the rules here.  An index stamped otherwise has to be rebuilt: its tokens differ."""

TOKEN_CHARS_MAX = 64
# Stemming is the one costly step (some 30 µs for a new word).  Past this many different words a
# text keeps the rest unstemmed, so that a hostile one costs a bounded time.  By the text alone,
# never by what a cache holds: the same text always gives the same tokens.
_STEMS_PER_TEXT_MAX = 5_000
# "who am I" is searched by its stop words rather than not at all; nothing that long is a question.
_EMPTY_WORDS_MAX = 1_000

_LONG_RUN_CHARS = 4
_SHORT_CHARS = 500

FUNCTION_CHARACTERS = frozenset(
    "的了是在和与及或而且就都也还又把被将给对向从到之其这那哪么吗呢吧啊呀嘛着过地得很后"
)

_PARTICLES = frozenset("的了吗呢吧啊呀嘛么")

_LETTER = f"[^\\W_{HAN}{KANA}{HANGUL}{UNSPACED}]"
# Possessive throughout: what has been read as a word is never tried again another way.
_WORD = f"(?:[A-Za-z0-9]++[{MARKS}]*+|{_LETTER}[{MARKS}]*+)++"
# Joins the parts of paths, versions, addresses, dotted and dashed names; thousands by a comma.
_JOIN = r"(?:[-_./:\\@+~]{1,3}|(?<=\d),(?=\d{3}(?!\d))|['\u2019](?=[A-Za-z]))"
_RUN = re.compile(
    f"(?P<word>[@#]?{_WORD}(?:{_JOIN}{_WORD})*(?:\\+\\+|\\#(?!\\w))?)"
    f"|(?P<cjk>[{HAN}{KANA}]+)|(?P<hangul>[{HANGUL}]+)|(?P<unspaced>[{UNSPACED}]+)"
)
_HAN = re.compile(f"[{HAN}]")
# Emoji whose compatibility form is a letter, a digit or a Han character (1️⃣, ℹ️, ㊗️).
_EMOJI = re.compile("[0-9#*]\ufe0f?\u20e3|[^\\w\\s]\ufe0f|\u2139\ufe0f|[\U0001f000-\U0001faff]")

_NOT = re.compile(r"[A-Za-z]+n['\u2019]t\b")
_CONTRACTION = re.compile(r"['\u2019](?:s|t|d|m|ll|re|ve)\b", re.IGNORECASE)
_PARTS = re.compile(_WORD)
_ACCENTS = re.compile("[\u0300-\u036f]+")
_SEGMENTS = re.compile(r"[/\\@]+|://|::")
# aB → a|B, HTTPServer → HTTP|Server; a name and its number (iPhone15, 128GB) only if those two are
# all there is, so that hashes are not shredded.
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBERED = re.compile(r"([a-z]{2,})([0-9]+)|([0-9]+)([a-z]{2,})")
_VERSION = re.compile(r"v(?=[0-9]+(?:\.[0-9]+)+)")


def tokens(text: str) -> list[str]:
    """Return the search tokens of ``text``, in order, repeated as often as they occur.

    Promised: the same list for the same text and `TOKENISER`; linear time; no token above 64
    characters (longer ones are cut); nothing for emoji alone.  Every pair of neighbouring Han,
    kana or hangul characters and every three of Thai that a text has is a token of both the text
    and the pair.  Stop words and function characters are kept only where a short text has
    nothing else.
    Not promised: segmentation into words, stems of languages other than English, one token per
    occurrence of a word (identifiers give several).
    """
    return _read_once(text, query=False)


def query_tokens(text: str) -> list[str]:
    """Return those of `tokens` worth asking for.

    All of them, but for pairs with a Chinese particle in a run of four characters or
    more; a short run may be a word that holds one, so there they stay.
    """
    return _read_once(text, query=True)


def _read_once(text: str, *, query: bool) -> list[str]:
    # What is said is compared, indexed and searched in one go; nothing is kept for longer than a
    # few statements, for words may be forgotten.
    if len(text) <= _SHORT_CHARS:
        return list(_read_short(text, query))
    return _read(text, query=query)


@lru_cache(maxsize=64)
def _read_short(text: str, query: bool) -> tuple[str, ...]:
    return tuple(_read(text, query=query))


def _read(text: str, *, query: bool) -> list[str]:
    composed = compose(_EMOJI.sub(" ", text))
    found = list(_Reader(query=query).read(composed))
    if found or len(composed) > _EMPTY_WORDS_MAX:
        return found
    return list(_Reader(query=query, drop=False).read(composed))


class _Reader:
    """Reads one text; holds the stems it has paid for."""

    def __init__(self, *, query: bool, drop: bool = True) -> None:
        self._query = query
        self._drop = drop
        self._stems: dict[str, str] = {}

    def read(self, composed: str) -> Iterator[str]:
        for match in _RUN.finditer(composed):
            run = match.group()
            if match.lastgroup == "word":
                yield from self._word(run)
            elif match.lastgroup == "cjk":
                yield from self._cjk(run)
            elif match.lastgroup == "hangul":
                yield from _hangul(run)
            else:
                yield from _grams(run, 3)

    def _cjk(self, run: str) -> Iterator[str]:
        if len(run) == 1 and not _HAN.match(run):
            yield run  # one kana between other scripts: there is no pair to stand for it
        pairs_dropped = self._query and self._drop and len(run) >= _LONG_RUN_CHARS
        before, before_particle = "", False
        for char in run:
            empty = char in FUNCTION_CHARACTERS
            if _HAN.match(char) and not (empty and self._drop):
                yield char
            particle = char in _PARTICLES
            if before and not (pairs_dropped and (particle or before_particle)):
                yield before + char
            before, before_particle = char, particle

    def _word(self, run: str) -> Iterator[str]:
        if "'" in run or "\u2019" in run:
            run = _CONTRACTION.sub("", _NOT.sub("not", run))
        pieces = _PARTS.findall(run)
        if len(pieces) == 1 and pieces[0] == run:
            yield from self._plain(run)
            return
        whole = run.casefold()
        yield from _identifier(whole)
        for segment in _SEGMENTS.split(run):
            parts = _PARTS.findall(segment)
            if len(parts) > 1 and segment != run:
                yield _cut(segment.casefold())
            for part in parts:
                yield from self._plain(part)

    def _plain(self, word: str) -> Iterator[str]:
        """Yield one unjoined word, and its parts if case or digits part it."""
        folded = word.casefold()
        # An upper-case IT, US or WHO is a name, not a stop word.
        name = word.isupper() and len(word) > 1
        if name or not self._drop or folded not in STOP_WORDS:
            yield self._stem(folded)
        if not 2 < len(word) <= TOKEN_CHARS_MAX:
            return
        if not word.isascii():
            yield from self._unaccented(folded)
            return
        numbered = _NUMBERED.fullmatch(folded)
        parts = [part for part in numbered.groups() if part] if numbered else _CAMEL.split(word)
        for part in parts if len(parts) > 1 else ():
            if part.casefold() not in STOP_WORDS:
                yield self._stem(part.casefold())

    def _unaccented(self, folded: str) -> Iterator[str]:
        # café is also asked for as cafe; other scripts have no ASCII form.
        bare = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
        if bare.isascii():
            yield self._stem(bare)

    def _stem(self, folded: str) -> str:
        if not (folded.isascii() and folded.isalpha()):
            return _cut(folded)
        known = self._stems.get(folded)
        if known is None:
            if len(self._stems) >= _STEMS_PER_TEXT_MAX:
                return _cut(folded)
            known = self._stems[folded] = _cut(stem(folded))
        return known


def _identifier(whole: str) -> Iterator[str]:
    """Yield a joined identifier as written, and as it is written without its sign."""
    yield _cut(whole)
    bare = whole.lstrip("@#")
    if bare != whole and not _PARTS.fullmatch(bare):
        yield _cut(bare)
    if "," in whole:
        yield _cut(whole.replace(",", ""))
    elif _VERSION.match(bare):
        yield _cut(bare[1:])


def _hangul(run: str) -> Iterator[str]:
    yield _cut(run)
    if len(run) > 2:
        yield from _grams(run, 2)


def _grams(run: str, size: int) -> Iterator[str]:
    if len(run) <= size:
        yield run
    for at in range(len(run) - size + 1 if len(run) > size else 0):
        yield run[at : at + size]


def _cut(token: str) -> str:
    return token[:TOKEN_CHARS_MAX]
