"""Thread state: commit a step, read it back, look at its history, and the whole of threads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from muniment.errors import Conflict, InvalidInput, NotFound
from muniment.events.log import Thread
from muniment.events.message import Message
from muniment.ids import ThreadId
from muniment.scope import Principal, Scope
from muniment.secrets import TooLarge, redact_json
from muniment.text import check_id
from muniment.threads import checkpoint as points
from muniment.threads.checkpoint import Checkpoint, CheckpointInfo, Section
from muniment.threads.history import STATE, section_of, sections_of
from muniment.threads.large import blob_digest, named, outlined
from muniment.threads.ledger import canonical
from muniment.threads.ports import ThreadUnit
from muniment.threads.state import (
    STATE_BYTES_MAX,
    Difference,
    State,
    check_plan,
    differences,
    merged,
    parse,
    rewires,
)
from muniment.verbs.appending import append_in, find_thread, open_thread
from muniment.verbs.parts import Parts
from muniment.verbs.remembering import replay_key

HISTORY_MAX = 1000


@dataclass(frozen=True, slots=True)
class Where:
    """Whose thread, which, and in what scope."""

    principal: Principal
    label: str | None
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class At:
    """Which step of the agent's own loop a checkpoint belongs to."""

    run: str | None = None
    turn: str | None = None
    step: str | None = None

    @classmethod
    def of(cls, run: object, turn: object, step: object) -> At:
        """Checked ids; numbers are taken as texts."""
        return cls(*(_position(v, n) for v, n in ((run, "run"), (turn, "turn"), (step, "step"))))


def _position(value: object, name: str) -> str | None:
    if value is None:
        return None
    return check_id(str(value) if isinstance(value, int) else value, name=name)


@dataclass(frozen=True, slots=True)
class Commit:
    """One step to commit: what changed, the messages said in it, and where the agent stands."""

    changes: Mapping[str, Any]
    messages: Sequence[Message] = ()
    opaque: Mapping[str, tuple[str, bytes] | None] | None = None
    at: At = At()
    if_version: int | None = None
    key: str | None = None


# ---------------------------------------------------------------- committing


def checkpoint(parts: Parts, where: Where, commit: Commit) -> CheckpointInfo:
    """Commit a step: its messages and the next version of the state, all of it or nothing."""
    now = parts.now()
    change = _screened(parts, where.principal, parse(commit.changes, now))
    asked = [where.label, change, [m.text for m in commit.messages], commit.if_version]

    def work(unit: ThreadUnit) -> CheckpointInfo:
        if commit.key is None:
            return _commit(parts, unit, where, commit, change, now)
        key, digest = replay_key(unit, where.principal, commit.key, "checkpoint", asked)
        first = unit.ledger.replayed(key, "checkpoint", digest)
        if first is not None:
            return _again(unit, _readable(parts, unit, where), int(first))
        made = _commit(parts, unit, where, commit, change, now)
        unit.ledger.remember_answer(key, "checkpoint", digest, made.version, now)
        return made

    return parts.write(where.principal, work, adds=len(commit.messages))


def _commit(
    parts: Parts, unit: ThreadUnit, where: Where, commit: Commit, change: State, now: datetime
) -> CheckpointInfo:
    thread = open_thread(parts, unit, where.principal, where.label, where.scope)
    if commit.if_version not in (None, thread.version):
        raise Conflict(
            "thread.stale", f"the thread is at version {thread.version}; read it again, then decide"
        )
    through = thread.length
    if commit.messages:
        events = append_in(parts, unit, where.principal, commit.messages, thread.id, None)
        through = max(through, *(e.seq for e in events))
    change = _kept_apart(unit, thread, change, commit.opaque)
    return _forward(parts, unit, where.principal, thread, change, through, commit.at, now)


def _forward(
    parts: Parts,
    unit: ThreadUnit,
    principal: Principal,
    thread: Thread,
    change: State,
    through: int,
    at: At,
    now: datetime,
) -> CheckpointInfo:
    """The next version of a thread's state."""
    outline = {s.name: s for s in _outline(unit, thread, change)}
    changed, gone = _merged(unit, thread, outline, change)
    kept = {n: s for n, s in outline.items() if n not in gone} | {s.name: s for s in changed}
    size = sum(s.size for s in kept.values())
    if size > STATE_BYTES_MAX:
        raise InvalidInput("state.too_large", f"a state is at most {STATE_BYTES_MAX // 2**20} MB")
    version = thread.version + 1
    said = canonical(change)
    last = unit.checkpoints.outline(thread.id, 1)
    tail = (last[0].tail if last else 0) + len(said)
    whole = version == 1 or points.is_whole(tail, size)
    seals = {n: s.digest for n, s in kept.items()}
    step = CheckpointInfo(
        version=version,
        at=now,
        through=through,
        whole=whole,
        digest=points.state_digest(unit, thread.id, version, through, seals),
        size=size,
        tail=0 if whole else tail,
        data=change,
        run=at.run,
        turn=at.turn,
        step=at.step,
    )
    if whole:
        step = _with_whole(unit, thread, step, kept)
    unit.checkpoints.put(thread, step, changed, gone)
    parts.audit(
        unit, principal, "checkpoint", thread=thread.id, version=version, digest=step.digest
    )
    return replace(step, data={})


def _outline(unit: ThreadUnit, thread: Thread, change: Mapping[str, Any]) -> list[Section]:
    """The newest state's seals, and the sections that change with their data, which must be what
    was sealed."""
    found = unit.checkpoints.sections(thread.id, change)
    if all(s.data is None or _intact(unit, thread.id, s) for s in found):
        return found
    return sections_of(unit, thread.id, _replay(unit, thread, thread.version)[1])


def _intact(unit: ThreadUnit, thread: str, section: Section) -> bool:
    data = section.data or ""
    return points.section_digest(unit, thread, section.name, data) == section.digest


def _merged(
    unit: ThreadUnit, thread: Thread, outline: Mapping[str, Section], change: Mapping[str, Any]
) -> tuple[list[Section], list[str]]:
    """The sections a change leaves different, and those it leaves empty."""
    changed, gone = [], []
    for name, value in change.items():
        before = outline.get(name)
        old = json.loads(before.data) if before is not None and before.data else None
        new = merged(name, old, value)
        if name == "plan" and rewires(value):
            check_plan(new)
        if new is None:
            gone += [name] if before is not None else []
        elif new != old:
            changed.append(section_of(unit, thread.id, name, new))
    return changed, gone


def _with_whole(
    unit: ThreadUnit, thread: Thread, step: CheckpointInfo, kept: Mapping[str, Section]
) -> CheckpointInfo:
    """The same step, keeping the whole state."""
    missing = [n for n, s in kept.items() if s.data is None]
    read = {s.name: s for s in unit.checkpoints.sections(thread.id, missing)} if missing else {}
    data = {n: json.loads((s.data or read[n].data) or "null") for n, s in kept.items()}
    return replace(step, data=data)


def _screened(parts: Parts, principal: Principal, change: State) -> State:
    """Without secrets: what a state says is stored as long as an event is."""
    digest = parts.digester(principal.tenant).digest
    try:
        shown, _ = redact_json(change, lambda secret: digest("secret", secret)[:8])
    except TooLarge:
        raise InvalidInput(
            "state.invalid", "checkpoint: the data is too deep or too wide"
        ) from None
    return dict(shown)


def _kept_apart(
    unit: ThreadUnit,
    thread: Thread,
    change: State,
    opaque: Mapping[str, tuple[str, bytes] | None] | None,
) -> State:
    """Large values and other programs' data as blobs, named in the state."""

    def keep(kind: str, data: bytes) -> str:
        digest = blob_digest(unit, kind, data)
        unit.blobs.keep(digest, kind, data, thread.id, STATE)
        return digest

    out = {
        name: [outlined(item, keep) for item in value] if isinstance(value, list) else value
        for name, value in change.items()
    }
    if isinstance(out.get("data"), dict):
        out["data"] = outlined(out["data"], keep)
    if opaque:
        out["opaque"] = {n: None if b is None else named(*b, keep) for n, b in opaque.items()}
    return out


def _again(unit: ThreadUnit, thread: Thread, version: int) -> CheckpointInfo:
    found = unit.checkpoints.step(thread.id, version)
    if found is None:
        raise NotFound("checkpoint.not_found", "that call was answered, but its version is pruned")
    return replace(found, data={})


# ---------------------------------------------------------------- reading


def _readable(parts: Parts, unit: ThreadUnit, where: Where) -> Thread:
    return find_thread(parts, unit, where.principal, where.label, where.scope)


def state(parts: Parts, where: Where, at: int | None) -> Checkpoint:
    """The state of a thread, now or at an earlier version."""

    def work(unit: ThreadUnit) -> Checkpoint:
        thread = _readable(parts, unit, where)
        return newest(unit, thread) if at is None else at_version(unit, thread, at)

    return parts.read(where.principal, work)


def newest(unit: ThreadUnit, thread: Thread) -> Checkpoint:
    """The newest state: a few rows, whatever the number of steps."""
    last = unit.checkpoints.outline(thread.id, 1)
    if not last:
        return Checkpoint(thread.id, 0, thread.created_at, {}, 0, 0)
    found = unit.checkpoints.sections(thread.id)
    seals = {s.name: s.digest for s in found}
    step = last[0]
    whole = points.state_digest(unit, thread.id, step.version, step.through, seals) == step.digest
    if whole and all(_intact(unit, thread.id, s) for s in found):
        return _shown(thread.id, step, {s.name: json.loads(s.data or "null") for s in found})
    return _shown(thread.id, *_replay(unit, thread, thread.version))


def at_version(unit: ThreadUnit, thread: Thread, version: int) -> Checkpoint:
    """The state of one version, from what changed since the last whole one."""
    if version == thread.version:
        return newest(unit, thread)
    return _shown(thread.id, *_replay(unit, thread, version))


def _replay(unit: ThreadUnit, thread: Thread, version: int) -> tuple[CheckpointInfo, State]:
    """A version from the checkpoints; raises `NotFound` or ``checkpoint.corrupted``."""
    steps = unit.checkpoints.steps(thread.id, version)
    if not steps or steps[-1].version != version:
        raise NotFound("checkpoint.not_found", "no such version of that thread; see its history")
    try:
        found = points.replayed(steps) if steps[0].whole else {}
        good = points.sealed(unit, thread.id, steps[-1], found, canonical)
    except (TypeError, KeyError, AttributeError, ValueError):
        good, found = False, {}
    if not good:
        raise points.corrupted(thread.id, version, _last_good(unit, thread.id, version))
    return steps[-1], found


def _last_good(unit: ThreadUnit, thread: ThreadId, version: int) -> int | None:
    steps = [s for s in unit.checkpoints.steps(thread) if s.version < version]
    return points.last_good(
        steps, lambda step, found: points.sealed(unit, thread, step, found, canonical)
    )


def _shown(thread: ThreadId, step: CheckpointInfo, found: Mapping[str, Any]) -> Checkpoint:
    return Checkpoint(
        thread=thread,
        version=step.version,
        at=step.at,
        state=found,
        through=step.through,
        size=step.size,
        parent=step.parent,
        run=step.run,
        turn=step.turn,
        step=step.step,
    )


def history(parts: Parts, where: Where, limit: object, before: int | None) -> list[CheckpointInfo]:
    """The checkpoints of a thread, newest first, without their data."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= HISTORY_MAX:
        raise InvalidInput("limit.invalid", f"limit: a whole number from 1 to {HISTORY_MAX}")

    def work(unit: ThreadUnit) -> list[CheckpointInfo]:
        thread = _readable(parts, unit, where)
        return unit.checkpoints.outline(thread.id, limit, before)

    return parts.read(where.principal, work)


def diff(parts: Parts, where: Where, before: int, after: int | None) -> list[Difference]:
    """What two versions say differently; without ``after``, the newest."""

    def work(unit: ThreadUnit) -> list[Difference]:
        thread = _readable(parts, unit, where)
        old: Mapping[str, Any] = {} if before == 0 else at_version(unit, thread, before).state
        new = newest(unit, thread) if after is None else at_version(unit, thread, after)
        return differences(old, new.state)

    return parts.read(where.principal, work)


def blob(parts: Parts, where: Where, digest: str) -> tuple[str, bytes]:
    """Type and bytes of a large value the thread uses."""

    def work(unit: ThreadUnit) -> tuple[str, bytes]:
        thread = _readable(parts, unit, where)
        found = unit.blobs.get(thread.id, check_id(digest, name="digest"))
        if found is None:
            raise NotFound("blob.not_found", "no such value in that thread")
        return found

    return parts.read(where.principal, work)
