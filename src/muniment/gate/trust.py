"""Which evidence may cause what: the table of channels and events, as data.

Rows are classes of evidence, columns what the candidate is about (`semantics`: *What
`remember` makes of an event*).  Trust of several pieces of evidence is that of the weakest.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from pathlib import PurePosixPath

from muniment.events.event import Event, EventKind
from muniment.gate.candidate import Claim
from muniment.gate.decision import Action
from muniment.gate.reasons import Reason
from muniment.records.facts import Predicate
from muniment.records.record import Origin
from muniment.scope import Channel


class Source(IntEnum):
    """Classes of evidence, weakest first."""

    SYSTEM = 0
    MODEL = 1
    UNTRUSTED = 2  # web, mail, documents, search; anything nobody attests
    OBSERVED = 3  # tools and files
    FILE_OF_RECORD = 4  # the file that is authoritative for the predicate
    USER = 5
    CONFIRMED = 6
    POLICY = 7


ORIGIN = {
    Source.SYSTEM: Origin.MODEL_INFERRED,
    Source.MODEL: Origin.MODEL_INFERRED,
    Source.UNTRUSTED: Origin.TOOL_OBSERVED,
    Source.OBSERVED: Origin.TOOL_OBSERVED,
    Source.FILE_OF_RECORD: Origin.TOOL_OBSERVED,
    Source.USER: Origin.USER_STATED,
    Source.CONFIRMED: Origin.USER_CONFIRMED,
    Source.POLICY: Origin.ADMIN_POLICY,
}

#: How a source shows among the reasons of what it activates.
STANDING = {
    Source.OBSERVED: Reason.ORIGIN_OBSERVED,
    Source.FILE_OF_RECORD: Reason.ORIGIN_FILE,
    Source.USER: Reason.ORIGIN_STATED,
    Source.CONFIRMED: Reason.ORIGIN_CONFIRMED,
    Source.POLICY: Reason.ORIGIN_POLICY,
}

_ALLOW = (Action.ACTIVATE, None)
_W, _U, _R = Claim.WORLD, Claim.USER, Claim.RULE

#: (source, claim) -> what becomes of it, and the reason where it is not activated.
TABLE: dict[tuple[Source, Claim], tuple[Action, Reason | None]] = {
    **{(s, c): _ALLOW for s in (Source.USER, Source.CONFIRMED, Source.POLICY) for c in Claim},
    (Source.FILE_OF_RECORD, _W): _ALLOW,
    (Source.FILE_OF_RECORD, _U): (Action.REFUSE, Reason.REACHES_UP),
    (Source.FILE_OF_RECORD, _R): (Action.HOLD, Reason.UNTRUSTED),
    (Source.OBSERVED, _W): _ALLOW,
    (Source.OBSERVED, _U): (Action.HOLD, Reason.OBSERVED_PERSON),
    (Source.OBSERVED, _R): (Action.REFUSE, Reason.REACHES_UP),
    (Source.UNTRUSTED, _W): (Action.HOLD, Reason.UNTRUSTED),
    (Source.UNTRUSTED, _U): (Action.REFUSE, Reason.REACHES_UP),
    (Source.UNTRUSTED, _R): (Action.REFUSE, Reason.REACHES_UP),
    **{(Source.MODEL, c): (Action.HOLD, Reason.ORIGIN_INFERRED) for c in (_W, _U, _R)},
    **{(Source.SYSTEM, c): (Action.IGNORE, Reason.ORIGIN_SYSTEM) for c in Claim},
}

_KINDS = {
    EventKind.USER: Source.USER,
    EventKind.REVISION: Source.USER,
    EventKind.CONFIRMATION: Source.CONFIRMED,
    EventKind.APPROVAL: Source.CONFIRMED,
    EventKind.POLICY: Source.POLICY,
    EventKind.ASSISTANT: Source.MODEL,
    EventKind.SYSTEM: Source.SYSTEM,
    EventKind.WEB: Source.UNTRUSTED,
    EventKind.MAIL: Source.UNTRUSTED,
    EventKind.DOCUMENT: Source.UNTRUSTED,
    EventKind.FILE: Source.OBSERVED,
    EventKind.TOOL_RESULT: Source.OBSERVED,
    EventKind.SIDE_EFFECT: Source.OBSERVED,
    EventKind.TOOL_CALL: Source.MODEL,
}


def source_of(event: Event, predicate: Predicate | None) -> Source:
    """The class of one piece of evidence."""
    source = _KINDS[event.kind]
    if not event.attested:
        personal = source in (Source.USER, Source.CONFIRMED, Source.POLICY)
        if event.channel is Channel.IMPORT:
            return min(source, Source.OBSERVED) if personal else source
        return min(source, Source.UNTRUSTED)
    if event.kind is EventKind.FILE and predicate and of_record(event.path, predicate):
        return Source.FILE_OF_RECORD
    return source


def of_record(path: str | None, predicate: Predicate) -> bool:
    """Whether that path, inside the repository, is authoritative for the predicate."""
    if not path:
        return False
    pure = PurePosixPath(path.replace("\\", "/"))
    inside = not pure.is_absolute() and ".." not in pure.parts and ":" not in pure.parts[0]
    return inside and any(pure.match(name) for name in predicate.files)


def weakest(evidence: Sequence[Event], predicate: Predicate | None) -> Source:
    """The standing of all evidence together.

    A confirmation stands for itself: the person who answered vouches for what the question
    showed, so older and weaker evidence beside it no longer drags it down.
    """
    sources = [source_of(e, predicate) for e in evidence]
    vouched = [s for s in sources if s >= Source.CONFIRMED]
    return max(vouched) if vouched else min(sources)


def cap(source: Source, channel: Channel) -> Source:
    """What the proposing channel can cause at most."""
    if channel is Channel.AGENT:
        return min(source, Source.MODEL) if source >= Source.USER else min(source, Source.UNTRUSTED)
    return source
