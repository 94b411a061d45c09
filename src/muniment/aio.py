"""`AsyncMemory`: the same verbs for async code; a thin skin over its own threads."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

from muniment.memory import Memory
from muniment.memory import open as open_memory
from muniment.verbs.threads import Threads

T = TypeVar("T")
Call = Callable[[], Any]
READERS = 8

#: Verbs that only read; everything else goes through the one writer.
READS = frozenset(
    [
        "recall",
        "context",
        "list",
        "show",
        "history",
        "why",
        "profile",
        "review",
        "verify",
        "doctor",
        "export",
    ]
)


def _verb(name: str) -> Any:
    verb: Callable[..., Any] = getattr(Memory, name)

    @functools.wraps(verb)
    async def run(self: AsyncMemory, *args: Any, **kwargs: Any) -> Any:
        return await self._run(name, *args, **kwargs)

    return run


#: `compact` may wait for a model, and its one short write queues in the store as any other.
_THREAD_READS = frozenset(
    "state history diff blob list calls approvals compact handoff receive".split()
)


def _thread_verb(name: str) -> Any:
    verb: Callable[..., Any] = getattr(Threads, name)

    @functools.wraps(verb)
    async def run(self: AsyncThreads, *args: Any, **kwargs: Any) -> Any:
        call = functools.partial(getattr(self._threads, name), *args, **kwargs)
        # Whoever waits for another's outcome must not hold up the writer that brings it.
        return await self._run_in(name in _THREAD_READS or bool(kwargs.get("wait")), call)

    return run


class AsyncThreads:
    """Every verb of `Threads`, awaitable; at `AsyncMemory.threads`."""

    def __init__(self, threads: Threads, run_in: Callable[[bool, Call], Awaitable[Any]]) -> None:
        self._threads, self._run_in = threads, run_in

    checkpoint = _thread_verb("checkpoint")
    state = _thread_verb("state")
    history = _thread_verb("history")
    diff = _thread_verb("diff")
    blob = _thread_verb("blob")
    list = _thread_verb("list")
    fork = _thread_verb("fork")
    copy = _thread_verb("copy")
    prune = _thread_verb("prune")
    delete = _thread_verb("delete")
    compact = _thread_verb("compact")
    handoff = _thread_verb("handoff")
    receive = _thread_verb("receive")
    begin = _thread_verb("begin")
    done = _thread_verb("done")
    failed = _thread_verb("failed")
    calls = _thread_verb("calls")
    approve = _thread_verb("approve")
    revoke = _thread_verb("revoke")
    approvals = _thread_verb("approvals")
    observe = _thread_verb("observe")
    resume = _thread_verb("resume")


class AsyncMemory:
    """Every verb of `Memory`, awaitable.

    One writer thread and a pool of readers, its own and bounded.  A cancelled await never
    cancels a commit: the work goes on and its result is dropped.  Principal and tenant travel
    as arguments; `turn` stays synchronous (enter it in a thread).
    """

    def __init__(self, memory: Memory, *, readers: int = READERS) -> None:
        self.memory = memory
        self.threads = AsyncThreads(memory.threads, self._run_in)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="muniment-writer")
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="muniment-reader")

    @classmethod
    async def open(
        cls, url: str | None = None, *, readers: int = READERS, **options: Any
    ) -> AsyncMemory:
        """`muniment.open` off the event loop."""
        memory = await asyncio.to_thread(open_memory, url, **options)
        return cls(memory, readers=readers)

    async def _run(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        call = functools.partial(getattr(self.memory, verb), *args, **kwargs)
        return await self._run_in(verb in READS, call)

    async def _run_in(self, reading: bool, call: Call) -> Any:
        pool: Executor = self._readers if reading else self._writer
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(pool, call))

    thread = _verb("thread")
    append = _verb("append")
    append_many = _verb("append_many")
    import_file = _verb("import_file")
    remember = _verb("remember")
    learn = _verb("learn")
    propose = _verb("propose")
    review = _verb("review")
    confirm = _verb("confirm")
    reject = _verb("reject")
    revise = _verb("revise")
    revise_candidate = _verb("revise_candidate")
    recall = _verb("recall")
    context = _verb("context")
    used = _verb("used")
    list = _verb("list")
    show = _verb("show")
    history = _verb("history")
    why = _verb("why")
    profile = _verb("profile")
    mute = _verb("mute")
    unmute = _verb("unmute")
    expire = _verb("expire")
    delete = _verb("delete")
    erase = _verb("erase")
    settings = _verb("settings")
    export = _verb("export")
    import_backup = _verb("import_backup")
    backup = _verb("backup")
    rebuild_index = _verb("rebuild_index")
    verify = _verb("verify")
    doctor = _verb("doctor")
    tidy = _verb("tidy")
    scrub = _verb("scrub")

    async def close(self) -> None:
        """Wait for what is under way, then close."""
        await asyncio.to_thread(self._writer.shutdown, wait=True)
        await asyncio.to_thread(self._readers.shutdown, wait=True)
        await asyncio.to_thread(self.memory.close)

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
