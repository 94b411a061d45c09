"""Scores against values computed by hand, and wrong scores that this very table catches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from muniment.evals import metrics

Scores = Callable[[Sequence[int], int], Mapping[str, float]]

#: (ranks, gold turns) -> what it comes to.  1/log2(3) = .63093, 1/log2(6) = .38685,
#: 1/log2(7) = .35621, 1/log2(11) = .28906.
BY_HAND: dict[tuple[tuple[int, ...], int], dict[str, float]] = {
    ((1,), 1): {"any@5": 1, "all@5": 1, "rec@5": 1, "ndcg@10": 1, "mrr": 1},
    ((5,), 1): {"any@5": 1, "all@5": 1, "rec@5": 1, "ndcg@10": 0.38685, "mrr": 0.2},
    ((6,), 1): {"any@5": 0, "rec@5": 0, "any@10": 1, "ndcg@10": 0.35621, "mrr": 1 / 6},
    ((10,), 1): {"rec@5": 0, "rec@10": 1, "ndcg@10": 0.28906, "mrr": 0.1},
    ((20,), 1): {"rec@10": 0, "rec@20": 1, "ndcg@10": 0, "mrr": 0.05},
    ((21,), 1): {"rec@20": 0, "any@20": 0, "all@20": 0, "mrr": 1 / 21},
    # .63093 / (1 + .63093 + .5)
    ((2, 11), 3): {"rec@10": 1 / 3, "rec@20": 2 / 3, "all@20": 0, "ndcg@10": 0.29608, "mrr": 0.5},
    # (.63093 + .5) / (1 + .63093)
    ((2, 3), 2): {"any@5": 1, "all@5": 1, "rec@5": 1, "ndcg@10": 0.69343, "mrr": 0.5},
    # The first ten are all gold: nothing could be better, though two are missing.
    (tuple(range(1, 11)), 12): {"rec@5": 5 / 12, "rec@10": 10 / 12, "all@10": 0, "ndcg@10": 1},
    ((), 2): {"any@20": 0, "all@20": 0, "rec@20": 0, "ndcg@10": 0, "mrr": 0},
}


def faults(score: Scores) -> list[str]:
    """Where a function of scores departs from the table."""
    found = []
    for (ranks, gold), expected in BY_HAND.items():
        made = score(ranks, gold)
        found += [
            f"{name} of {ranks}/{gold}: {made[name]}, not {value}"
            for name, value in expected.items()
            if abs(made[name] - value) > 5e-6
        ]
    return found


def test_every_score_is_as_computed_by_hand() -> None:
    """Each name of the table, and no other name is unknown to it."""
    assert faults(metrics.scores) == []
    named = {name for expected in BY_HAND.values() for name in expected}
    assert named == set(metrics.scores((1,), 1))


def test_ranks_that_begin_one_late_are_caught() -> None:
    """The commonest mistake: counting from the next place."""
    assert faults(lambda ranks, gold: metrics.scores([r + 1 for r in ranks], gold)) != []


def test_a_cut_that_leaves_out_its_last_place_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ``k`` are ``k``, not ``k - 1``."""
    monkeypatch.setattr(metrics, "_within", lambda ranks, k: sum(r < k for r in ranks))
    assert any(fault.startswith("rec@10 of (10,)") for fault in faults(metrics.scores))


def test_a_gain_without_a_discount_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the order would not matter."""
    monkeypatch.setattr(metrics, "_gain", lambda rank: 1.0)
    assert faults(metrics.scores) != []


@pytest.mark.parametrize(
    ("ranks", "gold"), [((0,), 1), ((2, 2), 2), ((3, 1), 2), ((1, 2), 1), ((), 0)]
)
def test_what_are_no_ranks_is_refused(ranks: tuple[int, ...], gold: int) -> None:
    """From nought, a turn twice, no order, more than there are: an error, never a score."""
    with pytest.raises(ValueError, match="gold turns"):
        metrics.scores(ranks, gold)
