"""From envelopes to the block a model reads: duplicates out, conflicts marked, budget kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from muniment.context.fence import line_of, render
from muniment.recall.envelope import Envelope
from muniment.recall.request import Request
from muniment.records.facts import Catalogue
from muniment.text import TOKEN_COUNTER, normalise, token_count


@dataclass(frozen=True, slots=True)
class Report:
    """Why each thing is in the block or not.

    ``included`` are record ids in the order of their marks (m1, m2, …); ``left_out`` pairs of
    id and reason; ``conflicts`` memories that the current instruction contradicts.
    """

    included: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    conflicts: tuple[Mapping[str, Any], ...] = ()
    tokens: int = 0
    budget_tokens: int = 0
    counter: str = TOKEN_COUNTER


@dataclass(frozen=True, slots=True)
class Context:
    """What to give the model.  ``policy`` goes to the system prompt, ``memory`` is fenced data.

    ``incomplete_rules`` means that a rule which applies did not fit the budget: it is named in
    the report, and acting as if there were no such rule is the caller's mistake.
    """

    memory: str
    policy: tuple[str, ...] = ()
    report: Report = field(default_factory=Report)
    envelopes: tuple[Envelope, ...] = ()
    degraded: tuple[str, ...] = ()
    incomplete_rules: bool = False

    @property
    def memory_degraded(self) -> bool:
        """Whether the block may lack something it should hold."""
        return bool(self.degraded)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "memory": self.memory,
            "policy": list(self.policy),
            "report": {
                "included": list(self.report.included),
                "left_out": [list(pair) for pair in self.report.left_out],
                "conflicts": [dict(c) for c in self.report.conflicts],
                "tokens": self.report.tokens,
                "budget_tokens": self.report.budget_tokens,
                "counter": self.report.counter,
            },
            "degraded": list(self.degraded),
            "memory_degraded": self.memory_degraded,
            "incomplete_rules": self.incomplete_rules,
        }


def compose(
    envelopes: Sequence[Envelope],
    request: Request,
    *,
    language: str,
    budget_tokens: int,
    window: Sequence[str] = (),
    catalogue: Catalogue,
    degraded: tuple[str, ...] = (),
    policy: tuple[str, ...] = (),
) -> Context:
    """The block for a model within ``budget_tokens`` (as counted by `TOKEN_COUNTER`).

    The same envelopes and request give the same bytes.  Rules come first, and one that does not
    fit is named, never silently dropped.
    """
    conflicts = {e.id: c for e in envelopes if (c := conflict(e, request, catalogue))}
    left_out: list[tuple[str, str]] = [(i, c["reason"]) for i, c in conflicts.items()]
    lines: list[str] = []
    included: list[Envelope] = []
    seen = {normalise(text) for text in window}
    joined = "\n".join(seen)
    incomplete = False
    for e in envelopes:
        if e.id in conflicts:
            continue
        words = normalise(e.content)
        if words in seen or (words and words in joined):
            left_out.append((e.id, "already_in_window"))
            continue
        line = line_of(e, len(included) + 1, language)
        if token_count(render([*lines, line], language)) > budget_tokens:
            left_out.append((e.id, "budget"))
            incomplete = incomplete or e.kind == "rule"
            continue
        seen.add(words)
        lines.append(line)
        included.append(e)
    memory = render(lines, language)
    report = Report(
        included=tuple(e.id for e in included),
        left_out=tuple(left_out),
        conflicts=tuple(conflicts.values()),
        tokens=token_count(memory) if memory else 0,
        budget_tokens=budget_tokens,
    )
    return Context(memory, policy, report, tuple(included), degraded, incomplete)


def conflict(e: Envelope, request: Request, catalogue: Catalogue) -> Mapping[str, Any] | None:
    """Whether the current instruction contradicts a memory: it sets another value of the same
    predicate, or forbids what the predicate touches.  Nothing vaguer is claimed."""
    predicate = catalogue.get(e.predicate)
    if predicate is None or (e.kind == "rule" and predicate.topic is not None):
        return None
    if predicate.name in request.uses:
        wanted = request.uses[predicate.name]
        if predicate.canonical(wanted) != predicate.canonical(e.value):  # type: ignore[arg-type]
            return _conflict(e, "current_instruction_says_otherwise", wanted)
    touched = {normalise(t) for t in predicate.touches}
    forbidden = next((f for f in request.forbids if any(t in f for t in touched if t)), None)
    if forbidden is not None:
        return _conflict(e, "current_instruction_forbids_it", forbidden)
    return None


def _conflict(e: Envelope, reason: str, wanted: object) -> Mapping[str, Any]:
    return {"record": e.id, "content": e.content, "reason": reason, "instruction": wanted}
