"""Recall in a large tenant, and what auditing every read costs many readers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from statistics import median

from bench.figures import Check, Row, figure, require
from bench.loading import active_records, load, tenants
from bench.measure import Timings, quiet
from bench.places import WHO, Place
from bench.texts import Statement, Writer
from muniment import Memory, Principal

PROJECTS = tuple(f"project-{number}" for number in range(8))
OTHERS = tuple(Principal(tenant=WHO.tenant, user=f"colleague-{number}") for number in range(6))
OWN_SHARE = 0.7
ANSWERED_MIN = 0.9  # of the questions, for a figure to be about recall at all
TENANT_RECORDS = 4
WARM_UP = 20


@dataclass(slots=True)
class Crowd:
    """One large tenant beside many small ones: the URL, and what its main user has stated, each
    with the project it was stated in."""

    url: str
    own: list[tuple[Statement, str]]


def crowd(place: Place, records: int, others: int) -> Crowd:
    """Fill a store: seven tenths of the records are one user's, the rest six colleagues'."""
    url = place.fresh_url()
    memory, writer = place.open(url), Writer()
    statements = writer.statements(records)
    own = statements[: int(records * OWN_SHARE)]
    places = load(memory, own, projects=PROJECTS)
    rest = statements[len(own) :]
    for number, colleague in enumerate(OTHERS):
        load(memory, rest[number :: len(OTHERS)], projects=PROJECTS, who=colleague)
    for tenant in tenants(others):
        load(memory, writer.statements(TENANT_RECORDS), who=tenant)
    require(active_records(memory) == records, f"the tenant does not hold {records:,} records")
    place.close()  # brings every tenant's index up to date
    return Crowd(url, list(zip(own, places, strict=True)))


@figure(
    "recall",
    "recall without embeddings in a large tenant beside many others, audited",
    full={"records": 10_000, "others": 1000, "queries": 400},
    quick={"records": 800, "others": 20, "queries": 60},
)
def recall(place: Place, records: int, others: int, queries: int) -> Iterator[Row]:
    """Questions in other words than the statements, English and Chinese, in eight projects."""
    filled = crowd(place, records, others)
    memory, timings = place.open(filled.url), Timings()
    asked = Random(2).sample(filled.own, min(queries + WARM_UP, len(filled.own)))
    for statement, project in asked[:WARM_UP]:
        _ask(memory, statement, project)
    found = []
    with quiet():
        for statement, project in asked[WARM_UP:]:
            with timings.one():
                answers = _ask(memory, statement, project)
            found.append(_answers(statement, answers))
    answered = sum(found) / len(found)
    require(answered >= ANSWERED_MIN, f"only {answered:.0%} of the questions were answered")
    audited = _reads_in_trail(memory)
    require(audited >= len(asked), f"{audited} of {len(asked)} reads are in the trail")
    yield Row.of(
        f"{records:,} records, {others:,} other tenants, {len(found)} questions",
        timings,
        [Check("p95", timings.wall_ms(0.95), 10.0, "ms", binding=place.embedded)],
        f"{answered:.0%} of the questions got an answer on their topic; every read audited",
    )


def _ask(memory: Memory, statement: Statement, project: str) -> Sequence[str]:
    answer = memory.recall(statement.question, scope={"project": project})
    require(not answer.degraded, f"the recall was degraded: {answer.degraded}")
    require(bool(answer.envelopes), f"nothing was recalled for {statement.question!r}")
    return [e.content for e in answer.envelopes]


def _answers(statement: Statement, contents: Sequence[str]) -> bool:
    """Whether some answer names what the statement names first: several say the same of it."""
    return any(statement.topic in content for content in contents)


def _reads_in_trail(memory: Memory) -> int:
    parts = memory._parts
    parts.lane.flush()
    entries = parts.read(WHO, lambda unit: unit.trail.read(lane=parts.lane.name, limit=100_000))
    return sum(len(entry.details["reads"]) for entry in entries)


class NullLane:
    """A lane that notes nothing: what reading would cost without an audit."""

    def add(self, tenant: str, read: dict[str, object]) -> bool:
        """Serve every read."""
        return True

    def flush(self) -> None:
        """Nothing is open."""


@dataclass(slots=True)
class _Side:
    """One of the two ways to read, with the seconds its rounds took."""

    lane: object
    seconds: list[float] = field(default_factory=list)


@figure(
    "audit",
    "many readers of one tenant, with and without the audit of reads",
    full={"readers": 64, "reads": 8, "rounds": 10, "records": 1000},
    quick={"readers": 8, "reads": 5, "rounds": 4, "records": 200},
)
def audit(place: Place, readers: int, reads: int, rounds: int, records: int) -> Iterator[Row]:
    """The same reads in turn through the real lane and through one that notes nothing.

    What decides is the median over pairs of neighbouring rounds, so that a machine that slows
    down in between slows both.
    """
    filled = crowd(place, records, 0)
    memory = place.open(filled.url)
    parts = memory._parts
    real, null = _Side(parts.lane), _Side(NullLane())
    sides = [real, null]
    asked = [(s.question, project) for s, project in filled.own]
    with ThreadPoolExecutor(readers) as pool, quiet():
        _round(pool, memory, asked, readers, 2)
        before = _reads_in_trail(memory)
        for _ in range(rounds):
            for side in sides:
                parts.lane = side.lane  # type: ignore[assignment]
                side.seconds.append(_round(pool, memory, asked, readers, reads))
            sides.reverse()
        parts.lane = real.lane  # type: ignore[assignment]
    noted, expected = _reads_in_trail(memory) - before, rounds * readers * reads
    require(noted == expected, f"{noted} of {expected} reads are in the trail")
    count = readers * reads
    with_audit, without = count / median(real.seconds), count / median(null.seconds)
    kept = median(n / r for n, r in zip(null.seconds, real.seconds, strict=True))
    yield Row(
        f"{readers} threads × {reads} recalls, {rounds} rounds each, {records:,} records",
        (
            Check(
                "throughput kept",
                kept,
                0.9,
                at_most=False,
                binding=not place.embedded,
            ),
        ),
        notes=f"{with_audit:,.0f}/s with, {without:,.0f}/s without; {noted:,} reads in the trail",
    )


def _round(
    pool: ThreadPoolExecutor,
    memory: Memory,
    asked: Sequence[tuple[str, str]],
    readers: int,
    reads: int,
) -> float:
    """Seconds until every reader has done its reads, the open batch of the lane written too."""
    start = threading.Barrier(readers + 1)

    def read(reader: int) -> None:
        start.wait()
        for number in range(reads):
            words, project = asked[(reader * reads + number) % len(asked)]
            found = memory.recall(words, scope={"project": project})
            require(not found.degraded, f"a recall was degraded: {found.degraded}")

    futures = [pool.submit(read, reader) for reader in range(readers)]
    start.wait()
    began = time.perf_counter()
    for future in futures:
        future.result()
    memory._parts.lane.flush()
    return time.perf_counter() - began
