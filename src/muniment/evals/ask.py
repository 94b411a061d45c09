"""Append a data set's conversations and ask its questions, through the façade alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from muniment.errors import Unavailable
from muniment.evals.dataset import Conversation, Dataset, Question, turn_key
from muniment.memory import Memory
from muniment.scope import Channel, Principal
from muniment.text import token_count

DEPTH = 50  # results looked at; ranks beyond count as not found
APPEND_AT_ONCE = 500
Advance = Callable[[int, int], None]
#: The results of a question, best first, as (event id, words).
Results = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question.

    ``ranks`` of the gold that was found, from 1; ``tokens`` somebody has read who reads the
    results from the top down to each of these, that one included; ``foreign`` results that are
    no turn of the conversation, which must be none.
    """

    id: str
    category: str
    gold: int
    ranks: tuple[int, ...]
    tokens: tuple[int, ...]
    foreign: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without a word of the data set."""
        return {name: getattr(self, name) for name in self.__slots__}


def evaluate(memory: Memory, dataset: Dataset, advance: Advance) -> list[Answer]:
    """An answer for each question that has gold; each conversation in a tenant of its own.

    What is appended stays in the store; doing it again finds it there.
    """
    total = sum(c.turns for c in dataset.conversations) + dataset.questions
    done, who, turns = 0, {}, {}
    for conversation in dataset.conversations:
        who[conversation.name] = reader(dataset, conversation)
        turns[conversation.name] = append(memory, conversation, who[conversation.name])
        memory.tidy(principal=who[conversation.name])  # nothing waits for index or vectors
        done += conversation.turns
        advance(done, total)
    out = []
    for conversation in dataset.conversations:
        for question in conversation.questions:
            if question.gold:
                results = recalled(memory, question, who[conversation.name])
                out.append(answer_of(question, turns[conversation.name], results))
            done += 1
            advance(done, total)
    return out


def reader(dataset: Dataset, conversation: Conversation) -> Principal:
    """Who appends and asks: nobody else's tenant, the same one for the same data."""
    tenant = f"eval-{dataset.fingerprint}-{conversation.name}"
    return Principal(tenant=tenant, user="reader", channel=Channel.IMPORT)


def append(memory: Memory, conversation: Conversation, who: Principal) -> dict[str, str]:
    """Append every turn at the time it was said; the key of each by its event's id."""
    keys: dict[str, str] = {}
    for talk in conversation.talks:
        for part in _parts(talk.messages):
            events = memory.append_many(part, thread=talk.thread, principal=who)
            pairs = zip(events, part, strict=True)
            keys |= {e.id: turn_key(talk.thread, str(m.id)) for e, m in pairs}
    return keys


def _parts(messages: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (messages[i : i + APPEND_AT_ONCE] for i in range(0, len(messages), APPEND_AT_ONCE))


def recalled(memory: Memory, question: Question, who: Principal) -> Results:
    """The turns recalled.  A degraded recall is no measurement: it raises `Unavailable`."""
    found = memory.recall(
        question.text, layers=("archive",), limit=DEPTH, neighbours=0, principal=who
    )
    if found.degraded:
        raise Unavailable("eval.degraded", f"a recall was degraded: {', '.join(found.degraded)}")
    return [(e.id, e.content) for e in found.envelopes]


def answer_of(question: Question, keys: dict[str, str], results: Results) -> Answer:
    """Where the gold is among the results."""
    ranks, tokens, read = [], [], 0
    for rank, (event, words) in enumerate(results, 1):
        read += token_count(words)
        if keys.get(event) in question.gold:
            ranks.append(rank)
            tokens.append(read)
    foreign = sum(event not in keys for event, _ in results)
    return Answer(
        question.id, question.category, len(question.gold), tuple(ranks), tuple(tokens), foreign
    )
