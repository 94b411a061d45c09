"""How far a mean, or a difference of means, is to be trusted: pure, the randomness passed in.

What is drawn anew are questions.  Questions about one conversation resemble each other, so for
other conversations the intervals are too narrow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

ROUNDS = 1000
SIGN_ROUNDS = 10_000
SEED = 20260101
Z = 1.959963984540054  # between -Z and Z lie 95 % of a normal distribution


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % interval: `bootstrap` or `wilson` says which."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Paired:
    """B less A over the same questions; ``p`` of a two-sided sign-flip permutation test."""

    difference: Interval
    p: float
    better: int
    worse: int


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean of at least one value."""
    return math.fsum(values) / len(values)


def bootstrap(values: Sequence[float], random: Random, rounds: int = ROUNDS) -> Interval:
    """The mean, and between what bounds 95 % of the means of resamples lie (Efron and
    Tibshirani 1993)."""
    count = len(values)
    drawn = sorted(sum(random.choices(values, k=count)) / count for _ in range(rounds))
    tail = round(rounds * 0.025)
    return Interval(mean(values), drawn[tail], drawn[-1 - tail])


def paired(
    a: Sequence[float], b: Sequence[float], random: Random, rounds: int = SIGN_ROUNDS
) -> Paired:
    """Compare two lists of scores, question by question."""
    differences = [y - x for x, y in zip(a, b, strict=True)]
    moved = [d for d in differences if abs(d) > 1e-12]
    return Paired(
        bootstrap(differences, random),
        _sign_flips(moved, random, rounds),
        better=sum(d > 0 for d in moved),
        worse=sum(d < 0 for d in moved),
    )


def _sign_flips(moved: Sequence[float], random: Random, rounds: int) -> float:
    """How often a sum at least as large comes out when A and B change places at random; exact
    where there are no more ways than ``rounds``."""
    observed = abs(math.fsum(moved)) - 1e-9
    exact = 2 ** min(len(moved), 64) <= rounds
    signs = _every(len(moved)) if exact else _some(len(moved), random, rounds)
    extreme = [
        abs(sum(s * d for s, d in zip(row, moved, strict=True))) >= observed for row in signs
    ]
    if exact:
        return sum(extreme) / len(extreme)
    return (1 + sum(extreme)) / (1 + rounds)


def _every(count: int) -> Iterator[tuple[int, ...]]:
    return itertools.product((-1, 1), repeat=count)


def _some(count: int, random: Random, rounds: int) -> Iterator[list[int]]:
    return (random.choices((-1, 1), k=count) for _ in range(rounds))


def wilson(count: int, of: int) -> Interval:
    """The share ``count / of`` with its 95 % score interval (Wilson 1927); ``of`` is at least 1."""
    if not 0 <= count <= of or of < 1:
        raise ValueError(f"{count} of {of}")
    share, square = count / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half))
