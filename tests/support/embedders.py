"""Embedders for tests: one that knows what some words mean, and others that are broken."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: Words that mean alike; what stands in none of them means nothing.
MEANINGS = (
    ("coffee", "espresso", "咖啡"),
    ("dog", "puppy", "小狗"),
    ("flat", "apartment", "公寓"),
    ("paris", "france"),
)
OWN = 64


@dataclass
class Meaning:
    """A vector with one number for each of `MEANINGS`, and a little of the text's own, so that
    texts that mean nothing are not alike."""

    name: str = "meaning"
    batch: int = 4
    asked: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def dimension(self) -> int:
        return len(MEANINGS) + OWN

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        self.asked.append(tuple(texts))
        rows = [[float(any(w in t.lower() for w in words)) for words in MEANINGS] for t in texts]
        full = [[*row, *_own(text)] for row, text in zip(rows, texts, strict=True)]
        return np.array(full, dtype=np.float32)


def _own(text: str) -> list[float]:
    bits = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
    return [0.01 if bits >> i & 1 else -0.01 for i in range(OWN)]


@dataclass
class Broken(Meaning):
    """One that gives something else: ``how`` it is broken."""

    how: str = "raises"
    released: threading.Event = field(default_factory=threading.Event)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        good = super().embed(texts, query=query)
        if self.how == "raises":
            raise RuntimeError("no such model")
        if self.how == "slow":
            self.released.wait(60)
        broken: dict[str, Any] = {
            "nan": good * np.nan,
            "zero": good * 0,
            "other dimension": good[:, :-1],
            "too few": good[:-1],
            "nothing": None,
            "words": ["a"] * len(texts),
            "ragged": [[1.0], [1.0, 2.0]],
        }
        return broken.get(self.how, good)


BROKEN = ("raises", "nan", "zero", "other dimension", "too few", "nothing", "words", "ragged")
