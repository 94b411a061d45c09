"""A record that stays when one of its sources is erased: its words come from what survives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from muniment.events.event import Event
from muniment.gate.keys import title_digest
from muniment.gate.unit import Unit
from muniment.records.facts import Catalogue, Predicate
from muniment.records.record import Record, Version


def reword(unit: Unit, record: Record, catalogue: Catalogue, now: datetime) -> dict[str, str]:
    """Rebuild content, value and source of every version from surviving evidence.

    A version whose words stand in a surviving event stays as it is; another is rendered anew
    from the predicate's template and canonical value.  Returns the new titles, by
    ``record/version``.
    """
    survivors = [e for e in unit.events.get(record.evidence) if not e.erased]
    predicate = catalogue.get(record.predicate)
    versions = [_rebuilt(v, survivors, predicate) for v in unit.records.versions(record.id)]
    record = replace(record, source=_source(record, survivors), updated_at=now)
    unit.records.reword(record, versions)
    return {
        f"{record.id}/{v.version}": title_digest(
            unit,
            replace(record, version=v.version, content=v.content, value=v.value, origin=v.origin),
        )
        for v in versions
    }


def _rebuilt(version: Version, survivors: Sequence[Event], predicate: Predicate | None) -> Version:
    words = version.content or ""
    if any(words in (e.text or "") for e in survivors):
        return version
    if predicate is not None and version.value is not None:
        value = predicate.canonical(version.value)
        return replace(
            version, value=value, content=predicate.render(value, version.language), tags=()
        )
    latest = max(survivors, key=lambda e: (e.said_at, e.seq), default=None)
    return replace(version, content=latest.text if latest else None, tags=())


def _source(record: Record, survivors: Sequence[Event]) -> dict[str, object]:
    """The latest surviving event, by ids only; a span would point into other words."""
    if any(e.id == record.source.get("event") for e in survivors):
        return dict(record.source)
    latest = max(survivors, key=lambda e: (e.said_at, e.seq), default=None)
    if latest is None:
        return {}
    return {
        "thread": latest.thread,
        "event": latest.id,
        "seq": latest.seq,
        "kind": latest.kind.value,
    }
