"""Scores of one question: pure functions of the ranks at which its gold was found.

``ranks`` are the places, from 1, of the gold turns among the results, in ascending order;
``gold`` is how many there are, found or not.  Every score is between 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

CUTS = (5, 10, 20)
NDCG_CUT = 10


def any_at(ranks: Sequence[int], gold: int, k: int) -> float:
    """1 where at least one gold turn is among the first ``k``."""
    return float(_within(_checked(ranks, gold), k) > 0)


def all_at(ranks: Sequence[int], gold: int, k: int) -> float:
    """1 where every gold turn is among the first ``k``."""
    return float(_within(_checked(ranks, gold), k) == gold)


def recall_at(ranks: Sequence[int], gold: int, k: int) -> float:
    """The share of the gold turns among the first ``k``: LoCoMo's recall (Maharana et al. 2024)."""
    return _within(_checked(ranks, gold), k) / gold


def ndcg_at(ranks: Sequence[int], gold: int, k: int) -> float:
    """Discounted gain over the best one possible (Järvelin and Kekäläinen 2002), a gold turn
    gaining 1 / log2(1 + rank)."""
    best = sum(_gain(rank) for rank in range(1, min(gold, k) + 1))
    return sum(_gain(rank) for rank in _checked(ranks, gold) if rank <= k) / best


def reciprocal_rank(ranks: Sequence[int], gold: int) -> float:
    """1 over the rank of the first gold turn; 0 where none was found."""
    found = _checked(ranks, gold)
    return 1 / found[0] if found else 0.0


def scores(ranks: Sequence[int], gold: int) -> Mapping[str, float]:
    """Every score of a question, by name."""
    named = {"any": any_at, "all": all_at, "rec": recall_at}
    at = {f"{n}@{k}": score(ranks, gold, k) for n, score in named.items() for k in CUTS}
    ndcg = ndcg_at(ranks, gold, NDCG_CUT)
    return {**at, f"ndcg@{NDCG_CUT}": ndcg, "mrr": reciprocal_rank(ranks, gold)}


def _checked(ranks: Sequence[int], gold: int) -> Sequence[int]:
    """Ranks as promised; anything else is a mistake of the caller, never a low score."""
    ordered = all(a < b for a, b in zip([0, *ranks], ranks, strict=False))
    if gold < 1 or len(ranks) > gold or not ordered:
        raise ValueError(f"ranks {list(ranks)} of {gold} gold turns")
    return ranks


def _within(ranks: Sequence[int], k: int) -> int:
    return sum(rank <= k for rank in ranks)


def _gain(rank: int) -> float:
    return 1 / math.log2(1 + rank)
