"""Which words of a wish become its condition, in both languages."""

from __future__ import annotations

from typing import Any

import pytest

from muniment.gate.candidate import Candidate
from muniment.records.facts import builtin
from muniment.records.record import Kind
from muniment.scope import Scope
from tests.unit.test_extract import BLOG, one, read

PLAIN = Scope(user="u42", project="web")


@pytest.mark.parametrize(
    ("text", "touched"),
    [
        (
            "Articles are still pushed directly, but when deploy configuration is touched, "
            "let me confirm first.",
            "deploy configuration",
        ),
        (
            "Posts still get pushed straight away, but if the deployment config is changed, "
            "ask me first.",
            "deployment config",
        ),
        (
            "Keep pushing the articles directly, however if it touches deploy config let me "
            "confirm first.",
            "deploy config",
        ),
        ("文章仍然直接推送，但涉及部署配置时先让我确认。", "部署配置"),
        ("文章还是自动推送，不过改到部署配置的话先问我。", "部署配置"),
    ],
)
def test_a_general_wish_and_its_exception(text: str, touched: str) -> None:
    general, exception = read(text)
    assert general.kind is Kind.PREFERENCE
    assert canonical(general) == "push directly"
    assert general.condition.to_dict() == {"stages": ["wrap_up"]}
    assert exception.kind is Kind.RULE
    # What is touched is no task: the exception holds whatever is being done.
    assert exception.condition.to_dict() == {"entities": [touched]}
    assert exception.exception_hint
    assert (exception.scope, exception.subject) == (general.scope, general.subject)
    assert general.scope == BLOG


@pytest.mark.parametrize(
    "text", ["When you deploy, let me confirm first.", "部署的时候先让我确认。"]
)
def test_a_task_that_is_done_is_still_one(text: str) -> None:
    condition = one(text, scope=PLAIN).condition
    assert "deploy" in condition.tasks + condition.stages


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("When I am tired, answer briefly", {"when": ["when i am tired"]}),
        ("When I am tired answer briefly", {"when": ["when i am tired"]}),
        ("Always answer briefly if I am on a call", {"when": ["if i am on a call"]}),
        ("我累的时候回答要简短", {"when": ["我累的时候"]}),
        ("如果我在开会，回答要简短", {"when": ["如果我在开会"]}),
        ("以后回答都要简短，除非我要求详细", {"when": ["除非我要求详细"]}),
        ("Always keep answers short unless I ask", {"when": ["unless i ask"]}),
        ("In code reviews, always keep it short", {"tasks": ["review"]}),
        # What is excepted is no condition under which it holds.
        (
            "Always push articles directly unless the deploy configuration is touched",
            {"stages": ["wrap_up"], "when": ["unless the deploy configuration is touched"]},
        ),
        (
            "以后文章写完直接推送，除非涉及部署配置",
            {"stages": ["wrap_up"], "when": ["除非涉及部署配置"]},
        ),
        ("Except for reviews, always keep answers short", {"when": ["except for reviews"]}),
        # Polite and empty ones, and what is itself wished.
        ("When you answer me, always keep it short", {}),
        ("If possible, always keep your answers short", {}),
        ("以后回答的时候要简短", {}),
        ("可以的话，以后回答要简短", {}),
        ("今后请用简短的话回答我", {}),
        ("以后回复我的时候短一些", {}),
        ("当前项目总是用 pnpm", {}),
        ("当我在路上时，回答要简短", {"when": ["当我在路上时"]}),
        ("Ask me before you delete files", {}),
        ("删除文件之前先问我", {}),
    ],
)
def test_the_condition_of_a_wish(text: str, condition: dict[str, Any]) -> None:
    assert one(text, scope=PLAIN).condition.to_dict() == condition


def canonical(candidate: Candidate) -> object:
    """The value as its predicate knows it."""
    predicate = builtin().get(candidate.predicate)
    assert predicate is not None
    return predicate.canonical(candidate.value)
