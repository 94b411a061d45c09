"""Handoff packets: made of a thread, and received without believing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from muniment.errors import InvalidInput, NotFound
from muniment.events.event import Event
from muniment.events.log import Thread
from muniment.scope import Principal
from muniment.threads.handoff import (
    CARRIED,
    Packet,
    Received,
    examine,
    foreign,
    pack,
    read_packet,
)
from muniment.threads.ports import ThreadUnit
from muniment.verbs.appending import own_thread
from muniment.verbs.briefing import brief_in, opened, readable
from muniment.verbs.checkpointing import Where
from muniment.verbs.parts import Parts
from muniment.verbs.reading import audited


def handoff(parts: Parts, where: Where) -> Packet:
    """The packet of a thread as it stands now."""

    def work(unit: ThreadUnit) -> Packet:
        return _packed(parts, unit, where.principal, opened(parts, unit, where))

    packet = parts.read(where.principal, work)
    audited(parts, where.principal, "handoff", [packet.thread])
    return packet


def receive(parts: Parts, principal: Principal, value: object) -> Received:
    """Hold a packet against the store: seals, sources, access, and whether it is still so.

    Nothing is written but the note of the read; no record comes of it and no trust is gained.
    """
    packet = read_packet(value)

    def work(unit: ThreadUnit) -> Received:
        try:
            thread = own_thread(unit, principal, packet.thread)
        except (NotFound, InvalidInput):  # absent, deleted and somebody else's look the same
            return foreign(packet)

        def events(ids: Sequence[str]) -> Mapping[str, Event]:
            return readable(unit, principal, ids)

        return examine(packet, _packed(parts, unit, principal, thread), events, unit)

    received = parts.read(principal, work)
    known = received.current_version is not None
    audited(parts, principal, "receive", [packet.thread] if known else [])
    return received


def _packed(parts: Parts, unit: ThreadUnit, principal: Principal, thread: Thread) -> Packet:
    brief = brief_in(parts, unit, thread)
    cited = [i for section in CARRIED for item in brief.of(section) for i in item.evidence]
    events = readable(unit, principal, cited)
    return pack(brief, events, thread=thread.id, at=parts.now(), keys=unit)
