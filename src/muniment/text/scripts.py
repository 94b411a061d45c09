"""Which scripts a text is written in, and how many model tokens it may cost.

The character classes below are bodies for a regular-expression class (``f"[{HAN}]"``).  They
describe text *after* NFKC: compatibility ideographs, half-width kana and the like are folded
before they are matched, so they are not listed.
"""

from __future__ import annotations

import re

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
# Without the katakana middle dot U+30FB and U+30A0, which are punctuation.  Bopomofo is written
# without spaces too and is treated alike.
KANA = (
    "\u3031-\u3035\u3041-\u3096\u3099\u309a\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"
)
HANGUL = "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"
THAI = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59"
# Thai, Lao, Myanmar and Khmer: letters and digits, no spaces between words.
UNSPACED = THAI + "\u0e80-\u0edf\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17e0-\u17e9"

_HAN = re.compile(f"[{HAN}]")
_KANA = re.compile(
    "[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\u31f0-\u31ff\uff66-\uff9d]"
)
_HANGUL = re.compile(f"[{HANGUL}\u3131-\u318e\uffa1-\uffdc]")
_THAI = re.compile(f"[{THAI}]")

TOKEN_COUNTER = "muniment-estimate-1"
"""Names the rule of `token_count`; it changes whenever a count may change."""

_ONE_EACH = "\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff01-\uff9f\U00020000-\U0003fffd"
_COUNTED = re.compile(
    r"(?P<space>\s+)|(?P<word>[A-Za-z]+)|(?P<digits>[0-9]+)|(?P<ascii>[\x00-\x7f])"
    f"|(?P<cjk>[{_ONE_EACH}]+)|(?P<other>[^\\x00-\\x7f{_ONE_EACH}]+)"
)


def language(text: str) -> str:
    """Return ``'ja'``, ``'zh'``, ``'ko'``, ``'th'`` or ``'en'``.

    By script alone: kana → ja, else Han → zh, else hangul → ko, else Thai → th, else en.  One
    character is enough.  A Japanese sentence written in Han only counts as zh, and every other
    language counts as en: this chooses phrase tables and centring, it identifies nothing.
    """
    if _KANA.search(text):
        return "ja"
    if _HAN.search(text):
        return "zh"
    if _HANGUL.search(text):
        return "ko"
    return "th" if _THAI.search(text) else "en"


def token_count(text: str) -> int:
    """Estimate how many tokens a language model reads in ``text``; 0 only for ``""``.

    Rule (`TOKEN_COUNTER`): an ASCII word costs 1 per 4 letters begun, digits 1 per 2 begun (current
    vocabularies hold up to three), every other ASCII character 1; white space costs 1 per 4
    characters after the first of each run, and 1 per line break; a CJK character, kana, hangul
    syllable or full-width form costs 1; anything else half its UTF-8 bytes, rounded up.

    Promised: deterministic, no model, no I/O, linear.  It leans high for ordinary prose in the
    vocabularies in use today, so a budget kept by it is usually kept by them; it is no bound
    (rare Han characters, base64 and unusual Unicode can cost a model more).
    """
    total = sum(_cost(match) for match in _COUNTED.finditer(text))
    return max(total, 1) if text else 0


def _cost(match: re.Match[str]) -> int:
    run, kind = match.group(), match.lastgroup
    if kind == "word":
        return -(-len(run) // 4)
    if kind == "digits":
        return -(-len(run) // 2)
    if kind == "space":
        # One space before a word is part of the word's token; line breaks stand alone.
        return run.count("\n") + (len(run) - 1) // 4
    if kind == "cjk":
        return len(run)
    if kind == "ascii":
        return 1
    return -(-len(run.encode("utf-8", "surrogatepass")) // 2)
