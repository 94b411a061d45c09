"""The ledger of a thread's tool calls: begin, settle, look."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from muniment.errors import InvalidInput, NotAllowed, NotFound
from muniment.events.message import position
from muniment.ids import ThreadId
from muniment.scope import Channel, Principal
from muniment.text import check_id
from muniment.threads import ledger
from muniment.threads.ledger import CallStatus, Outcome, Request, ToolCall, Worker, lease_of
from muniment.threads.ports import ThreadUnit
from muniment.verbs.appending import find_thread, open_thread
from muniment.verbs.checkpointing import Where
from muniment.verbs.keptvalues import kept, loaded, plain_of, words_of
from muniment.verbs.parts import Parts

ARGS_BYTES_MAX = RESULT_BYTES_MAX = 8 * 1024 * 1024
ERROR_BYTES_MAX = 64 * 1024
OBSERVE_BYTES_MAX = 4096
WAIT_S_MAX = 600.0
POLL_S = (0.02, 0.5)  # the first pause between two looks, and the longest
LISTED_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Asked:
    """What a caller says of a call it is about to make, checked."""

    key: str
    name: str
    args: str
    worker: Worker
    lease: timedelta
    observe: str | None
    retry: bool
    wait_s: float
    where: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, parts: Parts, principal: Principal, given: Mapping[str, Any]) -> Asked:
        """From the arguments of `begin`."""
        if not isinstance(given["retry"], bool):
            raise InvalidInput("retry.invalid", "retry: true or false")
        observe = given["observe"]
        return cls(
            key=check_id(given["key"], name="key"),
            name=check_id(given["name"], name="name"),
            args=plain_of(given["args"], "args", ARGS_BYTES_MAX)[1],
            worker=worker_of(parts, given["worker"]),
            lease=lease_of(given["lease"]),
            observe=None
            if observe is None
            else words_of(parts, principal, observe, "observe", OBSERVE_BYTES_MAX),
            retry=given["retry"],
            wait_s=_seconds(given["wait"]),
            where={n: position(given[n], n) for n in ("run", "turn", "step")},
        )


def begin(parts: Parts, where: Where, asked: Asked) -> ToolCall:
    """Begin a call, or learn what became of it.

    While another worker runs it, waits up to ``wait_s`` seconds for the outcome.
    """
    _may_call(where.principal)

    def work(unit: ThreadUnit) -> ToolCall:
        opened = open_thread(parts, unit, where.principal, where.label, where.scope)
        request = Request(
            thread=opened.id,
            key=asked.key,
            name=asked.name,
            args_digest=unit.digest("tool-args", asked.name, asked.args),
            worker=asked.worker,
            lease=asked.lease,
            observe=asked.observe,
            retry=asked.retry,
            **asked.where,
        )
        begun = ledger.begin(unit.calls.get(opened.id, asked.key), request, parts.now())
        if begun.write:
            _record(parts, unit, where.principal, "tool_begin", begun.call)
        return replace(begun.call, result=loaded(unit, begun.call.result, opened.id))

    call = parts.write(where.principal, work, adds=0)
    give_up, pause = time.monotonic() + asked.wait_s, POLL_S[0]
    while call.status is CallStatus.RUNNING and (left := give_up - time.monotonic()) > 0:
        time.sleep(min(pause, left))
        pause = min(pause * 2, POLL_S[1])
        if not _still_running(parts, where, call):
            call = parts.write(where.principal, work, adds=0)
    return call


def _still_running(parts: Parts, where: Where, call: ToolCall) -> bool:
    """Looked up without taking the lock that its worker needs."""

    def look(unit: ThreadUnit) -> bool:
        found = unit.calls.get(ThreadId(call.thread), call.key)
        seen = None if found is None else ledger.as_seen(found, parts.now())
        return seen is not None and seen.status is CallStatus.RUNNING

    return parts.read(where.principal, look)


def settle(
    parts: Parts,
    where: Where,
    key: object,
    *,
    result: object = None,
    failed: bool = False,
    error: object = None,
    worker: object = None,
    attempt: object = None,
) -> ToolCall:
    """Record what became of a call: its result or, if it ``failed``, the error.

    ``key`` may be the call that `begin` returned: then its attempt and worker are known.
    """
    principal = where.principal
    _may_call(principal)
    if isinstance(key, ToolCall):
        attempt, who = key.attempt, key.worker
        key = key.key
    else:
        who = worker_of(parts, worker).name
    name = check_id(key, name="key")
    tried = _attempt(attempt)
    value, encoded = plain_of(result, "result", RESULT_BYTES_MAX, parts, principal)
    said = words_of(parts, principal, error, "error", ERROR_BYTES_MAX) if failed else None

    def work(unit: ThreadUnit) -> ToolCall:
        found = find_thread(parts, unit, principal, where.label, where.scope)
        existing = unit.calls.get(found.id, name)
        if existing is None:
            raise NotFound("tool.not_found", "nothing was begun under that key in this thread")
        stored = kept(unit, value, encoded, found.id, f"call:{name}")
        status = CallStatus.FAILED if failed else CallStatus.DONE
        told = Outcome(status, stored, said)
        settled = ledger.settle(existing, told, worker=who, attempt=tried, now=parts.now())
        if settled.write:
            _record(parts, unit, principal, "tool_settle", settled.call)
        return replace(settled.call, result=loaded(unit, settled.call.result, found.id))

    return parts.write(principal, work, adds=0)


def calls(parts: Parts, where: Where, limit: object) -> list[ToolCall]:
    """The latest calls as they stand now, oldest first; large results are only named."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= LISTED_MAX:
        raise InvalidInput("limit.invalid", f"limit: a whole number from 1 to {LISTED_MAX}")
    count = limit

    def work(unit: ThreadUnit) -> list[ToolCall]:
        found = find_thread(parts, unit, where.principal, where.label, where.scope)
        now = parts.now()
        return [ledger.as_seen(call, now) for call in unit.calls.of(found.id, count)]

    return parts.read(where.principal, work)


def worker_of(parts: Parts, given: object) -> Worker:
    """The worker named, or this very process under a mark of its own."""
    if given is None:
        return Worker(parts.mark, named=False)
    return Worker(check_id(given, name="worker"))


def _record(
    parts: Parts, unit: ThreadUnit, principal: Principal, action: str, call: ToolCall
) -> None:
    unit.calls.put(call)
    parts.audit(
        unit,
        principal,
        action,
        thread=call.thread,
        call=ledger.call_digest(unit, call.thread, call.key),
        attempt=call.attempt,
        status=call.status.value,
        seal=call.seal(unit),
    )


def _may_call(principal: Principal) -> None:
    if principal.channel not in (Channel.RUNTIME, Channel.USER, Channel.AGENT, Channel.ADMIN):
        raise NotAllowed("tool.channel", f"the {principal.channel} channel runs no tools")


def _seconds(value: object) -> float:
    fine = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not fine or not 0 <= value <= WAIT_S_MAX:  # type: ignore[operator]
        raise InvalidInput("wait.invalid", f"wait: seconds, from 0 to {WAIT_S_MAX:.0f}")
    return float(value)  # type: ignore[arg-type]


def _attempt(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput("attempt.invalid", "attempt: the number that `begin` answered with")
    return value
