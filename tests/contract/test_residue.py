"""After an erase its marker is in no file and no table; before, it was."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from muniment import Unavailable
from tests.contract.kit import Desk, Place

MARK = "MARKERZQX"
WORDS = f"The entry point is src/{MARK}main.ts when {MARK}mode is on."


def _files_with(folder: Path, mark: str) -> set[str]:
    """The files whose bytes hold the mark, in either case (the index folds)."""
    wanted = (mark.encode(), mark.lower().encode())
    return {
        path.name
        for path in folder.iterdir()
        if path.is_file() and any(w in path.read_bytes() for w in wanted)
    }


def _tables_with(place: Place, mark: str) -> set[str]:
    """The tables of both schemas where a row of the tenant holds the mark."""
    tables = [
        f"{schema}.{name}"
        for schema, name in place.run(
            "SELECT table_schema, table_name FROM information_schema.columns "
            "WHERE column_name = 'tenant_id' AND table_schema IN ('public', 'muniment_index')"
        )
    ]
    query = "SELECT count(*) FROM {} t WHERE tenant_id = '{}' AND t::text ILIKE '%{}%'"
    return {t for t in tables if place.run(query.format(t, place.tenant, mark))[0][0]}


def _found(place: Place) -> set[str]:
    return _files_with(place.folder, MARK) if place.name == "file" else _tables_with(place, MARK)


def _impatient(desk: Desk) -> None:
    """Wait a moment, not ten seconds, for whoever holds a lock."""

    def hurry(connection: Any, *_: Any) -> None:
        connection.execute("PRAGMA busy_timeout=200")

    parts: Any = desk.memory._parts
    for engine in (parts.store.backend.engine, parts.index._engine):
        event.listen(engine, "checkout", hurry)


def _everything(desk: Desk) -> tuple[str, str]:
    """The mark in every field a caller fills: event, record, held candidate, reads, keys."""
    event = desk.say(
        WORDS,
        scope={"user": "lin", "project": "web"},
        speaker=f"{MARK}speaker",
        path=f"{MARK}/path",
        url=f"https://{MARK}.test",
        name=f"{MARK}name",
        metadata={f"{MARK}key": f"{MARK}value"},
    )
    fields = {
        "condition": {"entities": [f"{MARK}mode"]},
        "tags": [f"{MARK}tag"],
        "refresh": f"look at {MARK}",
        "write_reason": f"because {MARK}",
    }
    proposal = {
        "content": WORDS,
        "kind": "fact",
        "value": f"src/{MARK}main.ts",
        "evidence": [event.id],
        **fields,
    }
    runtime = desk.who(channel="runtime")
    [made] = desk.memory.propose(proposal, principal=runtime, key="made")
    assert made.action == "activate", made.reasons
    person = {**proposal, "subject": f"person:{MARK}"}
    [held] = desk.memory.propose(person, principal=runtime, key="held")
    assert held.action == "hold", held.reasons
    desk.memory.recall(f"{MARK}main", scope={"project": "web"})
    desk.memory.context(f"{MARK}main", scope={"project": "web"})
    assert made.record_id is not None
    desk.memory.used("turn_1", "cited", [made.record_id])
    return event.id, made.record_id


def test_erasing_an_event_leaves_no_trace_of_its_words(durable_place: Place) -> None:
    """Truth, index, logs, keys of replays: the mark was there and is gone."""
    desk = Desk(durable_place)
    event, record = _everything(desk)
    desk.memory.rebuild_index()
    before = _found(durable_place)
    if durable_place.name == "file":
        assert {"memory.db.index"} <= {n.removesuffix("-wal") for n in before}
        assert "memory.db" in {n.removesuffix("-wal") for n in before}
    else:
        assert {"public.events", "public.versions", "muniment_index.postings"} <= before
    done = desk.memory.erase(event=event)
    assert done.records == (record,) and done.counts["candidates"] == 1
    assert _found(durable_place) == set()
    assert done.complete == (durable_place.name == "file"), done.pending
    if durable_place.name == "postgres":
        assert any("write-ahead log" in words for words in done.pending)
    desk.memory.verify()
    desk.reopen()
    desk.memory.tidy()
    desk.memory.close()
    assert _found(durable_place) == set()


def test_erasing_a_record_leaves_no_trace_of_its_versions(durable_place: Place) -> None:
    """Old and new words, the revision's event, the export of nobody."""
    desk = Desk(durable_place)
    _, record = _everything(desk)
    desk.memory.revise(record, if_version=1, content=f"The entry point is src/{MARK}two.ts when on")
    desk.memory.rebuild_index()
    assert _found(durable_place)
    desk.memory.erase(record=record)
    held = desk.memory.review()
    for one in held:  # it stood on the same event, which went with the record
        desk.memory.reject(one.id, digest=one.digest)
    assert _found(durable_place) == set()
    desk.memory.close()


@pytest.mark.parametrize("target", ["subject", "scope"])
def test_erasing_a_person_or_a_scope_leaves_no_trace(durable_place: Place, target: str) -> None:
    """Everything the person said and everything in the scope."""
    desk = Desk(durable_place)
    for number in range(8):
        text = f"I like {MARK}tea number {number}."
        event = desk.say(text, scope=None, thread=f"t{number}")
        desk.propose(text, event, kind="preference")
    desk.say("an untouched word", user="bob", scope=None)
    desk.memory.rebuild_index()
    assert _found(durable_place)
    if target == "subject":
        done = desk.memory.erase(subject="user:lin")
    else:
        done = desk.memory.erase(scope={"user": "lin"}, match="within")
    assert done.counts["records"] == 8
    assert _found(durable_place) == set()
    assert len(desk.memory.recall("untouched", layers=("archive",), principal=desk.who("bob"))) == 1
    desk.memory.close()


def test_a_kept_record_leaves_no_trace_of_the_erased_source(durable_place: Place) -> None:
    """Two sources, one erased: the record speaks in the other's words."""
    desk = Desk(durable_place)
    runtime = desk.who(channel="runtime")
    one = desk.say(f"记住我喜欢简短的回答，{MARK}。", thread="one", path=f"{MARK}.md")
    [made] = desk.memory.remember(event=one, principal=runtime)
    desk.wait()
    two = desk.say("以后回答简短一点。", thread="two")
    [again] = desk.memory.remember(event=two, principal=runtime)
    assert again.record_id == made.record_id
    desk.memory.rebuild_index()
    assert _found(durable_place)
    done = desk.memory.erase(event=one.id)
    assert done.kept == (made.record_id,)
    assert _found(durable_place) == set()
    assert desk.found("回答该多长") != []
    desk.memory.close()


@pytest.mark.parametrize("which", ["", ".index"])
def test_a_reader_that_pins_the_log_is_named(file_place: Place, which: str) -> None:
    """What cannot be scrubbed yet is pending, and done by a later `tidy`."""
    desk = Desk(file_place)
    event, _ = _everything(desk)
    desk.memory.rebuild_index()
    _impatient(desk)
    reader = sqlite3.connect(str(file_place.file) + which, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
    done = desk.memory.erase(event=event)
    left = _found(file_place)
    assert not done.complete or not left
    assert not done.complete, "the reader holds a snapshot with the words in it"
    reader.execute("ROLLBACK")
    reader.close()
    assert desk.memory.doctor()["erasures_pending"] == 1
    assert desk.memory.tidy()["erasures_finished"] == 1
    assert _found(file_place) == set()
    desk.memory.close()


def test_an_index_that_is_down_does_not_stop_the_erasure(file_place: Place) -> None:
    """The truth goes, the report says what is pending, and later it is finished."""
    desk = Desk(file_place)
    event, record = _everything(desk)
    desk.memory.rebuild_index()
    _impatient(desk)
    blocker = sqlite3.connect(str(file_place.file) + ".index", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    try:
        done = desk.memory.erase(event=event)
        assert not done.complete
    except Unavailable:
        pass
    finally:
        blocker.execute("ROLLBACK")
        blocker.close()
    assert [r.id for r in desk.records()] == []
    desk.memory.tidy()
    assert desk.memory.doctor()["erasures_pending"] == 0
    assert _found(file_place) == set()
    assert record
    desk.memory.close()


def test_deleting_is_not_erasing(file_place: Place) -> None:
    """Positive control of the whole harness: after a delete the bytes are still found."""
    desk = Desk(file_place)
    _, record = _everything(desk)
    desk.memory.delete(record=record)
    desk.memory.close()
    assert "memory.db" in _found(file_place)


def test_block_grade_secrets_are_in_no_file_at_all(durable_place: Place) -> None:
    """Placeholders everywhere, from the first write on: text, names, metadata, reasons."""
    secret = "sk-proj-" + "MARKERZQXa1B2c3D4e5" * 3
    desk = Desk(durable_place)
    event = desk.say(
        f"密钥是{secret}，别外传。I prefer short answers.", metadata={"k": secret}, name=secret
    )
    assert event.redacted and secret not in repr(event)
    desk.memory.remember(event=event, principal=desk.who(channel="runtime"))
    desk.memory.rebuild_index()
    assert _found(durable_place) == set()
    desk.memory.close()
    assert _found(durable_place) == set()
