"""Secrets that only their context gives away: ``password: …``, ``密码是…``, ``验证码 …``.

Three families of names share one grammar (name, connector, value) and differ in what they
take for a value. A value's plausibility is judged by how it was joined to the name:

* ``sign``: ``=``, ``:`` and the like; ``quoted`` when the value is in quotes as well;
* ``copula``: "is", 是, 改成;
* ``bare``: nothing but a space, or in Chinese not even that.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from muniment.secrets.checks import Span, is_placeholder
from muniment.secrets.findings import Grade
from muniment.secrets.words import FUNCTION_WORDS, PLAIN_WORDS

_HAN = "[\u3400-\u9fff]"
_SIGN = (
    r"[ \t]{0,4}(?::[ \t]?(?:str|string|bytes)(?:[ ]?\|[ ]?None)?[ \t]?=|=>|:=|={1,3}|->|:)"
    r"[ \t]{0,4}(?:\r?\n[ \t]{0,8})?"
)
_COPULA_ZH = (
    r"(?:就?是|为|為|改成|改为|改為|换成|換成|设成|設成|设为|設為|设置为|設定為|叫做?|用的是)了?"
    r"[ \t]?[:=]?[ \t]{0,3}"
)
_COPULA_EN = (
    r"(?:[ ](?:for|of|on|to|in|at)(?:[ ][A-Za-z0-9_'./@&-]{1,24}){1,5}?)?"
    r"(?:[ ]{1,2}(?:is|was)|'s)(?:[ ](?:now|still|just|currently|actually|simply))?[ ]?:?[ ]{1,2}"
)
_VALUE = (
    r"(?:\\{0,2}(?P<quote>[\"'`])(?P<qv>(?:(?!(?P=quote))[^\x00\r\n]){1,256}?)\\{0,2}(?P=quote)"
    r"|(?P<uv>[!#-&(-_a-~][!-~]{0,63}+))"
)
_FLAGS = re.ASCII | re.IGNORECASE

# An unquoted value ends where the notation around it goes on.
_CUT = re.compile(
    r"[\"'`]?[,;&|][A-Za-z0-9_.-]{0,32}[\"'`]?[=:]|</?[a-z]|[,})\]]{1,3}[\"'{\[]|[\"'`][,})\];]",
    _FLAGS,
)
_LEAST = 3  # characters of a value
_WINDOW = 64
"""Judged by its first characters; an accepted value is followed to its end."""
_REST = re.compile(r"[!-~]*")
_TRAILING = ".,;:)]}>\"'`\\"
_NOT_ABOUT_VALUE = re.compile(
    "策略|长度|長度|位数|位數|强度|強度|规则|規則|要求|过期|過期|有效|期限|类型|類型|版本|管理|格式"
    "|复杂|字段|错误|錯誤|失败|失敗|接口|返回|服务|端口|次数|时间|時間|轮换|更新|算法|加密方式|哈希"
    "|文件|路径|名称|数量|不能|不要|不可"
)
_UNIT = re.compile(
    r"[ ]?(?:位|天|个|個|次|年|小时|分钟|秒|字符|字节|元|块|条|月|日"
    r"|(?:chars?|characters?|digits?|letters?|bits?|bytes?|days?|hours?|minutes?|mins?|seconds?"
    r"|times|years?|months?|attempts|tokens)\b)",
    _FLAGS,
)
_TECHNICAL = re.compile(
    r"v?\d+(?:\.\d+){1,3}|\d+[-~]\d+|sha-?\d+(?:[-:].*)?|md5|utf-?\d+|base\d+|argon2(?:id|d|i)?"
    r"|b?crypt|pbkdf2.*|rot13|aes-?\d+.*|[hrep]s\d+|rsa-?\d*|ed25519|u?int\d*|float\d*|oauth2?"
    r"|(?:var)?char2?|(?:n?var)?char\(.*|string\(.*|v\d+|https?://.*|[.~]{0,2}(?:/[\w.@-]+)+/?"
    r"|\d+[-–]?(?:chars?|characters?|bits?|bytes?|days?|times|st|nd|rd|th|h|m|s|ms|k|kb|mb|x)"
    r"|\w+[\[(].*|\{\w+.*|\w+(?:\.\w+)*\.[a-z_]+\(.*",
    _FLAGS,
)
_ATTRIBUTE = re.compile(
    r"[A-Za-z_][a-z_]{0,30}(?:\.[A-Za-z_]{1,30}\d{0,2}){1,6}(?:\[.*)?", re.ASCII
)
_NAME_LIKE = re.compile(r"[A-Za-z]+(?:[_.-][A-Za-z]+){1,8}(?:[_.-]?v?\d{1,2})?", re.ASCII)
_COMPOUND = re.compile(
    r"(?=.*(?:[a-z][A-Z]|^[A-Z][a-z]))(?i:.*(?:password|token|secret|key|str|"
    r"field|input|type|value|hash|form|view|reset|policy))",
    re.ASCII,
)
_PROSE_ENDING = ("ed", "ing", "able", "ible", "tion", "ly", "ive", "less", "ment", "ness")


class Joined(Enum):
    """How a value hangs on its name."""

    SIGN = "sign"
    QUOTED = "quoted"
    COPULA = "copula"
    BARE = "bare"


@dataclass(frozen=True, slots=True)
class Said:
    """A value with what a judge needs to know of its surroundings."""

    value: str
    joined: Joined
    before: str
    """What stands before the name."""
    after: str
    han: bool
    """The name is Chinese."""

    @property
    def owned(self) -> bool:
        """Someone's own ("my password"), or said in Chinese right beside the value."""
        return self.han or bool(_OWNED.search(self.before))


Judge = Callable[[Said], Grade | None]


@dataclass(frozen=True)
class Family:
    """Names that introduce one sort of secret, in both languages, and the judge of its values.

    ``english`` and ``chinese`` are patterns over lower-case text; ``anchors`` are literals of
    which every name contains one.
    """

    english: str
    chinese: str
    anchors: tuple[str, ...]
    judge: Judge

    @cached_property
    def _name(self) -> re.Pattern[str]:
        return re.compile(rf"(?:{self.english})|(?P<han>{self.chinese})", re.ASCII)

    @cached_property
    def _chained(self) -> re.Pattern[str]:
        """Where the next name, with its connector, takes the place of a value."""
        joint = r"(?:[ \t:=(\[{\"'是为為]|就是){1,3}"
        return re.compile(rf"{joint}(?:{self.english}|{self.chinese})(?={joint})", re.ASCII)

    @cached_property
    def _reversed(self) -> re.Pattern[str]:
        return re.compile(
            r"(?<![!-~])(?P<uv>[!-~]{4,64}+)(?:[ ](?:is|was)[ ](?:the|my|our|your|his|her)[ ]"
            rf"(?:[\w-]{{1,20}}[ ]){{0,3}}?(?:{self.english})"
            rf"|[ ]?(?:就?是|作为|作為|当作?)(?P<han>{_HAN}{{0,8}}?(?:{self.chinese})))",
            _FLAGS,
        )

    def find(self, text: str, lowered: str) -> list[Span]:
        """Values that follow a name: "password: …", 密码是…."""
        return self._after_names(text, lowered, _AFTER_NAME, Grade.BLOCK)

    def find_possible(self, text: str, lowered: str) -> list[Span]:
        """Words that may be the value or just go on with the sentence: "the password is …"."""
        return self._after_names(text, lowered, _AFTER_NAME_WORD, Grade.HOLD)

    def find_reversed(self, text: str, _lowered: str) -> list[Span]:
        """Values before a name: "482913 is your code", 482913是您的验证码."""
        spans = []
        for match in self._reversed.finditer(text):
            if span := self._judged(match, match["han"] is not None, match.start(), Grade.BLOCK):
                spans.append(span)
        return spans

    def judge_field(self, value: str) -> Grade | None:
        """The judge's word on the whole value of a field that has one of the family's names."""
        said = Said(value.strip(), Joined.QUOTED, before="my ", after="", han=False)
        return self.judge(said) if _plausible(said) else None

    def _starts_over(self, value: str) -> bool:
        """Whether the value is the next name with its connector, to be met in its turn."""
        name = self._name.match(value.lower())
        return bool(name) and value.startswith((":", "="), name.end())  # type: ignore[union-attr]

    def _after_names(
        self, text: str, lowered: str, after: re.Pattern[str], grade: Grade
    ) -> list[Span]:
        spans: list[Span] = []
        for name in self._name.finditer(lowered):
            if grade is Grade.HOLD and name["han"] is not None:
                continue
            if spans and name.start() < spans[-1][1]:
                continue
            if self._chained.match(lowered, name.end()):
                continue
            match = after.match(text, name.end())
            if match and match.end() - name.end() < _LEAST:
                continue
            if match and (
                span := self._judged(match, name["han"] is not None, name.start(), grade)
            ):
                spans.append(span)
        return spans

    def _judged(self, match: re.Match[str], han: bool, said_from: int, grade: Grade) -> Span | None:
        span = _value_span(match)
        text = match.string
        value = text[slice(*span)]
        joined = _joined(match)
        if len(value) < _LEAST or (joined is Joined.BARE and len(value) < 12 and value.isalpha()):
            return None
        if value.lower() in PLAIN_WORDS or self._starts_over(value):
            return None
        if _is_elsewhere(match, said_from):
            return None
        before = text[max(0, said_from - 64) : said_from]
        said = Said(value, joined, before, text[span[1] : span[1] + 16], han)
        if self.judge(said) is not grade or not _plausible(said):
            return None
        full = match["uv"] is not None and span[1] - match.start("uv") == _WINDOW
        return (span[0], _REST.match(text, span[1]).end()) if full else span  # type: ignore[union-attr]


_OWNED = re.compile(r"\b(?:my|our|his|her|your)[ ](?:[\w-]{1,24}[ ]){0,2}$", _FLAGS)
_CHANGED = re.compile(r"\b(?:chang|set|reset|updat|rotat|us)(?:e|ed|ing)?\b", _FLAGS)
_CLOSERS = r"[\\\"'`\]]{0,4}(?:[ ]?[（(\[][^\x00()（）\[\]\r\n]{0,24}[)）\]])?"
_AFTER_NAME = re.compile(
    rf"{_CLOSERS}(?:(?P<gap>{_HAN}{{1,6}})?(?P<sign>{_SIGN})"
    rf"|[ \t]?(?P<gap2>{_HAN}{{0,6}}?)(?P<zh>{_COPULA_ZH})"
    rf"|(?P<en>{_COPULA_EN})|(?P<to>[ ](?:to|as)[ ])|(?P<bare>[ ]|(?<=[^\x00-\x7f]))){_VALUE}",
    _FLAGS,
)
_AFTER_NAME_WORD = re.compile(rf"(?P<en>{_COPULA_EN})(?P<uv>[A-Za-z]{{4,32}}+)", _FLAGS)


def _value_span(match: re.Match[str]) -> Span:
    """Where the value is, without what the notation around it adds."""
    groups = match.re.groupindex
    if "qv" in groups and match["qv"] is not None:
        return match.span("qv")
    start, end = match.span("uv")
    value = match["uv"]
    if cut := _CUT.search(value):
        value = value[: cut.start()]
    end = start + len(value.rstrip(_TRAILING))
    return start + len(value) - len(value.lstrip("\"'`([")) if end > start else start, end


def _is_elsewhere(match: re.Match[str], said_from: int) -> bool:
    """Whether the sentence speaks of something else: a policy, a length, a reset link to …."""
    groups = match.re.groupindex
    if "gap" not in groups:
        return False
    gap = (match["gap"] or "") + (match["gap2"] or "")
    if gap and _NOT_ABOUT_VALUE.search(gap):
        return True
    return bool(match["to"]) and not _CHANGED.search(
        match.string, max(0, said_from - 48), said_from
    )


def _joined(match: re.Match[str]) -> Joined:
    if "bare" not in match.re.groupindex:
        return Joined.COPULA
    if match["bare"] is not None:
        return Joined.BARE
    if match["qv"] is not None:
        return Joined.QUOTED
    return Joined.SIGN if match["sign"] else Joined.COPULA


def _plausible(said: Said) -> bool:
    value = said.value
    if is_placeholder(value) or _TECHNICAL.fullmatch(value) or _ATTRIBUTE.fullmatch(value):
        return False
    if value.isalnum() and (value.isdigit() or value[0].isdigit()) and _UNIT.match(said.after):
        return False
    word = re.sub(r"\d{1,2}$", "", value) if said.joined is Joined.BARE else value
    return word.lower() not in PLAIN_WORDS


_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[^\W0-9_]")
_SYMBOL = re.compile(r"[!@#$%^&*+~?]")
_WORDS = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+){0,8}", re.ASCII)
_GOES_ON = re.compile(rf"[ ]?(?:[A-Za-z]|{_HAN})|[(\[.]\S")


def _mixed(value: str) -> bool:
    return bool(_DIGIT.search(value) and _LETTER.search(value))


def judge_password(said: Said) -> Grade | None:
    """People choose these: anything with a digit or sign in it, or a word with no other use."""
    value, joined = said.value, said.joined
    bare = joined is Joined.BARE
    if len(value) < 4 or (not value.isascii() and not _mixed(value)):
        return None
    if value.isdigit():
        return Grade.BLOCK if (6 if bare and not said.han else 4) <= len(value) <= 32 else None
    if " " in value:
        return _judge_phrase(value) if joined is Joined.QUOTED else None
    if _DIGIT.search(value):
        short = bare and not said.han and len(value) < 6
        return None if short or (bare and _NAME_LIKE.fullmatch(value)) else Grade.BLOCK
    if _SYMBOL.search(value):
        return None if bare else Grade.BLOCK
    return _judge_word(said)


def _judge_phrase(value: str) -> Grade | None:
    words = value.lower().split()
    plain = any(word in FUNCTION_WORDS or not word.isalnum() for word in words)
    return None if len(words) < 3 or plain or not value.isascii() else Grade.BLOCK


def _judge_word(said: Said) -> Grade | None:
    """A value of letters alone: a password only where it cannot be the sentence going on."""
    value, joined = said.value, said.joined
    if not _WORDS.fullmatch(value):
        return None
    if joined is Joined.QUOTED:
        usual = value.lower().endswith(_PROSE_ENDING) and not said.owned
        return None if usual or _COMPOUND.match(value) else Grade.BLOCK
    goes_on = _GOES_ON.match(said.after)
    prose = value.lower().endswith(_PROSE_ENDING) or _COMPOUND.match(value)
    if joined is Joined.BARE or goes_on or prose or _NAME_LIKE.fullmatch(value):
        return None
    return Grade.BLOCK if joined is Joined.SIGN or said.owned else Grade.HOLD


def judge_key(said: Said) -> Grade | None:
    """Machines draw these: long, and letters with digits."""
    value, joined = said.value, said.joined
    elided = said.after.startswith(("...", "***"))
    if elided or not value.isascii() or " " in value or _NAME_LIKE.fullmatch(value):
        return None
    if value.isdigit():
        return Grade.BLOCK if len(value) >= (6 if said.han else 20) else None
    if _mixed(value):
        least = 16 if joined is Joined.BARE and not said.han else 6 if said.han else 8
        return Grade.BLOCK if len(value) >= least else None
    long = len(value) >= 16 and value.isalnum() and joined is not Joined.BARE
    return Grade.BLOCK if long or (said.han and len(value) >= 12) else None


def judge_code(said: Said) -> Grade | None:
    """Short codes: 3 to 8 digits, or as many capitals with a digit among them."""
    code = re.fullmatch(
        r"(?:[A-Z]-)?\d{4,8}|\d{3}[- ]\d{3}|\d{3}|[A-Z0-9]{4,8}", said.value, re.ASCII
    )
    if not code or not _DIGIT.search(said.value):
        return None
    return None if len(said.value) == 3 and said.joined is Joined.BARE else Grade.BLOCK


PASSWORD = Family(
    english=r"(?:pass(?:word|wd|code|phrase)|(?<![a-z])p(?:ass|s)?wd)",
    chinese=r"密码|密碼|口令|通行码|通行碼",
    anchors=("passw", "passcode", "passphrase", "pwd", "密码", "密碼", "口令", "通行码", "通行碼"),
    judge=judge_password,
)
KEY = Family(
    english=(
        r"(?:api|access|secret|private|signing|encryption|account|master|auth|app)[_ -]?key"
        r"(?:[_-]?(?:id|secret))?"
        r"|secret(?:[_-]key)?|token(?![a-z])|credential"
    ),
    chinese=r"密钥|秘钥|密匙|私钥|令牌|金鑰|密鑰|私鑰|權杖|授权码|授權碼|api[ ]?key",
    anchors=(
        *("key", "secret", "token", "credential", "密钥", "秘钥", "密匙", "私钥", "令牌"),
        *("金鑰", "密鑰", "私鑰", "權杖", "授权码", "授權碼"),
    ),
    judge=judge_key,
)
CODE = Family(
    english=(
        r"(?:verification|security|confirmation|one[- ]time|auth(?:entication)?|login|2fa|mfa|sms)"
        r"[ _-](?:pass)?code|(?<![a-z])(?:pin(?:[ _-](?:code|number))?|otp|cvv2?|cvc2?)"
    ),
    chinese=r"验证码|驗證碼|校验码|校驗碼|动态码|動態碼|安全码|安全碼|(?<![a-z])pin[ ]?[码碼]",
    anchors=(
        *("code", "pin", "otp", "cvv", "cvc", "验证码", "驗證碼", "校验码", "校驗碼"),
        *("动态码", "動態碼", "安全码", "安全碼"),
    ),
    judge=judge_code,
)
