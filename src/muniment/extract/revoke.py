"""What a wish to forget something means: a known attribute, else the words for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from muniment.extract.build import END_MARKS, Reading, build
from muniment.extract.lexicon import concept, narrowed
from muniment.extract.sentences import Piece
from muniment.extract.triggers import Match, matches
from muniment.gate.candidate import Candidate, Flag, Intent
from muniment.records.facts import Catalogue, Predicate
from muniment.records.record import Durability, Kind
from muniment.text import tokens

# "Forget that": what is meant stands in an earlier sentence, not in this one.
_POINTS_BACK = re.compile(
    r"^(?:(?:这|那|该|此|刚才|之前|我).{0,6}(?:事|条|点|话)?"
    r"|it|that|this|them|what i (?:said|told you)|everything|please|now|.?)$",
    re.IGNORECASE,
)

# What is to be forgotten was said before; naming it so is no quotation.
_BACKWARD = frozenset({Flag.QUOTED, Flag.HYPOTHETICAL, Flag.CONFIG})


def revocation(piece: Piece, reading: Reading) -> Candidate:
    """The candidate that revokes what the sentence names."""
    found = matches(piece.text, piece.folded, reading.catalogue, denied=True)
    thing, said = _named(piece)
    match = next(iter(found), None) or _by_cue(thing, reading.catalogue)
    kind = match.predicate.kind if match else Kind.PREFERENCE
    made = build(piece, reading, kind, match=match, intent=Intent.REVOCATION)
    value = match.value or None if match else (None if _POINTS_BACK.match(thing) else said)
    return replace(made, durability=Durability.LONG_TERM, value=value, flags=made.flags - _BACKWARD)


def _named(piece: Piece) -> tuple[str, str]:
    """The thing itself, without the words for forgetting it: as it is matched, and as said."""
    left, said = piece.folded.strip(END_MARKS), narrowed(piece.text).strip(END_MARKS)
    for _ in range(3):
        cuts = [hit.span() for hit in concept("forgotten").pattern.finditer(left)]
        left, said = _without(left, cuts), _without(said, cuts)
    return left, said


def _without(text: str, cuts: list[tuple[int, int]]) -> str:
    for start, end in reversed(cuts):
        text = text[:start] + " " + text[end:]
    return " ".join(text.strip(END_MARKS).split())


def _by_cue(thing: str, catalogue: Catalogue) -> Match | None:
    """The one predicate whose longest search key is in the words; a habit before a fact."""
    found = sorted(_cued(thing, catalogue), key=lambda pair: pair[0])
    best = [predicate for rank, predicate in found if rank == found[-1][0]]
    return Match(best[0], "", 0, 0) if len(best) == 1 else None


def _words_for(predicate: Predicate) -> Iterator[str]:
    """Its search keys, and those of its values that say more than one word."""
    yield from predicate.cues
    yield from (v for v in predicate.values if len(tokens(v)) > (1 if v.isascii() else 3))


def _cued(thing: str, catalogue: Catalogue) -> Iterator[tuple[tuple[int, bool], Predicate]]:
    said = set(tokens(thing))
    for predicate in catalogue:
        found = (words for words in _words_for(predicate) if said >= set(tokens(words)))
        length = max(map(len, found), default=0)
        if length:
            yield (length, predicate.kind is Kind.PREFERENCE), predicate
