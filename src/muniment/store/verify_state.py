"""Walk the checkpoints of a tenant's threads against the trail, and newest states against them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from muniment.gate.keys import Digester
from muniment.store.checkpoint_table import SqlCheckpointTable
from muniment.threads import checkpoint as points
from muniment.threads.checkpoint import CheckpointInfo
from muniment.threads.history import section_of
from muniment.threads.state import State, applied, migrated


@dataclass(slots=True)
class ToldState:
    """What the decision lane says of the states of threads.

    ``begun_anew`` are threads whose history was cut, so that earlier versions may be missing.
    """

    seals: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    begun_anew: set[str] = field(default_factory=set)

    def hear(self, action: str, entry: Mapping[str, Any]) -> None:
        """Take in one entry."""
        if action in ("checkpoint", "thread_fork", "thread_copy"):
            self.seals[entry["thread"]][int(entry["version"])] = entry["digest"]
            if action == "thread_copy":
                self.begun_anew.add(entry["thread"])
        elif action == "thread_prune":
            self.begun_anew.add(entry["thread"])
        elif action == "thread_delete":
            self.seals.pop(entry["thread"], None)
        elif action == "erase":
            for thread in entry.get("threads", ()):
                self.seals.pop(thread, None)
                self.begun_anew.add(thread)
            for thread, (version, digest) in entry.get("states", {}).items():
                self.seals[thread] = {int(version): digest}


class Misfit(Exception):
    """The first row that does not fit: table, row, why."""


def check_states(
    conn: Connection, tenant: str, keys: Digester, told: ToldState, threads: Sequence[Any]
) -> int:
    """How many checkpoints were checked; raises `Misfit`."""
    table = SqlCheckpointTable(conn, tenant, conn.dialect.name)
    return sum(_check_thread(table, keys, told, thread) for thread in threads)


def _check_thread(table: SqlCheckpointTable, keys: Digester, told: ToldState, thread: Any) -> int:
    steps, seals = table.steps(thread.id), dict(told.seals.get(thread.id, {}))
    last = steps[-1].version if steps else 0
    if last != thread.version or last < max(seals, default=0):
        raise Misfit("checkpoints", f"{thread.id}@{last + 1}", "a version is missing at the end")
    if steps and not (steps[0].whole and (steps[0].version == 1 or thread.id in told.begun_anew)):
        raise Misfit(
            "checkpoints", f"{thread.id}@{steps[0].version}", "the versions before are gone"
        )
    state: State = {}
    sealed: dict[str, str] = {}
    for number, step in enumerate(steps, steps[0].version if steps else 1):
        name = f"{thread.id}@{step.version}"
        if step.version != number:
            raise Misfit("checkpoints", f"{thread.id}@{number}", "a version is missing")
        if seals.get(step.version, step.digest) != step.digest:
            raise Misfit("checkpoints", name, "the seal is not the one in the trail")
        state, sealed = _next(keys, thread.id, step, state, sealed)
        digest = points.state_digest(keys, thread.id, step.version, step.through, sealed)
        if digest != step.digest:
            raise Misfit("checkpoints", name, "the state was changed")
    kept = {s.name: section_of_data(keys, thread.id, s) for s in table.sections(thread.id)}
    if kept != sealed:
        raise Misfit("thread_state", thread.id, "the newest state is not that of its checkpoints")
    return len(steps)


def section_of_data(keys: Digester, thread: str, section: Any) -> str:
    """The seal of what is stored, whatever seal stands beside it."""
    return points.section_digest(keys, thread, section.name, section.data or "")


def _next(
    keys: Digester, thread: str, step: CheckpointInfo, state: State, sealed: dict[str, str]
) -> tuple[State, dict[str, str]]:
    """The state after a step with the seals of its sections, those that changed read again."""
    try:
        data = migrated(dict(step.data), step.format)
        new = data if step.whole else applied(state, data)
    except (TypeError, KeyError, AttributeError, ValueError):
        raise Misfit(
            "checkpoints", f"{thread}@{step.version}", "the change is not one any more"
        ) from None
    seals = {
        name: sealed[name]
        if name in sealed and state.get(name) == value
        else section_of(keys, thread, name, value).digest
        for name, value in new.items()
    }
    return new, seals
