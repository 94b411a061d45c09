"""What one transaction offers for the short-term state of threads (ports)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from muniment.events.log import Thread
from muniment.gate.unit import Unit
from muniment.ids import ThreadId
from muniment.threads.approvals import Approval
from muniment.threads.checkpoint import CheckpointInfo, Section
from muniment.threads.compactor import DraftTable
from muniment.threads.ledger import ToolCall


class CheckpointTable(Protocol):
    """Checkpoints of one tenant's threads, and the newest state of each."""

    def sections(self, thread: ThreadId, wanted: Iterable[str] | None = None) -> list[Section]:
        """Every section of the newest state; with data only those wanted (``None``: all)."""
        ...

    def put(
        self, thread: Thread, step: CheckpointInfo, changed: Sequence[Section], gone: Sequence[str]
    ) -> None:
        """Add the next checkpoint and bring the newest state up to it.

        Raises the store's race error if the thread is not at the version before.
        """
        ...

    def replace(
        self, thread: ThreadId, steps: Sequence[CheckpointInfo], state: Sequence[Section]
    ) -> None:
        """The whole history anew (after a prune or an erasure), and its newest state."""
        ...

    def step(self, thread: ThreadId, version: int) -> CheckpointInfo | None:
        """One checkpoint as it is stored."""
        ...

    def steps(self, thread: ThreadId, through: int | None = None) -> list[CheckpointInfo]:
        """The checkpoints from the last whole one up to that version (``None``: all there are)."""
        ...

    def outline(
        self, thread: ThreadId, limit: int, before: int | None = None
    ) -> list[CheckpointInfo]:
        """Checkpoints without their data, newest first."""
        ...

    def holding(self, texts: Iterable[str]) -> list[ThreadId]:
        """Threads in whose checkpoints one of these texts (ids, words) stands."""
        ...

    def clear(self, threads: Sequence[ThreadId]) -> int:
        """Remove checkpoints and newest states; how many checkpoints."""
        ...


class BlobStore(Protocol):
    """Large values, named by a keyed digest, kept while something uses them."""

    def keep(self, digest: str, kind: str, data: bytes, thread: ThreadId, used_in: str) -> None:
        """Keep a value for a use of it; one that is there is not stored twice."""
        ...

    def get(self, thread: ThreadId, digest: str) -> tuple[str, bytes] | None:
        """Type and bytes of a value this thread uses."""
        ...

    def holding(self, words: Sequence[str]) -> list[str]:
        """The digests of values in which one of these words stands."""
        ...

    def use(self, digests: Iterable[str], thread: ThreadId, used_in: str, source: ThreadId) -> None:
        """Note that values which a thread uses are used here too; others are left alone, for a
        state may name any digest."""
        ...

    def release(
        self, threads: Sequence[ThreadId], used_in: str | None = None, but: Sequence[str] = ()
    ) -> int:
        """End uses (``None``: all of these threads), but for some values, and remove what nothing
        uses any more; how many."""
        ...


class ThreadTable(Protocol):
    """The threads themselves, as far as their state needs it."""

    def mine(self, owner: str | None, limit: int) -> list[Thread]:
        """Threads of one owner that are not deleted, newest first."""
        ...

    def of(
        self, *, owner: str | None = None, scope_keys: Sequence[str] | None = None
    ) -> list[ThreadId]:
        """Threads of an owner or in scopes."""
        ...

    def resumed(self, thread: ThreadId, at: datetime) -> None:
        """Note when it was last taken up."""
        ...

    def delete(self, thread: ThreadId, at: datetime) -> None:
        """Mark it deleted: it takes no more events and no more state."""
        ...

    def blank(self, threads: Sequence[ThreadId]) -> None:
        """Remove what they are called."""
        ...


class CallTable(Protocol):
    """The ledger of tool calls: one row a thread and key."""

    def get(self, thread: ThreadId, key: str) -> ToolCall | None:
        """What is recorded under a key."""
        ...

    def put(self, call: ToolCall) -> None:
        """Record a call as it stands now; it replaces what was under its key."""
        ...

    def begun(self, thread: ThreadId) -> list[ToolCall]:
        """Calls without an outcome, oldest first; at the cost of these alone."""
        ...

    def of(self, thread: ThreadId, limit: int) -> list[ToolCall]:
        """The latest calls, oldest first."""
        ...

    def telling(self, words: Sequence[str]) -> list[ToolCall]:
        """Those in whose result, error or way to observe one of the words stands."""
        ...

    def clear(self, threads: Sequence[ThreadId]) -> int:
        """Remove these threads' calls; how many."""
        ...


class ApprovalTable(Protocol):
    """Approvals as they were given; a newer one of the same name takes the older one's place."""

    def of(self, thread: ThreadId) -> list[Approval]:
        """All of a thread's, oldest first."""
        ...

    def add(self, approval: Approval) -> None:
        """Record one."""
        ...

    def revoke(self, thread: ThreadId, name: str, at: datetime) -> int:
        """End those of that name; how many were in force."""
        ...

    def telling(self, events: Sequence[str], words: Sequence[str]) -> list[Approval]:
        """Those that stand on one of these events, or in which one of the words stands."""
        ...

    def remove(self, approvals: Sequence[Approval]) -> None:
        """Remove them for good."""
        ...

    def clear(self, threads: Sequence[ThreadId]) -> int:
        """Remove these threads' approvals; how many."""
        ...


class ThreadUnit(Unit, Protocol):
    """One transaction with the short-term state of threads in it."""

    @property
    def checkpoints(self) -> CheckpointTable:
        """Checkpoints and newest states."""
        ...

    @property
    def blobs(self) -> BlobStore:
        """Large values."""
        ...

    @property
    def threads(self) -> ThreadTable:
        """The threads themselves."""
        ...

    @property
    def calls(self) -> CallTable:
        """Calls of tools."""
        ...

    @property
    def summaries(self) -> DraftTable:
        """What models drafted of threads."""
        ...

    @property
    def approvals(self) -> ApprovalTable:
        """Approvals."""
        ...
