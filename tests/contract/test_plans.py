"""The indexes are used, as the application's role and under row-level security."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import event

from muniment.store import run
from tests.contract.kit import WEB, Desk, Place

_INDEXED = re.compile(r"\b(?:postings|docs|parts)\b")


@pytest.fixture
def plans(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The plan of every statement of remember, recall and a step of a task, on a grown store."""
    for number in range(200):
        desk.memory.remember(
            f"Remember that depot {number} is painted in shade {number}.", scope=WEB
        )
        desk.memory.threads.checkpoint(f"task {number % 20}", {"next": f"step {number}"})
    desk.memory.tidy()
    seen: dict[str, Any] = {}
    engine = desk.memory._parts.store.backend.engine  # the product has no verb for this

    def note(_c: Any, _cur: Any, statement: str, params: Any, _ctx: Any, many: bool) -> None:
        if statement.lstrip().startswith("SELECT") and not many:
            seen[statement] = params

    def note_prepared(compiled: Any, params: Any) -> Any:
        bound = bind(compiled, params)
        given = tuple(bound) if isinstance(bound, list) else bound
        note(None, None, compiled.sql, given, None, False)
        return bound

    bind = run._Compiled.bind  # prepared statements go past SQLAlchemy's events
    event.listen(engine, "before_cursor_execute", note)
    with monkeypatch.context() as patched:
        patched.setattr(run._Compiled, "bind", note_prepared)
        desk.memory.remember("Remember that depot 17 is painted in shade 18.", scope=WEB)
        desk.memory.recall("which shade is depot 17 painted in", scope=WEB)
        desk.memory.threads.checkpoint("task 7", {"next": "b", "open": ["c"]})
        desk.memory.threads.resume("task 7")
        desk.memory.threads.state("task 7", at=3)
        desk.memory.threads.history("task 7")
    event.remove(engine, "before_cursor_execute", note)
    return {statement: _plan(desk, statement, params) for statement, params in seen.items()}


def _plan(desk: Desk, statement: str, params: Any) -> str:
    backend = desk.memory._parts.store.backend
    word = "EXPLAIN QUERY PLAN" if backend.dialect == "sqlite" else "EXPLAIN"
    embedded = backend.dialect == "sqlite" and _INDEXED.search(statement)
    index: Any = desk.memory._parts.index
    reading = index._reading if embedded else backend.reading
    with reading(desk.place.tenant) as conn:
        if backend.dialect != "sqlite":
            conn.exec_driver_sql("SET LOCAL enable_seqscan = off")  # small tables tempt it
        rows = conn.exec_driver_sql(f"{word} {statement}", params).all()
    return "\n".join(" ".join(map(str, row)) for row in rows)


def test_no_read_walks_a_whole_table(plans: dict[str, str], place: Place) -> None:
    """Every SELECT of a recall goes through an index that starts with the tenant."""
    assert len(plans) > 10
    for statement, plan in plans.items():
        assert "Seq Scan" not in plan, statement
        assert "SCAN records" not in plan, statement
        assert "SCAN postings" not in plan, statement
        if "FROM records" in statement and place.name != "postgres":
            used = ("records_scope", "records_words", "records_fact", "autoindex_records")
            assert any(index in plan for index in used), plan


def test_a_step_of_a_task_touches_its_thread_alone(plans: dict[str, str], place: Place) -> None:
    """Checkpoints, newest states, calls: by the thread, whatever else the store holds."""
    tables = ("checkpoints", "thread_state", "tool_calls")
    asked = [(s, p) for s, p in plans.items() if any(f"FROM {t}" in s for t in tables)]
    assert len(asked) >= 4
    for statement, plan in asked:
        if place.name == "postgres":
            assert "thread_id" in plan.split("Index Cond")[1], statement
        else:
            assert "thread_id=?" in plan and not re.search(r"SCAN (?!json_each)", plan), statement


def test_postgres_reads_postings_by_their_key(plans: dict[str, str], place: Place) -> None:
    """By (tenant, layer, part, term), although row-level security is on."""
    if place.name != "postgres":
        pytest.skip("SQLite's index is a file of its own")
    asked = [plan for statement, plan in plans.items() if "muniment_index.postings" in statement]
    assert asked
    for plan in asked:
        assert "postings_pkey" in plan, plan
        assert "term" in plan.split("Index Cond")[1], plan
