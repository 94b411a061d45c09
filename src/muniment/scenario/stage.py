"""Where a story is played."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from muniment.clock import Clock
from muniment.errors import InvalidInput
from muniment.memory import Memory
from muniment.scenario.labels import FIRST_THREAD, Labels, Threads
from muniment.scenario.load import Scenario
from muniment.scope import Principal, Scope

Reopen = Callable[[], Memory]
PAGE = 1000


@dataclass(slots=True)
class Stage:
    """Where a story is played: the memory, its clock, who speaks and where, and the labels."""

    memory: Memory
    clock: Clock
    principal: Principal
    scope: Scope
    reopen: Reopen | None = None
    thread: str = FIRST_THREAD
    labels: Labels = field(default_factory=Labels)
    threads: Threads = field(default_factory=Threads)

    @classmethod
    def of(
        cls, scenario: Scenario, memory: Memory, clock: Clock, reopen: Reopen | None = None
    ) -> Stage:
        """The stage as a scenario finds it."""
        who = Principal.of(scenario.principal)
        return cls(memory, clock, who, Scope.of(scenario.scope), reopen)

    def ask(self, verb: str, *args: Any, **given: Any) -> Any:
        """Call a verb of the product as whoever speaks; an unknown field is its caller's fault."""
        return self._call(getattr(self.memory, verb), verb, args, given)

    def ask_threads(self, verb: str, *args: Any, **given: Any) -> Any:
        """The same for a verb of `Memory.threads`."""
        return self._call(getattr(self.memory.threads, verb), verb, args, given)

    def _call(self, call: Any, verb: str, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
        given["principal"] = self.principal
        try:
            inspect.signature(call).bind(*args, **given)
        except TypeError as error:
            raise InvalidInput(f"{verb}.arguments", f"{verb}: {error}") from None
        return call(*args, **given)

    def open_thread(self) -> str:
        """The id of the current thread."""
        return self.threads.open(self.memory, self.thread, self.principal, self.scope)
