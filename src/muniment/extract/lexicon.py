"""The words by which statements are read, loaded once from `lexicon.yaml`.

Everything is matched on *folded* text, which is exactly as long as the original, so that a span
found in it is a span of the original.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import yaml

from muniment.extract.traditional import SIMPLIFIED
from muniment.extract.words import Folded, Words

_WIDE: Mapping[int, int | str] = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **{0x3000: " ", 0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'"},
}
_TABLE: Mapping[int, int | str] = {**_WIDE, **SIMPLIFIED}
#: Safe, and ten times as fast where libyaml is there.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SHORT_CHARS = 1_000
_OWN_EDGE = ("^", "(?:^|", "[,;")
_LEFT = r"(?<![A-Za-z0-9_])"
# Holds after a word's last letter, and after anything that was not a letter to begin with.
_RIGHT = r"(?:(?<![A-Za-z0-9_])|(?![A-Za-z0-9_]))"


def narrowed(text: str) -> str:
    """The text with full-width forms narrowed; exactly as long as it came."""
    return text if text.isascii() else text.translate(_WIDE)


def simplified(text: str) -> str:
    """The same with traditional characters of the words we look for simplified as well."""
    return text if text.isascii() else text.translate(_TABLE)


def fold(text: str) -> Folded:
    """The text as it is matched: narrowed, simplified; exactly as long as it came."""
    return _fold_short(text) if len(text) <= _SHORT_CHARS else Folded.of(simplified(text))


@lru_cache(maxsize=16)
def _fold_short(text: str) -> Folded:
    # The steps of one reading ask for the same words; nothing is kept for longer than that.
    return Folded.of(simplified(text))


def data(name: str) -> Any:
    """The parsed content of a YAML file of this package."""
    text = resources.files("muniment.extract").joinpath(name).read_text("utf-8")
    return yaml.load(text, LOADER)


def bounded(phrases: Iterable[str], *, left: bool = True) -> str:
    """English phrases that match whole words only, also beside Han characters."""
    return f"{_LEFT if left else ''}(?:{'|'.join(phrases)}){_RIGHT}"


def compiled(words: Mapping[str, Iterable[str]]) -> Words:
    """One pattern for a concept: its Chinese phrases, and its English ones as whole words."""
    parts = [*(f"(?:{word})" for word in words.get("zh", ()))]
    english = list(words.get("en", ()))
    # What begins a text or follows a comma has its own left edge; the others share one, so that
    # the engine gives up at once inside a word.
    edged = [word for word in english if word.startswith(_OWN_EDGE)]
    plain = [word for word in english if not word.startswith(_OWN_EDGE)]
    parts += [bounded(edged, left=False)] if edged else []
    parts += [bounded(plain)] if plain else []
    return Words("|".join(parts), [*words.get("zh", ()), *english])


@cache
def _lexicon() -> dict[str, Any]:
    return dict(data("lexicon.yaml"))


@cache
def concept(name: str) -> Words:
    """The pattern of one concept of the lexicon."""
    return compiled(_lexicon()[name])


@cache
def concepts(name: str) -> Mapping[str, Words]:
    """The patterns of a concept that is divided (topics, qualifiers), in their order."""
    return {key: compiled(words) for key, words in _lexicon()[name].items()}


def says(name: str, folded: str) -> bool:
    """Whether a concept occurs in folded text."""
    words = concept(name)
    return not words.excluded(folded) and words.pattern.search(folded) is not None
