"""What holds for every text, however hostile."""

import itertools
import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.dates import resolve
from muniment.errors import InvalidInput
from muniment.text import (
    check_id,
    check_text,
    identifiers,
    invisible,
    language,
    negated,
    normalise,
    query_tokens,
    quote_terms,
    safe_for_terminal,
    strip_invisible,
    token_count,
    tokens,
)

ANY = st.text(st.characters(exclude_categories=()), max_size=60)  # lone surrogates too
HAN = st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5)
KANA = st.characters(min_codepoint=0x3041, max_codepoint=0x3096)
HANGUL = st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3)
MIXED = st.text(
    st.one_of(HAN, KANA, HANGUL, st.sampled_from("abcXYZ019-_/. 的了的،กขค\u0301\u200b\ufe0f")),
    max_size=40,
)
# Words of dates in any order reach far more of the grammar than random letters do.
DATE_WORDS = """
from until before since in on for last next this ago days weeks months years March may 29 31 2026
1999-13-40 9999-12-31 Friday yesterday to - 99999999 three 从 到 为止 之前 起 以来 上 下 周 一 三 月
日 年 天 个 前 后 内 半 两 百 千 昨天 去年 2月 30日 星期 过去 had will 了 将
"""
DATED = st.lists(st.sampled_from(DATE_WORDS.split()), max_size=9).flatmap(
    lambda words: st.sampled_from(["", " "]).map(lambda gap: gap.join(words))
)


@given(st.one_of(ANY, MIXED))
def test_normalise_is_idempotent(text: str) -> None:
    """A normal form is its own normal form."""
    once = normalise(text)
    assert normalise(once) == once


@given(st.one_of(ANY, MIXED))
def test_tokens_are_short_clean_and_the_same_each_time(text: str) -> None:
    """No empty, long, spaced or upper-case token; queries ask for nothing that is not indexed."""
    found = tokens(text)
    assert found == tokens(text)
    assert all(0 < len(token) <= 64 and not any(c.isspace() for c in token) for token in found)
    assert set(query_tokens(text)) <= set(found)


@given(MIXED, st.data())
def test_a_pair_of_cjk_characters_is_found(text: str, data: st.DataObject) -> None:
    """Any two neighbouring letters of Han and kana, or of hangul, ask for a token of the text."""
    text = unicodedata.normalize("NFKC", text)
    pairs = [
        a + b
        for a, b in itertools.pairwise(text)
        if (_cjk(a) and _cjk(b)) or ("가" <= a <= "힣" and "가" <= b <= "힣")
    ]
    if pairs:
        pair = data.draw(st.sampled_from(pairs))
        assert pair in query_tokens(pair)
        assert pair in tokens(text)


def _cjk(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fa5" or "\u3041" <= char <= "\u3096"


@given(ANY, ANY)
def test_token_count_grows(first: str, second: str) -> None:
    """A longer text never costs less, and a joint saves no more than the words it joins."""
    assert 0 <= token_count(first) <= len(first.encode("utf-8", "surrogatepass"))
    assert token_count(first + second) >= max(token_count(first), token_count(second))


@given(ANY)
def test_what_is_shown_is_inert(text: str) -> None:
    """No control but tab and line feed, nothing invisible, always valid UTF-8."""
    shown = safe_for_terminal(text)
    shown.encode("utf-8")
    assert not any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n" for c in shown)
    assert not invisible(shown)
    assert strip_invisible(shown) == shown


@given(st.one_of(ANY, MIXED))
def test_grounds_are_parts_of_the_text(text: str) -> None:
    """Terms are cut out, never made."""
    assert all(term in text for term in [*identifiers(text), *quote_terms(text)])
    assert language(text) in ("zh", "ja", "ko", "th", "en")
    assert negated(text) in (True, False)


@given(st.one_of(ANY, st.none(), st.integers(), st.binary()))
def test_checks_return_the_value_or_one_error(value: object) -> None:
    """Accepted values are untouched; every refusal is typed."""
    for check in (
        lambda: check_id(value, name="id"),
        lambda: check_text(value, name="text", max_bytes=50),
    ):
        try:
            assert check() is value
        except InvalidInput as error:
            assert error.code.split(".")[0] in ("id", "text")
        except Exception as error:  # the point of the test
            pytest.fail(f"{error!r}")


@given(
    st.one_of(DATED, ANY),
    st.datetimes(timezones=st.just(UTC)),
    st.integers(-23, 23).map(lambda hours: timezone(timedelta(hours=hours))),
)
def test_dates_never_raise(text: str, said_at: datetime, tz: timezone) -> None:
    """Any words at any time: an interval the right way round, in UTC, or None."""
    found = resolve(text, said_at, tz)
    if found is None:
        return
    assert found.phrase in text
    for moment in (found.start, found.end):
        assert moment is None or moment.tzinfo is UTC
    if found.start and found.end:
        assert found.start <= found.end
