"""Many threads and many processes on one store: no error, nothing lost, nothing twice."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from muniment import Conflict
from muniment.clock import SystemClock
from tests.contract.conftest import (  # noqa: F401
    desk,
    durable_place,
    file_place,
    module_database,
    place,
)
from tests.contract.kit import WEB, Desk, Place

ROOT = Path(__file__).parents[2]

WRITER = """
import sys, muniment
folder, number = sys.argv[1], int(sys.argv[2])
who = {"tenant": "acme", "user": "lin", "channel": "runtime"}
with muniment.open(f"sqlite:///{folder}/memory.db", principal=who) as memory:
    for n in range(250):
        memory.append(f"wombat {number} {n}", thread=f"t{n % 7}")
        if n % 50 == 0:
            found = memory.recall("wombat", layers=("archive",), limit=3)
            assert not found.degraded, found.degraded
            memory.remember("This project uses npm.", thread="same", scope={"project": "web"})
print("done")
"""


def _together(count: int, act: Any) -> list[Any]:
    barrier = threading.Barrier(count)
    results: list[Any] = [None] * count

    def run(number: int) -> None:
        barrier.wait()
        try:
            results[number] = act(number)
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_four_processes_write_and_read_one_file(file_place: Place) -> None:  # noqa: F811
    """4 x 250 writes with readers: no error, 1,000 rows, one record of the common fact."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file_place.folder), str(number)],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for process in running:
        out, err = process.communicate(timeout=240)
        assert (process.returncode, out) == (0, "done\n"), err[-2000:]
    file_place.tenant = "acme"
    with file_place.open(SystemClock()) as memory:
        report = memory.verify()
        assert report.ok, report.first_bad
        assert report.events == 1000 + 20
        found = memory.recall("wombat", layers=("archive",), limit=1000, neighbours=0)
        assert (len(found), found.degraded) == (1000, ())
        assert len(memory.list(where={"status": "active"})) == 1
    [(lag,)] = file_place.run("SELECT count(*) FROM outbox")
    assert lag == 0, "closing brought the index up to date"


def test_fifty_threads_state_the_same_fact(desk: Desk) -> None:  # noqa: F811
    """One active record, 49 replies that name it."""
    runtime = desk.who(channel="runtime")

    def state(number: int) -> Any:
        return desk.memory.remember(
            "This project uses npm.", thread=f"t{number}", scope=WEB, principal=runtime
        )[0]

    decisions = _together(50, state)
    assert [d for d in decisions if isinstance(d, Exception)] == []
    assert Counter(str(d.reconcile) for d in decisions) == {"insert": 1, "merge": 49}
    assert len({d.record_id for d in decisions}) == 1
    [record] = desk.records()
    assert len(desk.memory.show(record.id).evidence) == 50
    assert desk.memory.verify().ok


def test_fifty_threads_state_different_values(desk: Desk) -> None:  # noqa: F811
    """However they race, one value is active."""
    runtime = desk.who(channel="runtime")

    def state(number: int) -> Any:
        manager = ("npm", "pnpm", "yarn", "bun")[number % 4]
        return desk.memory.remember(
            f"This project uses {manager}.", thread="one", scope=WEB, principal=runtime
        )[0]

    decisions = _together(24, state)
    assert [d for d in decisions if isinstance(d, Exception)] == []
    assert len(desk.records(status="active")) == 1
    assert len(desk.values()) == 1


def test_of_many_revisions_of_one_version_one_wins(desk: Desk) -> None:  # noqa: F811
    """Compare and set: the others get a conflict, and no version is lost or doubled."""
    record = desk.remember("I prefer short answers.").record_id
    results = _together(
        16, lambda n: desk.memory.revise(record, if_version=1, value=("detailed", "medium")[n % 2])
    )
    assert sum(not isinstance(r, Exception) for r in results) == 1
    assert all(isinstance(r, Conflict) for r in results if isinstance(r, Exception)), results
    assert desk.memory.show(record).version == 2
    assert desk.memory.history(record).versions == 2


def test_one_key_used_by_many_threads_decides_once(desk: Desk) -> None:  # noqa: F811
    """Fifteen of sixteen replays; one event, one record."""
    runtime = desk.who(channel="runtime")
    results = _together(
        16,
        lambda n: desk.memory.remember(
            "This project uses npm.", thread="t", scope=WEB, key="k", principal=runtime
        )[0],
    )
    assert [r for r in results if isinstance(r, Exception)] == []
    assert Counter(r.replayed for r in results) == {True: 15, False: 1}
    assert len({r.id for r in results}) == 1
    assert desk.memory.verify().events == 1


def test_one_candidate_confirmed_by_many_threads_is_confirmed_once(desk: Desk) -> None:  # noqa: F811
    """The others find nothing waiting."""
    held = desk.guess()
    results = _together(8, lambda n: desk.memory.confirm(held.candidate_id, digest=held.digest))
    assert sum(not isinstance(r, Exception) for r in results) == 1
    assert {r.code for r in results if isinstance(r, Exception)} == {"candidate.not_found"}
    assert len(desk.records()) == 1


@pytest.mark.parametrize("deed", ["revise", "erase"])
def test_a_late_indexer_does_not_bring_old_words_back(durable_place: Place, deed: str) -> None:  # noqa: F811
    """One process has read the old words; another changes them and indexes; the first goes on."""
    one = Desk(durable_place)
    two = Desk(durable_place, one.clock)
    made = one.remember("I prefer short answers MARKEROLD.")
    assert made.record_id is not None
    record = made.record_id
    real = one.memory._parts.index.put

    def change() -> None:
        if deed == "revise":
            two.memory.revise(
                record, if_version=1, content="I prefer detailed answers", value="detailed"
            )
        else:
            two.memory.erase(record=record)
        two.memory._parts.catch_up(durable_place.tenant)

    meanwhile = threading.Thread(target=change)

    def slow(*args: Any, **kwargs: Any) -> None:
        if not meanwhile.is_alive() and meanwhile.ident is None:
            meanwhile.start()
            meanwhile.join(1.0)  # if it waits for our lock, it has to be let go on
        real(*args, **kwargs)

    one.memory._parts.index.put = slow  # type: ignore[method-assign]
    one.memory._parts.catch_up(durable_place.tenant)
    assert meanwhile.ident is not None, "positive control: the index was being filled"
    meanwhile.join()
    one.memory._parts.index.put = real  # type: ignore[method-assign]
    for memory in (one.memory, two.memory):
        memory._parts.catch_up(durable_place.tenant)
        found = [e.content for e in memory.recall("detailed MARKEROLD short answers")]
        assert found == ([] if deed == "erase" else ["I prefer detailed answers"])
    if durable_place.name == "file":
        one.memory.close()
        two.memory.close()
        index = b"".join(p.read_bytes() for p in durable_place.folder.glob("memory.db.index*"))
        assert b"detail" in index or deed == "erase"
        if deed == "erase":
            assert b"markerold" not in index.lower()
    else:
        rows = durable_place.run(
            "SELECT p.term FROM muniment_index.postings p JOIN muniment_index.docs d "
            "USING (tenant_id, doc) "
            f"WHERE d.tenant_id = '{durable_place.tenant}' AND d.layer = 'record'"
        )
        terms = {row[0] for row in rows}
        assert not any("markerold" in t for t in terms)
        one.memory.close()
        two.memory.close()


def test_readers_see_whole_turns_while_others_write(durable_place: Place) -> None:  # noqa: F811
    """A reader never finds no current value, nor two, while it is being superseded."""
    writer = Desk(durable_place)
    reader = Desk(durable_place, writer.clock)
    writer.remember("This project uses npm.")
    stop = threading.Event()
    seen: Counter[int] = Counter()

    def read() -> None:
        while not stop.is_set():
            seen[len(reader.memory.list(where={"status": "active"}))] += 1
            seen[len(reader.values())] += 1

    thread = threading.Thread(target=read)
    thread.start()
    for number in range(200):
        if number >= 12 and seen[1] > 20:
            break
        writer.wait()
        writer.remember(f"This project uses {('pnpm', 'npm')[number % 2]}.")
    stop.set()
    thread.join()
    assert seen[1] > 20
    assert set(seen) == {1}, seen
    writer.memory.close()
    reader.memory.close()
