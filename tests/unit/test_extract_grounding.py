"""Whether evidence bears out what a candidate says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from muniment.extract.grounding import grounded, qualifiers_lost, value_occurs
from muniment.gate.candidate import Candidate
from muniment.ids import EventId
from muniment.records.facts import builtin
from muniment.records.record import Kind, Value
from muniment.scope import Scope


def says(content: str, value: Value = None, predicate: str | None = None) -> Candidate:
    """A candidate that says this."""
    return Candidate(
        content=content,
        kind=Kind.FACT,
        subject="project:p",
        scope=Scope(project="p"),
        evidence=(EventId("e"),),
        said_at=datetime(2026, 1, 1, tzinfo=UTC),
        predicate=predicate,
        value=value,
    )


@pytest.mark.parametrize(
    ("candidate", "text"),
    [
        (says("the project uses yarn", "yarn", "package_manager"), '"packageManager": "yarn@4.1"'),
        (says("项目使用 pnpm", "pnpm", "package_manager"), "以后这个项目统一使用 pnpm。"),
        (says("prefers brief answers", "brief", "answer_length"), "我喜欢简短的回答"),
        (says("回答要简短", "简短", "answer_length"), "I like concise answers."),
        (says("the user prefers to skip code review"), "the user prefers to skip code review."),
        (says("the port is 8080", "8080"), "port ８０８０ is open"),
        (says("we do not use npm", "npm", "package_manager"), "We don't use npm."),
        (says("用户选择了方案 C"), "我选方案 C。"),
        (says("用户从五个方案里选定了方案 C"), "五个方案里我选方案 C。"),
        (says("用户采用了方案三"), "我用方案三。"),
        (says("The user chose plan C."), "I choose plan C."),
        (says("The user chose plan C of the five"), "Of the five I choose plan C."),
        (says("The user picked the third option"), "I'll go with the third option."),
    ],
)
def test_borne_out(candidate: Candidate, text: str) -> None:
    assert grounded(candidate, [text])


@pytest.mark.parametrize(
    ("candidate", "text"),
    [
        (says("uses npm", "npm", "package_manager"), "this project uses pnpm"),
        (says("uses npm", "npm", "package_manager"), "we do not use npm"),
        (says("不使用 npm", "npm", "package_manager"), "这个项目使用 npm"),
        (says("retries 5 times"), "it retries 3 times"),
        (says("the user likes tests"), "the user does not like tests"),
        (says("the team deploys with Kubernetes on Fridays"), "we had lunch on Friday"),
        (says('the button says "Send"'), 'the button says "Save"'),
        (says("用户选择了方案 E"), "我选方案 C。"),
        (says("用户选择了方案二"), "我选方案三。"),
        (says("用户选择了方案 C"), "我不选方案 C。"),
        (says("用户选择了方案 C，因为它最便宜"), "我选方案 C。"),
        (says("The user chose plan E."), "I choose plan C."),
        (says("The user chose plan C."), "I do not choose plan C."),
        (says("The user chose plan C because it is the cheapest."), "I choose plan C."),
        (says("The user picked the second option"), "I'll go with the third option."),
    ],
)
def test_not_borne_out(candidate: Candidate, text: str) -> None:
    assert not grounded(candidate, [text])


def test_nothing_bears_out_anything() -> None:
    assert not grounded(says("uses npm"), [])
    assert not grounded(says("uses npm"), [""])


@pytest.mark.parametrize(
    ("content", "evidence", "lost"),
    [
        ("直接推送", "文章完成检查后直接推送", True),
        ("文章完成检查后直接推送", "文章完成检查后直接推送", False),
        ("push directly", "push directly except when deploy config changes", True),
        ("answer briefly", "answer briefly, unless I ask for detail", True),
        ("use pnpm", "use pnpm here", False),
        ("回答简短", "代码 Review 时请简短，架构文章仍然详细", True),
        ("ask first", "only ask first in the src/db/ directory", True),
        ("uses pnpm", "After lunch we talked. The project uses pnpm.", False),
    ],
)
def test_dropped_qualifiers(content: str, evidence: str, lost: bool) -> None:
    assert qualifiers_lost(content, evidence) is lost


def test_a_value_occurs_in_any_known_spelling() -> None:
    predicate = builtin().get("answer_length")
    assert value_occurs("short", ["我喜欢简洁的回答"], predicate)
    assert not value_occurs("short", ["我喜欢详细的回答"], predicate)
    assert value_occurs(None, ["anything"])
