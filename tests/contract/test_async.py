"""`AsyncMemory` is `Memory`, awaited."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any

from muniment import AsyncMemory, Memory
from muniment.aio import AsyncThreads
from muniment.verbs.threads import Threads
from tests.contract.kit import Desk

#: What stays synchronous or has a twin of its own.
NOT_AWAITED = {"turn", "close"}


def verbs(cls: type) -> set[str]:
    """The public methods of a class."""
    return {n for n, v in vars(cls).items() if callable(v) and not n.startswith("_")}


def test_every_verb_is_there_with_the_same_signature() -> None:
    """A verb added to `Memory` alone fails here."""
    assert verbs(Memory) - NOT_AWAITED <= verbs(AsyncMemory)
    for name in verbs(Memory) - NOT_AWAITED:
        ours = inspect.signature(getattr(AsyncMemory, name))
        assert ours == inspect.signature(getattr(Memory, name)), name


def test_every_verb_of_threads_is_there_too() -> None:
    """With the same signature; a verb added to `Threads` alone fails here."""
    assert verbs(Threads) == verbs(AsyncThreads)
    for name in verbs(Threads):
        ours = inspect.signature(getattr(AsyncThreads, name))
        assert ours == inspect.signature(getattr(Threads, name)), name


def test_a_model_that_thinks_holds_no_write_up(desk: Desk) -> None:
    """A view is being made while another message is stored; the view then comes."""
    asked, stored = threading.Event(), threading.Event()

    class Slow:
        name = "slow"

        def summarise(self, ask: Any) -> object:
            asked.set()
            assert stored.wait(20)
            return {"points": [{"text": "They went on.", "refs": [1]}]}

    async def main() -> tuple[Any, Any]:
        memory = AsyncMemory(desk.memory)
        for n in range(60):
            desk.memory.append(f"Message {n} about the article on state.", thread="talk")
        view = asyncio.ensure_future(
            memory.threads.compact("talk", budget_tokens=300, compactor=Slow())
        )
        assert await asyncio.to_thread(asked.wait, 20)
        event = await memory.append("One more.", thread="talk")
        stored.set()
        return await view, event

    view, event = asyncio.run(main())
    assert (view.fallback, view.through, event.seq) == (None, 60, 61)


def test_it_answers_as_memory_does(desk: Desk) -> None:
    """A write through one is read through the other."""

    async def main() -> list[str]:
        memory = AsyncMemory(desk.memory)
        [decision] = await memory.remember("Remember that I prefer short answers.")
        assert decision.action == "activate"
        found = await memory.recall("how long should the answer be")
        return [e.content for e in found]

    assert any("short" in content for content in asyncio.run(main()))


def test_a_cancelled_await_never_cancels_the_commit(desk: Desk) -> None:
    """The caller gives up while the write is under way; the record is there all the same."""
    begun, go_on = threading.Event(), threading.Event()
    slow: Any = desk.memory.append

    def append(*args: Any, **kwargs: Any) -> Any:
        begun.set()
        assert go_on.wait(10)
        return slow(*args, **kwargs)

    desk.memory.append = append  # type: ignore[method-assign]

    async def main() -> None:
        memory = AsyncMemory(desk.memory)
        task = asyncio.create_task(memory.append("We agreed on Tuesdays.", thread="t"))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass
        else:  # pragma: no cover
            raise AssertionError("the await was not cancelled")
        go_on.set()
        await asyncio.to_thread(memory._writer.shutdown)

    asyncio.run(main())
    found = desk.memory.recall("Tuesdays", layers=["archive"])
    assert [e.content for e in found] == ["We agreed on Tuesdays."]


def test_many_writers_queue_and_many_readers_run(desk: Desk) -> None:
    """Twenty writes and twenty recalls at once: all of them happen."""

    async def main() -> int:
        memory = AsyncMemory(desk.memory)
        writes = [memory.remember(f"Remember that hall {n} has {n} seats.") for n in range(20)]
        reads = [memory.recall("seats") for _ in range(20)]
        done = await asyncio.gather(*writes, *reads)
        return sum(d[0].action == "activate" for d in done[:20])

    assert asyncio.run(main()) == 20
