"""The stream scrubber, character by character: no mark passes, however the text is cut."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment import Scrubber

MARK = re.compile(r"<\s{0,4}/?\s{0,4}muniment-memory\b[^<>]{0,64}>", re.I | re.A)
OPEN, CLOSE = "<muniment-memory>", "</muniment-memory>"


def scrubbed(chunks: list[str]) -> str:
    """What a user sees of a stream that arrives in these chunks."""
    scrubber = Scrubber()
    return "".join(scrubber.feed(c) for c in chunks) + scrubber.close()


CASES = {
    "": "",
    "plain text": "plain text",
    f"a{OPEN}secret{CLOSE}b": "ab",
    f"{OPEN}one{CLOSE}x{OPEN}two{CLOSE}": "x",
    f"a{OPEN}never closed": "a",
    f"a{CLOSE}b": "ab",
    f"a{OPEN.upper()}secret{CLOSE.upper()}b": "ab",
    "a< muniment-memory >secret< / muniment-memory >b": "ab",
    f"a{OPEN}\n[m1] x\n{CLOSE}\nb": "a\nb",
    "x < y and y > z <b>bold</b> a<b": "x < y and y > z <b>bold</b> a<b",
    "<muniment": "<muniment",
    "<muniment-memory": "<muniment-memory",
    "the muniment-memory package": "the muniment-memory package",
    "<": "<",
    "<<<<": "<<<<",
    "<" + " " * 300 + "x": "<" + " " * 300 + "x",
    "<munimentation>ok": "<munimentation>ok",
}


@pytest.mark.parametrize(("text", "shown"), CASES.items())
def test_known_texts_whole_and_character_by_character(text: str, shown: str) -> None:
    """The same result for one chunk and for as many as there are characters."""
    assert scrubbed([text]) == shown
    assert scrubbed(list(text)) == shown


TRICKS = [
    f"<muni{OPEN}x{CLOSE}ment-memory>",
    f"</muniment-{CLOSE}memory>",
    f"<{OPEN}{CLOSE}muniment-memory>",
    f"<muniment-{OPEN}a{CLOSE}memory>b</muniment-{CLOSE}memory>",
    "<muni<muni<muniment-memory></muniment-memory>ment-memory></muniment-memory>ment-memory>",
    "a<mun\u0131ment-memory>b</muniment-memory>c",
    "a<mun\u0130ment-memory>b</muniment-memory>c",
    f"{OPEN}a{OPEN}b{CLOSE}c{CLOSE}d",
    f"<<{OPEN}>hidden{CLOSE}>",
    "<muniment-memory " + "a" * 64 + ">x</muniment-memory>y",
    "<muniment-memory\n>x</muniment-memory\t>y",
]


@pytest.mark.parametrize("text", TRICKS)
def test_no_mark_can_be_put_together_from_what_is_left(text: str) -> None:
    """Removing one mark must not make another; all ways of cutting agree."""
    whole = scrubbed([text])
    assert not MARK.search(whole), whole
    assert scrubbed(list(text)) == whole
    for at in range(len(text)):
        assert scrubbed([text[:at], text[at:]]) == whole, at


_PIECES = st.sampled_from(
    [
        OPEN,
        CLOSE,
        "<",
        ">",
        "/",
        "muniment-memory",
        "muni",
        "ment-memory",
        " ",
        "\n",
        "a",
        "中",
        "<b>",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(_PIECES, max_size=14), st.lists(st.integers(0, 120), max_size=8))
def test_any_text_in_any_chunks(pieces: list[str], cuts: list[int]) -> None:
    """Never a mark, never a difference between chunkings."""
    text = "".join(pieces)
    whole = scrubbed([text])
    assert not MARK.search(whole)
    bounds = sorted({0, len(text), *(c for c in cuts if c < len(text))})
    assert scrubbed([text[a:b] for a, b in pairwise(bounds)]) == whole
    assert scrubbed(list(text)) == whole


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<>/ab -\nmuniment", max_size=60))
def test_text_without_the_name_passes_unchanged(text: str) -> None:
    """Only the fence is taken out."""
    if "muniment" not in text:
        assert scrubbed([text]) == scrubbed(list(text)) == text


def test_what_is_harmless_is_shown_at_once() -> None:
    """Only what could still become a mark is held back."""
    scrubber = Scrubber()
    assert scrubber.feed("hello ") == "hello "
    assert scrubber.feed("x < y") in ("x < y", "x ")
    assert scrubber.feed(" <muni") in (" ", "< y ")
    assert "<muni" not in scrubber.feed("ment-memory>secret")
    assert scrubber.feed("</muniment-memory>done") == "done"
    assert scrubber.close() == ""


def test_a_scrubber_that_only_looks_at_whole_chunks_would_be_caught() -> None:
    """The broken twin: per-chunk replacement differs as soon as a mark is cut."""
    text = f"a{OPEN}secret{CLOSE}b"

    def twin(chunks: list[str]) -> str:
        return "".join(re.sub(f"{OPEN}.*?{CLOSE}", "", c) for c in chunks)

    assert twin([text]) == scrubbed([text])
    assert twin(list(text)) != scrubbed(list(text))
