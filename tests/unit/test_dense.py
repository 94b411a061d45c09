"""Vectors as they are searched: exact, and nearly so where there are many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from muniment.recall import dense
from muniment.recall.index import Vectors


def rows(count: int, seed: int = 0) -> Any:
    """Unit vectors that are not all alike."""
    random = np.random.default_rng(seed)
    made = random.normal(size=(count, 32)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def packed(made: Any, first: int = 0) -> Vectors:
    """As the index holds them."""
    return dense.packed(range(first, first + len(made)), made.astype("<f2").tobytes())


def test_few_are_compared_exactly() -> None:
    """Up to what float16 loses."""
    made, asked = rows(100), rows(1, seed=1)[0]
    assert packed(made).scales is None
    assert dense.products(packed(made), asked) == pytest.approx(made @ asked, abs=2e-3)


def test_many_take_a_quarter_and_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest ten are the nearest ten, but for what differs in the third digit."""
    monkeypatch.setattr(dense, "INT8_ABOVE", 5_000)
    made, asked = rows(10_000), rows(1, seed=1)[0]
    small = packed(made)
    assert small.rows.nbytes * 4 == made.nbytes
    exact, near = made @ asked, dense.products(small, asked)
    assert np.abs(exact - near).max() < 0.01
    assert len(set(np.argsort(-exact)[:10]) & set(np.argsort(-near)[:10])) >= 9


@pytest.mark.parametrize("above", [5, 50, 500])
def test_partitions_are_searched_as_one(above: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of them is small, in the order of their numbers."""
    monkeypatch.setattr(dense, "INT8_ABOVE", above)
    made, asked = rows(120), rows(1, seed=1)[0]
    both = dense.joined([packed(made[100:], first=100), packed(made[:100])])
    assert list(both.numbers) == list(range(120))
    assert dense.products(both, asked) == pytest.approx(made @ asked, abs=0.01)
