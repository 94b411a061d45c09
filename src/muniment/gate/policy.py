"""The gate's settings: its numbers, what a policy file tightens, and what it finds worth keeping.

The constitution is code (`rules.py`).  `Safety` can only be stricter than it, `Worth` is free;
both are read from a file by `policy_file.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache

from muniment.gate.candidate import Candidate
from muniment.gate.decision import Action
from muniment.records.facts import Catalogue, builtin
from muniment.records.record import ACTING, Kind, Origin, Sensitivity
from muniment.text import normalise


@dataclass(frozen=True, slots=True)
class Topic:
    """Something words can be about: any of ``words`` occurs, or the predicate is one of these.

    A Latin word is a whole word, or with ``*`` at its end a beginning; others occur anywhere.
    """

    words: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()

    def in_text(self, text: str) -> bool:
        """Whether one of the words occurs."""
        return bool(self.words) and _any_of(self.words).search(normalise(text)) is not None

    def covers(self, text: str, predicate: str | None) -> bool:
        """Whether words, or the attribute they speak of, are of this topic."""
        return (predicate is not None and predicate in self.predicates) or self.in_text(text)


@lru_cache(maxsize=256)
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(_bounded(normalise(w.removesuffix("*")), w) for w in words))


def _bounded(bare: str, word: str) -> str:
    left = r"(?<![a-z0-9_])" if bare[0].isascii() and bare[0].isalnum() else ""
    ends = bare[-1].isascii() and bare[-1].isalnum() and not word.endswith("*")
    return left + re.escape(bare) + (r"(?![a-z0-9_])" if ends else "")


@dataclass(frozen=True, slots=True)
class DataClass:
    """A class of personal data, and what becomes of a statement about it: hold or refuse."""

    topic: Topic
    then: Action


@dataclass(frozen=True, slots=True)
class Safety:
    """What a deployment forbids beyond the constitution.

    ``kinds`` are the only ones kept; ``origins`` the only ones that act without a confirmation;
    ``sensitivity`` and ``data_classes`` say what is held or refused; ``expires`` is the longest
    a kind may hold; ``high_impact`` are topics beside the built-in ones; ``approvals`` the
    topics whose rules wait for somebody entitled even where they tighten.
    """

    kinds: frozenset[Kind] = frozenset(Kind)
    origins: frozenset[Origin] = frozenset(Origin) - {Origin.MODEL_INFERRED}
    sensitivity: Mapping[Sensitivity, Action] = field(default_factory=dict)
    expires: Mapping[Kind, timedelta] = field(default_factory=dict)
    high_impact: Mapping[str, Topic] = field(default_factory=dict)
    approvals: frozenset[str] = frozenset()
    third_parties: Action = Action.HOLD
    data_classes: Mapping[str, DataClass] = field(default_factory=dict)

    def topics(self, text: str, predicate: str | None) -> list[str]:
        """The topics of high impact, beside the built-in ones, that words are about."""
        return [n for n, topic in self.high_impact.items() if topic.covers(text, predicate)]

    def guards(self, c: Candidate) -> bool:
        """Whether a way of acting waits for somebody entitled, whichever way it points."""
        topics = {c.topic, *self.topics(c.content, c.predicate)}
        return c.kind in ACTING and bool(topics & self.approvals)


@dataclass(frozen=True, slots=True)
class Worth:
    """What this product keeps or drops.  Keeping a topic beats dropping one; neither reaches what
    safety or a confirmation has to say."""

    keep: Mapping[str, Topic] = field(default_factory=dict)
    drop: Mapping[str, Topic] = field(default_factory=dict)

    def keeps(self, text: str, predicate: str | None) -> bool:
        """Whether the product wants this kept."""
        return covered(self.keep.values(), text, predicate)

    def drops(self, text: str, predicate: str | None) -> bool:
        """Whether the product has no use for it."""
        dropped = covered(self.drop.values(), text, predicate)
        return dropped and not self.keeps(text, predicate)


def covered(topics: Iterable[Topic], text: str, predicate: str | None) -> bool:
    """Whether one of the topics has it."""
    return any(topic.covers(text, predicate) for topic in topics)


@dataclass(frozen=True, slots=True)
class Policy:
    """What every decision records as its policy version."""

    version: str = "builtin-1"
    held_lapse_after: timedelta = timedelta(days=7)
    held_per_source: int = 20
    observation_expires_after: timedelta = timedelta(days=1)
    catalogue: Catalogue = field(default_factory=builtin)
    safety: Safety = field(default_factory=Safety)
    worth: Worth = field(default_factory=Worth)


@dataclass(frozen=True, slots=True)
class Switches:
    """What the owner (and the tenant) has switched off; both sets of switches count."""

    pause_writes: bool = False
    pause_recall: bool = False
    disable_kinds: frozenset[str] = frozenset()

    def joined(self, other: Switches) -> Switches:
        """Off in either is off."""
        return Switches(
            self.pause_writes or other.pause_writes,
            self.pause_recall or other.pause_recall,
            self.disable_kinds | other.disable_kinds,
        )
