"""Whether two sentences say the contrary with the same words: all the conflict that is claimed
without a predicate and without a model."""

from __future__ import annotations

import re

from muniment.text import negated, normalise, tokens

_ENGLISH = re.compile(
    r"\b(?:do not|don't|does not|doesn't|must not|mustn't|should not|shouldn't|cannot|can't|"
    r"not|never|no longer|no|without|stop|avoid|do|does|must|should|can|may|will|always)\b"
)
_CHINESE = re.compile(
    r"不允许|不可以|不应该|不应|不能|不要|不再|不用|不会|不得|不许|不|别再|别|勿|禁止|无需|没有|从不|停止"
    r"|必须|应该|应当|可以|允许|需要|要|会|应|总是|一律"
)


def polarity(text: str) -> tuple[tuple[str, ...], bool]:
    """The words without their negation and modal verbs, and whether there was a negation."""
    bare = _CHINESE.sub("", _ENGLISH.sub(" ", normalise(text)))
    return tuple(sorted(set(tokens(bare)))), negated(text)
