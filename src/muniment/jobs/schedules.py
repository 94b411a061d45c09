"""What jobs do with the clock: they only tidy."""

from __future__ import annotations

from datetime import datetime, timedelta

from muniment.gate import standing
from muniment.gate.unit import Unit
from muniment.records.record import Status
from muniment.records.table import Filter

#: How long an answer given under an idempotency key is kept for replays.
REPLAYS_KEPT = timedelta(days=30)


def tidy(unit: Unit, now: datetime) -> dict[str, int]:
    """Lapse, expire, promote, forget old replays; how many of each."""
    expiring = unit.records.find(
        Filter(statuses=[Status.ACTIVE, Status.SCHEDULED], expiring_before=now)
    )
    scheduled = unit.records.find(Filter(statuses=[Status.SCHEDULED]))
    records = {r.id: r for r in (*expiring, *scheduled)}
    expired, promoted = standing.bring_up_to_date(unit, list(records.values()), now)
    return {
        "lapsed": len(unit.candidates.lapse(now)),
        "expired": expired,
        "promoted": promoted,
        "replays_forgotten": unit.ledger.forget_answers(now - REPLAYS_KEPT),
    }
