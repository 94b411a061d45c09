"""An administrator's text: each sentence is one rule, in its own words."""

from __future__ import annotations

from dataclasses import replace

from muniment.extract.annotate import annotate
from muniment.extract.build import END_MARKS, Reading
from muniment.extract.sentences import Passage, Piece
from muniment.gate.candidate import Candidate, Claim, Flag
from muniment.records.record import Kind, Namespace
from muniment.scope import Scope

RULES_MAX = 64
# Nobody's words are told or doubted here: what is written is decreed.
_NOT_ASKED = frozenset({Flag.QUESTION, Flag.HYPOTHETICAL, Flag.QUOTED, Flag.HEDGED})


def decreed(text: Passage, reading: Reading) -> list[Candidate]:
    """The rules of a policy text, at most 64; it holds for the event's team or project, or for
    everybody."""
    found: list[Candidate] = []
    for piece in text.sentences():
        words = piece.part(0, len(piece.text.rstrip(END_MARKS)))
        if words.text:
            found.append(_rule(words, reading))
        if len(found) >= RULES_MAX:
            break
    return found


def _rule(words: Piece, reading: Reading) -> Candidate:
    event = reading.event
    scope = event.scope.only({"team", "project", "workspace"})
    made = Candidate(
        content=words.text,
        kind=Kind.RULE,
        subject=_subject(scope),
        scope=scope,
        evidence=(event.id,),
        said_at=event.said_at,
        namespace=Namespace.POLICY,
        claim=Claim.RULE,
        span=(words.start, words.end),
        write_reason="policy",
    )
    read = annotate(made, reading.catalogue)
    return replace(read, subject=made.subject, flags=read.flags - _NOT_ASKED)


def _subject(scope: Scope) -> str:
    return f"project:{scope.project}" if scope.project else "tenant"
