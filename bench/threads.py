"""Committing a step of a thread and taking the thread up again, beside LangGraph's savers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.figures import Check, Row, figure, require
from bench.measure import Timings, quiet
from bench.places import Place

TIMED = 200  # the last puts of a thread, and as many reads
ITEM_BYTES = 125
PUT_RATIO_MAX = 3.0  # theirs keeps neither a ledger nor a trail
RESUME_MS_MAX = 0.5
GROWTH_MAX = 2.0


def first_state(kilobytes: int) -> dict[str, Any]:
    """A task's state of about that size: a plan and artifacts with their revisions."""
    count = kilobytes * 1024 // ITEM_BYTES
    plan = [
        {"step": f"step {n}", "status": "todo", "note": f"see section {n} of the outline"}
        for n in range(min(count // 2, 200))
    ]
    paths = [
        {"path": f"src/content/posts/{n:05d}.md", "revision": f"{n:040x}", "note": "checked"}
        for n in range(count - len(plan))
    ]
    return {"goal": "write the articles of the year", "plan": plan, "artifacts": paths}


def change_of(number: int, state: dict[str, Any]) -> dict[str, Any]:
    """What one step changes: a step of the plan, what was seen, what comes next."""
    name = state["plan"][number % len(state["plan"])]["step"]
    return {
        "plan": [{"step": name, "status": "done", "note": f"by run {number}"}],
        "observations": [{"name": "build", "value": f"passed {number}", "how": "make build"}],
        "next": f"the step after {number}",
    }


@dataclass(slots=True)
class Measured:
    """Timings of one kind of store on one thread."""

    put: Timings
    read: Timings
    bytes_each: float | None = None


@figure(
    "checkpoint",
    "one step of a thread committed, and its newest state read, beside LangGraph's saver",
    full={"long": 10_000, "middle": 1000, "short": 10},
    quick={"long": 60, "middle": 30, "short": 10},
)
def checkpoint(place: Place, long: int, middle: int, short: int) -> Iterator[Row]:
    """States of 5 KB in threads of three lengths, and of 200 KB in two: the last would be 2 GB
    with a store that keeps the whole state at each step."""
    shortest: float | None = None
    for kilobytes, lengths in ((5, (short, middle, long)), (200, (short, middle))):
        for steps in lengths:
            ours, theirs = _ours(place, kilobytes, steps), _theirs(place, kilobytes, steps)
            read = ours.read.wall_ms(0.5)
            checks = []
            if theirs is not None:
                ratio = ours.put.wall_ms(0.5) / theirs.put.wall_ms(0.5)
                binding = place.embedded
                checks.append(Check("put / theirs", ratio, PUT_RATIO_MAX, "×", binding=binding))
            if kilobytes == 5:
                checks.append(Check("read p50", read, RESUME_MS_MAX, "ms", binding=place.embedded))
                shortest = shortest or read
                if steps == long:
                    grown = read / shortest
                    checks.append(Check("long / short read", grown, GROWTH_MAX, "×"))
            size = f"{kilobytes} KB, {steps:,} steps: put"
            yield Row.of(size, ours.put, checks, _told(ours, theirs))


def _told(ours: Measured, theirs: Measured | None) -> str:
    words = [
        f"read p50 {ours.read.wall_ms(0.5):.3f} ms, p95 {ours.read.wall_ms(0.95):.3f} ms",
    ]
    if ours.bytes_each is not None:
        words.append(f"{ours.bytes_each:,.0f} bytes a step")
    if theirs is None:
        words.append("no peer: its package is not installed")
    else:
        words.append(
            f"theirs: put p50 {theirs.put.wall_ms(0.5):.2f} ms, p95 {theirs.put.wall_ms(0.95):.2f}"
            f" ms, read p50 {theirs.read.wall_ms(0.5):.3f} ms"
        )
        if theirs.bytes_each is not None:
            words.append(f"{theirs.bytes_each:,.0f} bytes a step")
    return "; ".join(words)


def _timed(
    steps: int, put: Callable[[int], object], read: Callable[[], object], size: Callable[[], float]
) -> Measured:
    found = Measured(Timings(), Timings())
    with quiet():
        for number in range(1, steps):
            if number < steps - TIMED:
                put(number)
                continue
            with found.put.one():
                put(number)
        for _ in range(TIMED):
            with found.read.one():
                read()
    found.bytes_each = size() / steps
    return found


def _ours(place: Place, kilobytes: int, steps: int) -> Measured:
    url = place.fresh_url()
    memory, state = place.open(url), first_state(kilobytes)
    memory.threads.checkpoint("task", state)

    def put(number: int) -> None:
        memory.threads.checkpoint("task", change_of(number, state), step=number)

    found = _timed(steps, put, lambda: memory.threads.state("task"), lambda: _size(url))
    newest = memory.threads.state("task")
    require(newest.version == steps, f"version {newest.version} after {steps} steps")
    require(newest.state["next"] == f"the step after {steps - 1}", "the newest state is another")
    if place.embedded:
        return found
    found.bytes_each = None
    return found


def _size(url: str) -> float:
    """The bytes of an embedded store."""
    if not url.startswith("sqlite:///"):
        return 0.0
    path = Path(url.partition("///")[2])
    files = (path, path.with_name(path.name + "-wal"))
    return float(sum(f.stat().st_size for f in files if f.is_file()))


def _theirs(place: Place, kilobytes: int, steps: int) -> Measured | None:
    """The same states with LangGraph's saver for that store, as its documentation opens it."""
    with ExitStack() as stack:
        try:
            saver, url = _saver(place, stack)
        except ImportError:
            return None
        state = first_state(kilobytes)
        where = {"configurable": {"thread_id": "task", "checkpoint_ns": ""}}

        def put(number: int) -> None:
            _merge(state, change_of(number, state))
            saver.put(where, *_as_checkpoint(number, state))

        def read() -> Any:
            return saver.get_tuple(where).checkpoint["channel_values"]["state"]

        put(0)
        found = _timed(steps, put, read, lambda: _size(url))
        require(read()["next"] == f"the step after {steps - 1}", "the peer's state is another")
        if not place.embedded:
            found.bytes_each = None
        return found


def _merge(state: dict[str, Any], change: dict[str, Any]) -> None:
    name = change["plan"][0]["step"]
    state["plan"] = [change["plan"][0] if s["step"] == name else s for s in state["plan"]]
    state |= {"observations": change["observations"], "next": change["next"]}


def _as_checkpoint(step: int, state: dict[str, Any]) -> tuple[Any, Any, Any]:
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.base.id import uuid6

    made = empty_checkpoint()
    made["id"] = str(uuid6(clock_seq=step % 16_000))
    made["channel_values"] = {"state": state}
    made["channel_versions"] = {"state": f"{step:032d}.0"}
    meta = {"source": "loop", "step": step, "parents": {}}
    return made, meta, made["channel_versions"]


def _saver(place: Place, stack: ExitStack) -> tuple[Any, str]:
    url = place.fresh_url()
    saver: Any
    if place.embedded:
        from langgraph.checkpoint.sqlite import SqliteSaver

        saver = stack.enter_context(SqliteSaver.from_conn_string(url.partition("///")[2]))
    else:
        from langgraph.checkpoint.postgres import PostgresSaver
        from sqlalchemy.engine import make_url

        dsn = make_url(url).set(drivername="postgresql")
        saver = stack.enter_context(
            PostgresSaver.from_conn_string(dsn.render_as_string(hide_password=False))
        )
    saver.setup()
    return saver, url
