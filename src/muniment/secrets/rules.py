"""The table of rules: one row a kind. To widen the screen, add a row.

A row's pattern runs over the folded view (`muniment.secrets.view`), with ``re.ASCII``, and only
if one of its anchors, lower-case literals, occurs in the text; a row without anchors always runs.
Patterns never use ``\\b``, which sees no boundary beside Han characters, never match ``MASK`` and
bound every quantifier; possessive ones stand on single classes only, as before 3.11.5 those on
groups backtrack wrongly. Of rows that find the very same span the first names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from muniment.secrets import checks
from muniment.secrets.assign import CODE, KEY, PASSWORD, Family
from muniment.secrets.checks import Check, Span, vendor, vendor_random, when
from muniment.secrets.findings import Grade

BLOCK, HOLD = Grade.BLOCK, Grade.HOLD
_TOKEN_TAIL = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)


Find = Callable[[str, str], list[Span]]
"""From a view's text, and the same in lower case, to spans in order and apart from each other."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row; ``digits`` is how many a text must have in all for it to match."""

    kind: str
    grade: Grade
    anchors: tuple[str, ...]
    find: Find
    digits: int = 0


def _finder(pattern: str, check: Check, *, flags: int = 0, grows: bool = False) -> Find:
    @cache
    def compiled() -> re.Pattern[str]:  # most are never needed: their anchors do not occur
        return re.compile(pattern, re.ASCII | flags)

    def find(text: str, _lowered: str) -> list[Span]:
        spans = []
        at = 0
        while match := compiled().search(text, at):
            at = match.start() + 1
            if span := check(match):
                start, end = span
                if grows and (tail := _TOKEN_TAIL.match(text, end)):
                    end = tail.end()
                spans.append((start, end))
                at = max(end, at)
        return spans

    return find


def _row(
    kind: str, grade: Grade, anchors: str, pattern: str, check: Check, *, flags: int = 0
) -> Rule:
    return Rule(kind, grade, _split(anchors), _finder(pattern, check, flags=flags))


def _split(anchors: str) -> tuple[str, ...]:
    return tuple(anchors.split("|")) if anchors else ()


def _fixed(kind: str, anchors: str, body: str, check: Check = vendor) -> Rule:
    """A vendor's token of known length: nothing alphanumeric may follow."""
    return _row(kind, BLOCK, anchors, rf"(?<![A-Za-z0-9])(?:{body})(?![A-Za-z0-9])", check)


def _token(kind: str, anchors: str, body: str, check: Check = vendor) -> Rule:
    """A vendor's token of at least some length: all that hangs on to it is covered."""
    find = _finder(rf"(?<![A-Za-z0-9])(?:{body})", check, grows=True)
    return Rule(kind, BLOCK, _split(anchors), find)


def _digits(kind: str, grade: Grade, least: int, body: str, check: Check) -> Rule:
    """A number of at least so many digits on its own: no digits, letters or decimal point right
    beside it."""
    alone = rf"(?<![A-Za-z0-9_])(?<![0-9][.-])(?:{body})(?![A-Za-z0-9_]|[.-][0-9])"
    return Rule(kind, grade, (), _finder(alone, check), least)


def _assigned(kind: str, family: Family) -> tuple[Rule, Rule]:
    """The two directions of a family of names."""
    return (
        Rule(kind, BLOCK, family.anchors, family.find),
        Rule(kind, BLOCK, family.anchors, family.find_reversed),
    )


_B64 = r"[A-Za-z0-9_-]"
_PEM = r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_PEM_TEXT = r"[A-Za-z0-9+/=\s\\:,.;>|\"']"
_CARD = (
    r"[0-9]{13,19}|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{1,4}(?:\1[0-9]{1,3})?"
    r"|[0-9]{4}([ -])[0-9]{6}\2[0-9]{4,5}|[0-9]{6}[ -][0-9]{10,13}"
)
_ID_18 = r"[1-9][0-9]{5}[ -]?(?:18|19|20)[0-9]{6}[ -]?[0-9]{3}[0-9Xx]"

RULES: tuple[Rule, ...] = (
    # Keys of vendors, by their published shapes
    _fixed("aws_access_key", "akia|asia|abia|acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    _row(
        "aws_secret_key",
        BLOCK,
        "secret",
        r"secret_?(?:access_?)?key[\"' \t]{0,4}[:=>]{1,2}[\"' \t]{0,4}"
        r"(?P<v>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        vendor,
        flags=re.IGNORECASE,
    ),
    _token("github_token", "gh", r"gh[pousr]_[A-Za-z0-9]{30,255}+"),
    _token("github_token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}+"),
    _token("gitlab_token", "gl", r"gl(?:pat|dt|rt|ptt|ft|soat|agent|cbt)-[A-Za-z0-9_.-]{19,255}"),
    _token("anthropic_key", "sk-ant-", rf"sk-ant-{_B64}{{12,255}}+"),
    _token(
        "openai_key", "sk-", rf"sk-(?:proj|svcacct|admin|or|None)-{_B64}{{12,255}}+", vendor_random
    ),
    _token("openai_key", "sk-", rf"sk-{_B64}{{20,255}}+", vendor_random),
    _fixed("google_api_key", "aiza", rf"AIza{_B64}{{35}}"),
    _token("google_oauth", "gocspx-|ya29.", rf"GOCSPX-{_B64}{{24,64}}+|ya29\.{_B64}{{20,255}}+"),
    _token("slack_token", "xox|xapp", r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,255}+"),
    _token(
        "slack_webhook",
        "hooks.slack.com",
        r"https?://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,200}+",
    ),
    _token(
        "discord_webhook",
        "/api/webhooks/",
        rf"https?://(?:\w{{2,10}}\.)?discord(?:app)?\.com/api/webhooks/[0-9]{{10,25}}/{_B64}{{30,128}}+",
    ),
    _token(
        "stripe_key",
        "k_live_|k_test_|whsec_",
        r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,255}+",
    ),
    _token("npm_token", "npm_", r"npm_[A-Za-z0-9]{30,64}+"),
    _token(
        "pypi_token", "pypi-", rf"pypi-(?:AgE{_B64}{{20,255}}+|{_B64}{{60,255}}+)", vendor_random
    ),
    _token("huggingface_token", "hf_", r"hf_[A-Za-z0-9]{30,64}+"),
    _fixed("telegram_token", ":", rf"[0-9]{{6,10}}:{_B64}{{34,36}}", vendor_random),
    _token("sendgrid_key", "sg.", rf"SG\.{_B64}{{16,64}}\.{_B64}{{16,64}}+"),
    _fixed("twilio_key", "sk", r"SK[0-9a-f]{32}"),
    _fixed("digitalocean_token", "_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _token("aliyun_key", "ltai", r"LTAI[A-Za-z0-9]{12,30}+", vendor_random),
    _token("tencent_key", "akid", r"AKID[A-Za-z0-9]{13,40}+", vendor_random),
    _token("jwt", "eyj", rf"eyJ{_B64}{{8,512}}+\.{_B64}{{8,4096}}+\.{_B64}{{8,1024}}+"),
    # Keys and sessions, by their protocols
    _row(
        "private_key",
        BLOCK,
        "private key",
        rf"{_PEM}{_PEM_TEXT}{{0,9000}}+(?:-(?!-){_PEM_TEXT}{{1,9000}}+){{0,8}}"
        r"-----END [^-\n\x00]{0,40}-----",
        when(checks.is_key_block),
    ),
    _row(
        "private_key",
        BLOCK,
        "private key",
        rf"{_PEM}(?:[\s\\rn>|\"']{{0,8}}[A-Za-z0-9+/=]{{16,9000}}+){{1,200}}",
        when(checks.is_key_block),
    ),
    _row(
        "connection_password",
        BLOCK,
        "://",
        r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,24}://[!-.0-9;-?A-~]{0,64}:"
        r"(?P<v>[!#-&(-.0-;=?-~]{1,128})@[A-Za-z0-9\[_$%{.-]",
        when(checks.is_password_in_url),
    ),
    _row(
        "cookie",
        BLOCK,
        "cookie",
        r"(?<![A-Za-z0-9])(?:set-)?cookie[\"']?[ \t]?[:=][ \t]{0,4}[\"']?"
        r"(?P<v>(?=[!#-+\--:<>-~]{1,64}=)[ !#-~]{3,400}+)",
        checks.session_cookie,
        flags=re.IGNORECASE,
    ),
    _row(
        "bearer_token",
        BLOCK,
        "bearer",
        r"(?<![A-Za-z0-9])bearer[ \t]{1,3}(?P<v>[A-Za-z0-9._~+/-]{12,4096}+={0,2})",
        when(checks.is_bearer),
        flags=re.IGNORECASE,
    ),
    _row(
        "basic_auth",
        BLOCK,
        "basic ",
        r"(?<![A-Za-z0-9])basic[ ]{1,3}(?P<v>[A-Za-z0-9+/]{8,512}+={0,2})",
        when(checks.is_basic_auth),
        flags=re.IGNORECASE,
    ),
    _row(
        "login_password",
        BLOCK,
        "-u |--user ",
        r"(?<![\w-])(?:-u|--user)[ ]{1,2}[\"']?[\w.@-]{1,64}:(?P<v>[!#-&(-~]{3,128}+)",
        when(checks.is_login_password),
    ),
    # Numbers with a check digit
    _digits("cn_resident_id", BLOCK, 17, _ID_18, when(checks.is_cn_resident_id)),
    _digits("payment_card", BLOCK, 13, _CARD, checks.card),
    # What a name beside it gives away
    *_assigned("password", PASSWORD),
    *_assigned("key", KEY),
    *_assigned("code", CODE),
    # Personal, or too unsure to take away
    Rule("possible_password", HOLD, PASSWORD.anchors, PASSWORD.find_possible),
    _row(
        "email",
        HOLD,
        "@",
        r"(?<![A-Za-z0-9._%+:/-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@"
        r"(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])",
        when(checks.is_mailbox),
    ),
    _digits(
        "phone",
        HOLD,
        11,
        r"(?:(?:\+|00)?86[ -]?)?1[3-9][0-9](?:[0-9]{8}|([ -])[0-9]{4}\1[0-9]{4})",
        when(bool),
    ),
    _row(
        "phone",
        HOLD,
        "+",
        r"(?<![A-Za-z0-9+])\+[1-9][0-9]{0,2}[ -]?(?:\([0-9]{1,4}\)|[0-9]{2,4})"
        r"(?:[ -][0-9]{2,4}){2,3}(?![0-9])",
        when(bool),
    ),
    _row(
        "postal_code",
        HOLD,
        "邮编|邮政编码|郵編",
        r"(?:邮编|邮政编码|郵編)[ :是为]{0,3}(?P<v>[0-9]{6})(?![0-9])",
        when(bool),
    ),
    _row(
        "cn_resident_id_15",
        HOLD,
        "身份证|身份證|证件号|id card|id number",
        r"(?:身份[证證]|证件|id card|id number|ID card|ID number)[号號码碼]{0,2}[ :是为]{0,4}"
        r"(?P<v>[1-9][0-9]{14})(?![0-9])",
        when(checks.is_cn_resident_id_15),
    ),
    _row(
        "passport",
        HOLD,
        "护照|護照|passport",
        r"(?:护照|護照|[Pp]assport)(?:[号號码碼]{1,2}| (?:no|number)\.?)?[ :是为]{0,4}(?:is )?"
        r"(?P<v>[A-Z]{1,2}[0-9]{7,8})(?![A-Za-z0-9])",
        when(bool),
    ),
)
BLOCK_KINDS = frozenset(rule.kind for rule in RULES if rule.grade is BLOCK)
