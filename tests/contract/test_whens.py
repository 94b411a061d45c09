"""A wish with a "when" that nothing can check, beside the same wish, or another, without one."""

from __future__ import annotations

import pytest

from muniment.text import normalise
from tests.contract.kit import Desk

SAME = {
    "en": ("When I am tired, answer briefly.", "From now on answer briefly."),
    "zh": ("我累的时候回答要简短。", "以后回答要简短。"),
    "en, unless": (
        "Always keep answers short unless I ask for detail.",
        "From now on keep answers short.",
    ),
    "zh, unless": ("以后回答都要简短，除非我要求详细。", "以后回答都要简短。"),
}


@pytest.mark.parametrize("case", SAME)
@pytest.mark.parametrize("narrow_first", [True, False])
def test_a_wish_with_a_when_and_one_without_are_two_records(
    desk: Desk, case: str, narrow_first: bool
) -> None:
    narrow, wide = SAME[case]
    said = [narrow, wide] if narrow_first else [wide, narrow]
    made = []
    for text in said:
        desk.wait()
        made.append(desk.remember(text))
    assert [(d.action, d.reconcile) for d in made] == [("activate", "insert")] * 2
    [with_when, without] = made if narrow_first else made[::-1]
    assert list(with_when.candidate.condition.to_dict()) == ["when"]
    assert not without.candidate.condition


@pytest.mark.parametrize("case", SAME)
def test_the_same_wish_said_again_is_one_record(desk: Desk, case: str) -> None:
    """The positive control: with the same "when", or both without one, it merges."""
    for text in SAME[case]:
        desk.remember(text)
    for text in SAME[case]:
        desk.wait()
        assert desk.remember(text).reconcile == "merge"
    assert len(desk.records(status="active")) == 2


def test_whether_the_when_holds_is_left_to_the_reader(desk: Desk) -> None:
    """Both are shown in their words; neither is taken to overrule or to contradict the other."""
    said = ["From now on keep answers detailed", "When I am tired, always keep answers short"]
    for text in said:
        desk.wait()
        desk.remember(text)
    found = list(desk.memory.recall("explain this", scope={"project": "web"}, principal=desk.who()))
    assert {normalise(e.content) for e in found} == set(map(normalise, said))
    assert all(e.overridden_by is None and not e.conflicts_with for e in found)


def test_without_a_when_the_later_replaces_the_earlier(desk: Desk) -> None:
    """The positive control."""
    for text in ("From now on keep answers detailed", "Always keep answers short"):
        desk.wait()
        desk.remember(text)
    assert desk.values("explain this") == ["short"]
