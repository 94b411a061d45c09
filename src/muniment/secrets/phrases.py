"""Recovery words of wallets (BIP-39): twelve or more words of its list, one after the other."""

from __future__ import annotations

import re
from functools import cache

from mnemonic import Mnemonic

from muniment.secrets.checks import Span

LEAST = 12
NUMERALS_MOST = 3  # in a Chinese run; more are a number read out
_WORD = re.compile(r"(?<![a-z])[a-z]{3,8}(?![a-z])", re.ASCII)
_BETWEEN = re.compile(r"[ \t\r\n,.;:\"'`\[\]()、，0-9-]{1,12}", re.ASCII)
_HAN = re.compile("[\u4e00-\u9fff]")
# Numerals among them have been folded into digits.
_HAN_RUN = re.compile("(?:[0-9\u4e00-\u9fff][ \r\n,、，]{1,2}){11,23}[0-9\u4e00-\u9fff]")


@cache
def _words(language: str) -> frozenset[str]:
    return frozenset(Mnemonic(language).wordlist)


def find(text: str, lowered: str) -> list[Span]:
    """Runs of the list's words, in English or as single Chinese characters.

    The checksum is not asked for: one word mistyped does not make the rest public.
    """
    if sum(map(lowered.count, " \n,、，")) < LEAST - 1:
        return []
    return _english(lowered) + _chinese(text)


def _english(lowered: str) -> list[Span]:
    known = _words("english")
    spans: list[Span] = []
    run: list[Span] = []
    for match in _WORD.finditer(lowered):
        if run and not _BETWEEN.fullmatch(lowered, run[-1][1], match.start()):
            spans += _span_of(run)
            run = []
        if match.group() in known:
            run.append(match.span())
        else:
            spans += _span_of(run)
            run = []
    return spans + _span_of(run)


def _span_of(run: list[Span]) -> list[Span]:
    return [(run[0][0], run[-1][1])] if len(run) >= LEAST else []


def _chinese(text: str) -> list[Span]:
    found = list(_HAN_RUN.finditer(text))
    if not found:
        return []
    known = _words("chinese_simplified") | _words("chinese_traditional")
    return [m.span() for m in found if _all_known(_HAN.findall(m.group()), known)]


def _all_known(words: list[str], known: frozenset[str]) -> bool:
    return len(words) >= LEAST - NUMERALS_MOST and known.issuperset(words)
