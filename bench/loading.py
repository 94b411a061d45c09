"""Filling a store through the public verbs, and making sure that it was filled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.figures import require
from bench.places import WHO
from bench.texts import Statement, joined
from muniment import Decision, Memory, Principal

PER_MESSAGE = 8


def inserted(decisions: Sequence[Decision], count: int = 1) -> None:
    """Each statement became an active record of its own, or there is nothing to measure."""
    outcome = [f"{d.action}/{d.reconcile} {','.join(d.reasons)}" for d in decisions]
    good = len(decisions) == count and all(
        d.action == "activate" and d.reconcile == "insert" for d in decisions
    )
    require(good, f"{count} new records expected, the gate gave {outcome}")


def load(
    memory: Memory,
    statements: Sequence[Statement],
    *,
    projects: Sequence[str] = ("workshop",),
    who: Principal = WHO,
) -> list[str]:
    """Remember statements, several to a message, in the projects by turns; where each was said."""
    places: list[str] = []
    for number, start in enumerate(range(0, len(statements), PER_MESSAGE)):
        part = statements[start : start + PER_MESSAGE]
        project = projects[number % len(projects)]
        said = memory.remember(joined(part), scope={"project": project}, principal=who)
        inserted(said, len(part))
        places += [project] * len(part)
    return places


def active_records(memory: Memory) -> int:
    """How many records of the tenant are in force."""
    return int(memory.doctor()["records"].get("active", 0))


def tenants(count: int) -> Iterable[Principal]:
    """Other tenants, each with a user of the same name."""
    return (Principal(tenant=f"tenant-{number}", user=WHO.user) for number in range(count))
