"""From one event to its candidates, by rules alone: no model, no I/O, no clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, tzinfo

from muniment.events.event import Event, EventKind
from muniment.extract.build import Reading, build
from muniment.extract.decree import decreed
from muniment.extract.lexicon import says
from muniment.extract.observe import observed
from muniment.extract.prose import nothing, read_sentence, small_talk
from muniment.extract.sentences import Passage, Piece, readable
from muniment.gate.candidate import Candidate, Claim, Flag
from muniment.records.facts import Catalogue
from muniment.records.record import Kind, Namespace

CANDIDATES_MAX = 64
# A person's turn is far shorter; what is longer is pasted material.
READ_CHARS_MAX = 200_000
OUTSIDE = frozenset({EventKind.WEB, EventKind.MAIL, EventKind.DOCUMENT})

_READ = (
    frozenset({EventKind.USER, EventKind.ASSISTANT, EventKind.TOOL_RESULT, EventKind.FILE})
    | frozenset({EventKind.SYSTEM, EventKind.POLICY})
    | OUTSIDE
)
_HEAD_CHARS = 400


def extract(event: Event, catalogue: Catalogue, *, tz: tzinfo = UTC) -> list[Candidate]:
    """Return what the event states, as atomic candidates in the order said, at most 64.

    ``[]`` for a plain task, question or greeting, for prompt text and heartbeats, for events that
    are no statements (tool calls, approvals) and for our own block coming back; one candidate
    with `Claim.NOTHING` for something statement-like with nothing in it.  An administrator's
    text is one rule for each sentence, verbatim.  ``tz`` is the
    speaker's zone, for words such as "last week".  Deterministic and linear in the text; nothing
    here decides, and provenance is left to the gate.
    """
    if event.kind not in _READ or not event.text:
        return []
    text = readable(
        event.text[:READ_CHARS_MAX], code=event.kind in (EventKind.FILE, EventKind.TOOL_RESULT)
    )
    passage = Passage(text)
    if event.kind is EventKind.POLICY:
        return _distinct(decreed(passage, Reading(event, catalogue, tz)))
    if event.kind is EventKind.SYSTEM:
        return _distinct(_unheard(passage, Reading(event, catalogue, tz)))
    if says("prompt_text", passage.head(_HEAD_CHARS)):
        return []
    reading = Reading(event, catalogue, tz, _steering(event, passage))
    if event.kind in (EventKind.FILE, EventKind.TOOL_RESULT):
        found = observed(passage, reading)
    elif event.kind is EventKind.USER:
        found = _said(passage, reading)
    else:
        found = _claimed(passage, reading)
    return _distinct(found)


def _said(text: Passage, reading: Reading) -> list[Candidate]:
    found: list[Candidate] = []
    idle: Candidate | None = None
    slip = False
    for piece in text.sentences():
        made = read_sentence(piece, reading, slip=slip)
        slip = not made and says("own_mistake", piece.folded)
        if not made and found and says("anaphora", piece.folded):
            found[-1] = replace(found[-1], flags=found[-1].flags | {Flag.EXPLICIT})
        idle = idle or (None if made else small_talk(piece, reading))
        found += made
        if len(found) >= CANDIDATES_MAX:
            break
    return found or ([idle] if idle else [])


def _claimed(text: Passage, reading: Reading) -> list[Candidate]:
    """What an assistant, a page, a mail claims: only of the user, the project, or as an order."""
    found: list[Candidate] = []
    orders: list[Piece] = []
    for piece in text.sentences():
        if _no_claim(piece, reading):
            continue
        made = read_sentence(piece, reading)
        if not made and Flag.STEERING in reading.flags and says("steering", piece.folded):
            orders.append(piece)
        found += made
        if len(found) >= CANDIDATES_MAX:
            break
    if not found and orders:
        found = [_order(orders[0], reading)]
    return [_from_outside(c) for c in found] if reading.event.kind in OUTSIDE else found


def _unheard(text: Passage, reading: Reading) -> list[Candidate]:
    """What a system message says, so that the gate can say why it counts for nothing."""
    found = _claimed(text, reading)
    first = next(iter(text.sentences()), None)
    if found or first is None or says("greeting", first.folded):
        return found
    return [nothing(first, reading)]


def _no_claim(piece: Piece, reading: Reading) -> bool:
    folded = piece.folded
    if reading.event.kind is not EventKind.ASSISTANT:
        return False
    of_user = says("user_claim", folded)
    if says("acknowledgement", folded) or (says("suggestion", folded) and not of_user):
        return True
    # An assistant's "I" is not the user's.
    return says("first_person", folded) and not of_user


def _order(piece: Piece, reading: Reading) -> Candidate:
    return build(piece, reading, Kind.RULE)


def _from_outside(candidate: Candidate) -> Candidate:
    if candidate.claim is not Claim.WORLD:
        return candidate
    return replace(candidate, kind=Kind.EXTERNAL, namespace=Namespace.EXTERNAL)


def _steering(event: Event, text: Passage) -> frozenset[Flag]:
    """Text that was not said by the user and addresses assistants or later sessions."""
    if event.kind in (EventKind.USER, EventKind.ASSISTANT):
        return frozenset()
    hit = any(says("steering", piece.folded) for piece in text.sentences())
    return frozenset({Flag.STEERING}) if hit else frozenset()


def _distinct(found: list[Candidate]) -> list[Candidate]:
    def key(c: Candidate) -> tuple[object, ...]:
        words = str(c.value) if c.predicate else c.content
        return (c.subject, c.predicate, words, c.scope.key, c.condition.key, c.intent)

    return list({key(c): c for c in reversed(found)}.values())[::-1][:CANDIDATES_MAX]
