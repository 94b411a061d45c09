"""From one sentence to its candidates: what a person, an assistant or a page states in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from muniment.extract.build import (
    Reading,
    build,
    condition_of,
    intent_of,
    of_project,
    with_words,
)
from muniment.extract.general import (
    about_user,
    bare_prohibition,
    general_kind,
    orders,
    waives,
)
from muniment.extract.lexicon import says
from muniment.extract.revoke import revocation
from muniment.extract.sentences import Piece, clauses, segments, without_lead
from muniment.extract.triggers import Match, corrections, matches
from muniment.gate.candidate import Candidate, Claim, Flag, Intent
from muniment.records.record import Durability, Kind

# Any of these makes the naming of a way of working a lasting one, not a wish for now.
_LASTING = (
    "standing",
    "standing_weak",
    "preference",
    "norm",
    "user_claim",
    "first_person",
    "project_named",
)
_WISHED = (*_LASTING[:4], "norm_weak", "wish", "change")


@dataclass(slots=True)
class _Sentence:
    """One sentence being read, and what holds for all of it."""

    reading: Reading
    piece: Piece
    folded: str
    explicit: bool
    slip: bool = False
    made: list[Candidate] = field(default_factory=list)


def read_sentence(piece: Piece, reading: Reading, *, slip: bool = False) -> list[Candidate]:
    """The candidates of one sentence; none for questions, tasks, greetings and retellings.

    ``slip``: the sentence before it owned up to a mistake.
    """
    folded = piece.folded
    wished = reading.by_user and says("explicit", folded)
    sentence = _Sentence(reading, piece, folded, wished, slip or says("own_mistake", folded))
    if _asks_or_greets(sentence):
        return []
    if revoked := _revoked(sentence):
        return [revoked]
    if _retells(sentence):
        return []
    kept: list[Piece] = []
    for segment in segments(piece):
        made = list(_of_segment(segment, sentence))
        if made:
            sentence.made += made
            kept.append(segment)
        elif sentence.made:
            # A reservation that is no statement of its own stays with what it qualifies.
            whole = piece.part(kept[-1].start - piece.start, segment.end - piece.start)
            sentence.made[-1] = with_words(sentence.made[-1], whole, segment)
    return sorted(sentence.made, key=lambda c: c.span or (0, 0))


def small_talk(piece: Piece, reading: Reading) -> Candidate | None:
    """The one candidate that says: a statement was made, and there is nothing in it to keep."""
    folded = without_lead(piece).folded
    if any(says(n, folded) for n in ("greeting", "question", "task", "hypothetical", "quoted")):
        return None
    if not says("statement", folded):
        return None
    return nothing(piece, reading)


def nothing(piece: Piece, reading: Reading) -> Candidate:
    """The candidate that a statement was made of which nothing is worth keeping."""
    made = build(piece, reading, Kind.FACT, about_user=True)
    return replace(made, claim=Claim.NOTHING, flags=frozenset({Flag.SMALL_TALK}))


def _asks_or_greets(sentence: _Sentence) -> bool:
    folded, bare = sentence.folded, without_lead(sentence.piece).folded
    if says("greeting", folded) or says("greeting", bare) or says("anaphora", folded):
        return True
    if says("reminder", folded) and not says("standing", bare):
        return True
    return says("question", bare) and not says("polite_request", folded)


def _retells(sentence: _Sentence) -> bool:
    """Whether it tells what was said or might be, and states nothing itself."""
    if sentence.explicit:
        return False
    bare = without_lead(sentence.piece).folded
    return says("hypothetical", bare) or (says("quoted", bare) and not sentence.slip)


def _revoked(sentence: _Sentence) -> Candidate | None:
    """The wish to forget something; to be asked no more is not one but loosens."""
    folded, reading = sentence.folded, sentence.reading
    if waives(folded) or says("own_mistake", folded):
        return None
    if not (says("revocation", folded) or says("stop_doing", folded)):
        return None
    made = revocation(sentence.piece, reading)
    ended = says("stop_for_good", folded) and not says("standing", folded)
    return made if ended or made.predicate or says("revocation", folded) else None


def _of_segment(segment: Piece, sentence: _Sentence) -> Iterator[Candidate]:
    catalogue, bare = sentence.reading.catalogue, without_lead(segment)
    hits = [
        (clause, match)
        for clause in clauses(bare)
        if not (sentence.slip and says("quoted", clause.folded))
        for match in matches(clause.text, clause.folded, catalogue)
        if _in_context(match, clause, segment, sentence)
    ]
    if not hits and (sentence.slip or says("correction", bare.folded)):
        hits = [(bare, m) for m in corrections(bare.text, bare.folded, catalogue)]
    made = list(_from_matches(segment, hits, sentence))
    yield from made
    if not made and (candidate := _general(segment, sentence)):
        yield candidate


def _from_matches(
    segment: Piece, hits: list[tuple[Piece, Match]], sentence: _Sentence
) -> Iterator[Candidate]:
    set_names = {m.predicate.name for _, m in hits if not m.dropped}
    hits = [(c, m) for c, m in hits if not (m.dropped and m.predicate.name in set_names)]
    said: dict[tuple[str, object], tuple[Piece, Match]] = {}
    for clause, match in hits:  # of two ways to say the same, the later words
        said[match.predicate.name, str(match.predicate.canonical(match.value))] = (clause, match)
    for clause, match in said.values():
        words = segment if len(said) == 1 else clause
        if candidate := _from_match(words, clause, segment, match, sentence):
            yield candidate


def _in_context(match: Match, clause: Piece, segment: Piece, sentence: _Sentence) -> bool:
    """Whether the clause speaks of what the attribute is an attribute of."""
    if match.labelled or match.context == "any":
        return True
    folded = segment.folded
    if match.context == "project":
        if says("first_person", clause.folded) and not says("project", clause.folded):
            return says("change", clause.folded)
        lasts = sentence.explicit or any(says(n, folded) for n in ("standing", "change", "one_off"))
        return lasts or of_project(folded, sentence.reading)
    if match.context == "self":
        return says("self", folded)
    if match.context == "person":
        speaker = match.start == 0 and sentence.reading.by_user
        return speaker or says("self", folded) or without_lead(clause).person is not None
    return False


def _from_match(
    words: Piece, clause: Piece, segment: Piece, match: Match, sentence: _Sentence
) -> Candidate | None:
    kind, folded, reading = match.predicate.kind, segment.folded, sentence.reading
    condition = condition_of(words, kind, reading, match, clause)
    stated = condition.testable or sentence.explicit
    wished = stated or reading.by_user or any(says(name, folded) for name in _WISHED)
    if kind is Kind.PREFERENCE and not wished:
        return None
    made = build(
        words,
        reading,
        kind,
        match=match,
        condition=condition,
        intent=_intent(match, sentence, folded),
        explicit=sentence.explicit,
    )
    if orders(folded, reading) and (kind is Kind.PREFERENCE or says("directive", folded)):
        made = replace(made, claim=Claim.RULE)
    if sentence.slip:
        made = replace(made, flags=made.flags - _set_right(folded))
    lasting = stated or any(says(name, folded) for name in _LASTING)
    if match.momentary and not lasting and made.durability is Durability.LONG_TERM:
        made = replace(made, durability=Durability.ONE_OFF)
    return _as_exception(made, sentence)


def _set_right(folded: str) -> frozenset[Flag]:
    """What putting a slip right only seems to raise: it names what was said, and "应该是"."""
    unsure = says("hedge", folded.replace("应该是", ""))
    return frozenset({Flag.QUOTED} if unsure else {Flag.QUOTED, Flag.HEDGED})


def _intent(match: Match | None, sentence: _Sentence, folded: str) -> Intent:
    found = intent_of(match, folded)
    slips = sentence.slip and found is not Intent.REVOCATION
    return Intent.CORRECTION if slips else found


def _general(segment: Piece, sentence: _Sentence) -> Candidate | None:
    words, reading = without_lead(segment), sentence.reading
    kind = general_kind(words, segment.folded, reading, explicit=sentence.explicit)
    if kind is None:
        return None
    made = build(
        segment,
        reading,
        kind,
        condition=condition_of(segment, kind, reading, None),
        intent=_intent(None, sentence, segment.folded),
        about_user=kind is Kind.FACT and about_user(words, reading),
        explicit=sentence.explicit,
    )
    passing = bare_prohibition(segment.folded) and not waives(segment.folded)
    if kind is Kind.RULE and passing and not sentence.explicit:
        made = replace(made, durability=Durability.ONE_OFF)
    return _as_exception(made, sentence)


def _as_exception(made: Candidate, sentence: _Sentence) -> Candidate:
    """What follows a "but" holds for the same matter and place, only narrower."""
    if not sentence.made or not made.condition.testable:
        return made
    general = sentence.made[0]
    return replace(made, scope=general.scope, subject=general.subject, exception_hint=True)
