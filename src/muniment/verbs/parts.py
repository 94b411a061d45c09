"""What every verb works with: the store, the index, the clock, and the two habits around them
(writers bring the index up to date, readers are audited)."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, TypeVar

from muniment.clock import Clock
from muniment.errors import Unavailable
from muniment.events.log import Thread
from muniment.gate.enact import Settling
from muniment.gate.keys import Digester
from muniment.gate.policy import Policy, Switches
from muniment.gate.unit import Unit
from muniment.ids import Ids, ThreadId
from muniment.jobs import outbox
from muniment.jobs.embedding import Embedding, embed_batch
from muniment.recall.embed import CHANGED, DOWN, Guarded
from muniment.recall.index import Doc, Index
from muniment.scope import Principal
from muniment.store.store import Store
from muniment.store.unit import TenantDigester
from muniment.threads.ports import ThreadUnit
from muniment.trail.entry import Entry, actor_of
from muniment.trail.lane import ReadLane

if TYPE_CHECKING:  # numpy is only there where an embedder is
    from muniment.recall.dense import Asked

T = TypeVar("T")
DRAIN_AT = 64  # rows a process lets wait before it brings the index up to date
SEEN_MAX = 4096  # threads a process keeps in mind
FRESH_MAX = 256  # waiting rows a recall reads from the truth by itself


@dataclass(slots=True)
class Parts:
    """Shared by all verbs of one open memory."""

    store: Store
    index: Index
    clock: Clock
    ids: Ids
    policy: Policy
    lane: ReadLane
    tz: tzinfo = UTC
    memory_off: bool = False
    embedder: Guarded | None = None
    opened_at: datetime = field(init=False)
    mark: str = field(init=False)  # of this opening: a worker that never comes back
    embedding: Embedding = field(init=False)
    _waiting: Counter[str] = field(default_factory=Counter)
    _drain: threading.Lock = field(default_factory=threading.Lock)
    _embed_one: threading.Lock = field(default_factory=threading.Lock)
    _known: set[str] = field(default_factory=set)
    _seen: dict[tuple[str, ThreadId], Thread] = field(default_factory=dict)
    _knowing: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.opened_at, self.mark = self.clock.now(), self.ids.new("wrk")
        self.embedding = Embedding(self.embed_some)

    def now(self) -> datetime:
        """The injected clock's now."""
        return self.clock.now()

    def digester(self, tenant: str) -> Digester:
        """Keyed digests of a tenant outside any transaction, equal to a unit's own."""
        return TenantDigester(self.store.key, tenant)

    def settling(self, unit: Unit, principal: Principal) -> Settling:
        """What the gate needs beside a candidate."""
        off = switches_of(unit, principal).joined(Switches(pause_writes=self.memory_off))
        return Settling(unit, principal, self.policy, self.ids, self.now(), off)

    def write(self, principal: Principal, work: Callable[[ThreadUnit], T], *, adds: int = 1) -> T:
        """One transaction; afterwards the index is brought up to date once enough waits."""
        result = self.store.write(principal.tenant, work)
        self._waiting[principal.tenant] += adds
        if self._waiting[principal.tenant] >= DRAIN_AT:
            self.catch_up(principal.tenant)
        return result

    def read(self, principal: Principal, work: Callable[[ThreadUnit], T]) -> T:
        """One snapshot."""
        return self.store.read(principal.tenant, work)

    def seen_thread(self, tenant: str, thread_id: ThreadId) -> Thread | None:
        """A thread as this process saw it last: owner and scope are its for ever, all else not."""
        return self._seen.get((tenant, thread_id))

    def saw_thread(self, thread: Thread) -> None:
        """Keep in mind a thread that was read."""
        if len(self._seen) >= SEEN_MAX:
            self._seen.clear()
        self._seen[thread.tenant, thread.id] = thread

    def catch_up(self, tenant: str) -> None:
        """Index what waits.  Failing is no error of the write before: recall will notice."""
        if self.store.read_only or not self._drain.acquire(blocking=False):
            return
        try:
            self._waiting[tenant] = 0
            with contextlib.suppress(Exception):
                self._know(tenant)
                outbox.drain(self.store, self.index, tenant, self.policy.catalogue)
        finally:
            self._drain.release()
        if self.embedder is not None:
            self.embedding.wake(tenant)

    def embed_some(self, tenant: str) -> int:
        """Give some of what has no vector one, now; how many got one, none when all have.

        Raises `Unavailable` where the embedder cannot.
        """
        if self.embedder is None:
            return 0
        catalogue = self.policy.catalogue
        with self._embed_one:  # two would embed the same
            return embed_batch(self.store, self.index, self.embedder, tenant, catalogue)

    def asked(self, tenant: str, text: str) -> tuple[Asked | None, tuple[str, ...]]:
        """The vector of a question, where there are any to compare it with; and why there is none
        or it does not tell everything.  Never an error, and in bounded time."""
        own = self.embedder
        if own is None or not text.strip():
            return None, ()
        try:
            others = set(self.index.embedders(tenant))
        except Exception:
            return None, ()  # the search by words will say so
        self.embedding.wake(tenant)
        changed = (CHANGED,) if others - {own.name} else ()
        if own.down:
            return None, (DOWN, *changed)
        if own.name not in others:
            return None, changed
        from muniment.recall.dense import Asked

        try:
            return Asked(own.name, own.query(text)), changed
        except Unavailable:
            return None, (DOWN, *changed)

    def ready(self, tenant: str) -> tuple[str, ...]:
        """Whether the index can be asked about a tenant; one that is new or was deleted is
        filled first.  What keeps it from answering, if anything."""
        try:
            if tenant not in self._known:
                self._know(tenant)
        except Exception:
            return ("index_unavailable",)
        return ()

    def _know(self, tenant: str) -> None:
        with self._knowing:  # the first to ask fills it, the others wait for that
            if tenant in self._known:
                return
            if not self.index.known(tenant):
                if self.store.read_only:
                    self.store.read(tenant, self._fill)
                else:
                    rebuild(self, tenant)
            self._known.add(tenant)

    def _fill(self, unit: Unit) -> None:
        self.index.clear(unit.tenant)
        outbox.fill(unit, self.index, unit.tenant, self.policy.catalogue)

    def fresh(self, unit: Unit) -> tuple[Mapping[str, Doc | None], tuple[str, ...]]:
        """What the index has not seen yet, read from the truth in the recall's own snapshot."""
        waiting = unit.ledger.waiting(FRESH_MAX + 1)
        degraded = ("index_lag",) if len(waiting) > FRESH_MAX else ()
        return outbox.docs_of(unit, waiting[:FRESH_MAX], self.policy.catalogue), degraded

    def close(self) -> None:
        """Write open audit batches, bring the index up to date, release everything."""
        if not self.store.closed:
            self.lane.close()
            self.embedding.close()
            for tenant in [t for t, n in self._waiting.items() if n]:
                self.catch_up(tenant)
        self.index.close()
        self.store.close()

    def lag(self, principal: Principal) -> int:
        """How many rows wait for the index, counted up to one more than a recall reads itself."""
        return self.read(principal, lambda unit: len(unit.ledger.waiting(FRESH_MAX + 1)))

    def audit(self, unit: Unit, principal: Principal, action: str, **details: Any) -> None:
        """Chain an entry into the transaction it belongs to."""
        unit.trail.append([Entry(action, self.now(), actor_of(principal), details)])

    def audit_read(self, principal: Principal, verb: str, ids: Sequence[str]) -> bool:
        """Note a read in this process's lane; ``False`` if it may not be served."""
        if self.store.read_only:
            return True  # nothing can be written; `doctor` says so
        read = {"verb": verb, "at": self.now().isoformat(), **actor_of(principal)}
        return self.lane.add(principal.tenant, {**read, "ids": list(ids)})


def rebuild(parts: Parts, tenant: str) -> int:
    """Queue everything, then forget the index; how much waits to be indexed.

    In this order an interruption loses nothing: what is queued is read from the truth.
    """
    total = parts.store.write(tenant, lambda unit: outbox.enqueue_all(unit, parts.now()))
    parts.index.clear(tenant)
    return total


def switches_of(unit: Unit, principal: Principal) -> Switches:
    """What the tenant and the user have switched off."""
    joined = Switches()
    for data in unit.ledger.switches(principal.subject or ""):
        joined = joined.joined(_switches(data))
    return joined


def _switches(data: Mapping[str, Any]) -> Switches:
    return Switches(
        pause_writes=bool(data.get("pause_writes")),
        pause_recall=bool(data.get("pause_recall")),
        disable_kinds=frozenset(data.get("disable_kinds", ())),
    )


def write_lane(store: Store) -> Callable[[str, str, Sequence[Entry]], None]:
    """How a read lane reaches the trail: a transaction of its own, without the tenant's lock."""

    def write(tenant: str, lane: str, entries: Sequence[Entry]) -> None:
        store.write(tenant, lambda unit: unit.trail.append(entries, lane), serial=False)

    return write
