"""Plays the golden cases of the write gate: what was said before, what is said now, the decisions.

python -m tests.golden.runner tests/golden/blind.yaml        # prints the score and what failed
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import muniment
from muniment.clock import ManualClock
from muniment.errors import MunimentError
from muniment.memory import Memory
from muniment.scenario.expect import decision_differences, pair
from muniment.scenario.lines import read
from muniment.verbs.policies import policy_of

HERE = Path(__file__).parent
START = datetime(2026, 9, 1, 1, 0, tzinfo=UTC)
TENANT = "golden"
SHOWN = ("action", "reconcile", "kind", "origin", "scope", "predicate", "value", "reasons")


@dataclass(frozen=True, slots=True)
class Result:
    """One case: what it was called, and how it departed from what was expected."""

    name: str
    failed: list[str]
    seen: list[dict[str, Any]]


def cases_of(path: Path) -> list[Any]:
    """The cases of a file; instants stay text, as the product takes them."""
    found: list[Any] = read(path)
    return found


def play(case: Mapping[str, Any], memory: Memory, clock: ManualClock, label: str) -> Result:
    """Say what was said before, then what is to be judged, and compare the decisions."""
    if "policy" in case:
        memory = under(memory, case["policy"])
    told = _Case(memory, clock, case, label)
    for said in case.get("before") or ():
        event, decisions = told.say(said)
        if said.get("then") == "delete":
            told.delete(decisions)
    event, decisions = told.say(case["say"], remember="propose" not in case)
    if "propose" in case:
        proposal = {"evidence": [event], **case["propose"]}
        decisions = memory.propose(proposal, scope=told.scope, principal=told.who)
    seen = [d.to_dict() for d in decisions]
    found = pair(case["expect"], seen, decision_differences, extra=case.get("extra", False))
    return Result(case["name"], found.failed, [{k: d[k] for k in SHOWN} for d in seen])


def under(memory: Memory, policy: str) -> Memory:
    """The same store under another policy."""
    return Memory(replace(memory._parts, policy=policy_of(policy)), memory.principal)


class _Case:
    """The place and the speaker of one case, and time that moves on by itself."""

    def __init__(
        self, memory: Memory, clock: ManualClock, case: Mapping[str, Any], label: str
    ) -> None:
        self.memory, self.clock, self.label = memory, clock, label
        self.scope = dict(case["in"])
        self.who = {
            "tenant": f"{TENANT}-{label}",
            "user": self.scope.get("user"),
            "channel": case.get("channel", "runtime"),
        }

    def say(self, said: Mapping[str, Any], *, remember: bool = True) -> tuple[str, list[Any]]:
        """Append an event and have it remembered."""
        self.clock.advance(timedelta(minutes=1))
        message = {k: v for k, v in said.items() if k != "then"}
        [event] = self.memory.append_many(
            [message], thread=self.label, scope=self.scope, principal=self.who
        )
        self.clock.advance(timedelta(seconds=1))
        if not remember:
            return event.id, []
        return event.id, self.memory.remember(event=event, principal=self.who)

    def delete(self, decisions: list[Any]) -> None:
        """Delete what an event made current, as the person could."""
        who = {**self.who, "channel": "user"}
        for decision in decisions:
            if decision.action == "activate" and decision.record_id is not None:
                self.memory.delete(record=decision.record_id, principal=who)


def run(path: Path, memory: Memory, clock: ManualClock, *, every: int = 1) -> Iterator[Result]:
    """Every n-th case of a file, each in a tenant of its own."""
    for n, case in enumerate(cases_of(path)):
        if n % every:
            continue
        try:
            yield play(case, memory, clock, f"{path.stem}-{n}")
        except MunimentError as error:
            yield Result(case["name"], [f"{error.kind} {error.code}: {error}"], [])


def score(path: Path) -> tuple[list[Result], str]:
    """All cases of a file on a memory of its own, and the score in words."""
    clock = ManualClock(START)
    with muniment.open("sqlite://", clock=clock) as memory:
        results = list(run(path, memory, clock))
    passed = sum(not r.failed for r in results)
    return results, f"{path.name}: {passed} of {len(results)}"


def main(paths: list[str]) -> None:
    """Print each file's score, and what failed with expected and seen."""
    for path in [Path(p) for p in paths] or sorted(HERE.glob("*.yaml")):
        results, words = score(path)
        print(words)
        for number, result in enumerate(results, start=1):
            if result.failed:
                print(f"  {number}. {result.name}")
                print("".join(f"     {line}\n" for line in result.failed), end="")
                seen = [str(s) for s in result.seen] or ["no decision"]
                print("".join(f"     seen: {s}\n" for s in seen), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
