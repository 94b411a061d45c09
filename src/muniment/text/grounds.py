"""What a derived statement has to have in common with its source: names, numbers, polarity."""

from __future__ import annotations

import re

from muniment.text.scripts import HAN, HANGUL, KANA, UNSPACED

_QUOTE_CHARS_MAX = 200
# An ASCII or single quote opens after a non-word and closes before one, so that neither an
# apostrophe nor a measure in inches pairs up.
_QUOTES = re.compile(
    "|".join(
        f"{before}{mark_open}([^{mark_open}{mark_close}\\n]{{1,{_QUOTE_CHARS_MAX}}}){mark_close}{after}"
        for before, mark_open, mark_close, after in (
            ("", "“", "”", ""),
            ("", "「", "」", ""),
            ("", "『", "』", ""),
            ("", "«", "»", ""),
            ("", "`", "`", ""),
            ("(?<![A-Za-z0-9])", '"', '"', "(?![A-Za-z0-9])"),
            ("(?<![A-Za-z0-9])", "‘", "’", "(?![A-Za-z0-9])"),
            ("(?<![A-Za-z0-9])", "'", "'", "(?![A-Za-z0-9])"),
        )
    )
)

_ALNUM = f"[^\\W_{HAN}{KANA}{HANGUL}{UNSPACED}]"
_TERM = re.compile(
    f"(?:--?|[@#$~]|\\.{{1,2}}(?=/))?(?:[/\\\\]|\\.|__?|(?<=~)/\\.)?"
    f"{_ALNUM}+(?:(?:[-_./:\\\\@+~=?&,]{{1,3}}){_ALNUM}+)*(?:%|\\+\\+|\\#|__?)?"
)
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_INNER = re.compile(r"\w[-_./:\\@+~=?&]{1,3}\w|^[-@#$~./\\_]|[+#_]$")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?%?")


def quote_terms(text: str) -> list[str]:
    """Return what stands between quotation marks, verbatim, once each, in order.

    “ ”, 「 」, 『 』, « », ``"``, ``'``, ‘ ’ and backticks; up to 200 characters, on one line.
    Only the innermost of nested marks of one kind; different kinds do not nest.
    """
    found = (
        (next(group for group in match.groups() if group)).strip()
        for match in _QUOTES.finditer(text)
    )
    return list(dict.fromkeys(term for term in found if term))


def identifiers(text: str) -> list[str]:
    """Return the parts of ``text`` that must be carried over unchanged, verbatim, once each.

    First what is quoted (`quote_terms`), then in order: numbers (with their comma, point, sign
    ``%``), and words that hold a digit, ``- _ . / : @`` inside, an inner capital, or capitals
    only (two or more): paths, versions, addresses, dates, ``ZX-4481``, ``API``.  Written-out
    numbers (三个月, "three") and plain names are not among them.
    """
    terms = dict.fromkeys(quote_terms(text))
    for match in _TERM.finditer(text):
        for term in _split_list(match.group()):
            if _is_identifier(term):
                terms.setdefault(term)
    return list(terms)


def _split_list(term: str) -> list[str]:
    # A comma belongs to a number ("1,000") or parts a list written without spaces ("a1,b2").
    if "," not in term or _THOUSANDS.fullmatch(term):
        return [term]
    return [part for part in term.split(",") if part]


def _is_identifier(term: str) -> bool:
    if any(char.isdigit() for char in term):
        return True
    if len(term) > 1 and term.isupper():
        return True
    return bool(_INNER.search(term) or _CAMEL.search(term))


# Words that hold a negator's character without negating, and questions of the form 要不要.
_ZH_NOT_NEGATING = re.compile(
    r"([\u4e00-\u9fff])不\1"
    "|不错|不但|不仅|不只是|不过|不管|不论|不断|不同|对不起|差不多|不久|不少|不然|不禁|不如|不妨|不愧"
    "|要不(?![要是会能])|了不起|不可思议|不良|不锈|不动产"
    "|别人|别的|别名|别墅|别处|特别|区别|分别|级别|类别|个别|识别|告别|性别|差别|辨别|鉴别|派别|国别|离别"
    "|无论|无数|无线|无人机|无非|无限|无辜|毫无疑问|未来|没收|淹没|沉没|出没|埋没"
    "|非常|除非|非洲|是非|非凡|并非常|停止符"
)
_ZH_NEGATING = re.compile(
    "没有|没|不要|不再|不必|不用|不能|不会|不|别|勿|莫要|禁止|严禁|无需|无须|无法|毫无|无|未|并非|绝非|非"
    "|避免|停止|停用|停掉|取消|拒绝|杜绝"
)
_EN_NOT_NEGATING = re.compile(
    r"\bno\.\s*\d|\bno (?:problem|doubt|matter|wonder)\b|\bnot only\b|\bnot just\b|\bor not\b"
    r"|\bwhy not\b|\b(?:bus|full|pit|non)[- ]stop\b|\bnonstop\b"
    r"|\bstop (?:word|sign|loss|codon)s?\b"
)
_EN_NEGATING = re.compile(
    r"\b(?:[a-z]+n['’]t|dont|doesnt|didnt|cannot|not|never|no|nor|neither|none|nothing|nobody"
    r"|nowhere|without|stop(?:s|ped|ping)?|avoid(?:s|ed|ing)?|forbid(?:s|den)?|forbade"
    r"|prohibit(?:s|ed)?|refus(?:e|es|ed|ing)|cancel(?:s|led|ed)?|unless)\b"
)
# Traditional characters of the words above.
_SIMPLIFIED = str.maketrans(
    "沒別無會絕嚴須並錯僅過論斷對區級類個識離國鑒鑑數線機來議鏽動產處終辭",
    "没别无会绝严须并错仅过论断对区级类个识离国鉴鉴数线机来议锈动产处终辞",
)
_NEGATIONS = ((_EN_NEGATING, _EN_NOT_NEGATING, " "), (_ZH_NEGATING, _ZH_NOT_NEGATING, "　"))


def negated(text: str) -> bool:
    """Return whether an odd number of negations stands in ``text`` (Chinese and English).

    A coarse sign that two statements may say opposite things: 不要…, 禁止…, never, don't, without,
    stop.  Two negations cancel (不得不, "never stop", "not without").  Compounds that only look
    negative (不错, 特别, 未来, "not only") and questions (要不要) do not count.  Not promised:
    scope, irony, antonyms (讨厌, "dislike"), other languages.  It compares two short
    statements; for a paragraph it means nothing.
    """
    folded, count = text.casefold(), 0
    if not folded.isascii():
        folded = folded.translate(_SIMPLIFIED)
    for negating, not_negating, blank in _NEGATIONS:
        if negating.search(folded):
            count += len(negating.findall(not_negating.sub(blank, folded)))
    return count % 2 == 1


_A_NO = re.compile(r"^\W*(?:no|nope|nah)\b|算了|取消|不用", re.IGNORECASE)


def declines(text: str) -> bool:
    """Whether an answer to "shall I?" is a no: negated, or one of the usual short words."""
    return negated(text) or _A_NO.search(text) is not None
