"""Tests that a shape alone cannot make: checksums, ranges, and whether a value is a stand-in.

A check takes a match over the view and returns the span that is sensitive, or None. The span
is the group ``v`` where the pattern has one, else the whole match.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import re
from collections.abc import Callable

Span = tuple[int, int]
Check = Callable[[re.Match[str]], Span | None]

_PLACEHOLDER = re.compile(
    r"""
      ^(?:<.*>|\{.*\}|\[.*\]|\(.*\)|%\w+%|\#\w+\#)$        # <KEY> {{ key }} [hidden] %KEY%
    | ^\$(?-i:[A-Z_][A-Z0-9_]*|[a-z_]+)$ | ^\$[({] | \$\{ | \{\{ | <[A-Za-z_ -]{2,40}>
    | ^!(?:vault|secret|ref|env|sub)\b | ^@(?:env|value|secret|var)\w*[({]
    | ^&?(?:secret|vault|op|env|ref|file|ssm|arn)s?:        # a reference to a secret elsewhere
    | [*•●]{3} | x{4} | \.{3} | _{4} | -{4}
    | (?:^|[-_.])your[-_. ] | (?:^|[-_])(?:my|the)[-_](?:api|key|token|secret|pass)
    | example | placeholder | change[-_]?me | redacted | replace[-_]?me | dummy | insert[-_ ]
    | ^(?:to|fix)do | (?:key|token|secret|password)[-_]here | process\.env | environ | getenv
    | \[\^?[A-Za-z0-9]-[A-Za-z0-9] | \\[dwsb][+*{] | ^%[sdr(]
    """,
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9]{0,30}(?:_[A-Z][A-Z0-9]{0,30}){1,8}(?:_\d{1,2})?", re.ASCII)


_LONG = 96


def span_of(match: re.Match[str]) -> Span:
    """The sensitive part of a match."""
    return match.span("v" if "v" in match.re.groupindex else 0)


def is_placeholder(value: str) -> bool:
    """Whether a value only stands where a secret would: ``<KEY>``, ``${VAR}``, ``xxxx``, a name."""
    if len(value) > _LONG:  # a stand-in says so at one of its ends
        value = value[: _LONG // 2] + value[-_LONG // 2 :]
    if len(set(value.lower())) <= 2 and not value.isdigit():
        return True
    return bool(_PLACEHOLDER.search(value) or _ENV_NAME.fullmatch(value))


def when(test: Callable[[str], bool]) -> Check:
    """A check that asks a question about the sensitive part's text."""

    def check(match: re.Match[str]) -> Span | None:
        span = span_of(match)
        return span if test(match.string[slice(*span)]) else None

    return check


def _not_elided(match: re.Match[str]) -> bool:
    return not match.string.startswith(("...", "***", "xxx", "<"), match.end())


def vendor(match: re.Match[str]) -> Span | None:
    """A vendor's shape is a key unless its body is a stand-in or was cut short with dots."""
    span = span_of(match)
    body = match.string[slice(*span)]
    return span if _not_elided(match) and _is_varied(body) else None


def vendor_random(match: re.Match[str]) -> Span | None:
    """For prefixes that also begin ordinary names: the body must look drawn at random."""
    span = vendor(match)
    return span if span and _looks_random(match.string[slice(*span)]) else None


def _is_varied(body: str) -> bool:
    return len(set(body[-24:])) >= 6 and not is_placeholder(body)


def _looks_random(body: str) -> bool:
    longest = max(len(run) for run in re.split(r"[-_.]", body))
    classes = [any(test(c) for c in body) for test in (str.isdigit, str.isupper, str.islower)]
    return all(classes) or (classes[0] and longest >= 20) or longest >= 30


# -- payment cards ---------------------------------------------------------------------------

# (first prefix, last prefix, lengths); ISO/IEC 7812 ranges as the networks publish them.
_ISSUERS: tuple[tuple[int, int, range | tuple[int, ...]], ...] = (
    (4, 4, (13, 16, 19)),  # Visa
    (51, 55, (16,)),  # Mastercard
    (2221, 2720, (16,)),
    (34, 34, (15,)),  # American Express
    (37, 37, (15,)),
    (6011, 6011, range(16, 20)),  # Discover
    (644, 649, range(16, 20)),
    (65, 65, range(16, 20)),
    (62, 62, range(16, 20)),  # UnionPay
    (81, 81, range(16, 20)),
    (3528, 3589, range(16, 20)),  # JCB
    (300, 305, range(14, 20)),  # Diners Club
    (3095, 3095, range(14, 20)),
    (36, 36, range(14, 20)),
    (38, 39, range(14, 20)),
    (2200, 2204, range(16, 20)),  # Mir
    (5018, 5018, range(13, 20)),  # Maestro
    (5020, 5020, range(13, 20)),
    (5038, 5038, range(13, 20)),
    (5893, 5893, range(13, 20)),
    (6304, 6304, range(13, 20)),
    (6759, 6763, range(13, 20)),
    (508, 508, (16,)),  # RuPay
    (60, 60, (16,)),
)
_NUMBER_LABEL = re.compile(
    r"(?:订单|訂單|单号|單號|运单|流水|编号|條碼|条码|时间戳|order|tracking|invoice|ticket|isbn|ean"
    r"|barcode|sku|timestamp|trace|request|build|commit)"
    r"(?:[ _-]?(?:no|num|number|id|号|號|码|號碼|号码))?\.?[\"' \t:#是为=]{0,4}$",
    re.ASCII | re.IGNORECASE,
)


_DOUBLED = {str(n): sum(divmod(2 * n, 10)) for n in range(10)}


def luhn(digits: str) -> bool:
    """The check of ISO/IEC 7812-1 annex B."""
    return (
        sum(map(int, digits[-1::-2])) + sum(map(_DOUBLED.__getitem__, digits[-2::-2]))
    ) % 10 == 0


def _lengths_by_prefix() -> dict[int, frozenset[int]]:
    """The issuers' ranges spread out over the first four digits."""
    table: dict[int, frozenset[int]] = {}
    for low, high, lengths in _ISSUERS:
        scale = 10 ** (4 - len(str(low)))
        for prefix in range(low * scale, (high + 1) * scale):
            table[prefix] = table.get(prefix, frozenset()) | frozenset(lengths)
    return table


_LENGTHS = _lengths_by_prefix()


def is_card(digits: str) -> bool:
    """Issuer range, length and Luhn."""
    known = digits.isdigit() and len(digits) in _LENGTHS.get(int(digits[:4]), ())
    return known and luhn(digits)


def card(match: re.Match[str]) -> Span | None:
    """A card; an unbroken number labelled an order is not one."""
    digits = match.group().replace(" ", "").replace("-", "")
    if not is_card(digits):
        return None
    before = match.string[max(0, match.start() - 24) : match.start()]
    unbroken = len(digits) == len(match.group())
    return None if unbroken and _NUMBER_LABEL.search(before) else match.span()


# -- bank accounts ---------------------------------------------------------------------------

# Lengths by country, as the registry of ISO 13616 has them.
_IBAN_LENGTHS = {
    country: int(length)
    for length, countries in (
        line.split(":")
        for line in (
            "15:NO",
            "16:BE",
            "18:DK FI FO GL NL FK SD",
            "19:MK SI",
            "20:AT BA EE KZ LT LU XK MN",
            "21:CH HR LI LV",
            "22:BG BH CR DE GB GE IE ME RS VA",
            "23:AE GI IL IQ TL OM SO",
            "24:AD CZ ES MD PK RO SA SE SK TN VG",
            "25:LY PT ST",
            "26:IS TR",
            "27:BI DJ FR GR IT MC MR SM",
            "28:AL AZ BY CY DO GT HU LB NI PL SV",
            "29:BR EG PS QA UA",
            "30:JO KW MU YE",
            "31:MT SC",
            "32:LC",
            "33:RU",
        )
    )
    for country in countries.split()
}


def is_iban(value: str) -> bool:
    """ISO 13616: the country's length, and the remainder of ISO 7064 MOD 97-10."""
    iban = re.sub(r"[ -]", "", value)
    if len(iban) != _IBAN_LENGTHS.get(iban[:2]):
        return False
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1


# -- resident ids ----------------------------------------------------------------------------

_PROVINCES = frozenset(
    code
    for low, high in (
        (11, 15),
        (21, 23),
        (31, 37),
        (41, 46),
        (50, 54),
        (61, 65),
        (71, 71),
        (81, 83),
    )
    for code in range(low, high + 1)
)
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def _is_date(digits: str) -> bool:
    try:
        return dt.date(int(digits[:4]), int(digits[4:6]), int(digits[6:8])).year >= 1880
    except ValueError:
        return False


def is_cn_resident_id(value: str) -> bool:
    """GB 11643-1999: region, date of birth and the ISO 7064 MOD 11-2 check character."""
    id18 = re.sub(r"[ -]", "", value).upper()
    if len(id18) != 18 or int(id18[:2]) not in _PROVINCES or not _is_date(id18[6:14]):
        return False
    total = sum(int(digit) * weight for digit, weight in zip(id18, _ID_WEIGHTS, strict=False))
    return "10X98765432"[total % 11] == id18[17]


def is_cn_resident_id_15(value: str) -> bool:
    """The form before 1999, which has no check digit: region and date only."""
    return int(value[:2]) in _PROVINCES and _is_date("19" + value[6:12])


def is_cn_mobile(digits: str) -> bool:
    """The numbering plan's range for mobile phones."""
    return bool(re.fullmatch(r"1[3-9][0-9]{9}", digits, re.ASCII))


# -- protocols -------------------------------------------------------------------------------

_DIGIT = re.compile("[0-9]")
_SESSION_NAME = re.compile(
    r"sess|sid\b|token|auth|jwt|csrf|xsrf|login|remember|passport|sso|__(?:host|secure)-|ticket",
    re.ASCII | re.IGNORECASE,
)


_COOKIE_REST = re.compile(r"[ !#-:<-~]{0,4096}(?:;[ !#-:<-~]{1,4096}){0,60}", re.ASCII)


def session_cookie(match: re.Match[str]) -> Span | None:
    """A cookie header that carries a credential rather than a colour scheme, to its end."""
    start, end = span_of(match)
    for pair in match.string[start:end].split(";"):
        name, _, value = pair.strip().partition("=")
        if len(value) < 6:
            continue
        opaque = len(value) >= 20 and _DIGIT.search(value)
        named = _SESSION_NAME.search(name)
        if (opaque or named) and not is_placeholder(value):
            rest = _COOKIE_REST.match(match.string, end)
            return start, rest.end() if rest else end
    return None


def is_basic_auth(value: str) -> bool:
    """Whether a value is base64 of ``user:password``."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (ValueError, binascii.Error):
        return False
    return b":" in decoded and decoded.isascii()


def is_bearer(value: str) -> bool:
    """Whether what follows "Bearer" is a token and not the next word of a sentence."""
    return bool(_DIGIT.search(value)) and len(set(value)) >= 6 and not is_placeholder(value)


def is_password_in_url(value: str) -> bool:
    """Anything but a stand-in, in the place of a URL's password."""
    return not is_placeholder(value)


def is_login_password(value: str) -> bool:
    """``-u name:password``; ``-u 1000:1000`` are ids of a user and a group."""
    return not value.isdigit() and not is_placeholder(value)


def is_key_block(value: str) -> bool:
    """A private key with a body, not the mention of its first line."""
    return bool(re.search(r"[A-Za-z0-9+/=]{24}", value, re.ASCII))


def is_mailbox(value: str) -> bool:
    """An address of a person; ``git@host`` names a server."""
    return not value.startswith(("git@", "hg@", "svn@"))
