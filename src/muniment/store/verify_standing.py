"""Whether records and decisions stand as the trail says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, Table, select

from muniment.gate.keys import move_of
from muniment.scope import Scope
from muniment.store import schema as s
from muniment.store.told import Broken, Told

_STANDING = ("status", "muted", "valid_from", "valid_to", "expires_at")


def check_standing(
    conn: Connection, tenant: str, told: Told, digest: Callable[..., str] | None
) -> None:
    """Raise `Broken` at the first row at fault.

    Each change of a record's standing is the one that the trail names, none is missing or added,
    and each record stands as its last change left it, at its last version.  Each decision is the
    one of its entry.  Without ``digest`` (no key, or rows of another) changes are only counted.
    """
    last = _transitions(conn, tenant, told, digest)
    _records(conn, tenant, last)
    _decisions(conn, tenant, told)


def _transitions(
    conn: Connection, tenant: str, told: Told, digest: Callable[..., str] | None
) -> dict[str, Any]:
    """The last change of each record."""
    left, last = dict(told.moves), dict[str, Any]()
    for row in _rows(conn, tenant, s.transitions, "record_id", "seq"):
        name = f"{row.record_id}/{row.seq}"
        if row.seq != (last[row.record_id].seq if row.record_id in last else 0) + 1:
            raise Broken("transitions", name, "a row is missing")
        last[row.record_id] = row
        said = left.pop(name, None)
        if said is None and row.seq > told.first_moves.get(row.record_id, row.seq):
            raise Broken("transitions", name, "the trail does not know of it")
        if said is not None and digest is not None and said != move_of(digest, row._mapping):
            raise Broken("transitions", name, "the change of standing was changed")
    for name in sorted(left):
        if name.rpartition("/")[0] not in told.erased_records:
            raise Broken("transitions", name, "it is missing and no erasure says so")
    return last


def _records(conn: Connection, tenant: str, last: dict[str, Any]) -> None:
    origins: dict[str, tuple[int, str]] = {}
    for row in _rows(conn, tenant, s.versions, "record_id", "version"):
        origins[row.record_id] = (row.version, row.origin)
    for row in _rows(conn, tenant, s.records, "id"):
        moved = last.pop(row.id, None)
        if moved is None:
            raise Broken("records", row.id, "its changes of standing are missing")
        if any(getattr(row, name) != getattr(moved, name) for name in _STANDING):
            raise Broken("records", row.id, "it does not stand as its last change left it")
        if (row.version, row.origin) != origins.get(row.id):
            raise Broken("records", row.id, "it is not at its last version, or of another origin")
        if Scope.of(row.scope).key != row.scope_key:
            raise Broken("records", row.id, "the scope column is not the scope's key")
    for record in sorted(last):
        raise Broken("transitions", record, "their record is missing")


def _decisions(conn: Connection, tenant: str, told: Told) -> None:
    left = dict(told.decisions)
    for row in _rows(conn, tenant, s.decisions, "id"):
        entry = left.pop(row.id, None)
        if entry is None:
            if row.candidate_id in told.deletions:
                continue  # told without its id before this version
            raise Broken("decisions", row.id, "the trail does not know of it")
        pairs = (
            (row.action, entry["result"]),
            (row.reconcile, entry["reconcile"]),
            (list(row.reasons), entry["reasons"]),
            (row.record_id, entry["record"]),
            (row.candidate_id, entry["candidate"]),
            (row.policy_version, entry["policy"]),
            (row.origin, entry.get("origin", row.origin)),
            (row.decided_at, entry["at"]),
        )
        if any(stored != said for stored, said in pairs):
            raise Broken("decisions", row.id, "it is not the one that the trail tells")
    for decision in sorted(left):
        raise Broken("decisions", decision, "the row is missing")


def _rows(conn: Connection, tenant: str, table: Table, *order: str) -> Iterator[Any]:
    query = select(table).where(table.c.tenant_id == tenant)
    yield from conn.execute(query.order_by(*(table.c[name] for name in order)))
