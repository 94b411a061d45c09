"""Closed, read-only, full, of another schema, without its key: typed, and nothing changed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from muniment import Memory, MunimentError, Unavailable
from muniment.threads.handoff import CARRIED, Packet
from tests.contract.kit import Desk, Place, dump

WRITES: dict[str, Callable[[Memory, str, Path], Any]] = {
    "thread": lambda m, r, f: m.thread("new"),
    "append": lambda m, r, f: m.append("x"),
    "append_many": lambda m, r, f: m.append_many([{"by": "user", "text": "x"}]),
    "import_file": lambda m, r, f: m.import_file(_file(f, '{"text": "x"}')),
    "remember": lambda m, r, f: m.remember("This project uses yarn.", scope={"project": "web"}),
    "propose": lambda m, r, f: m.propose({"content": "x", "kind": "fact", "evidence": []}),
    "confirm": lambda m, r, f: m.confirm("cand_x", digest="x"),
    "reject": lambda m, r, f: m.reject("cand_x", digest="x"),
    "revise": lambda m, r, f: m.revise(r, if_version=1, value="yarn"),
    "revise_candidate": lambda m, r, f: m.revise_candidate("cand_x", value="yarn"),
    "used": lambda m, r, f: m.used("turn_1", "cited", [r]),
    "mute": lambda m, r, f: m.mute(r),
    "unmute": lambda m, r, f: m.unmute(r),
    "expire": lambda m, r, f: m.expire(r),
    "delete": lambda m, r, f: m.delete(record=r),
    "erase": lambda m, r, f: m.erase(record=r),
    "settings": lambda m, r, f: m.settings(pause=True),
    "rebuild_index": lambda m, r, f: m.rebuild_index(),
    "tidy": lambda m, r, f: m.tidy(),
}
READS: dict[str, Callable[[Memory, str, Path], Any]] = {
    "list": lambda m, r, f: m.list(),
    "show": lambda m, r, f: m.show(r),
    "history": lambda m, r, f: m.history(r),
    "why": lambda m, r, f: m.why(r),
    "profile": lambda m, r, f: m.profile(),
    "review": lambda m, r, f: m.review(),
    "export": lambda m, r, f: m.export(f / "out"),
    "compact": lambda m, r, f: m.threads.compact("talk", budget_tokens=500),
    "handoff": lambda m, r, f: m.threads.handoff("talk"),
    "receive": lambda m, r, f: m.threads.receive(_packet()),
    "verify": lambda m, r, f: m.verify(),
    "doctor": lambda m, r, f: m.doctor(),
    "settings": lambda m, r, f: m.settings(),
    "delete_dry": lambda m, r, f: m.delete(record=r, dry_run=True),
}


def _packet() -> Packet:
    seals = dict.fromkeys(("schema", "thread", "version", "at", *CARRIED), "")
    return Packet("thr_any", 1, "2026-09-01T00:00:00+00:00", {}, seals, "")


def _file(folder: Path, text: str) -> Path:
    path = folder / "in.jsonl"
    path.write_text(text)
    return path


def _code(act: Callable[[], Any]) -> str:
    with pytest.raises(MunimentError) as error:
        act()
    assert str(error.value)
    return error.value.code


def _prepared(desk: Desk) -> str:
    record = desk.remember("This project uses npm.").record_id
    assert record is not None
    return record


RECALLS: dict[str, Callable[[Memory, str, Path], Any]] = {
    "recall": lambda m, r, f: m.recall("npm"),
    "context": lambda m, r, f: m.context("npm"),
}


@pytest.mark.parametrize("verb", [*WRITES, *READS, *RECALLS])
def test_a_closed_store_says_so(desk: Desk, verb: str) -> None:
    """Every verb, and closing twice is no error."""
    record = _prepared(desk)
    desk.memory.close()
    desk.memory.close()
    act = {**RECALLS, **READS, **WRITES}[verb]
    assert _code(lambda: act(desk.memory, record, desk.place.folder)) == "store.closed"
    assert not (desk.place.folder / "out").exists()


def test_rebuilding_on_a_closed_store_leaves_the_index_alone(durable_desk: Desk) -> None:
    """What cannot be filled again is not emptied."""
    desk = durable_desk
    _prepared(desk)
    other = desk.place.open(desk.clock)
    assert other.rebuild_index() == 2
    desk.memory.close()
    with pytest.raises(Unavailable):
        desk.memory.rebuild_index()
    recalled = other.recall("package manager", scope={"project": "web"})
    assert (len(recalled), recalled.degraded) == (1, ())
    other.close()


def test_a_read_only_file_is_read_and_never_written(file_place: Place) -> None:
    """Reads answer as before (or say what is missing), writes are refused."""
    desk = Desk(file_place)
    record = _prepared(desk)
    desk.memory.close()
    os.chmod(file_place.file, 0o444)
    bytes_before = file_place.file.read_bytes()
    desk.reopen()
    for name, act in WRITES.items():
        code = _code(lambda act=act: act(desk.memory, record, file_place.folder))
        assert code == "store.read_only", name
    for name, act in READS.items():
        assert act(desk.memory, record, file_place.folder) is not None, name
    recalled = desk.memory.recall("package manager", scope={"project": "web"})
    assert len(recalled) == 1 or recalled.degraded
    assert desk.memory.doctor()["read_only"]
    assert desk.memory.verify().ok
    desk.memory.close()
    assert file_place.file.read_bytes() == bytes_before
    os.chmod(file_place.file, 0o644)
    desk.reopen()
    desk.memory.mute(record)
    desk.memory.close()


def test_a_deleted_index_is_noticed_and_can_be_rebuilt(file_place: Place) -> None:
    """It may go at any time: the answer is full or says so, and a rebuild makes it whole."""
    desk = Desk(file_place)
    _prepared(desk)
    desk.memory.close()
    for path in file_place.folder.glob("memory.db.index*"):
        path.unlink()
    desk.reopen()
    recalled = desk.memory.recall("package manager", scope={"project": "web"})
    assert len(recalled) == 1 or recalled.degraded
    assert len(recalled) == 1 or desk.memory.doctor()["index_rebuild_needed"]
    desk.memory.rebuild_index()
    again = desk.memory.recall("package manager", scope={"project": "web"})
    assert (len(again), again.degraded) == (1, ())
    desk.memory.close()


@pytest.mark.parametrize("damage", ["garbage", "locked"])
def test_an_index_that_is_down_degrades_and_never_empties(file_place: Place, damage: str) -> None:
    """A broken index is named; the truth goes on being written."""
    desk = Desk(file_place)
    _prepared(desk)
    desk.memory.close()
    index = file_place.folder / "memory.db.index"
    assert index.exists(), "positive control"
    if damage == "garbage":
        for path in file_place.folder.glob("memory.db.index-*"):
            path.unlink()
        index.write_bytes(b"not a database at all " * 500)
        try:
            desk.reopen()
        except MunimentError as error:
            assert error.code.startswith("index.")
            return
        recalled = desk.memory.recall("package manager", scope={"project": "web"})
        assert len(recalled) == 1 or recalled.degraded
    else:
        desk.reopen()
        blocker = sqlite3.connect(index, isolation_level=None)
        blocker.execute("BEGIN EXCLUSIVE")
        assert desk.remember("I prefer short answers.").action == "activate"
        blocker.execute("ROLLBACK")
        blocker.close()
    desk.memory.close()


def _with_pages(place: Place, pages: int) -> Callable[[], sqlite3.Connection]:
    def connect() -> sqlite3.Connection:
        conn = sqlite3.connect(place.file, check_same_thread=False, isolation_level=None, timeout=5)
        conn.execute(f"PRAGMA max_page_count={pages}")
        return conn

    return connect


def test_a_full_disk_is_said_and_nothing_is_half_written(file_place: Place) -> None:
    """Every write verb that needs room: `store.full`, the same rows, the chain whole."""
    desk = Desk(file_place)
    record = _prepared(desk)
    desk.memory.close()
    pages = sqlite3.connect(file_place.file)
    used = pages.execute("PRAGMA page_count").fetchone()[0]
    pages.close()
    desk.options["creator"] = _with_pages(file_place, used)
    desk.reopen()
    full = 0
    for number in range(200):
        before = dump(desk.memory, file_place.tenant)
        try:
            desk.say(f"filler number {number} " + "wombat " * 300, thread="fill")
        except Unavailable as error:
            assert error.code == "store.full"
            assert dump(desk.memory, file_place.tenant) == before
            full += 1
            if full == 3:
                break
    assert full == 3
    before = dump(desk.memory, file_place.tenant)
    with pytest.raises(Unavailable) as refused:
        desk.memory.remember("This project uses yarn. " + "x" * 9000, scope={"project": "web"})
    assert refused.value.code == "store.full"
    assert dump(desk.memory, file_place.tenant) == before
    assert desk.memory._parts.store.closed is False
    desk.options.clear()
    desk.reopen()
    assert desk.memory.verify().ok
    assert desk.remember("This project uses yarn.").action == "activate"
    assert desk.memory.show(record).status == "superseded"
    desk.memory.close()


def test_a_store_that_cannot_audit_reads_serves_none(file_place: Place) -> None:
    """The reads' lane cannot be written: recall is degraded, the others refuse."""
    desk = Desk(file_place)
    record = _prepared(desk)
    lane = desk.memory._parts.lane

    def refuse(*_: Any) -> None:
        raise Unavailable("store.full", "full")

    write, lane._write = lane._write, refuse
    desk.memory.list()
    lane.flush()
    recalled = desk.memory.recall("package manager", scope={"project": "web"})
    assert (len(recalled), recalled.degraded) == (0, ("audit_unavailable",))
    for act in (
        desk.memory.list,
        lambda: desk.memory.show(record),
        lambda: desk.memory.why(record),
    ):
        with pytest.raises(Unavailable):
            act()
    lane._write = write
    assert len(desk.memory.recall("package manager", scope={"project": "web"})) == 1
    assert desk.memory.show(record).value == "npm"
    desk.memory.close()


@pytest.mark.parametrize(
    ("version", "code"), [("0000", "schema.outdated"), ("9999", "schema.newer")]
)
def test_a_schema_of_another_version_is_not_touched(
    durable_desk: Desk, version: str, code: str
) -> None:
    """Older says to upgrade the store, newer to upgrade Muniment; put right, it opens."""
    desk = durable_desk
    record = _prepared(desk)
    before = dump(desk.memory, desk.place.tenant)
    [(found,)] = desk.place.run("SELECT version_num FROM alembic_version")
    desk.place.run(f"UPDATE alembic_version SET version_num = '{version}'")
    try:
        assert _code(desk.place.open) == code
    finally:
        desk.place.run(f"UPDATE alembic_version SET version_num = '{found}'")
    desk.reopen()
    assert desk.memory.show(record).value == "npm"
    assert dump(desk.memory, desk.place.tenant) == before


def test_a_missing_table_is_a_typed_error(file_place: Place) -> None:
    """Recall is degraded, the others name the schema."""
    desk = Desk(file_place)
    record = _prepared(desk)
    file_place.run("ALTER TABLE records RENAME TO records_gone")
    assert _code(lambda: desk.memory.show(record)) == "schema.missing"
    assert _code(lambda: desk.remember("This project uses yarn.")) == "schema.missing"
    assert "schema.missing" in desk.memory.recall("npm").degraded
    file_place.run("ALTER TABLE records_gone RENAME TO records")
    assert desk.memory.show(record).value == "npm"
    desk.memory.close()


@pytest.mark.parametrize("loss", ["deleted", "another"])
def test_without_its_key_a_store_is_only_read(durable_place: Place, loss: str) -> None:
    """Reads go on, writes are refused, verify says since when; the key back, all is well."""
    place, desk = durable_place, Desk(durable_place)
    record = _prepared(desk)
    desk.memory.close()
    original = place.key_file or place.folder / "memory.db.key"
    if place.name == "postgres":  # other tests of the module go on using the real one
        place.key_file = original.with_name("elsewhere.key")
    else:
        original.rename(place.folder / "kept")
    key = place.key_file or place.folder / "memory.db.key"
    if loss == "another":
        key.write_text('{"key_id": "key_other", "secret": "%s"}' % ("00" * 32))
    desk.memory = place.open(desk.clock)
    before = dump(desk.memory, place.tenant)
    for name, act in WRITES.items():
        code = _code(lambda act=act: act(desk.memory, record, place.folder))
        assert code == "store.read_only", name
    assert dump(desk.memory, place.tenant) == before
    assert desk.memory.show(record).value == "npm"
    recalled = desk.memory.recall("package manager", scope={"project": "web"})
    assert (len(recalled), recalled.degraded) == (1, ())
    report = desk.memory.verify()
    assert report.unverifiable > 0
    assert report.unverifiable_since == "2026-09-01T12:00:00+00:00"
    desk.memory.close()
    key.unlink(missing_ok=True)
    if place.name == "postgres":
        place.key_file = original
    else:
        (place.folder / "kept").rename(original)
    desk.memory = place.open(desk.clock)
    report = desk.memory.verify()
    assert (report.ok, report.unverifiable) == (True, 0)
    desk.memory.mute(record)
    desk.memory.close()


def test_a_new_epoch_is_an_explicit_step(file_place: Place) -> None:
    """After it writes go on; older rows stay countable as unverifiable, newer ones verify."""
    desk = Desk(file_place)
    record = _prepared(desk)
    desk.memory.close()
    (file_place.folder / "memory.db.key").unlink()
    desk.reopen()
    desk.memory._parts.store.new_epoch(desk.clock.now())
    desk.memory.mute(record)
    report = desk.memory.verify()
    assert (report.ok, report.first_bad) == (True, None)
    old = report.unverifiable
    desk.reopen()
    desk.remember("This project uses pnpm.")
    report = desk.memory.verify()
    assert (report.ok, report.unverifiable) == (True, old)
    assert file_place.folder.joinpath("memory.db.key").stat().st_mode & 0o077 == 0
    desk.memory.close()


def test_the_key_is_private_and_apart_from_the_database(file_place: Place) -> None:
    """Mode 0600, and its secret is in no file of the store."""
    desk = Desk(file_place)
    _prepared(desk)
    desk.memory.close()
    key = file_place.folder / "memory.db.key"
    assert key.stat().st_mode & 0o777 == 0o600
    import json

    secret = json.loads(key.read_text())["secret"]
    for path in file_place.folder.iterdir():
        data = path.read_bytes()
        found = secret.encode() in data or bytes.fromhex(secret) in data
        assert found == (path == key), path


def test_nobody_else_can_read_the_files_of_a_store(file_place: Place) -> None:
    """Database, index and backup hold what was confided: for their owner alone."""
    desk = Desk(file_place)
    _prepared(desk)
    desk.memory.backup(file_place.folder / "copy.db", principal=desk.who("root", "admin"))
    desk.memory.export(file_place.folder / "out.jsonl")
    desk.memory.close()
    modes = {p.name: p.stat().st_mode & 0o077 for p in file_place.folder.iterdir()}
    assert {"memory.db", "memory.db.index", "copy.db", "out.jsonl"} <= set(modes)
    assert {name for name, open_to in modes.items() if open_to} == set()


def test_doctor_names_files_that_others_can_read(file_place: Place) -> None:
    """An existing file keeps its mode; it is said, not changed behind one's back."""
    desk = Desk(file_place)
    assert desk.memory.doctor()["open_to_others"] == []
    (file_place.folder / "memory.db").chmod(0o644)
    assert desk.memory.doctor()["open_to_others"] == ["memory.db"]
