"""What counts as seen: partial, in any order, none left over."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from muniment.scenario.expect import (
    decision_differences,
    differences,
    pair,
    recall_differences,
)


@pytest.mark.parametrize(
    ("expected", "seen", "agree"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, True),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, False),
        ({"a": {"b": 1}}, {"a": None}, False),
        ({"a": None}, {}, True),
        ({"a": None}, {"a": None}, True),
        ({"a": None}, {"a": {}}, True),
        ({"a": None}, {"a": ""}, False),
        ({"a": None}, {"a": 0}, False),
        ({"a": None}, {"a": False}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": ["x", "y"]}, {"a": ("y", "x")}, True),
        ({"a": ["x"]}, {"a": ["x", "y"]}, False),
        ({"a": ["x", "x"]}, {"a": ["x", "y"]}, False),
        ({"a": ["x"]}, {"a": "x"}, False),
        ({"a": []}, {"a": []}, True),
        ({"a": []}, {"a": ["x"]}, False),
    ],
)
def test_partial_and_exact(expected: Any, seen: Any, agree: bool) -> None:
    """Named fields agree, maps inside too; null is absent; truth is no number."""
    assert (differences(expected, seen) == []) is agree


def test_more_may_come_inside_as_well() -> None:
    """`extra` holds for every list of the step."""
    assert differences({"a": ["x"]}, {"a": ["y", "x"]}, extra=True) == []
    assert differences({"a": ["x", "z"]}, {"a": ["y", "x"]}, extra=True) != []


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_assignment_is_found_in_every_order(order: tuple[int, ...]) -> None:
    """A vague entry does not take the only one that a strict entry could have met."""
    expected = [{"action": "hold"}, {"action": "hold", "kind": "rule"}, {"kind": "rule"}]
    seen = [
        {"action": "hold", "kind": "fact"},
        {"action": "hold", "kind": "rule"},
        {"action": "activate", "kind": "rule"},
    ]
    found = pair(expected, [seen[i] for i in order], decision_differences)
    assert found.failed == []
    assert sorted(found.pairs) == [0, 1, 2]


def test_what_is_unmet_and_what_is_left_over_is_said() -> None:
    """By the entry that came closest, and the rest one by one."""
    expected = [{"action": "hold", "kind": "rule", "value": "a"}]
    seen = [{"action": "activate", "kind": "fact"}, {"action": "hold", "kind": "rule", "value": 1}]
    failed = pair(expected, seen, decision_differences).failed
    assert failed[0] == "value: expected 'a', seen 1"
    assert len(failed) == 2
    assert pair([], seen, decision_differences, extra=True).failed == []


@pytest.mark.parametrize(
    ("expected", "seen", "agree"),
    [
        ("present", "2026-09-01T02:00:00+00:00", True),
        ("present", None, False),
        (None, None, True),
        (None, "2026-09-01T02:00:00+00:00", False),
        ("2026-09-01T10:00:00+08:00", "2026-09-01T02:00:00+00:00", True),
        ("2026-09-01T10:00:01+08:00", "2026-09-01T02:00:00+00:00", False),
        ("soon", "2026-09-01T02:00:00+00:00", False),
    ],
)
def test_an_end_is_an_instant(expected: Any, seen: Any, agree: bool) -> None:
    """The same instant in another zone is the same."""
    found = decision_differences({"expires_at": expected}, {"expires_at": seen})
    assert (found == []) is agree


def test_order_is_strict() -> None:
    """The first envelope holding each comes later than the one before; one cannot hold two."""
    contents = ["ask first", "push", "push and ask"]
    assert recall_differences({"order": ["ask", "push"]}, contents) == []
    assert recall_differences({"order": ["push", "ask"]}, contents) != []
    assert recall_differences({"order": ["ask", "first"]}, contents) != []
    assert recall_differences({"order": ["ask", "nothing"]}, contents) != []
    assert recall_differences({"includes": [2024]}, ["since 2024"]) == []
