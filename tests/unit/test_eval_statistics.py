"""Intervals and paired tests: against values by hand, exact where few questions moved."""

from __future__ import annotations

from random import Random

import pytest

from muniment.evals.statistics import bootstrap, paired, wilson


def test_the_interval_of_a_constant_is_the_constant() -> None:
    """Nothing varies, whatever is drawn."""
    found = bootstrap([0.5] * 20, Random(1))
    assert (found.mean, found.low, found.high) == (0.5, 0.5, 0.5)


def test_the_interval_is_as_wide_as_the_theory_says() -> None:
    """A hundred coin tosses: 1.96 standard errors of 0.05 on either side."""
    found = bootstrap([0.0, 1.0] * 50, Random(1))
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.402, abs=0.02)
    assert found.high == pytest.approx(0.598, abs=0.02)


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        ([0, 0, 0], [1, 1, 1], 2 / 8),  # of eight ways to sign three, two are as extreme
        ([1, 1, 1], [0, 0, 0], 2 / 8),  # two-sided
        ([0, 0, 1, 1], [1, 1, 0, 1], 1.0),  # +1 +1 -1: every way is at least as extreme
        ([0, 0, 0, 0, 1], [1, 1, 1, 1, 0], 12 / 32),  # |sum| ≥ 3: 2 · (1 + 5) of 32
        ([0.3, 0.7], [0.3, 0.7], 1.0),  # nothing moved
    ],
)
def test_p_is_exact_where_few_questions_moved(a: list[float], b: list[float], p: float) -> None:
    """All ways to sign the differences, counted."""
    assert paired(a, b, Random(1)).p == pytest.approx(p)


def test_p_of_many_is_drawn_and_never_nought() -> None:
    """Forty of forty better: as small as so many draws can say."""
    found = paired([0.0] * 40, [1.0] * 40, Random(1))
    assert found.p == pytest.approx(1 / 10_001)
    assert (found.better, found.worse) == (40, 0)


def test_p_of_chance_is_large() -> None:
    """As many better as worse."""
    found = paired([0.0, 1.0] * 20, [1.0, 0.0] * 20, Random(1))
    assert found.p > 0.9 and found.difference.low < 0 < found.difference.high


def test_pairs_are_kept_together() -> None:
    """A gain of 0.1 on each of very different questions is certain; unpaired it would drown."""
    a = [i / 50 for i in range(40)]
    found = paired(a, [v + 0.1 for v in a], Random(1))
    assert found.difference.low == pytest.approx(0.1) and found.difference.high == pytest.approx(
        0.1
    )


def test_unequal_lists_are_refused() -> None:
    """Scores that do not belong together are never compared."""
    with pytest.raises(ValueError, match=r"shorter|longer"):
        paired([1.0, 0.0], [1.0], Random(1))


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),  # the values of Newcombe (1998) and of any table of score intervals
        (10, 10, 0.7225, 1.0),
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_score_interval_is_that_of_the_tables(
    count: int, of: int, low: float, high: float
) -> None:
    """And the mean is the plain share."""
    found = wilson(count, of)
    assert found.mean == count / of
    assert (found.low, found.high) == (
        pytest.approx(low, abs=5e-5),
        pytest.approx(high, abs=5e-5),
    )


@pytest.mark.parametrize(("count", "of"), [(0, 0), (2, 1), (-1, 3)])
def test_a_share_of_nothing_is_a_mistake(count: int, of: int) -> None:
    """Never a figure."""
    with pytest.raises(ValueError, match="of"):
        wilson(count, of)
