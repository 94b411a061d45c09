"""`Threads`: short-term state as verbs, at `Memory.threads`.

Every verb takes ``thread`` (a label or an id), ``scope`` and ``principal`` as `Memory` does; a
thread is its owner's, and somebody else's looks like none.  None of this needs long-term memory:
switched off or out of reach, threads go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from muniment.errors import InvalidInput
from muniment.events.message import Message
from muniment.scope import Principal, Scope
from muniment.threads.approvals import Approval, Checked
from muniment.threads.artifacts import Workspace
from muniment.threads.checkpoint import Checkpoint, CheckpointInfo
from muniment.threads.compact import View
from muniment.threads.compactor import Compactor
from muniment.threads.handoff import Packet, Received
from muniment.threads.ledger import ToolCall
from muniment.threads.resume import Resumption
from muniment.threads.state import Difference
from muniment.verbs import (
    approving,
    calling,
    checkpointing,
    compacting,
    handing,
    resuming,
    threading,
)
from muniment.verbs.checkpointing import At, Commit, Where
from muniment.verbs.parts import Parts
from muniment.verbs.threading import ThreadInfo

Opaque = Mapping[str, tuple[str, bytes] | None]


class Threads:
    """The short-term state of threads.  Thread-safe, as `Memory` is."""

    def __init__(self, parts: Parts, who: Callable[[object], Principal]) -> None:
        self._parts, self._who = parts, who

    def _where(self, thread: object, scope: object, principal: object) -> Where:
        label = getattr(thread, "id", thread)
        if label is not None and not isinstance(label, str):
            raise InvalidInput("thread.invalid", "thread: a label, an id or a Thread")
        place = None if scope is None else Scope.of(scope)
        return Where(self._who(principal), label, place)

    # ------------------------------------------------------------ state

    def checkpoint(
        self,
        thread: object,
        changes: Mapping[str, Any],
        *,
        messages: Iterable[Message | Mapping[str, Any]] = (),
        opaque: Opaque | None = None,
        run: object = None,
        turn: object = None,
        step: object = None,
        if_version: int | None = None,
        key: str | None = None,
        scope: object = None,
        principal: object = None,
    ) -> CheckpointInfo:
        """Commit one step: what changed in the state, with the messages said in it.

        ``changes`` merge into the newest state by section (`muniment.threads.state`); large
        values and ``opaque`` ones (a name, a type, bytes nobody here reads) are kept apart.
        Durable when it returns; after a crash the thread goes on from the last step that was.
        Raises `Conflict` ``thread.stale`` where ``if_version`` is not the newest version,
        `InvalidInput` for a state that is malformed or a plan with a circle, `NotFound`
        ``thread.deleted``.  With ``key`` a replay returns the first answer.
        """
        said = [Message.of(m) for m in _messages(messages)]
        commit = Commit(changes, said, _opaque(opaque), At.of(run, turn, step), if_version, key)
        return checkpointing.checkpoint(self._parts, self._where(thread, scope, principal), commit)

    def state(
        self,
        thread: object = None,
        *,
        at: int | None = None,
        scope: object = None,
        principal: object = None,
    ) -> Checkpoint:
        """The newest state, or that of version ``at``; version 0 and nothing in it before the
        first checkpoint.

        Raises `Unavailable` ``checkpoint.corrupted`` (it names the last good version), and
        `NotFound` ``checkpoint.not_found`` for a version that never was or is pruned.
        """
        return checkpointing.state(self._parts, self._where(thread, scope, principal), _at(at))

    def history(
        self,
        thread: object = None,
        *,
        limit: int = 100,
        before: int | None = None,
        scope: object = None,
        principal: object = None,
    ) -> list[CheckpointInfo]:
        """The checkpoints, newest first, without their data."""
        where = self._where(thread, scope, principal)
        return checkpointing.history(self._parts, where, limit, _at(before))

    def diff(
        self,
        thread: object,
        before: int,
        after: int | None = None,
        *,
        scope: object = None,
        principal: object = None,
    ) -> list[Difference]:
        """What two versions say differently; ``after`` is the newest, 0 before the first."""
        where = self._where(thread, scope, principal)
        return checkpointing.diff(self._parts, where, _at(before, 0) or 0, _at(after))

    def blob(
        self, thread: object, digest: str, *, scope: object = None, principal: object = None
    ) -> tuple[str, bytes]:
        """Type and bytes of a large value that the state names as ``{"$blob": digest}``."""
        return checkpointing.blob(self._parts, self._where(thread, scope, principal), digest)

    # ------------------------------------------------------------ views and packets

    def compact(
        self,
        thread: object = None,
        *,
        budget_tokens: int,
        language: str | None = None,
        compactor: Compactor | None = None,
        scope: object = None,
        principal: object = None,
    ) -> View:
        """A view of the thread for the next call of a model, within ``budget_tokens``.

        Goal, constraints, open items, approvals and calls without outcome are always in it; a
        call and its result are never parted; older turns become a summary with its exact range.
        State and events stay as they are.  With a ``compactor`` a model words the summary; what
        cannot be checked is not taken, and ``View.fallback`` says why.  Raises `InvalidInput`
        ``compact.budget``, naming the tokens needed, where that part does not fit.
        """
        where = self._where(thread, scope, principal)
        return compacting.compact(
            self._parts, where, budget_tokens=budget_tokens, tongue=language, compactor=compactor
        )

    def handoff(
        self, thread: object = None, *, scope: object = None, principal: object = None
    ) -> Packet:
        """The minimal facts for whoever goes on, each with its source, sealed: `Packet.to_json`."""
        return handing.handoff(self._parts, self._where(thread, scope, principal))

    def receive(self, packet: object, *, principal: object = None) -> Received:
        """Hold a packet (its JSON or data) against the store: unchanged, still so, and what its
        sources make it worth.  Nothing is written and nothing gains trust."""
        return handing.receive(self._parts, self._who(principal), packet)

    # ------------------------------------------------------------ whole threads

    def list(
        self, *, limit: int = 50, scope: object = None, principal: object = None
    ) -> list[ThreadInfo]:
        """One's threads, newest first; with ``scope`` those in it or below."""
        where = self._where(None, scope, principal)
        return threading.listed(self._parts, where, limit)

    def fork(
        self,
        thread: object,
        to: str,
        *,
        at: int | None = None,
        scope: object = None,
        principal: object = None,
    ) -> CheckpointInfo:
        """A new thread ``to`` that goes on from the newest version or from ``at``."""
        where = self._where(thread, scope, principal)
        return threading.fork(self._parts, where, _at(at), to)

    def copy(
        self, thread: object, to: str, *, scope: object = None, principal: object = None
    ) -> CheckpointInfo:
        """The whole history under a new label."""
        return threading.copy(self._parts, self._where(thread, scope, principal), to)

    def prune(
        self,
        thread: object = None,
        *,
        keep: int = 1,
        scope: object = None,
        principal: object = None,
    ) -> int:
        """Remove all but the newest ``keep`` checkpoints; how many went."""
        return threading.prune(self._parts, self._where(thread, scope, principal), keep)

    def delete(
        self, thread: object, *, scope: object = None, principal: object = None
    ) -> dict[str, int]:
        """Remove a thread's state, calls, approvals and blobs; late writes to it are refused.

        Its events stay evidence: `Memory.erase` removes those.
        """
        return threading.delete(self._parts, self._where(thread, scope, principal))

    # ------------------------------------------------------------ calls of tools

    def begin(
        self,
        thread: object,
        key: str,
        name: str,
        args: Any = None,
        *,
        worker: str | None = None,
        lease: float | timedelta | None = None,
        observe: str | None = None,
        retry: bool = False,
        wait: float = 0,
        run: object = None,
        turn: object = None,
        step: object = None,
        scope: object = None,
        principal: object = None,
    ) -> ToolCall:
        """Before a tool with side effects runs: ask whether it is to run under this key.

        ``status`` of the answer: ``begun`` (run it now, then say `done` or `failed`), ``done`` or
        ``failed`` (recorded before: do not run it), ``running`` (another worker's, whose lease
        lasts; ``wait`` up to so many seconds for its outcome) or ``unknown`` (begun, and its
        worker is gone: find out by ``observe`` whether it happened, then settle it, or begin it
        with ``retry=True``).  Arguments are compared, never stored.

        ``worker`` is a name that survives a restart: what it had begun is then unknown at once,
        not only when the ``lease`` (seconds; 5 minutes) is over.  Raises `Conflict`
        ``tool.key_reused`` for a key that stands for another call.
        """
        given = {
            **{"key": key, "name": name, "args": args, "worker": worker, "lease": lease},
            **{"observe": observe, "retry": retry, "wait": wait},
            **{"run": run, "turn": turn, "step": step},
        }
        where = self._where(thread, scope, principal)
        asked = calling.Asked.of(self._parts, where.principal, given)
        return calling.begin(self._parts, where, asked)

    def done(
        self,
        thread: object,
        key: str | ToolCall,
        result: Any = None,
        *,
        worker: str | None = None,
        attempt: int | None = None,
        scope: object = None,
        principal: object = None,
    ) -> ToolCall:
        """Record that a call was done, with its result (JSON data, at most 8 MB).

        ``key`` may be the `ToolCall` that `begin` answered with: then a worker whose call was
        begun again elsewhere is refused (`Conflict` ``tool.not_yours``).  Saying the same twice
        is fine; another outcome is a `Conflict` ``tool.settled``.
        """
        where = self._where(thread, scope, principal)
        return calling.settle(
            self._parts, where, key, result=result, worker=worker, attempt=attempt
        )

    def failed(
        self,
        thread: object,
        key: str | ToolCall,
        error: str,
        *,
        worker: str | None = None,
        attempt: int | None = None,
        scope: object = None,
        principal: object = None,
    ) -> ToolCall:
        """Record that a call failed and had no effect; it may be begun again with ``retry``."""
        where = self._where(thread, scope, principal)
        return calling.settle(
            self._parts, where, key, error=error, failed=True, worker=worker, attempt=attempt
        )

    def calls(
        self,
        thread: object = None,
        *,
        limit: int = 1000,
        scope: object = None,
        principal: object = None,
    ) -> Sequence[ToolCall]:
        """The latest calls as they stand now, oldest first; large results are named, not read."""
        return calling.calls(self._parts, self._where(thread, scope, principal), limit)

    # ------------------------------------------------------------ approvals

    def approve(
        self,
        thread: object,
        name: str,
        what: Any,
        *,
        until: datetime | timedelta | str | None = None,
        answer: object = None,
        scope: object = None,
        principal: object = None,
    ) -> Approval:
        """Record that exactly ``what`` (JSON data) may be done in this thread, ``until`` then.

        A person does, or an administrator; the runtime relays a person's ``answer`` (their event
        in this thread); an agent never may.  An artifact named in it as ``{"path", "revision"}``
        binds the approval to that revision.  One answer approves one thing.
        """
        where = self._where(thread, scope, principal)
        return approving.approve(self._parts, where, name, what, until=until, answer=answer)

    def revoke(
        self, thread: object, name: str, *, scope: object = None, principal: object = None
    ) -> None:
        """End an approval; `NotFound` ``approval.not_found`` where there is none."""
        approving.revoke(self._parts, self._where(thread, scope, principal), name)

    def approvals(
        self,
        thread: object = None,
        *,
        current: Mapping[str, Any] | None = None,
        scope: object = None,
        principal: object = None,
    ) -> Sequence[Checked]:
        """The newest approval of each name: valid, expired, changed or revoked, and why.

        ``current`` says what there is now, by name of the approval, to be compared with what
        was approved.
        """
        return approving.approvals(self._parts, self._where(thread, scope, principal), current)

    # ------------------------------------------------------------ going on

    def observe(
        self,
        thread: object,
        name: str,
        value: Any,
        *,
        how: str,
        good_for: float | timedelta | None = None,
        scope: object = None,
        principal: object = None,
    ) -> CheckpointInfo:
        """Record what was seen of the outside just now, and how to observe it again.

        It may be told as fact until the thread is resumed, or for ``good_for`` (seconds).
        """
        change = resuming.observation(self._parts, name, value, how, good_for)
        where = self._where(thread, scope, principal)
        return checkpointing.checkpoint(self._parts, where, Commit(change))

    def resume(
        self,
        thread: object = None,
        *,
        worker: str | None = None,
        current: Mapping[str, Any] | None = None,
        look: Workspace | None = None,
        scope: object = None,
        principal: object = None,
    ) -> Resumption:
        """Take a thread up again: what to read, look at, settle, observe and check, and the one
        task to go on with, from the last committed step; as data, and as text (`str`).

        ``look`` is a workspace (`muniment.providers.git.GitWorkspace`) in which artifacts are
        compared with their recorded revisions; ``current`` as in `approvals`; ``worker`` as in
        `begin`.
        """
        where = self._where(thread, scope, principal)
        return resuming.resume(self._parts, where, worker=worker, current=current, look=look)


def _at(value: object, least: int = 1) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**31:
        raise InvalidInput("version.invalid", f"a version is a whole number from {least}")
    return value


def _messages(messages: object) -> Iterable[Any]:
    if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
        raise InvalidInput("messages.invalid", "messages: a list of messages")
    return messages


def _opaque(opaque: object) -> Opaque | None:
    if opaque is None:
        return None
    if not isinstance(opaque, Mapping):
        raise InvalidInput("opaque.invalid", "opaque: a mapping of names to (type, bytes)")
    return {str(name): _typed(value) for name, value in opaque.items()}


def _typed(value: object) -> tuple[str, bytes] | None:
    if value is None:
        return None
    if isinstance(value, tuple) and len(value) == 2:
        kind, data = value
        if isinstance(kind, str) and kind and isinstance(data, bytes | bytearray):
            return kind, bytes(data)
    raise InvalidInput(
        "opaque.invalid", "opaque: each value is (type, bytes), or null to remove it"
    )
