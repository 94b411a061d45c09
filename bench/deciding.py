"""The gate alone: a pure function on what the store gave it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

from bench.figures import Check, Row, figure, require
from bench.measure import Timings, quiet
from bench.places import Place
from muniment.gate import decide as gate
from muniment.gate import settle

# Each is what the writer says before, what is decided about, and what has to come of it.
CASES = (
    ("From now on use npm in this project.", "From now on use pnpm in this project.", "supersede"),
    ("以后每次发布博客之前都先给我看一遍。", "以后每次发布博客之前都先给我看一遍。", "merge"),
    ("", "Remember that the colour of the chart widget is light grey, code K00042.", "insert"),
    ("", "记住：报表页面的格式是深蓝色，编号 K00027。", "insert"),
)
SCOPE = {"project": "workshop"}


@figure(
    "gate",
    "one decision of the gate, all rules, nothing read or written",
    full={"decisions": 20_000},
    quick={"decisions": 2000},
    stores=("sqlite",),
)
def decide(place: Place, decisions: int) -> Iterator[Row]:
    """Exactly the arguments the gate got when these were remembered, again and again."""
    calls = [_captured(place, *case) for case in CASES]
    expected = [call() for call in calls]
    timings = Timings()
    with quiet():
        for number in range(decisions):
            with timings.one():
                verdict = calls[number % len(calls)]()
            require(verdict == expected[number % len(calls)], "the gate is not deterministic")
    yield Row.of(
        f"{decisions:,} decisions on {len(CASES)} cases",
        timings,
        [Check("p50", timings.wall_ms(0.5) * 1e3, 100.0, "µs")],
    )


def _captured(place: Place, before: str, text: str, outcome: str) -> partial[Any]:
    """The call of `decide` that the store made for ``text``."""
    calls: list[partial[Any]] = []

    def spy(*args: Any, **kwargs: Any) -> Any:
        calls.append(partial(gate.decide, *args, **kwargs))
        return gate.decide(*args, **kwargs)

    memory = place.open()
    if before:
        memory.remember(before, scope=SCOPE)
    with patch.object(settle, "decide", spy):
        decided = memory.remember(text, scope=SCOPE)
    require(len(calls) >= 1, f"the gate was not asked about {text!r}")
    require(decided[-1].reconcile == outcome, f"{text!r} gave {decided[-1].reconcile}")
    return calls[-1]
