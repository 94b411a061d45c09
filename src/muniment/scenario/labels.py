"""What the labels of a scenario stand for: events, candidates and records by their ids."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from muniment.memory import Memory
from muniment.scope import Principal, Scope

#: A thread opened by itself where a story says something without naming one.
FIRST_THREAD = "main"


@dataclass(slots=True)
class Labels:
    """A label names the latest thing bound to it, one of each kind.

    A name that was never bound is given to the product as it is.
    """

    events: dict[str, str] = field(default_factory=dict)
    records: dict[str, str] = field(default_factory=dict)
    candidates: dict[str, str] = field(default_factory=dict)
    digests: dict[str, str | None] = field(default_factory=dict)

    def event(self, name: Any) -> Any:
        """The id of an event."""
        return _known(self.events, name)

    def record(self, name: Any) -> Any:
        """The id of a record."""
        return _known(self.records, name)

    def candidate(self, name: Any) -> Any:
        """The id of a candidate."""
        return _known(self.candidates, name)

    def digest(self, name: Any) -> str | None:
        """The digest of a candidate as it was when its label was bound."""
        return _known(self.digests, name) if name in self.digests else None

    def bind_candidate(self, name: str, candidate: str | None, digest: str | None) -> None:
        """Let a label name a candidate as it is shown now."""
        if candidate is not None:
            self.candidates[name], self.digests[name] = candidate, digest

    def bind_decision(self, name: str, decision: Mapping[str, Any]) -> None:
        """Let a label name the record of a decision, or the candidate that waits."""
        if decision.get("action") == "hold":
            self.bind_candidate(name, decision.get("candidate"), decision.get("digest"))
        elif decision.get("record") is not None:
            self.records[name] = decision["record"]


def _known(names: Mapping[str, Any], name: Any) -> Any:
    return names.get(name, name) if isinstance(name, str) else name


@dataclass(slots=True)
class Threads:
    """Threads by label: the same label in another scope, or of another user, is another one."""

    _opened: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def open(self, memory: Memory, label: str, principal: Principal, scope: Scope) -> str:
        """The id of the thread of that label for this user in this scope."""
        place = scope.with_parts(
            user=scope.user or principal.user, agent=scope.agent or principal.agent
        )
        key = (principal.tenant, place.key, label)
        if key not in self._opened:
            mark = hashlib.sha256(place.key.encode()).hexdigest()[:12]
            opened = memory.thread(f"{label}@{mark}", scope=scope, principal=principal)
            self._opened[key] = opened.id
        return self._opened[key]
