"""Check calls of tools, approvals and large values against the trail and their own digests."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from muniment.gate.keys import Digester
from muniment.store import schema as s
from muniment.store.call_table import approval_of, call_of
from muniment.store.verify_state import Misfit
from muniment.threads.large import blob_digest
from muniment.threads.ledger import call_digest


@dataclass(slots=True)
class ToldLedger:
    """What the decision lane says of calls and approvals: by thread, the seal of each."""

    calls: dict[str, dict[str, str]] = field(default_factory=dict)
    approvals: dict[str, dict[str, str]] = field(default_factory=dict)

    def hear(self, action: str, entry: Mapping[str, Any]) -> None:
        """Take in one entry."""
        thread = entry.get("thread", "")
        if action in ("tool_begin", "tool_settle"):
            self.calls.setdefault(thread, {})[entry["call"]] = entry["seal"]
        elif action == "tool_copy":
            self.calls.setdefault(thread, {}).update(entry["seals"])
        elif action == "approve":
            self.approvals.setdefault(thread, {})[entry["approval"]] = entry["seal"]
        elif action == "revoke":
            self.approvals.setdefault(thread, {}).update(entry["seals"])
        elif action == "thread_delete":
            self._end(thread)
        elif action == "erase_ledger":
            self._erased(entry)

    def _end(self, thread: str) -> None:
        self.calls.pop(thread, None)
        self.approvals.pop(thread, None)

    def _erased(self, entry: Mapping[str, Any]) -> None:
        for thread in entry["threads"]:
            self._end(thread)
        for thread, seals in entry["calls"].items():
            self.calls.setdefault(thread, {}).update(seals)
        for thread, events in entry["approvals"].items():
            for event in events:
                self.approvals.get(thread, {}).pop(event, None)


def check_ledger(conn: Connection, tenant: str, keys: Digester, told: ToldLedger) -> None:
    """Every call and approval is the one the trail sealed, none is missing, and every large value
    is what it is named by; raises `Misfit`."""
    _check("tool_calls", told.calls, _calls(conn, tenant, keys))
    _check("approvals", told.approvals, _approvals(conn, tenant, keys))
    query = select(s.blobs).where(s.blobs.c.tenant_id == tenant)
    with closing(_each(conn, query, 1)) as rows:
        for row in rows:
            if blob_digest(keys, row.type, bytes(row.data)) != row.digest:
                raise Misfit("blobs", row.digest, "the bytes are not those it is named by")


def _check(
    table: str, told: dict[str, dict[str, str]], found: Generator[tuple[str, str, str, str]]
) -> None:
    left = {(thread, name): seal for thread, seals in told.items() for name, seal in seals.items()}
    try:
        with closing(found) as rows:
            for thread, name, shown, seal in rows:
                if left.pop((thread, name), None) != seal:
                    why = "the row is not the one in the trail"
                    raise Misfit(table, f"{thread}/{shown}", why)
    except (TypeError, ValueError, OverflowError):
        raise Misfit(table, "", "a row is not readable any more") from None
    for thread, name in sorted(left):
        raise Misfit(table, f"{thread}/{name}", "the row is missing")


def _calls(conn: Connection, tenant: str, keys: Digester) -> Generator[tuple[str, str, str, str]]:
    query = select(s.tool_calls).where(s.tool_calls.c.tenant_id == tenant)
    for row in _each(conn, query, 500):
        call = call_of(row)
        yield call.thread, call_digest(keys, call.thread, call.key), call.key, call.seal(keys)


def _approvals(
    conn: Connection, tenant: str, keys: Digester
) -> Generator[tuple[str, str, str, str]]:
    query = select(s.approvals).where(s.approvals.c.tenant_id == tenant)
    for row in _each(conn, query, 500):
        approval = approval_of(row)
        yield approval.thread, approval.event_id, approval.event_id, approval.seal(keys)


def _each(conn: Connection, query: Any, batch: int) -> Generator[Any]:
    """The rows, a batch at a time, and no cursor left open."""
    with conn.execute(query.execution_options(yield_per=batch)) as rows:
        yield from rows
