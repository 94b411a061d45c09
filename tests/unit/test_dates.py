"""Dates in words become absolute times, seen from when and where they were said."""

import time
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from muniment.dates import Interval, resolve
from muniment.errors import InvalidInput

SHANGHAI = ZoneInfo("Asia/Shanghai")
SAID = datetime(2026, 11, 27, 10, 0, tzinfo=SHANGHAI)  # a Friday


def _read(text: str, said_at: datetime = SAID) -> str | None:
    """Return ``relation first..after kind`` in local days, short enough for a table."""
    found = resolve(text, said_at, SHANGHAI)
    if found is None:
        return None
    ends = [
        moment.astimezone(SHANGHAI).strftime("%Y-%m-%d") if moment else ""
        for moment in (found.start, found.end)
    ]
    return f"{found.relation} {ends[0]}..{ends[1]} {found.kind}"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["yesterday", "昨天", "the email from yesterday"], "in 2026-11-26..2026-11-27 past"),
        (["前天", "the day before yesterday", "2 days ago"], "in 2026-11-25..2026-11-26 past"),
        (
            ["today", "今天", "今晚开会", "this Friday", "本周五"],
            "in 2026-11-27..2026-11-28 present",
        ),
        (["tomorrow", "明天"], "in 2026-11-28..2026-11-29 future"),
        (["day after tomorrow", "后天", "2天后", "in 2 days"], "in 2026-11-29..2026-11-30 future"),
        (["last week", "上周", "上星期", "上个礼拜"], "in 2026-11-16..2026-11-23 past"),
        (["next week", "下周", "下周一起吃饭"], "in 2026-11-30..2026-12-07 future"),
        (["last month", "上个月", "上月", "a month ago"], "in 2026-10-01..2026-11-01 past"),
        (["next month", "下个月", "in one month"], "in 2026-12-01..2027-01-01 future"),
        (["last year", "去年", "一年前"], "in 2025-01-01..2026-01-01 past"),
        (["last Monday", "上周一", "上星期一"], "in 2026-11-16..2026-11-17 past"),
        (
            ["上周三决定了什么", "what did we decide last Wednesday"],
            "in 2026-11-18..2026-11-19 past",
        ),
        (["next Monday", "下周一", "下周一交"], "in 2026-11-30..2026-12-01 future"),
        (["下下周三晚上七点"], "in 2026-12-09..2026-12-10 future"),
        (["上上周五"], "in 2026-11-13..2026-11-14 past"),
        (["3 days ago", "三天前", "３天前", "three days ago"], "in 2026-11-24..2026-11-25 past"),
        (["十二天前", "12 days ago"], "in 2026-11-15..2026-11-16 past"),
        (["两周前", "two weeks ago", "a couple of weeks ago"], "in 2026-11-09..2026-11-16 past"),
        (["三个月前", "3个月前", "3 months ago"], "in 2026-08-01..2026-09-01 past"),
        (["半年前"], "in 2026-05-01..2026-06-01 past"),
        (["past 3 days", "过去三天", "最近3天"], "in 2026-11-24..2026-11-27 past"),
    ],
)
def test_relative_dates(texts: list[str], expected: str) -> None:
    """Both languages name the same days."""
    assert {text: _read(text) for text in texts} == dict.fromkeys(texts, expected)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2026-10-01", "2026/10/1", "2026年10月1日", "October 1, 2026", "1 Oct 2026", "10月1日"],
         "in 2026-10-01..2026-10-02 past"),
        (["from 2026-10-01", "2026-10-01 起", "２０２６年１０月１日起", "自2026年10月1日开始"],
         "from 2026-10-01.. present"),
        (["since March", "unchanged since March", "3月以来", "自从三月"],
         "from 2026-03-01.. present"),
        (["we decided in March", "in March", "in March 2026", "今年3月", "在3月决定了"],
         "in 2026-03-01..2026-04-01 past"),
        (["we will ship in March", "计划在3月上线", "明年3月"], "in 2027-03-01..2027-04-01 future"),
        (["release in December"], "in 2026-12-01..2027-01-01 future"),
        (["in 2024", "2024年"], "in 2024-01-01..2025-01-01 past"),
        (["since 2024", "2024年以来"], "from 2024-01-01.. present"),
        (["on Feb 29"], "in 2024-02-29..2024-03-01 past"),
    ],
)  # fmt: skip
def test_calendar_dates(texts: list[str], expected: str) -> None:
    """A date without a year goes by tense, else to the nearer one."""
    assert {text: _read(text) for text in texts} == dict.fromkeys(texts, expected)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["从明天起", "starting tomorrow", "明天开始", "from tomorrow on"],
         "from 2026-11-28.. future"),
        (["从下周一起", "下周一起生效", "from next Monday"], "from 2026-11-30.. future"),
        (["after tomorrow", "明天之后"], "from 2026-11-29.. future"),
        (["starting from yesterday", "从昨天起"], "from 2026-11-26.. present"),
        (["until Friday", "到周五为止", "by Friday", "截至周五"], "until ..2026-11-28 present"),
        (["before Friday", "周五之前"], "until ..2026-12-04 present"),
        (["until 2026-12-31", "有效期至2026年12月31日"], "until ..2027-01-01 present"),
        (["until yesterday", "直到昨天"], "until ..2026-11-27 past"),
        (["for two weeks", "两周内完成", "within 2 weeks", "for the next two weeks"],
         "until 2026-11-27..2026-12-11 present"),
        (["from Monday to Friday", "从周一到周五"], "in 2026-11-30..2026-12-05 future"),
        (["10月1日到10月5日", "Oct 1 - Oct 5"], "in 2026-10-01..2026-10-06 past"),
        (["from yesterday to tomorrow"], "in 2026-11-26..2026-11-29 present"),
    ],
)  # fmt: skip
def test_relations(texts: list[str], expected: str) -> None:
    """The words around a date say whether it begins, ends or bounds."""
    assert {text: _read(text) for text in texts} == dict.fromkeys(texts, expected)


@pytest.mark.parametrize(
    "text",
    [
        *("port 2024 is blocked", "ticket 1999", "9999999 years ago", "9999999年前", "port 3000"),
        *(
            "in 99999999 months",
            "2023-02-30",
            "13月1日",
            "0 may",
            "we may go",
            "I march on",
            "周三",
        ),
        *("on Friday", "3月", "logs/2026-10-01.txt", "v2.2024", "in 2024-alpha", "两年前端经验"),
        *("天上月亮", "几十天前", "a few days ago", "前几天", "2020年代", "usa-today", "后天性"),
        *(
            "I lived there for two years",
            "I have used Python for 5 years",
            "周一到周五",
            "",
            "现在",
        ),
        *("收到", "3 days", "for a while", "until then", "99999999999999 days ago"),
    ],
)
def test_no_date(text: str) -> None:
    """What is not plainly a date is none."""
    assert resolve(text, SAID, SHANGHAI) is None


def test_the_first_readable_phrase_decides() -> None:
    """A phrase out of range is passed over."""
    assert _read("9999999 years ago, or yesterday") == "in 2026-11-26..2026-11-27 past"
    assert _read("yesterday and 3 days ago") == "in 2026-11-26..2026-11-27 past"


def test_the_zone_of_the_speaker_sets_the_day() -> None:
    """At 01:00 in Shanghai it is still the day before in UTC."""
    said_at = datetime(2026, 11, 27, 1, 0, tzinfo=SHANGHAI)
    assert resolve("今天", said_at, SHANGHAI) == Interval(
        datetime(2026, 11, 26, 16, tzinfo=UTC),
        datetime(2026, 11, 27, 16, tzinfo=UTC),
        *("今天", "in", "present"),
    )
    in_utc = resolve("今天", said_at, UTC)
    assert in_utc is not None
    assert in_utc.start == datetime(2026, 11, 26, tzinfo=UTC)


def test_yesterday_is_seen_from_when_it_was_said() -> None:
    """Ingested three weeks later it still means the day before it was said."""
    assert _read("yesterday", SAID - timedelta(weeks=3)) == "in 2026-11-05..2026-11-06 past"


def test_a_day_follows_a_change_of_clocks() -> None:
    """The day the clocks go forward has 23 hours."""
    berlin = ZoneInfo("Europe/Berlin")
    found = resolve("yesterday", datetime(2026, 3, 30, 12, tzinfo=berlin), berlin)
    assert found is not None
    assert found.start is not None
    assert found.end is not None
    assert found.end - found.start == timedelta(hours=23)


def test_the_phrase_is_verbatim() -> None:
    """It comes from the text as written, full-width digits and all."""
    found = resolve("记得２０２６年１０月１日起换密码", SAID, SHANGHAI)
    assert found is not None
    assert found.phrase == "２０２６年１０月１日"


def test_hours_are_moments() -> None:
    """Below a day the moment counts, not the calendar."""
    found = resolve("2小时前", SAID, SHANGHAI)
    assert found is not None
    assert found.start == SAID - timedelta(hours=2)
    assert found.end == SAID - timedelta(hours=1)


def test_a_naive_time_is_refused() -> None:
    """Nobody knows which day it is in."""
    with pytest.raises(InvalidInput) as caught:
        resolve("yesterday", datetime(2026, 1, 1), UTC)
    assert caught.value.code == "time.naive"


@pytest.mark.parametrize("year", [1, 9999])
def test_the_ends_of_time_raise_nothing(year: int) -> None:
    """At both ends of the calendar a date may be unsayable, never an error."""
    far = timezone(timedelta(hours=14))
    for text in (
        "yesterday",
        "next year",
        "last week",
        "in March",
        "明年",
        "until Friday",
        "3年前",
    ):
        for day in (datetime(year, 1, 1, tzinfo=UTC), datetime(year, 12, 31, tzinfo=UTC)):
            for tz in (far, timezone(-timedelta(hours=12))):
                resolve(text, day, tz)


@pytest.mark.parametrize(
    "text", ["1" * 300_000, "in 99999999 years " * 20_000, "三" * 100_000, "March " * 50_000]
)
def test_a_long_text_is_bounded(text: str) -> None:
    """Only the first 20,000 characters are read."""
    started = time.process_time()
    assert resolve(text, SAID, SHANGHAI) is None
    assert time.process_time() - started < 2  # about 0.1
