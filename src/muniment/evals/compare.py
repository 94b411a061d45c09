"""Two results over the same questions: by how much B is better, and whether that is chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from muniment.errors import InvalidInput
from muniment.evals.dataset import LAYER_NOTE
from muniment.evals.metrics import scores
from muniment.evals.statistics import SEED, paired

PRIMARY = "ndcg@10"
SHOWN = (PRIMARY, "rec@5", "rec@10", "rec@20", "mrr")


def compare(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    """Each score of `SHOWN`: both means, the difference with its interval, p, wins and losses.

    ``p`` is not corrected for looking at five scores; decide by `PRIMARY`.  Raises
    `InvalidInput` where the results are not over the same questions of the same data.
    """
    left, right = _by_question(a), _by_question(b)
    if (a["dataset"], a["data"], a["depth"]) != (b["dataset"], b["data"], b["depth"]):
        raise InvalidInput("eval.not_comparable", "the results are not of the same data and depth")
    if {k: q["gold"] for k, q in left.items()} != {k: q["gold"] for k, q in right.items()}:
        raise InvalidInput("eval.not_comparable", "the results are not over the same questions")
    ids = sorted(left)
    return {
        "note": LAYER_NOTE,
        "dataset": a["dataset"],
        "n": len(ids),
        "a": a["commit"],
        "b": b["commit"],
        "primary": PRIMARY,
        "scores": {
            name: _score(name, [left[i] for i in ids], [right[i] for i in ids]) for name in SHOWN
        },
    }


def _by_question(result: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    found = {q["id"]: q for q in result["questions"]}
    if not found or len(found) != len(result["questions"]):
        raise InvalidInput("eval.not_comparable", "a result without questions, or with one twice")
    return found


def _score(
    name: str, left: Sequence[Mapping[str, Any]], right: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    old, new = ([scores(q["ranks"], q["gold"])[name] for q in side] for side in (left, right))
    found = paired(old, new, Random(SEED))
    return {
        "a": round(sum(old) / len(old), 4),
        "b": round(sum(new) / len(new), 4),
        "difference": round(found.difference.mean, 4),
        "low": round(found.difference.low, 4),
        "high": round(found.difference.high, 4),
        "p": round(found.p, 5),
        "better": found.better,
        "worse": found.worse,
    }
