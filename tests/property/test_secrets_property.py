"""What holds of the screen for every text."""

from __future__ import annotations

import hashlib
import string
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from muniment.secrets import Grade, redact, redact_json, scan, scan_json

# Pieces that rules are made of, so that random texts come close to secrets.
PIECES = st.sampled_from(
    [
        *("password", "密码", "口令", "token", "api_key", "PIN", "验证码", "secret", "密钥"),
        *(": ", "=", "是", "：", " is ", " ", "\n", "，", '"', "'", "@", "://", ".", "-", "(", "["),
        *("hunter2", "abc12345", "482913", "4111 1111 1111 1111", "4111111111111111", "x", "a1"),
        *(
            "AK" + "IA",
            "gh" + "p_",
            "sk-",
            "eyJ",
            "Q7ZP4LMN2RTK6WXY",
            "aB3dE5gH7jK9mN1pQ3rS5tU7vW9x",
        ),
        *(
            "Cookie: ",
            "sid=",
            "bearer ",
            "[secret:password:3fa2c1d0]",
            "[secret:",
            "bob@example.org",
        ),
        *("\u200b", "ｐａｓｓ", "㎏", "\x00", "é\u0301", "13800138000"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=14).map("".join)
NAMES = st.sampled_from(["password", "note", "apiKey", "验证码", "name", "value"]) | TEXTS
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


def digest(secret: str) -> str:
    return hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_findings_are_in_order_apart_and_inside(text: str) -> None:
    found = scan(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_only_blocked_spans_change(text: str) -> None:
    clean, found = redact(text, digest)
    assert found == scan(text)
    at = 0
    for one in found:
        if one.grade is Grade.BLOCK:
            before, mark = text[at : one.start], f"[secret:{one.kind}:"
            assert clean.startswith(before + mark)
            clean = clean[len(before) + len(mark) + 9 :]
            at = one.end
    assert clean == text[at:]


@settings(max_examples=1000, deadline=None)
@given(TEXTS)
@example("4111111111111111" + "AK" + "IA" + "Q7ZP4LMN2RTK6WXY")
def test_redacting_twice_changes_nothing(text: str) -> None:
    clean, _ = redact(text, digest)
    again, found = redact(clean, digest)
    assert again == clean
    assert all(one.grade is Grade.HOLD for one in found)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=string.ascii_letters + " ,.\n", max_size=200))
def test_letters_alone_are_no_numbers_or_keys(text: str) -> None:
    kinds = {one.kind for one in scan(text)}
    assert kinds <= {"password", "possible_password", "key"}


@settings(max_examples=300, deadline=None)
@given(JSON)
def test_json_is_screened_the_same_twice_and_keeps_its_form(data: object) -> None:
    clean, found = redact_json(data, digest)
    assert found == scan_json(data)
    again, left = redact_json(clean, digest)
    assert again == clean
    assert all(one.finding.grade is Grade.HOLD for one in left)
    if not found:
        assert clean == data
