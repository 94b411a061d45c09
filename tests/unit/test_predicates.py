"""The shipped catalogue is complete, consistent and extensible as data."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from muniment.events.event import Event, EventKind
from muniment.extract.attributes import table_of
from muniment.extract.lexicon import data
from muniment.extract.rules import extract
from muniment.ids import EventId, ThreadId
from muniment.records.facts import Predicate, builtin
from muniment.records.record import Kind, Namespace
from muniment.scope import PARTS, Channel, Scope
from muniment.text import tokens

EVERY = list(builtin())
TOPICS = {"deployment", "payment", "deletion", "permissions", "security", "credentials"}


@pytest.mark.parametrize("predicate", EVERY, ids=lambda p: p.name)
def test_a_predicate_says_all_that_gate_and_context_ask(predicate: Predicate) -> None:
    assert predicate.kind in Kind
    assert predicate.subject in {"user", "project", "person"}
    assert predicate.scope and set(predicate.scope) <= set(PARTS)
    assert predicate.namespace in set(Namespace)
    assert predicate.facet
    assert predicate.cues
    assert predicate.topic is None or predicate.topic in TOPICS
    assert not predicate.volatile or (predicate.expires and predicate.refresh)
    assert predicate.kind is not Kind.PREFERENCE or "user" in predicate.scope


@pytest.mark.parametrize("predicate", EVERY, ids=lambda p: p.name)
def test_templates_render_the_value_in_both_languages(predicate: Predicate) -> None:
    zh, en = predicate.render("甲乙 x1", "zh"), predicate.render("甲乙 x1", "en")
    assert "甲乙 x1" in zh and "甲乙 x1" in en
    assert zh != en


@pytest.mark.parametrize("predicate", EVERY, ids=lambda p: p.name)
def test_spellings_lead_to_one_canonical_value(predicate: Predicate) -> None:
    for canonical in set(predicate.values.values()):
        assert predicate.canonical(canonical) == canonical


def test_names_are_unique_and_every_pattern_has_its_predicate() -> None:
    names = [p.name for p in EVERY]
    assert len(names) == len(set(names)) >= 30
    assert {row["predicate"] for row in data("patterns.yaml")["predicates"]} == set(names)
    assert len(table_of(builtin()).rows) == len(names)


@pytest.mark.parametrize(
    ("request_text", "predicate"),
    [
        ("升级依赖并运行测试", "package_manager"),
        ("install dependencies", "package_manager"),
        ("run the tests", "package_manager"),
        ("回答该多长", "answer_length"),
        ("继续下一篇", "publishing"),
    ],
)
def test_cues_find_a_predicate_by_the_words_of_a_task(request_text: str, predicate: str) -> None:
    found = builtin().get(predicate)
    assert found is not None
    assert set(tokens(request_text)) & set(tokens(" ".join(found.cues)))


def test_a_revised_value_reads_back_as_it_was_given() -> None:
    predicate = builtin().get("answer_length")
    assert predicate is not None
    assert "详细" in predicate.render("详细", "zh")
    assert predicate.canonical("简短") == predicate.canonical("concise") == "short"


def test_a_predicate_of_ones_own_is_recognised_by_its_template() -> None:
    own = builtin().extended(
        [
            {
                "name": "mascot",
                "kind": "fact",
                "files": [],
                "cues": ["mascot"],
                "touches": [],
                "templates": {"zh": "吉祥物是 {value}", "en": "the mascot is {value}"},
            }
        ]
    )
    now = datetime(2026, 1, 1, tzinfo=UTC)
    event = Event(
        id=EventId("e"),
        tenant="t",
        thread=ThreadId("th"),
        seq=1,
        kind=EventKind.USER,
        said_at=now,
        recorded_at=now,
        text="The mascot is an otter.",
        scope=Scope(user="u", project="p"),
        channel=Channel.RUNTIME,
    )
    (made,) = extract(event, own)
    assert (made.predicate, made.value) == ("mascot", "otter")
