"""Bringing rows in line with the clock; readers have compared the times all along."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from muniment.gate.unit import Unit
from muniment.records.record import Record, Status
from muniment.records.table import Filter


def expire_due(unit: Unit, now: datetime) -> int:
    """Active records whose time is over become `expired`."""
    due = unit.records.find(Filter(statuses=[Status.ACTIVE], expiring_before=now))
    for record in due:
        moved = replace(record, status=Status.EXPIRED, updated_at=now)
        unit.records.move(moved, "expired", now)
        unit.ledger.reindex("record", [record.id], now)
    return len(due)


def promote_due(unit: Unit, now: datetime) -> int:
    """Scheduled records whose time has come become `active`; those they follow, `superseded`."""
    due = [r for r in unit.records.find(Filter(statuses=[Status.SCHEDULED])) if r.valid_from <= now]
    for record in due:
        promote(unit, record, now)
    return len(due)


def promote(unit: Unit, record: Record, now: datetime) -> None:
    """Make one scheduled record current."""
    if record.supersedes is not None:
        for old in unit.records.get([record.supersedes]):
            if old.status is Status.ACTIVE:
                moved = replace(
                    old, status=Status.SUPERSEDED, valid_to=record.valid_from, updated_at=now
                )
                unit.records.move(moved, "superseded", now)
                unit.ledger.reindex("record", [old.id], now)
    unit.records.move(replace(record, status=Status.ACTIVE, updated_at=now), "promoted", now)
    unit.ledger.reindex("record", [record.id], now)
