"""What a data set is once it is read: conversations to append, questions with their gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from muniment.events.message import Message

#: Said beside every figure, so that nobody reads it as one about records.
LAYER_NOTE = (
    "These sets measure the archive layer: turns found for a question, as they were said. "
    "They say nothing about records, the gate, or answers."
)


@dataclass(frozen=True, slots=True)
class Talk:
    """The messages of one thread, in order; every message has an id."""

    thread: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that answer it, by `turn_key`; no gold where none does."""

    id: str
    text: str
    category: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is searched together: one tenant."""

    name: str
    talks: tuple[Talk, ...]
    questions: tuple[Question, ...]

    @property
    def turns(self) -> int:
        """How many messages."""
        return sum(len(t.messages) for t in self.talks)

    def keys(self) -> frozenset[str]:
        """The key of every turn."""
        return frozenset(turn_key(t.thread, str(m.id)) for t in self.talks for m in t.messages)


@dataclass(frozen=True, slots=True)
class Dataset:
    """``fingerprint`` is that of the files; ``counts`` what was odd about the gold, by name."""

    name: str
    fingerprint: str
    conversations: tuple[Conversation, ...]
    counts: Mapping[str, int] = field(default_factory=dict)

    def limited(self, most: int | None) -> Dataset:
        """The first ``most`` questions, in order, and the conversations they are about."""
        if most is None:
            return self
        kept: list[Conversation] = []
        for conversation in self.conversations:
            if most > 0:
                kept.append(replace(conversation, questions=conversation.questions[:most]))
                most -= len(conversation.questions)
        return replace(self, conversations=tuple(kept))

    @property
    def questions(self) -> int:
        """How many questions, those without gold included."""
        return sum(len(c.questions) for c in self.conversations)


def turn_key(thread: str, message: str) -> str:
    """The name of a turn across the threads of a conversation."""
    return f"{thread}#{message}"


def known_gold(wanted: Sequence[str], keys: frozenset[str], counts: Counter[str]) -> frozenset[str]:
    """Those of the gold that name a turn of the conversation; the others are counted."""
    gold = frozenset(wanted)
    counts["gold naming no turn"] += len(gold - keys)
    return gold & keys
