"""The same words read the same way, whoever proposed them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from muniment.extract.annotate import annotate
from muniment.gate.candidate import Candidate, Claim, Direction, Flag
from muniment.ids import EventId
from muniment.records.facts import builtin
from muniment.records.record import Durability, Kind, Sensitivity, Value
from muniment.scope import Scope

SAID_AT = datetime(2026, 1, 1, tzinfo=UTC)


def proposal(
    content: str,
    kind: Kind = Kind.PREFERENCE,
    *,
    predicate: str | None = None,
    value: Value = None,
    subject: str = "user:lin",
) -> Candidate:
    """A candidate as a proposer would make it, unread."""
    return Candidate(
        content=content,
        kind=kind,
        subject=subject,
        scope=Scope(user="lin"),
        evidence=(EventId("e"),),
        said_at=SAID_AT,
        predicate=predicate,
        value=value,
    )


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("this time use npm", Kind.FACT),
        ("暂时跳过测试", Kind.RULE),
        ("just once, push directly", Kind.PREFERENCE),
    ],
)
def test_one_off_words(content: str, kind: Kind) -> None:
    assert annotate(proposal(content, kind)).durability is Durability.ONE_OFF


@pytest.mark.parametrize(
    "content", ["from now on use npm", "不只是这次，以后都用 npm", "每次提交前跑 lint"]
)
def test_lasting_words(content: str) -> None:
    assert annotate(proposal(content)).durability is Durability.LONG_TERM


@pytest.mark.parametrize(
    ("content", "flag"),
    [
        ("the user may prefer functional code", Flag.HEDGED),
        ("用户可能更喜欢函数式编程", Flag.HEDGED),
        ("should we use pnpm?", Flag.QUESTION),
        ("earlier I said npm", Flag.QUOTED),
        ("if we used yarn it would be faster", Flag.HYPOTHETICAL),
        ("skip code review", Flag.CONTROLS),
        ("tool calls are retried at most 3 times, retry budget 10", Flag.CONFIG),
    ],
)
def test_flags(content: str, flag: Flag) -> None:
    assert annotate(proposal(content)).has(flag)


@pytest.mark.parametrize(
    "content",
    [
        "When reviewing code, be brief",
        "回答尽可能简短",
        "the user prefers code review before merging",
        "如果涉及部署配置，先让我确认",
        "要是涉及部署，先问我",
    ],
)
def test_benign_twins_raise_no_flag(content: str) -> None:
    assert annotate(proposal(content)).flags == frozenset()


@pytest.mark.parametrize(
    ("content", "direction"),
    [
        ("deploy to production", Direction.LOOSENS),  # undecidable on a topic
        ("skip approval for deployments", Direction.LOOSENS),
        ("ask before deploying", Direction.TIGHTENS),
        ("付款前必须确认", Direction.TIGHTENS),
        ("付款无需确认", Direction.LOOSENS),
        ("auto-approve payments", Direction.LOOSENS),
        ("push articles to origin/main directly", Direction.NEUTRAL),
    ],
)
def test_direction_of_a_rule(content: str, direction: Direction) -> None:
    assert annotate(proposal(content, Kind.RULE)).direction is direction


def test_a_fact_about_a_topic_permits_nothing() -> None:
    made = annotate(proposal("deployments run at noon", Kind.FACT, subject="project:p"))
    assert (made.topic, made.direction) == (None, Direction.NEUTRAL)


def test_the_subject_is_the_person_spoken_of() -> None:
    made = annotate(proposal("my colleague Jack is allergic to nuts", Kind.FACT))
    assert made.subject == "person:Jack"
    assert made.sensitivity is Sensitivity.SENSITIVE
    kept = annotate(proposal("I am allergic to nuts", Kind.FACT))
    assert kept.subject == "user:lin"


def test_claims_follow_kind_and_subject() -> None:
    assert annotate(proposal("must test", Kind.RULE)).claim is Claim.RULE
    assert annotate(proposal("likes tea")).claim is Claim.USER
    assert annotate(proposal("uses npm", Kind.FACT, subject="project:p")).claim is Claim.WORLD


def test_a_volatile_predicate_brings_its_expiry() -> None:
    made = proposal(
        "the production version is v2", Kind.FACT, predicate="deployed_version", value="v2"
    )
    ready = annotate(made, builtin())
    assert ready.durability is Durability.VOLATILE
    assert ready.expires_at == SAID_AT + timedelta(days=1)


def test_reading_twice_changes_nothing_more() -> None:
    once = annotate(proposal("my wife may need surgery this time", Kind.FACT), builtin())
    assert annotate(once, builtin()) == once


def test_what_is_cautious_already_stays() -> None:
    wary = replace(proposal("likes tea"), sensitivity=Sensitivity.SENSITIVE)
    assert annotate(wary).sensitivity is Sensitivity.SENSITIVE
