"""The table of rules: one row a kind. To widen the screen, add a row (see `rule`)."""

from __future__ import annotations

import re

from muniment.secrets import checks, encoded, phrases
from muniment.secrets.assign import CODE, KEY, PASSWORD
from muniment.secrets.checks import when
from muniment.secrets.rule import BLOCK, HOLD, Rule, assigned, digits, row, spaced
from muniment.secrets.vendors import VENDORS

_PEM = r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_PEM_TEXT = r"[A-Za-z0-9+/=\s\\:,.;>|\"']"
_CARD = (
    r"[0-9]{13,19}|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{1,4}(?:\1[0-9]{1,3})?"
    r"|[0-9]{4}([ -])[0-9]{6}\2[0-9]{4,5}|[0-9]{6}[ -][0-9]{10,13}"
)
_IBAN = (
    r"[A-Z]{2}[0-9]{2}"
    r"(?:[A-Z0-9]{11,30}|([ -])[A-Z0-9]{4}(?:\1[A-Z0-9]{4}){2,6}(?:\1[A-Z0-9]{1,4})?)"
)
_ID_18 = r"[1-9][0-9]{5}[ -]?(?:18|19|20)[0-9]{6}[ -]?[0-9]{3}[0-9Xx]"

_PLAIN: tuple[Rule, ...] = (
    *VENDORS,
    # Keys and sessions, by their protocols
    row(
        "private_key",
        BLOCK,
        "private key",
        rf"{_PEM}{_PEM_TEXT}{{0,9000}}+(?:-(?!-){_PEM_TEXT}{{1,9000}}+){{0,8}}"
        r"-----END [^-\n\x00]{0,40}-----",
        when(checks.is_key_block),
    ),
    row(
        "private_key",
        BLOCK,
        "private key",
        rf"{_PEM}(?:[\s\\rn>|\"']{{0,8}}[A-Za-z0-9+/=]{{16,9000}}+){{1,200}}",
        when(checks.is_key_block),
    ),
    row(
        "connection_password",
        BLOCK,
        "://",
        r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,24}://[!-.0-9;-?A-~]{0,64}:"
        r"(?P<v>[!#-&(-.0-;=?-~]{1,128})@[A-Za-z0-9\[_$%{.-]",
        when(checks.is_password_in_url),
    ),
    row(
        "cookie",
        BLOCK,
        "cookie",
        r"(?<![A-Za-z0-9])(?:set-)?cookie[\"']?[ \t]?[:=][ \t]{0,4}[\"']?"
        r"(?P<v>(?=[!#-+\--:<>-~]{1,64}=)[ !#-~]{3,400}+)",
        checks.session_cookie,
        flags=re.IGNORECASE,
        whole=True,
    ),
    row(
        "bearer_token",
        BLOCK,
        "bearer",
        r"(?<![A-Za-z0-9])bearer[ \t]{1,3}(?P<v>[A-Za-z0-9._~+/-]{12,4096}+={0,2})",
        when(checks.is_bearer),
        flags=re.IGNORECASE,
    ),
    row(
        "basic_auth",
        BLOCK,
        "basic ",
        r"(?<![A-Za-z0-9])basic[ ]{1,3}(?P<v>[A-Za-z0-9+/]{8,512}+={0,2})",
        when(checks.is_basic_auth),
        flags=re.IGNORECASE,
    ),
    row(
        "login_password",
        BLOCK,
        "-u |--user ",
        r"(?<![\w-])(?:-u|--user)[ ]{1,2}[\"']?[\w.@-]{1,64}:(?P<v>[!#-&(-~]{3,128}+)",
        when(checks.is_login_password),
    ),
    row(
        "private_key",
        BLOCK,
        "private-lines:",
        r"Private-Lines: [0-9]{1,3}(?:[ \t\r\n]{1,4}[A-Za-z0-9+/=]{16,80}+){1,99}"
        r"(?:[ \t\r\n]{1,4}[A-Za-z0-9+/=]{4,80}+)?",
        when(bool),
    ),
    Rule("recovery_words", BLOCK, (), phrases.find),
    # Numbers with a check digit
    digits("cn_resident_id", BLOCK, 17, _ID_18, when(checks.is_cn_resident_id)),
    digits("payment_card", BLOCK, 13, _CARD, checks.card),
    digits("iban", BLOCK, 12, _IBAN, when(checks.is_iban)),
    spaced("cn_resident_id", BLOCK, 18, 18, checks.is_cn_resident_id),
    spaced("payment_card", BLOCK, 13, 19, checks.is_card),
    # What a name beside it gives away
    *assigned("password", PASSWORD),
    *assigned("key", KEY),
    *assigned("code", CODE),
    # Personal, or too unsure to take away
    Rule("possible_password", HOLD, PASSWORD.anchors, PASSWORD.find_possible),
    row(
        "email",
        HOLD,
        "@",
        r"(?<![A-Za-z0-9._%+:/-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@"
        r"(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])",
        when(checks.is_mailbox),
    ),
    digits(
        "phone",
        HOLD,
        11,
        r"(?:(?:\+|00)?86[ -]?)?1[3-9][0-9](?:[0-9]{8}|([ -])[0-9]{4}\1[0-9]{4})",
        when(bool),
    ),
    spaced("phone", HOLD, 11, 11, checks.is_cn_mobile),
    row(
        "phone",
        HOLD,
        "+",
        r"(?<![A-Za-z0-9+])\+[1-9][0-9]{0,2}[ -]?(?:\([0-9]{1,4}\)|[0-9]{2,4})"
        r"(?:[ -][0-9]{2,4}){2,3}(?![0-9])",
        when(bool),
    ),
    row(
        "postal_code",
        HOLD,
        "邮编|邮政编码|郵編",
        r"(?:邮编|邮政编码|郵編)[ :是为]{0,3}(?P<v>[0-9]{6})(?![0-9])",
        when(bool),
    ),
    row(
        "cn_resident_id_15",
        HOLD,
        "身份证|身份證|证件号|id card|id number",
        r"(?:身份[证證]|证件|id card|id number|ID card|ID number)[号號码碼]{0,2}[ :是为]{0,4}"
        r"(?P<v>[1-9][0-9]{14})(?![0-9])",
        when(checks.is_cn_resident_id_15),
    ),
    row(
        "passport",
        HOLD,
        "护照|護照|passport",
        r"(?:护照|護照|[Pp]assport)(?:[号號码碼]{1,2}| (?:no|number)\.?)?[ :是为]{0,4}(?:is )?"
        r"(?P<v>[A-Z]{1,2}[0-9]{7,8})(?![A-Za-z0-9])",
        when(bool),
    ),
)
RULES = (*_PLAIN, Rule("encoded_secret", BLOCK, (), encoded.finder(_PLAIN)))
BLOCK_KINDS = frozenset(rule.kind for rule in RULES if rule.grade is BLOCK)
