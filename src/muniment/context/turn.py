"""One turn of an agent as one object: load, recall, fence, then append, propose, record uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, TypeVar

from muniment.context.compose import Context
from muniment.context.scrub import Scrubber
from muniment.errors import Unavailable
from muniment.events.event import Event
from muniment.gate.decision import Decision

T = TypeVar("T")
_MARK = re.compile(r"\[m(\d{1,3})\]")


class TurnHost(Protocol):
    """The verbs a turn is made of, already bound to its principal, thread and scope."""

    def append(self, by: str, text: str, **fields: Any) -> Event: ...
    def context(self, text: str, window: Sequence[str]) -> Context: ...
    def remember(self, event: Event) -> list[Decision]: ...
    def propose(self, proposal: Mapping[str, Any]) -> list[Decision]: ...
    def used(self, turn: str, use: str, ids: Sequence[str]) -> None: ...


class Turn:
    """Use it as a context manager::

        with memory.turn("thread-1", "继续下一篇", stage="wrap_up") as turn:
            answer = model(turn.context.policy, turn.context.memory, turn.text)
            turn.answer(answer)

    On entering, the message is appended as evidence and the context composed.  On leaving
    without an error, what the user said is put through the gate (``turn.decisions``) and what
    was offered, injected and cited is recorded.  An error inside leaves the evidence and writes
    nothing else.

    A store that cannot answer now never stops the turn: what could not be read or written is
    named in ``degraded``, and ``message`` is ``None`` where the message could not be stored.  A
    closed store, a wrong call and a refusal still raise.
    """

    def __init__(
        self,
        host: TurnHost,
        message: str,
        *,
        turn_id: str,
        window: Sequence[str] = (),
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        self._host, self.text, self._window = host, message, window
        self._fields = dict(fields or {})
        self.id = turn_id
        self.message: Event | None = None
        self.context: Context
        self.decisions: list[Decision] = []
        self._answers: list[str] = []
        self._cited: list[str] = []
        self._lacking: list[str] = []

    @property
    def degraded(self) -> tuple[str, ...]:
        """Why this turn may lack something it should have read or kept; empty when it does not."""
        return tuple(dict.fromkeys((*self.context.degraded, *self._lacking)))

    @property
    def memory_degraded(self) -> bool:
        """Whether anything could not be read or kept."""
        return bool(self.degraded)

    def __enter__(self) -> Turn:
        self.message = self._if_it_can(
            lambda: self._host.append("user", self.text, turn=self.id, **self._fields)
        )
        self.context = self._host.context(self.text, self._window)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            return
        message, report = self.message, self.context.report
        if message is not None:
            self.decisions += self._if_it_can(lambda: self._host.remember(message)) or []
        offered = [*report.included, *(i for i, _ in report.left_out)]
        uses = {"offered": offered, "injected": [*report.included], "cited": self._cited}
        for use, ids in uses.items():
            self._used(use, ids)

    def answer(self, text: str) -> str:
        """Append what the model said; returns what the user may see, without fence marks."""
        self._if_it_can(lambda: self._host.append("assistant", text, turn=self.id))
        self._cite(text)
        scrubber = Scrubber()
        shown = scrubber.feed(text) + scrubber.close()
        self._answers.append(shown)
        return shown

    def tool(self, name: str, result: str, **fields: Any) -> Event | None:
        """Append a tool's result as evidence; ``None`` where it could not be stored."""
        return self._if_it_can(
            lambda: self._host.append("tool", result, name=name, turn=self.id, **fields)
        )

    def propose(self, **proposal: Any) -> list[Decision]:
        """Propose a memory on this turn's evidence (the user's message by default)."""
        if "evidence" not in proposal:
            if self.message is None:
                return []  # nothing to stand on
            proposal["evidence"] = [self.message.id]
        decisions = self._if_it_can(lambda: self._host.propose(proposal)) or []
        self.decisions += decisions
        return decisions

    def cited(self, *ids: str) -> None:
        """Say which records the answer used, where the text does not show it."""
        self._cited += [i for i in ids if i in self.context.report.included]

    def _used(self, use: str, ids: Sequence[str]) -> None:
        self._if_it_can(lambda: self._host.used(self.id, use, ids))

    def _if_it_can(self, act: Callable[[], T]) -> T | None:
        """The answer of a verb, or ``None`` (and a reason) where the store cannot be asked now."""
        try:
            return act()
        except Unavailable as error:
            if error.code == "store.closed":
                raise
            self._lacking.append(error.code)
            return None

    def _cite(self, text: str) -> None:
        included = self.context.report.included
        for mark in _MARK.findall(text):
            if 0 < int(mark) <= len(included):
                self._cited.append(included[int(mark) - 1])
