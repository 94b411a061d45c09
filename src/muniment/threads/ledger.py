"""Calls of tools with side effects: each under a key, so that it happens once.

A worker *begins* a call, runs the tool, and *settles* the call as done or failed.  Whoever comes
with the same key later gets the recorded outcome.  If the worker dies in between, nobody knows
whether the side effect happened: the call is *unknown*, to be observed, and is run again only by
somebody who says so.  Pure: the time and what is there come from outside.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from muniment.errors import Conflict, InvalidInput
from muniment.gate.keys import Digester

LEASE = timedelta(minutes=5)  # how long a call may run before its worker is taken for dead
LEASE_MAX = timedelta(days=7)


class CallStatus(StrEnum):
    """What is known of a call.  Stored are only the first three."""

    BEGUN = "begun"  # from `begin`: yours to run, now
    DONE = "done"
    FAILED = "failed"
    RUNNING = "running"  # begun elsewhere, under a lease that still runs
    UNKNOWN = "unknown"  # begun, and nobody holds it: observe, then settle or retry


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a thread under its key.

    ``args_digest`` is a keyed digest: arguments themselves are never stored.  ``observe`` says
    how to find out whether the side effect happened; ``attempt`` counts from 1.
    """

    thread: str
    key: str
    name: str
    args_digest: str
    status: CallStatus
    attempt: int
    worker: str
    lease_until: datetime
    begun_at: datetime
    finished_at: datetime | None = None
    result: Any = None
    error: str | None = None
    observe: str | None = None
    run: str | None = None
    turn: str | None = None
    step: str | None = None

    @property
    def settled(self) -> bool:
        """Whether its outcome is recorded."""
        return self.status in (CallStatus.DONE, CallStatus.FAILED)

    @property
    def to_run(self) -> bool:
        """Whether the tool is to be run now, by whoever got this from `begin`."""
        return self.status is CallStatus.BEGUN

    def seal(self, keys: Digester) -> str:
        """A keyed digest of all of it, kept in the trail, against which `verify` checks the row."""
        words = canonical([self.thread, *self.to_dict().values(), self.args_digest])
        return keys.digest("tool-call", words)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "key": self.key,
            "name": self.name,
            "status": self.status.value,
            "attempt": self.attempt,
            "worker": self.worker,
            "begun_at": self.begun_at.isoformat(),
            "lease_until": self.lease_until.isoformat(),
            "finished_at": None if self.finished_at is None else self.finished_at.isoformat(),
            "result": self.result,
            "error": self.error,
            "observe": self.observe,
            **{"run": self.run, "turn": self.turn, "step": self.step},
        }


@dataclass(frozen=True, slots=True)
class Worker:
    """Who runs a call.  A ``named`` worker that comes back has been away: what it had begun and
    not settled is unknown at once.  One without a name of its own is new at every start, so
    what it finds begun under its own mark is running in this very process."""

    name: str
    named: bool = True


@dataclass(frozen=True, slots=True)
class Request:
    """What `begin` is asked for."""

    thread: str
    key: str
    name: str
    args_digest: str
    worker: Worker
    lease: timedelta = LEASE
    observe: str | None = None
    retry: bool = False
    run: str | None = None
    turn: str | None = None
    step: str | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """The answer of `begin`: the call as its caller is to see it, and whether to write it."""

    call: ToolCall
    write: bool


def begin(existing: ToolCall | None, request: Request, now: datetime) -> Begun:
    """What becomes of a request to run a tool, given what the ledger has under its key.

    Raises `Conflict` ``tool.key_reused`` where the key stands for another tool or other arguments.
    """
    if existing is None:
        return Begun(_begun(request, now, attempt=1), write=True)
    if (existing.name, existing.args_digest) != (request.name, request.args_digest):
        raise Conflict(
            "tool.key_reused", "that key stands for another tool or other arguments; use a new key"
        )
    seen = as_seen(existing, now, request.worker)
    again = request.retry and seen.status in (CallStatus.UNKNOWN, CallStatus.FAILED)
    if not again:
        return Begun(seen, write=False)
    call = _begun(request, now, attempt=existing.attempt + 1)
    return Begun(replace(call, observe=request.observe or existing.observe), write=True)


def as_seen(call: ToolCall, now: datetime, worker: Worker | None = None) -> ToolCall:
    """A stored call as it stands now, for one who is not running it."""
    if call.settled:
        return call
    back = worker is not None and worker.named and worker.name == call.worker
    gone = back or call.lease_until <= now
    return replace(call, status=CallStatus.UNKNOWN if gone else CallStatus.RUNNING)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call: ``done`` with a result, or ``failed`` with an error."""

    status: CallStatus
    result: Any = None
    error: str | None = None

    def same_as(self, call: ToolCall) -> bool:
        """Whether the ledger has this very outcome."""
        mine = canonical([self.status, self.result, self.error])
        return mine == canonical([call.status, call.result, call.error])


def settle(
    existing: ToolCall, outcome: Outcome, *, worker: str, attempt: int | None, now: datetime
) -> Begun:
    """The call with its outcome; saying the same twice changes nothing.

    A call that nobody holds any more may be settled by anyone (that is what observing it is
    for).  Raises `Conflict` ``tool.settled`` where another outcome is recorded, and
    ``tool.not_yours`` where somebody else holds the call, or it was begun again since
    ``attempt``: the late worker's outcome is not that of the call as it stands.
    """
    if existing.settled:
        if outcome.same_as(existing):
            return Begun(existing, write=False)
        raise Conflict("tool.settled", "another outcome is recorded for that call; read it")
    begun_again = attempt is not None and attempt != existing.attempt
    if begun_again or (existing.worker != worker and existing.lease_until > now):
        raise Conflict(
            "tool.not_yours", "another worker has begun that call since, or holds it; read it again"
        )
    call = replace(
        existing,
        status=outcome.status,
        result=outcome.result,
        error=outcome.error,
        finished_at=now,
    )
    return Begun(call, write=True)


def call_digest(keys: Digester, thread: str, key: str) -> str:
    """How the trail names a call: keys may hold words."""
    return keys.digest("tool-key", thread, key)


def lease_of(value: object) -> timedelta:
    """A lease from a timedelta or seconds; `InvalidInput` ``lease.invalid`` otherwise."""
    if value is None:
        return LEASE
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e7:
        value = timedelta(seconds=value)
    if not isinstance(value, timedelta) or not timedelta(0) < value <= LEASE_MAX:
        raise InvalidInput("lease.invalid", "lease: seconds or a timedelta, at most 7 days")
    return value


def canonical(value: object) -> str:
    """JSON data as one text, equal for equal data; ValueError or TypeError for anything else."""
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


def _begun(request: Request, now: datetime, *, attempt: int) -> ToolCall:
    return ToolCall(
        thread=request.thread,
        key=request.key,
        name=request.name,
        args_digest=request.args_digest,
        status=CallStatus.BEGUN,
        attempt=attempt,
        worker=request.worker.name,
        lease_until=now + request.lease,
        begun_at=now,
        observe=request.observe,
        run=request.run,
        turn=request.turn,
        step=request.step,
    )
