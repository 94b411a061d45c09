"""Writing the history of a thread's state: sections, seals, a new beginning, the end of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from muniment.gate.keys import Digester
from muniment.ids import ThreadId
from muniment.threads import checkpoint as points
from muniment.threads.checkpoint import Checkpoint, CheckpointInfo, Section
from muniment.threads.large import digests
from muniment.threads.ledger import canonical
from muniment.threads.ports import ThreadUnit

STATE = "state"  # the use of a blob by the checkpoints of a thread


def section_of(keys: Digester, thread: str, name: str, value: Any) -> Section:
    """A section as it is kept."""
    data = canonical(value)
    seal = points.section_digest(keys, thread, name, data)
    return Section(name, seal, len(data.encode()), data)


def sections_of(keys: Digester, thread: str, state: Mapping[str, Any]) -> list[Section]:
    """A state as it is kept."""
    return [section_of(keys, thread, name, value) for name, value in state.items()]


def seal(keys: Digester, thread: str, info: CheckpointInfo, state: Mapping[str, Any]) -> str:
    """The digest a checkpoint of that state has."""
    seals = {s.name: s.digest for s in sections_of(keys, thread, state)}
    return points.state_digest(keys, thread, info.version, info.through, seals)


def begin_anew(
    unit: ThreadUnit,
    thread: ThreadId,
    state: Mapping[str, Any],
    like: Checkpoint,
    *,
    version: int,
    at: datetime | None = None,
    parent: str | None = None,
) -> CheckpointInfo:
    """A history of one whole checkpoint in the place of whatever there is."""
    sections = sections_of(unit, thread, state)
    info = CheckpointInfo(
        version=version,
        at=at or like.at,
        through=0 if parent else like.through,
        whole=True,
        digest="",
        size=sum(s.size for s in sections),
        tail=0,
        data=state,
        parent=parent or like.parent,
        run=like.run,
        turn=like.turn,
        step=like.step,
    )
    info = replace(info, digest=seal(unit, thread, info, state))
    unit.checkpoints.replace(thread, [info], sections)
    unit.blobs.release([thread], STATE, but=list(digests(state)))
    return info


def end(unit: ThreadUnit, threads: Sequence[ThreadId]) -> dict[str, int]:
    """Remove the short-term state of threads; how much of each kind."""
    return {
        "checkpoints": unit.checkpoints.clear(threads),
        "calls": unit.calls.clear(threads),
        "approvals": unit.approvals.clear(threads),
        "summaries": unit.summaries.clear(threads),
        "blobs": unit.blobs.release(threads),
    }
