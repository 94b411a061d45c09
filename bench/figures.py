"""What a figure is, and the registry of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.measure import Probe, Timings
from bench.places import Place


class WorkNotDone(Exception):
    """What was timed is not what the figure is about: there is no figure."""


def require(done: bool, what: str) -> None:
    """Fail loudly where the work was not done."""
    if not done:
        raise WorkNotDone(what)


@dataclass(frozen=True, slots=True)
class Check:
    """One number that has a limit.

    ``at_most`` says on which side of it the number has to be; one that is not ``binding`` is
    shown beside, for a store the limit was not set for.
    """

    what: str
    value: float
    limit: float
    unit: str = ""
    at_most: bool = True
    binding: bool = True

    @property
    def reached(self) -> bool:
        """Whether the number is on the right side."""
        return self.value <= self.limit if self.at_most else self.value >= self.limit

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        out = {name: getattr(self, name) for name in self.__slots__}
        return {**out, "reached": self.reached}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: one figure on one store at one size."""

    size: str
    checks: tuple[Check, ...]
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    cpu_p50_ms: float | None = None
    notes: str = ""
    figure: str = ""
    store: str = ""
    probe: Probe | None = None

    @classmethod
    def of(cls, size: str, timings: Timings, checks: Iterable[Check], notes: str = "") -> Row:
        """A row with the percentiles of timed calls."""
        return cls(
            size,
            tuple(checks),
            timings.wall_ms(0.5),
            timings.wall_ms(0.95),
            timings.wall_ms(0.99),
            timings.cpu_p50_ms,
            notes,
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        plain = {
            name: getattr(self, name) for name in self.__slots__ if name not in ("checks", "probe")
        }
        probed = self.probe and {name: getattr(self.probe, name) for name in Probe.__slots__}
        return {**plain, "checks": [c.to_dict() for c in self.checks], "probe": probed}


Run = Callable[..., Iterable[Row]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure by name: what it shows, on which stores, at which sizes.

    ``run`` takes a `Place` and the sizes as keywords.
    """

    name: str
    title: str
    run: Run
    stores: tuple[str, ...]
    full: Mapping[str, int] = field(default_factory=dict)
    quick: Mapping[str, int] = field(default_factory=dict)

    def rows(self, place: Place, sizes: Mapping[str, int]) -> list[Row]:
        """Run it there; raises `WorkNotDone`."""
        rows = list(self.run(place, **sizes))
        require(bool(rows), f"{self.name} gave no row")
        return rows


FIGURES: dict[str, Figure] = {}
BOTH = ("sqlite", "postgresql")


def figure(
    name: str,
    title: str,
    *,
    full: Mapping[str, int],
    quick: Mapping[str, int],
    stores: tuple[str, ...] = BOTH,
) -> Callable[[Run], Run]:
    """Register a function as a figure."""

    def register(run: Run) -> Run:
        FIGURES[name] = Figure(name, title, run, stores, full, quick)
        return run

    return register
