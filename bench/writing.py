"""Writing one message; writing the last of many; bringing conversations in."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.figures import Check, Row, figure, require
from bench.loading import active_records, inserted, load
from bench.measure import Timings, quiet
from bench.places import Place
from bench.texts import Statement, Writer, conversation
from muniment import Memory

WARM_UP = 64
PER_THREAD = 20
SCOPE = {"project": "workshop"}


@figure(
    "remember",
    "one remembered message end to end, durable",
    full={"writes": 2000},
    quick={"writes": 200},
)
def remember(place: Place, writes: int) -> Iterator[Row]:
    """Evidence, candidate, decision, record, lineage and trail of one message, committed."""
    memory, writer, timings = place.open(), Writer(), Timings()
    load(memory, writer.statements(WARM_UP))
    with quiet():
        for number, statement in enumerate(writer.statements(writes)):
            _remember(memory, statement, timings, number // PER_THREAD)
    found = active_records(memory)
    require(found == WARM_UP + writes, f"{found} records after {WARM_UP + writes} writes")
    require(memory.verify().ok, "the chains do not verify")
    binding = place.embedded
    yield Row.of(
        f"{writes:,} messages",
        timings,
        [
            Check("p50", timings.wall_ms(0.5), 2.0, "ms", binding=binding),
            Check("rate", timings.rate, 500.0, "/s", at_most=False, binding=binding),
        ],
    )


def _remember(memory: Memory, statement: Statement, timings: Timings, talk: int = 0) -> None:
    with timings.one():
        decisions = memory.remember(statement.text, thread=f"talk-{talk}", scope=SCOPE)
    inserted(decisions)


@figure(
    "growth",
    "the last write of many against an early one, interleaved",
    full={"grown": 10_000, "early": 100, "writes": 200},
    quick={"grown": 1000, "early": 100, "writes": 50},
)
def growth(place: Place, grown: int, early: int, writes: int) -> Iterator[Row]:
    """The same writes into a store that has grown and one that has not, one by one in turn.

    On SQLite the processor time decides; a server works outside this process, so there the wall
    time does.
    """
    sides = []
    for size in (grown, early):
        memory, writer = place.open(), Writer()
        load(memory, writer.statements(size))
        require(active_records(memory) == size, f"the store did not grow to {size:,}")
        sides.append((memory, writer, Timings()))
    with quiet():
        for _ in range(writes):
            for memory, writer, timings in sides:
                _remember(memory, writer.statement(), timings)
            sides.reverse()  # neither always goes first
    if writes % 2:
        sides.reverse()
    late, first = (timings for _, _, timings in sides)
    times = (late.cpu, first.cpu) if place.embedded else (late.wall, first.wall)
    ratio = median(times[0]) / median(times[1])
    kind = "cpu" if place.embedded else "wall"
    yield Row.of(
        f"{grown:,}th against {early:,}th, medians of {writes}",
        late,
        [Check(f"{kind} ratio", ratio, 1.2, "×", binding=place.embedded)],
        f"{kind} {median(times[0]) * 1e3:.2f} ms against {median(times[1]) * 1e3:.2f} ms",
    )


@figure(
    "import",
    "append-only import of conversations",
    full={"messages": 20_000},
    quick={"messages": 2000},
)
def import_(place: Place, messages: int) -> Iterator[Row]:
    """A JSON Lines file as events; and LoCoMo, where MUNIMENT_DATA has it."""
    path = conversation(place.directory / "talk.jsonl", messages)
    yield _imported(place, path, messages, f"{messages:,} messages")
    locomo = Path(os.environ.get("MUNIMENT_DATA", "")) / "locomo" / "locomo_dev.json"
    if "MUNIMENT_DATA" in os.environ and locomo.is_file():
        yield _imported(place, locomo, None, "LoCoMo, {count:,} turns")


def _imported(place: Place, path: Path, expected: int | None, size: str) -> Row:
    memory = place.open()
    wall, cpu = time.perf_counter(), time.process_time()
    done = memory.import_file(path, attest=True)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    require(done.appended > 0 and done.known == 0, f"nothing new came in: {done}")
    require(expected in (None, done.appended), f"{done.appended} of {expected} came in")
    again = memory.import_file(path, attest=True)
    require(again.appended == 0, f"a second import appended {again.appended}")
    require(memory.verify().ok, "the chains do not verify")
    return Row(
        size.format(count=done.appended),
        (Check("rate", done.appended / wall, 3000.0, "/s", at_most=False, binding=place.embedded),),
        notes=f"{done.appended / cpu:,.0f} per cpu second; nothing new when imported again",
    )
