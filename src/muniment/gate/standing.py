"""Bringing the standing of records in line with the clock.

Readers compare the times themselves; writers do it here before they decide, and jobs tidy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from muniment.gate.unit import Unit
from muniment.records.record import Record, Status
from muniment.records.table import Filter


def due(records: Sequence[Record], now: datetime) -> bool:
    """Whether any of them has outlived its standing."""
    return any(_expired(r, now) or _due_to_start(r, now) for r in records)


def bring_up_to_date(unit: Unit, records: Sequence[Record], now: datetime) -> tuple[int, int]:
    """Expire and promote among these; how many of each."""
    expired = [r for r in records if _expired(r, now)]
    for record in expired:
        _move(unit, replace(record, status=Status.EXPIRED, updated_at=now), "expired", now)
    starting = sorted(
        (r for r in records if _due_to_start(r, now)), key=lambda r: (r.valid_from, r.said_at)
    )
    for record in starting:
        _promote(unit, record, now)
    return len(expired), len(starting)


def reopen(unit: Unit, gone: Record, now: datetime) -> None:
    """What was scheduled will not come: the record it was to follow goes on."""
    if gone.status is not Status.SCHEDULED or gone.supersedes is None:
        return
    for old in unit.records.get([gone.supersedes]):
        if old.status is Status.ACTIVE and old.valid_to == gone.valid_from:
            _move(unit, replace(old, valid_to=None, updated_at=now), "reopened", now)


def _expired(record: Record, now: datetime) -> bool:
    ended = record.expires_at is not None and record.expires_at <= now
    return record.status in (Status.ACTIVE, Status.SCHEDULED) and ended


def _due_to_start(record: Record, now: datetime) -> bool:
    return record.status is Status.SCHEDULED and record.valid_from <= now


def _promote(unit: Unit, record: Record, now: datetime) -> None:
    """Make a scheduled record current, and whatever held its place until then superseded."""
    for old in _holders(unit, record):
        end = max(record.valid_from, old.valid_from)
        closed = replace(old, status=Status.SUPERSEDED, valid_to=end, updated_at=now)
        _move(unit, closed, "superseded", now)
    _move(unit, replace(record, status=Status.ACTIVE, updated_at=now), "promoted", now)


def _holders(unit: Unit, record: Record) -> list[Record]:
    if record.predicate is None or not record.single:
        return [
            r
            for r in unit.records.get([record.supersedes] if record.supersedes else [])
            if r.status is Status.ACTIVE
        ]
    return unit.records.find(
        Filter(
            scope_keys=[record.scope.key],
            subject=record.subject,
            predicate=record.predicate,
            condition_key=record.condition.key,
            statuses=[Status.ACTIVE],
        )
    )


def _move(unit: Unit, record: Record, cause: str, now: datetime) -> None:
    unit.records.move(record, cause, now)
    unit.ledger.reindex("record", [record.id], now)
