"""Several writers at once: processes on one store, threads on one fact."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import muniment
from bench.figures import Check, Row, figure, require
from bench.loading import active_records
from bench.places import WHO, Place
from bench.texts import Writer
from muniment import MunimentError, Principal

FACT = "From now on use pnpm in this project."
SCOPE = {"project": "workshop"}
WARM_UP = Principal(tenant="warm-up", user="ada")
START_SECONDS = 120


@figure(
    "processes",
    "several processes writing to one store at once",
    full={"processes": 4, "writes": 250},
    quick={"processes": 2, "writes": 25},
)
def processes(place: Place, processes: int, writes: int) -> Iterator[Row]:
    """Each opens the store by itself, waits for the others, and writes without retrying."""
    url = place.fresh_url()
    place.open(url)
    place.close()
    context = multiprocessing.get_context("spawn")
    start, answers = context.Barrier(processes + 1), context.Queue()
    arguments = (url, place.key_file, writes, start, answers)
    workers = [
        context.Process(target=write_many, args=(number, *arguments)) for number in range(processes)
    ]
    for worker in workers:
        worker.start()
    start.wait(timeout=START_SECONDS)
    began = time.perf_counter()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - began
    require(all(w.exitcode == 0 for w in workers), "a process broke off; see its error above")
    told = [answers.get(timeout=START_SECONDS) for _ in workers]
    yield _counted(place, url, told, processes, writes, seconds)


def _counted(
    place: Place, url: str, told: list[list[str]], processes: int, writes: int, seconds: float
) -> Row:
    memory = place.open(url)
    errors = [error for one in told for error in one]
    rows, expected = active_records(memory), processes * writes
    require(memory.verify().ok, "the chains do not verify")
    return Row(
        f"{processes} processes × {writes} writes",
        (
            Check("errors", len(errors), 0),
            Check("rows", rows, expected, at_most=False),
        ),
        notes=f"{expected / seconds:,.0f} writes/s together"
        + (f"; {Counter(errors).most_common(3)}" if errors else ""),
    )


def write_many(
    number: int, url: str, key_file: Path, writes: int, start: Any, answers: Any
) -> None:
    """What one process does; it answers with the errors it met."""
    errors: list[str] = []
    with muniment.open(url, principal=WHO, key_file=key_file) as memory:
        statements = Writer(number).statements(writes)
        memory.remember(FACT, principal=WARM_UP)  # rules are compiled before the clock starts
        start.wait()
        for statement in statements:
            text = statement.text.replace("K0", f"P{number}")
            try:
                decisions = memory.remember(text, scope=SCOPE)
            except MunimentError as error:
                errors.append(error.code)
                continue
            if [(d.action, d.reconcile) for d in decisions] != [("activate", "insert")]:
                errors.append("not_inserted")
    answers.put(errors)


@figure(
    "same-fact",
    "many threads stating one fact at once",
    full={"threads": 50},
    quick={"threads": 10},
)
def same_fact(place: Place, threads: int) -> Iterator[Row]:
    """One of them makes the record, all others add their evidence to it."""
    memory = place.open()
    start = threading.Barrier(threads)

    def state(number: int) -> list[Any]:
        start.wait()
        return memory.remember(FACT, thread=f"talk-{number}", scope=SCOPE)

    memory.remember(FACT, principal=WARM_UP)  # rules are compiled before the clock starts
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        decided = [d for decisions in pool.map(state, range(threads)) for d in decisions]
    seconds = time.perf_counter() - began
    outcomes = Counter(f"{d.action}/{d.reconcile}" for d in decided)
    require(sum(outcomes.values()) == threads, f"{threads} decisions expected, not {outcomes}")
    evidence = len(memory.why(decided[0].record_id).quotes)
    yield Row(
        f"{threads} threads",
        (
            Check("active records over 1", active_records(memory) - 1, 0),
            Check("merges", outcomes["activate/merge"], threads - 1, at_most=False),
            Check("evidence kept", evidence, threads, at_most=False),
        ),
        notes=f"{threads / seconds:,.0f} writes/s together",
    )
