"""Dates in words, Chinese and English, turned into absolute times.

"Yesterday" means the day before it was *said*, in the zone of who said it; so both are arguments
and nothing here asks for the time.  Only phrases that are plainly dates count: a bare number, a
bare month name or a bare weekday does not ("port 2024 is blocked", "we march on", "周三").

A phrase names a span of whole days (`_RULES`); words around it say how a statement stands to that
span (`_BEFORE`, `_AFTER`); the first phrase in the text decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from typing import Literal

from muniment.errors import InvalidInput

_READ_CHARS_MAX = 20_000  # a statement is far shorter; reading costs 4 µs a character

Relation = Literal["in", "from", "until"]
Kind = Literal["past", "present", "future"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A half-open stretch of time, ``start <= t < end``, in aware UTC; None is without bound.

    ``relation``: ``in`` has both bounds, ``from`` has no end, ``until`` has an end and a start only
    where one was said ("for two weeks" starts when it was said).  ``kind`` is where the stretch
    lies seen from ``said_at``: ``past`` is over, ``future`` has not begun, else ``present``.
    ``phrase`` is the date phrase as written, without the words that gave the relation.
    """

    start: datetime | None
    end: datetime | None
    phrase: str
    relation: Relation
    kind: Kind


@dataclass(frozen=True, slots=True)
class _Said:
    at: datetime  # in the speaker's zone
    tz: tzinfo
    lean: int  # what a date without a year means: -1 the last one, 1 the next one, 0 unsaid
    mark: str  # the relation word beside it, see `_Found`
    floor: datetime | None  # the second date of "from … to …" is the first one after this

    def days(self, first: date, after: date) -> _Span:
        return _midnight(first, self.tz), _midnight(after, self.tz)

    def day(self, offset: int) -> _Span:
        first = self.at.date() + timedelta(days=offset)
        return self.days(first, first + timedelta(days=1))

    def week(self, offset: int) -> _Span:
        monday = self.at.date() - timedelta(days=self.at.weekday() - 7 * offset)
        return self.days(monday, monday + timedelta(days=7))

    def month(self, offset: int) -> _Span:
        first = _months_later(self.at.date().replace(day=1), offset)
        return self.days(first, _months_later(first, 1))

    def year(self, offset: int) -> _Span:
        return self.calendar_year(self.at.year + offset)

    def calendar_year(self, year: int) -> _Span:
        return self.days(date(year, 1, 1), date(year + 1, 1, 1))

    def without_year(self, month: int, day: int | None) -> _Span:
        """Return the month, or the day of it, in the year that ``lean`` points to."""
        spans = []
        for year in range(self.at.year - 4, self.at.year + 5):  # 29 February comes every fourth
            try:
                spans.append(self.month_or_day(year, month, day))
            except ValueError:
                continue
        if self.floor is not None:
            return min(span for span in spans if span[1] > self.floor)
        if self.lean < 0:
            return max(span for span in spans if span[0] <= self.at)
        if self.lean > 0:
            return min(span for span in spans if span[1] > self.at)
        return min(spans, key=self._distance)

    def _distance(self, span: _Span) -> timedelta:
        # What is remembered mostly lies behind, yet "in December" said in November is next week:
        # a date ahead counts as three times as far.
        ahead = span[0] - self.at
        return 3 * ahead if ahead > timedelta(0) else -ahead

    def month_or_day(self, year: int, month: int, day: int | None) -> _Span:
        first = date(year, month, 1 if day is None else day)
        return self.days(
            first, first + timedelta(days=1) if day is not None else _months_later(first, 1)
        )


_Span = tuple[datetime, datetime]
_Resolver = Callable[[re.Match[str], _Said], _Span]


def resolve(text: str, said_at: datetime, tz: tzinfo) -> Interval | None:
    """Return the time the first date phrase of ``text`` names, or None if there is none.

    ``said_at`` (aware; `InvalidInput` ``time.naive`` otherwise) and the speaker's ``tz`` fix what
    relative words mean.  Weeks begin on Monday, and "last Wednesday" is 上周三: the Wednesday of
    the week before.  "N weeks/months/years ago" is that whole calendar week, month or year.
    "until Friday" includes Friday; "before Friday" does not.  A date without a year is the last
    or the next one by the tense of the text, else the nearer (one ahead counts three times as
    far).  Dates out of range give None, never an error.  Only the first 20,000 characters count.

    Not promised: clock times, seasons, holidays, vague amounts ("a few days ago", 前几天),
    quarters, lunar dates, and dates that only tense or context would settle ("on Friday").
    """
    if said_at.tzinfo is None or said_at.utcoffset() is None:
        raise InvalidInput("time.naive", "said_at must have a time zone.")
    # Full-width digits, one for one, so that positions stay those of the text.
    folded = text[:_READ_CHARS_MAX].translate(_DIGITS)
    tense = _tense(folded)
    for match in _phrase().finditer(folded):
        try:
            found = _read(folded, match, _Said(said_at.astimezone(tz), tz, tense, "", None))
            interval = _interval(found, text[slice(*match.span())], said_at) if found else None
        except (ValueError, OverflowError):  # no such day, or outside the years 1 to 9999
            continue
        if interval is not None:
            return interval
    return None


@dataclass(frozen=True, slots=True)
class _Found:
    span: _Span
    mark: str  # "", or what the words around say: in, from, since, after, until, before, for


def _read(text: str, match: re.Match[str], said: _Said) -> _Found | None:
    rule = _RULES[int((match.lastgroup or "r0")[1:])]
    inner = _compiled(rule.pattern).match(text, match.start())
    assert inner is not None  # `_phrase` is made of these patterns
    mark = _mark(text, inner)
    if rule.marked and mark in ("", "on") and said.floor is None:
        return None
    if rule.lasting:
        # "I lived there for two years" says nothing about how long from now.
        over = said.lean < 0 or _PERFECT.search(text, max(0, inner.start() - 80), inner.start())
        return None if over else _Found(rule.resolve(inner, said), "for")
    said = replace(said, mark=mark, lean=_lean(said.lean, mark))
    span = rule.resolve(inner, said)
    if mark not in ("", "in", "from", "on"):
        return _Found(span, mark)
    until = _second(text, inner.end(), replace(said, mark="", floor=span[0]))
    return _Found((span[0], until[1]), "in") if until else _Found(span, mark)


def _second(text: str, at: int, said: _Said) -> _Span | None:
    """Return the other end of "from Monday to Friday", 10月1日到10月5日, if one follows at once."""
    joined = _TO.match(text, at)
    match = _phrase().match(text, joined.end()) if joined else None
    found = _read(text, match, said) if match else None
    if found is None or said.floor is None or found.span[1] <= said.floor:
        return None
    return found.span


def _mark(text: str, match: re.Match[str]) -> str:
    """Return what the words around a phrase say of it; those behind are the more exact ones."""
    for found in (
        _AFTER.match(text, match.end()),
        _BEFORE.search(text[max(0, match.start() - 24) : match.start()]),
    ):
        if found is not None and found.lastgroup is not None:
            mark = found.lastgroup.removesuffix("_zh")
            if mark == "plain":  # "the mail from yesterday" tells its origin
                return "in" if _LOOKS_BACK.search(match.group()) else "from"
            return mark
    return ""


def _tense(text: str) -> int:
    if _FUTURE.search(text):
        return 1
    return -1 if _PAST.search(text) else 0


def _lean(tense: int, mark: str) -> int:
    if mark == "since":
        return -1
    return tense or (1 if mark in ("from", "after", "until", "before") else 0)


def _interval(found: _Found, phrase: str, said_at: datetime) -> Interval | None:
    first, last = (moment.astimezone(UTC) for moment in found.span)
    start: datetime | None = first
    end: datetime | None = last
    relation: Relation = "in"
    if found.mark in ("from", "since", "after"):
        relation, start, end = "from", last if found.mark == "after" else first, None
    elif found.mark in ("until", "before"):
        relation, start, end = "until", None, first if found.mark == "before" else last
    elif found.mark == "for":
        relation = "until"
    kind: Kind = "present"
    if end is not None and end <= said_at:
        kind = "past"
    elif start is not None and start > said_at:
        kind = "future"
    return Interval(start, end, phrase, relation, kind)


# --- arithmetic -----------------------------------------------------------------------------


def _midnight(day: date, tz: tzinfo) -> datetime:
    return datetime.combine(day, time.min, tzinfo=tz)


def _months_later(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = (date(year + (month == 11), (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return date(year, month + 1, min(day.day, last))


_DIGITS = {0xFF10 + value: str(value) for value in range(10)}
_ZH_DIGIT = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_ZH_UNIT = {"十": 10, "百": 100, "千": 1000}
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_EN_NUMBER = {word: value for value, word in enumerate(_NUMBERS.split())}
_EN_NUMBER |= {"a": 1, "an": 1, "a couple of": 2, "couple of": 2}
_MONTHS = "january february march april may june july august september october november december"
_MONTH = {name[:3]: number for number, name in enumerate(_MONTHS.split(), 1)}
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_WEEKDAY = {name[:3]: number for number, name in enumerate(_WEEKDAYS.split())}
_WEEKDAY |= {char: number for number, char in enumerate("一二三四五六日")} | {"天": 6}


def _number(written: str) -> int:
    """Return the value of digits, an English number word or a Chinese numeral below 10,000."""
    written = " ".join(written.lower().split())
    if written.isdigit():
        return int(written)
    if written in _EN_NUMBER:
        return _EN_NUMBER[written]
    total = digit = 0
    for char in written:
        if char in _ZH_UNIT:
            total, digit = total + (digit or 1) * _ZH_UNIT[char], 0
        else:
            digit = digit * 10 + _ZH_DIGIT[char]
    return total + digit


_UNIT = {
    "second": "second", "秒": "second", "minute": "minute", "分钟": "minute", "hour": "hour",
    "小时": "hour", "个小时": "hour", "day": "day", "天": "day", "week": "week", "周": "week",
    "星期": "week", "个星期": "week", "礼拜": "week", "个礼拜": "week", "month": "month",
    "个月": "month", "year": "year", "年": "year",
}  # fmt: skip


def _amount(match: re.Match[str], sign: int) -> tuple[int, str]:
    if match["n"] == "半":
        return 6 * sign, "month"
    return sign * _number(match["n"]), _UNIT[match["unit"].lower()]


def _shifted(match: re.Match[str], said: _Said, sign: int) -> _Span:
    """Return the day, week, month, year that many of them away; below a day, that moment's."""
    count, unit = _amount(match, sign)
    if unit in ("day", "week", "month", "year"):
        span: _Span = getattr(said, unit)(count)
        return span
    step = timedelta(**{f"{unit}s": 1})
    # Reckoned in UTC: an hour ago is an hour ago across a change of clocks too.
    moment = said.at.astimezone(UTC) + count * step
    return moment, moment + step


def _lasting(match: re.Match[str], said: _Said, sign: int) -> _Span:
    """Return from now to that much later (``sign`` 1), or from that much earlier to now (-1)."""
    count, unit = _amount(match, sign)
    now = said.at.astimezone(UTC)
    if unit in ("month", "year"):
        day = _months_later(said.at.date(), count * (12 if unit == "year" else 1))
        other = datetime.combine(day, said.at.time(), tzinfo=said.tz).astimezone(UTC)
    else:
        other = now + timedelta(**{f"{unit}s": count})
    return (now, other) if sign > 0 else (other, now)


def _weekday(match: re.Match[str], said: _Said) -> _Span:
    """Return the weekday of the week that ``last``, ``next`` or repeated 上 and 下 point to."""
    word = match["which"].lower()
    offset = {"last": -1, "next": 1}.get(word, word.count("下") - word.count("上"))
    return said.day(7 * offset + _WEEKDAY[match["day"].lower()[:3]] - said.at.weekday())


def _bare_weekday(match: re.Match[str], said: _Said) -> _Span:
    ahead = (_WEEKDAY[match["day"].lower()[:3]] - said.at.weekday()) % 7
    if said.floor is not None:
        first = said.floor.astimezone(said.tz)
        return said.day(
            (first.date() - said.at.date()).days
            + (_WEEKDAY[match["day"].lower()[:3]] - first.weekday()) % 7
        )
    if said.mark == "before" and not ahead:
        return said.day(7)  # before Friday, said on a Friday
    return said.day(ahead - 7 if said.lean < 0 and ahead else ahead)


def _relative(unit: str) -> _Resolver:
    def resolver(match: re.Match[str], said: _Said) -> _Span:
        word = match["which"].lower()
        offset = {"last": -1, "next": 1, "去": -1, "前": -2, "明": 1, "后": 2}.get(word)
        if offset is None:
            offset = word.count("下") - word.count("上")
        span: _Span = getattr(said, unit)(offset)
        return span

    return resolver


def _named_day(match: re.Match[str], said: _Said) -> _Span:
    return said.day(_NAMED_DAYS[" ".join(match.group().lower().split())])


def _calendar(match: re.Match[str], said: _Said) -> _Span:
    """Return the span of a match with a year, a month and a day, or some of the three."""
    groups = match.groupdict()
    year, month, day = groups.get("year"), groups.get("month"), groups.get("day")
    number = None
    if year:
        relative = {"去年": -1, "今年": 0, "明年": 1, "前年": -2, "后年": 2}.get(year)
        number = int(year) if relative is None else said.at.year + relative
    if not month:
        return said.calendar_year(number or 0)
    which = _MONTH.get(month.lower()[:3]) or _number(month)
    if number:
        return said.month_or_day(number, which, _number(day) if day else None)
    return said.without_year(which, _number(day) if day else None)


# --- the phrases ----------------------------------------------------------------------------

_NAMED_DAYS = {
    "the day before yesterday": -2, "day before yesterday": -2, "the day after tomorrow": 2,
    "day after tomorrow": 2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0,
    "this morning": 0, "this afternoon": 0, "this evening": 0, "tomorrow": 1,
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1, "今天": 0, "今日": 0,
    "今早": 0, "今晚": 0, "今晨": 0, "明天": 1, "明日": 1, "明早": 1, "明晚": 1, "大后天": 3,
    "后天": 2,
}  # fmt: skip

_L = r"(?<![A-Za-z0-9_])(?<![A-Za-z0-9][-./])"  # left and right edge of a word that is not part
_R = r"(?![A-Za-z0-9_]|[-./][A-Za-z0-9])"  # of an identifier, a path or an address
_N = (
    r"(?P<n>[0-9]{1,9}|a couple of|couple of|an?|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve)"
)
# Not after 几 or 数, nor from the middle of a number: 几十天前 is no amount.
_ZN = (
    r"(?P<n>(?<![0-9.])[0-9]{1,9}|半(?=年)"
    r"|(?<![零〇一二两三四五六七八九十百千几数])[零〇一二两三四五六七八九十百千]{1,9})"
)
_UNIT_EN = r"(?P<unit>second|minute|hour|day|week|month|year)s?"
_UNIT_ZH = r"\s?(?P<unit>秒|分钟|个?小时|天|周|个?星期|个?礼拜|个月|年)"
_MONTH_EN = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_MONTH_ZH = (
    r"(?P<month>(?<![0-9.])(?:1[0-2]|0?[1-9])"
    r"|(?<![一二三四五六七八九十百千两几个])(?:十[一二]?|[一二三四五六七八九]))\s?月"
)
_DAY_EN = r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?"
_DAY_ZH = r"(?P<day>[0-3]?[0-9]|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])\s?[日号]"
_YEAR = r"(?P<year>(?:19|20)[0-9]{2})"
_YEAR_ZH = r"(?P<year>(?<![0-9.])(?:19|20)[0-9]{2}(?=\s?年)|[去今明前后]年)(?:(?<!年)\s?年)?"
_WEEKDAY_EN = (
    r"(?P<day>mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs|rsday)?|fri(?:day)?"
    r"|saturday|sunday)"
)
# 下周一起吃饭 is "together next week": 一 before 起 is Monday only after 从, or if 起 ends the
# clause or a word of beginning follows.
_WEEKDAY_ZH = (
    r"(?:周|星期|礼拜)(?P<day>[二三四五六日天](?!志|常|记|报)|(?<=[从自到]下周)一|(?<=[从自到]周)一"
    r"|一(?!起(?!\s*(?:生效|执行|实施|开始|启用|改|停|[,.;，。；、]|$))))"
)


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: str
    resolve: _Resolver
    marked: bool = False  # a date only with a word beside it that says so
    lasting: bool = False  # a length of time from now on


def _rule(
    pattern: str, resolver: _Resolver, *, marked: bool = False, lasting: bool = False
) -> _Rule:
    return _Rule(pattern, resolver, marked=marked, lasting=lasting)


def _earlier(match: re.Match[str], said: _Said) -> _Span:
    return _shifted(match, said, -1)


def _later(match: re.Match[str], said: _Said) -> _Span:
    return _shifted(match, said, 1)


def _up_to_now(match: re.Match[str], said: _Said) -> _Span:
    return _lasting(match, said, -1)


def _from_now(match: re.Match[str], said: _Said) -> _Span:
    return _lasting(match, said, 1)


# Of two rules that fit at one place the first wins: the more exact one stands first.
_RULES = (
    _rule(_L + _YEAR + r"(?P<sep>[-/])(?P<month>[01]?[0-9])(?P=sep)(?P<day>[0-3]?[0-9])"
          r"(?:T[0-9:.]+(?:Z|[+-][0-9:]+)?)?" + _R, _calendar),
    _rule(_YEAR_ZH + r"\s?" + _MONTH_ZH + r"\s?" + _DAY_ZH, _calendar),
    _rule(_YEAR_ZH + r"\s?" + _MONTH_ZH, _calendar),
    _rule(_MONTH_ZH + r"\s?" + _DAY_ZH, _calendar),
    _rule(_L + _MONTH_EN + r"\s+" + _DAY_EN + r"(?:,?\s+" + _YEAR + ")?" + _R, _calendar),
    _rule(_L + _DAY_EN + r"\s+(?:of\s+)?" + _MONTH_EN + r"(?:,?\s+" + _YEAR + ")?" + _R, _calendar),
    _rule(_L + _MONTH_EN + r",?\s+" + _YEAR + _R, _calendar),
    _rule(_L + _N + r"\s+" + _UNIT_EN + r"\s+ago" + _R, _earlier),
    _rule(r"(?!(?:19|20)[0-9]{2}\s?年)" + _ZN + _UNIT_ZH
          + r"(?:之|以)?前(?!端|台|后|往|面|提|景|任|辈|沿|期)", _earlier),
    _rule(_L + r"(?:the\s+)?(?:last|past|previous)\s+" + _N + r"\s+" + _UNIT_EN + _R, _up_to_now),
    _rule(r"(?:过去|最近|近)(?:的)?\s?" + _ZN + _UNIT_ZH, _up_to_now),
    _rule(_L + r"(?:for\s+)?the\s+next\s+" + _N + r"\s+" + _UNIT_EN + _R, _from_now, lasting=True),
    _rule(_L + r"(?:for|within)\s+" + _N + r"\s+" + _UNIT_EN + _R + r"(?!\s+(?:ago|now|straight))",
          _from_now, lasting=True),
    _rule(r"(?:接下来|未来|今后|为期|持续)(?:的)?\s?" + _ZN + _UNIT_ZH, _from_now, lasting=True),
    _rule(r"(?!(?:19|20)[0-9]{2}\s?年)" + _ZN + _UNIT_ZH + r"(?:之|以)?内(?!存|部|容|网)",
          _from_now, lasting=True),
    _rule(_L + r"in\s+" + _N + r"\s+" + _UNIT_EN + r"(?:['’]?\s+time)?" + _R, _later),
    _rule(_L + _N + r"\s+" + _UNIT_EN + r"\s+(?:from\s+now|later)" + _R, _later),
    _rule(r"(?!(?:19|20)[0-9]{2}\s?年)" + _ZN + _UNIT_ZH + r"(?:之|以)?后(?!端|台|面|期|续|天)",
          _later),
    _rule(_L + "(?:" + "|".join(
        re.sub(" ", r"\\s+", name) for name in _NAMED_DAYS if name.isascii()) + ")" + _R,
        _named_day),
    _rule("(?:" + "|".join(name for name in _NAMED_DAYS if not name.isascii()) + ")(?!性|头条)",
          _named_day),
    _rule(_L + r"(?P<which>last|next|this)\s+" + _WEEKDAY_EN + _R, _weekday),
    _rule(r"(?P<which>上{1,3}|下{1,3}|这|本)个?" + _WEEKDAY_ZH, _weekday),
    _rule(_L + r"(?P<which>last|next|this)\s+week" + _R, _relative("week")),
    _rule(r"(?P<which>(?<![马以之])上{1,3}|(?<![以之])下{1,3}|这|本)个?(?:周(?![围边转])|星期|礼拜)",
          _relative("week")),
    _rule(_L + r"(?P<which>last|next|this)\s+month" + _R, _relative("month")),
    _rule(r"(?P<which>上{1,3}|下{1,3}|这|本)(?:个月|月(?![亮球光色牙饼台薪]))", _relative("month")),
    _rule(_L + r"(?P<which>last|next|this)\s+year" + _R, _relative("year")),
    _rule(r"(?P<which>[去今明前后])年", _relative("year")),
    _rule(r"(?P<year>(?<![0-9.])(?:19|20)[0-9]{2})\s?年(?!代|版)", _calendar),
    _rule(_L + _YEAR + _R, _calendar, marked=True),
    _rule(_L + _MONTH_EN + _R, _calendar, marked=True),
    _rule(_MONTH_ZH, _calendar, marked=True),
    _rule(_L + _WEEKDAY_EN + _R, _bare_weekday, marked=True),
    _rule(_WEEKDAY_ZH, _bare_weekday, marked=True),
)  # fmt: skip


def _unnamed(pattern: str) -> str:
    """Return ``pattern`` without group names, to stand beside others in one alternation."""
    return re.sub(r"\(\?P=sep\)", "[-/]", re.sub(r"\(\?P<\w+>", "(?:", pattern))


# Looking first whether a phrase can begin here at all (a digit, a Han character or the first letter
# of a word) spares four places in five the forty patterns.
@cache
def _phrase() -> re.Pattern[str]:
    phrases = (f"(?P<r{at}>{_unnamed(rule.pattern)})" for at, rule in enumerate(_RULES))
    return _compiled(
        "(?:(?=[0-9\u3007\u4e00-\u9fff])|(?<![A-Za-z0-9_])(?=[a-z]))(?:" + "|".join(phrases) + ")"
    )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when a text first needs it: most processes read few dates."""
    return re.compile(pattern, re.IGNORECASE)


_TO = re.compile(r"\s*(?:to|until|till|through|and|[-–—~～]|到|至)\s*", re.IGNORECASE)

_BEFORE = re.compile(
    r"(?:(?<![A-Za-z0-9_])(?:"
    r"(?P<since>(?:ever\s+)?since)|(?P<plain>(?<!starting )(?<!beginning )(?<!effective )from)"
    r"|(?P<from>from|as\s+of|(?:starting|beginning|effective)(?:\s+on)?)|(?P<after>after)"
    r"|(?P<until>until|till|through|up\s+to|by(?:\s+the\s+end\s+of)?)|(?P<before>before|prior\s+to)"
    r"|(?P<in>in|during|within)|(?P<on>on)"
    r")\s+(?:the\s+|early\s+|late\s+|mid[- ])?"
    r"|(?P<since_zh>自从)|(?P<from_zh>从|自)|(?P<until_zh>直到|截至|截止到?|(?<![收得看找想拿感遇听提见做达说等一二三四五六日天号月年])到|至)"
    r"|(?P<in_zh>在|于))\s*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s*(?:(?P<since>以来|至今)|(?P<from>起|开始|onwards?\b)|(?P<after>之后|以后|后(?![端台面]))"
    r"|(?P<until>为止|止(?!痛|损))|(?P<before>之前|以前|前(?![端台后往面提])|(?:and|or)\s+before)"
    r"|(?P<in>份|初|底|末|上旬|中旬|下旬|里|期间))",
    re.IGNORECASE,
)

_LOOKS_BACK = re.compile(r"^(?:yesterday|last|the\s+day\s+before)\b|\bago$", re.IGNORECASE)
_PERFECT = re.compile(r"\b(?:have|has)\b(?!\s+to\b)|['’]ve\b", re.IGNORECASE)
_FUTURE = re.compile(
    r"\b(?:will|shall|going\s+to|plan(?:s|ned|ning)?|scheduled|due|deadline|expected|upcoming)\b"
    r"|['’]ll\b|将|计划|打算|准备|预计|即将|[要会]在",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|did|had|been|ago|went|met|said|told|bought|left|began|made|took|came|got|lived"
    r"|(?!(?:need|feed|speed|indeed|seed|based|supposed|unchanged|used|allowed|blocked|closed)\b)"
    r"[a-z]{2,}ed)\b|(?<!为)了(?!解)|过(?!期|滤|程|敏|来)|曾|已|当时|那时",
    re.IGNORECASE,
)
