"""The store: units of work on one tenant, the key, and honest errors."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from sqlalchemy import insert, select
from sqlalchemy.exc import DBAPIError, InvalidRequestError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from muniment.errors import Conflict, MunimentError, Unavailable
from muniment.ids import Ids
from muniment.store import schema as s
from muniment.store.backend import Backend, RaceLost
from muniment.store.ddl import prepare, version_of
from muniment.store.keys import new_key
from muniment.store.unit import SqlUnit
from muniment.trail.chain import Key, same

T = TypeVar("T")
ATTEMPTS = 6
FIRST_PAUSE_S = 0.002


class KeyStore(Protocol):
    """Where the chain key lives, apart from the database."""

    def load(self) -> Key | None:
        """The key, or ``None`` if there is none yet."""
        ...

    def create(self, key: Key) -> Key:
        """Keep a new key; the one that is there if another process was faster."""
        ...

    def replace(self, key: Key) -> Key:
        """Keep a new key in the place of one that is lost or another store's."""
        ...


class Store:
    """Truth on one backend.

    A function given to `write` runs in one transaction: all of it happens or none.  It may run
    more than once (a lost race is tried again, boundedly), so it must have no other effects.
    """

    def __init__(self, backend: Backend, keys: KeyStore, ids: Ids, now: datetime) -> None:
        self.backend, self._keys, self._ids = backend, keys, ids
        self._closed = False
        self._errors = (
            DBAPIError,
            StatementError,
            PoolTimeout,
            InvalidRequestError,
            backend.driver_error,
        )
        try:
            prepare(backend)
            self.key, self.read_only_reason = self._take_key(now)
        except BaseException as error:
            backend.close()
            if isinstance(error, self._errors):
                raise self._openable(error) from error
            raise

    @property
    def read_only(self) -> bool:
        """Whether writes are refused, for whatever reason."""
        return self.read_only_reason is not None

    def _take_key(self, now: datetime) -> tuple[Key | None, str | None]:
        """The key of the newest epoch; without it the store is only read."""
        epochs = s.key_epochs
        with self.backend.engine.connect() as conn:
            rows = conn.execute(select(epochs).order_by(epochs.c.since)).all()
        key = self._keys.load()
        if not rows:
            if self.backend.read_only:
                return None, "the database file is read-only"
            key = key or self._keys.create(new_key())
            return self._begin_epoch(key, now), None
        known = {row.key_id: row.check_value for row in rows}
        if key is None or key.id not in known or not same(known[key.id], key.check_value):
            return None, (
                "the chain key is missing or not this store's; restore the key file, or start "
                "a new epoch with `muniment db new-key` (older rows then stay unverifiable)"
            )
        return key, "the database file is read-only" if self.backend.read_only else None

    def _begin_epoch(self, key: Key, now: datetime) -> Key:
        try:
            with self.backend.administering() as conn:
                conn.execute(
                    insert(s.key_epochs),
                    {"key_id": key.id, "check_value": key.check_value, "since": now},
                )
        except DBAPIError as error:
            if not isinstance(self._translated(error), RaceLost):
                raise
        return key

    def new_epoch(self, now: datetime) -> Key:
        """Start again with a new key: an operator's explicit choice after losing the old one."""
        self.key = self._begin_epoch(self._keys.replace(new_key()), now)
        self.read_only_reason = None
        return self.key

    def write(self, tenant: str, work: Callable[[SqlUnit], T], *, serial: bool = True) -> T:
        """Run ``work`` in one transaction and return what it returns.

        ``serial`` takes the tenant's lock first (every change needs its trail anyway), so that
        what is read there cannot change before it is written.
        """
        self._check_open()
        if self.read_only_reason is not None:
            raise Unavailable("store.read_only", f"nothing was written: {self.read_only_reason}")
        pause = FIRST_PAUSE_S
        for attempt in range(ATTEMPTS):
            try:
                return self._attempt(tenant, work, serial)
            except RaceLost as lost:
                if attempt == ATTEMPTS - 1:
                    raise Conflict(
                        "store.contended", "others kept changing the same thing; try again"
                    ) from lost
                time.sleep(pause * (1 + random.random()))
                pause *= 2
        raise AssertionError("unreachable")

    def _attempt(self, tenant: str, work: Callable[[SqlUnit], T], serial: bool) -> T:
        try:
            with self.backend.writing(tenant) as conn:
                unit = SqlUnit(conn, tenant, self.key, self._ids)
                if serial and self.backend.dialect == "postgresql":
                    unit.trail.lock()
                result = work(unit)
                unit.flush()
                return result
        except self._errors as error:
            raise self._translated(error) from error

    def read(self, tenant: str, work: Callable[[SqlUnit], T]) -> T:
        """Run ``work`` on one snapshot."""
        self._check_open()
        try:
            with self.backend.reading(tenant) as conn:
                return work(SqlUnit(conn, tenant, self.key, self._ids))
        except self._errors as error:
            translated = self._translated(error)
            if isinstance(translated, RaceLost):
                translated = Unavailable("store.busy", "the snapshot was lost; try again")
            raise translated from error

    def identity(self) -> tuple[str | None, str | None]:
        """The schema's revision and, on PostgreSQL, the role."""
        with self.backend.engine.connect() as conn:
            role = None
            if self.backend.dialect == "postgresql":
                role = conn.exec_driver_sql("SELECT current_user").scalar()
            return version_of(conn), role

    def tenants(self) -> set[str]:
        """Who has anything here; PostgreSQL tells nobody, so there every store counts as shared."""
        if self.backend.dialect != "sqlite":
            return {"*"}
        with self.backend.engine.connect() as conn:
            return set(conn.execute(select(s.trail_heads.c.tenant_id).distinct()).scalars())

    def scrub(self, *, thorough: bool = False) -> list[str]:
        """Make deleted bytes unreadable; what could not be reached, in words."""
        self._check_open()
        return self.backend.scrub(thorough=thorough)

    def copy_to(self, target: Path) -> None:
        """A consistent copy while others write."""
        self._check_open()
        self.backend.copy_to(target)

    def close(self) -> None:
        """Close; later calls say so."""
        self._closed = True
        self.backend.close()

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self._closed

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("store.closed", "the store is closed; open it again")

    def _openable(self, error: BaseException) -> MunimentError:
        translated = self._translated(error)
        if isinstance(translated, RaceLost):
            return Unavailable("store.busy", "another process is opening the store; try again")
        return translated

    def _translated(self, error: BaseException) -> MunimentError | RaceLost:
        if isinstance(error, PoolTimeout):
            return Unavailable("store.busy", "every connection is in use; try again")
        cause = getattr(error, "orig", None)
        if isinstance(cause, MunimentError):
            return cause
        translated = self.backend.translate(cause or error)
        return translated or Unavailable("store.failed", f"the database answered: {error}")
