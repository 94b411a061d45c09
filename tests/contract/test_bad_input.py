"""Bad input to every verb: a typed error with a stable code, and nothing changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

import muniment
from muniment import MunimentError
from tests.contract.kit import NOW, Desk, Place, dump

BIG = "x" * 10_000_000
HUGE = 10**30


def _deep() -> list[Any]:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    return deep


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


#: Values that no text field takes.
TEXTS: dict[str, Any] = {
    "int": 5,
    "bytes": b"x",
    "list": ["x"],
    "nul": "a\x00b",
    "surrogate": "\ud800",
    "empty": "",
    "blank": " \n\u200b",
    "10 MB": BIG,
}
#: Values that no id takes.
IDS: dict[str, Any] = {
    "int": 5,
    "none": None,
    "dict": {},
    "nul": "a\x00",
    "surrogate": "\ud800",
    "empty": "",
    "star": "*",
    "long": "x" * 200,
}
#: Values that no instant takes.
TIMES: dict[str, Any] = {
    "int": 5,
    "word": "yesterday",
    "naive": datetime(2026, 1, 1),
    "naive text": "2026-01-01T00:00:00",
    "empty": "",
    "out of range": "9999-12-31T23:59:59-23:59",
    "nul": "\x00",
}
#: Values that no list of words takes.
LISTS: dict[str, Any] = {
    "int": 5,
    "text": "abc",
    "set": {"a"},
    "of ints": [5],
    "nul": ["a\x00"],
    "surrogate": ["\ud800"],
    "10 MB": [BIG],
    "too many": ["x"] * 1000,
}
NUMBERS: dict[str, Any] = {
    "text": "5",
    "none": None,
    "float": 1.5,
    "bool": True,
    "negative": -1,
    "huge": HUGE,
}
PATHS: dict[str, Any] = {"int": 5, "none": None, "nul": "a\x00b", "surrogate": "\ud800"}
VALUES: dict[str, Any] = {
    "infinity": float("inf"),
    "nan": float("nan"),
    "deep": _deep(),
    "circle": _circle(),
    "object": object(),
    "set": {1},
    "int keys": {1: 2},
    "nul": "\x00",
    "surrogate": ["\ud800"],
    "10 MB": BIG,
}

Bench = tuple[Desk, str, str, str]  # desk, record, event, candidate
Act = Callable[[Bench, Any], Any]


def _proposal(bench: Bench, **fields: Any) -> Any:
    desk, _, event, _ = bench
    base = {"content": "This project uses npm", "kind": "fact", "evidence": [event]}
    return desk.memory.propose({**base, **fields})


#: name -> (bad values, the call).  One row a parameter of a verb.
TABLE: dict[str, tuple[dict[str, Any], Act]] = {
    "append text": (TEXTS | {"none": None}, lambda b, v: b[0].memory.append(v, thread="t")),
    "append by": (IDS | {"word": "root"}, lambda b, v: b[0].memory.append("x", by=v)),
    "append at": (
        TIMES | {"future": "2099-01-01T00:00:00+00:00"},
        lambda b, v: b[0].memory.append("x", at=v),
    ),
    "append id": (
        {k: v for k, v in IDS.items() if k != "none"},
        lambda b, v: b[0].memory.append("x", thread="t", id=v),
    ),
    "append speaker": (TEXTS, lambda b, v: b[0].memory.append("x", speaker=v)),
    "append path": (TEXTS, lambda b, v: b[0].memory.append("x", path=v)),
    "append url": (TEXTS, lambda b, v: b[0].memory.append("x", url=v)),
    "append run": (
        {"float": 1.5, "nul": "\x00", "list": []},
        lambda b, v: b[0].memory.append("x", run=v),
    ),
    "append metadata": (
        {
            "int": 5,
            "list": [],
            "none": None,
            "text": "x",
            "set": {"a": {1}},
            "deep": {"a": _deep()},
            "circle": {"a": _circle()},
            "nan": {"a": float("nan")},
            "nul": {"a": "\x00"},
            "nul key": {"\x00": 1},
            "surrogate": {"a": "\ud800"},
            "10 MB": {"a": BIG},
        },
        lambda b, v: b[0].memory.append("x", metadata=v),
    ),
    "append thread": (
        {k: v for k, v in IDS.items() if k not in ("none",)} | {"bool": True},
        lambda b, v: b[0].memory.append("x", thread=v),
    ),
    "append scope": (
        {
            "int": 5,
            "text": "web",
            "list": ["web"],
            "part": {"org": "x"},
            "value": {"project": 5},
            "values": {"project": ["web"]},
            "star": {"project": "*"},
            "nul": {"project": "\x00"},
            "int key": {5: "x"},
        },
        lambda b, v: b[0].memory.append("x", scope=v),
    ),
    "append principal": (
        {
            "int": 5,
            "text": "bob",
            "field": {"name": "bob"},
            "channel": {"channel": "root"},
            "tenant": {"tenant": ""},
            "projects": {"projects": "web"},
            "roles": {"roles": [5]},
            "user": {"user": 5},
            "teams": {"teams": 5},
        },
        lambda b, v: b[0].memory.append("x", principal=v),
    ),
    "append unknown": (
        {"origin": {"origin": "user_stated"}, "user": {"user_id": "bob"}},
        lambda b, v: b[0].memory.append("x", **v),
    ),
    "append_many": (
        {
            "int": 5,
            "none": None,
            "text": "abc",
            "ints": [5],
            "empty": [{}],
            "no text": [{"by": "user"}],
            "field": [{"by": "user", "text": "x", "origin": "x"}],
            "mapping": {"by": "user", "text": "x"},
        },
        lambda b, v: b[0].memory.append_many(v, thread="t"),
    ),
    "thread": (
        {"int": 5, "list": [], **{k: v for k, v in IDS.items() if k != "none"}},
        lambda b, v: b[0].memory.thread(v),
    ),
    "import_file": (PATHS, lambda b, v: b[0].memory.import_file(v)),
    "import_backup": (PATHS, lambda b, v: b[0].memory.import_backup(v)),
    "export": (PATHS, lambda b, v: b[0].memory.export(v)),
    "remember text": (TEXTS | {"none": None}, lambda b, v: b[0].memory.remember(v)),
    "remember event": (
        {k: v for k, v in IDS.items() if k != "none"},
        lambda b, v: b[0].memory.remember(event=v),
    ),
    "remember both": ({"both": "x"}, lambda b, v: b[0].memory.remember(v, event=b[2])),
    "remember key": (
        {k: v for k, v in IDS.items() if k != "none"},
        lambda b, v: b[0].memory.remember("This project uses npm.", key=v),
    ),
    "propose": (
        {
            "int": 5,
            "text": "x",
            "list": [],
            "none": None,
            "empty": {},
            "field": {"content": "x", "kind": "fact", "user_id": "bob"},
            "int key": {5: 5},
        },
        lambda b, v: b[0].memory.propose(v),
    ),
    "propose content": (TEXTS, lambda b, v: _proposal(b, content=v)),
    "propose kind": (
        {"int": 5, "list": [], "word": "wish", "none": None},
        lambda b, v: _proposal(b, kind=v),
    ),
    "propose predicate": (
        {"int": 5, "word": "nope", "list": [], "nul": "\x00"},
        lambda b, v: _proposal(b, predicate=v),
    ),
    "propose value": (VALUES, lambda b, v: _proposal(b, value=v)),
    "propose evidence": (
        {
            "int": 5,
            "text": "x",
            "ints": [5],
            "lists": [[]],
            "dict": {},
            "unknown": ["evt_none"],
            "many": ["evt_x"] * 200,
        },
        lambda b, v: _proposal(b, evidence=v),
    ),
    "propose scope": (
        {"int": 5, "foreign": {"user": "bob"}, "elsewhere": {"project": "other"}},
        lambda b, v: _proposal(b, scope=v),
    ),
    "propose subject": (
        {"int": 5, "foreign": "user:bob", "long": "x" * 500, "nul": "\x00"},
        lambda b, v: _proposal(b, subject=v),
    ),
    "propose condition": (
        {
            "int": 5,
            "text": "x",
            "facet": {"foo": []},
            "word": {"entities": "x"},
            "ints": {"entities": [5]},
            "nul": {"entities": ["\x00"]},
            "many": {"entities": ["x"] * 99},
        },
        lambda b, v: _proposal(b, condition=v),
    ),
    "propose namespace": (
        {"int": 5, "policy": "policy", "below": "policy/x", "open": "mine", "nul": "\x00"},
        lambda b, v: _proposal(b, namespace=v),
    ),
    "propose valid_from": (TIMES, lambda b, v: _proposal(b, valid_from=v)),
    "propose valid_to": (TIMES, lambda b, v: _proposal(b, valid_to=v)),
    "propose expires_at": (TIMES, lambda b, v: _proposal(b, expires_at=v)),
    "propose sensitivity": (
        {"int": 5, "word": "x", "list": []},
        lambda b, v: _proposal(b, sensitivity=v),
    ),
    "propose tags": (LISTS, lambda b, v: _proposal(b, tags=v)),
    "propose confidence": (
        {"text": "1", "two": 2, "nan": float("nan"), "bool": True, "list": []},
        lambda b, v: _proposal(b, confidence=v),
    ),
    "propose refresh": (TEXTS, lambda b, v: _proposal(b, refresh=v)),
    "propose write_reason": (TEXTS, lambda b, v: _proposal(b, write_reason=v)),
    "review limit": (NUMBERS, lambda b, v: b[0].memory.review(limit=v)),
    "confirm": (IDS, lambda b, v: b[0].memory.confirm(v, digest="x")),
    "confirm digest": (
        {
            "int": 5,
            "none": None,
            "stale": "0" * 32,
            "nul": "\x00",
            "surrogate": "\ud800",
            "list": [],
        },
        lambda b, v: b[0].memory.confirm(b[3], digest=v),
    ),
    "confirm answer": (
        {k: v for k, v in IDS.items() if k != "none"},
        lambda b, v: b[0].memory.confirm(b[3], digest=b[0].memory.review()[0].digest, answer=v),
    ),
    "confirm key": (
        {k: v for k, v in IDS.items() if k != "none"},
        lambda b, v: b[0].memory.confirm(b[3], digest=b[0].memory.review()[0].digest, key=v),
    ),
    "reject": (IDS, lambda b, v: b[0].memory.reject(v, digest="x")),
    "reject digest": (
        {"int": 5, "none": None, "stale": "0" * 32, "nul": "\x00"},
        lambda b, v: b[0].memory.reject(b[3], digest=v),
    ),
    "revise_candidate": (IDS, lambda b, v: b[0].memory.revise_candidate(v, value="yarn")),
    "revise_candidate content": (
        {k: v for k, v in TEXTS.items()},
        lambda b, v: b[0].memory.revise_candidate(b[3], content=v),
    ),
    "revise_candidate field": (
        {
            "origin": {"origin": "user_stated"},
            "scope": {"scope": {}},
            "subject": {"subject": "user:bob"},
        },
        lambda b, v: b[0].memory.revise_candidate(b[3], **v),
    ),
    "revise_candidate tags": (LISTS, lambda b, v: b[0].memory.revise_candidate(b[3], tags=v)),
    "revise_candidate value": (VALUES, lambda b, v: b[0].memory.revise_candidate(b[3], value=v)),
    "revise record": (IDS, lambda b, v: b[0].memory.revise(v, if_version=1, value="yarn")),
    "revise if_version": (
        NUMBERS | {"stale": 7, "40 bits": 2**40},
        lambda b, v: b[0].memory.revise(b[1], if_version=v, value="yarn"),
    ),
    "revise content": (TEXTS, lambda b, v: b[0].memory.revise(b[1], if_version=1, content=v)),
    "revise value": (VALUES, lambda b, v: b[0].memory.revise(b[1], if_version=1, value=v)),
    "revise tags": (
        LISTS | {"secret": ["AKIAIOSFODNN7EXAMPLQ", "sk-proj-" + "a1B2" * 12]},
        lambda b, v: b[0].memory.revise(b[1], if_version=1, value="yarn", tags=v),
    ),
    "revise key": (
        {k: v for k, v in IDS.items() if k != "none"},
        lambda b, v: b[0].memory.revise(b[1], if_version=1, value="yarn", key=v),
    ),
    "revise nothing": ({"nothing": None}, lambda b, v: b[0].memory.revise(b[1], if_version=1)),
    "recall text": (
        {k: v for k, v in TEXTS.items() if k not in ("empty", "blank")}
        | {"none": None, "zero": 0, "nothing": []},
        lambda b, v: b[0].memory.recall(v),
    ),
    "recall scope": (
        {
            "int": 5,
            "text": "x",
            "part": {"x": "y"},
            "foreign": {"user": "bob"},
            "star": {"user": "*"},
        },
        lambda b, v: b[0].memory.recall("x", scope=v),
    ),
    "recall stage": (IDS | {"none": 5}, lambda b, v: b[0].memory.recall("x", stage=v)),
    "recall entities": (LISTS | {"none": None}, lambda b, v: b[0].memory.recall("x", entities=v)),
    "recall paths": (LISTS, lambda b, v: b[0].memory.recall("x", paths=v)),
    "recall kinds": (LISTS | {"word": ["wish"]}, lambda b, v: b[0].memory.recall("x", kinds=v)),
    "recall layers": (
        {"int": 5, "text": "records", "word": ["x"], "empty": [], "dict": {}},
        lambda b, v: b[0].memory.recall("x", layers=v),
    ),
    "recall limit": (NUMBERS | {"zero": 0}, lambda b, v: b[0].memory.recall("x", limit=v)),
    "recall neighbours": (NUMBERS, lambda b, v: b[0].memory.recall("x", neighbours=v)),
    "context text": (
        {k: v for k, v in TEXTS.items() if k not in ("empty", "blank")},
        lambda b, v: b[0].memory.context(v),
    ),
    "context budget": (NUMBERS, lambda b, v: b[0].memory.context("x", budget_tokens=v)),
    "context window": (
        {"int": 5, "text": "x", "ints": [5], "nul": ["\x00"], "none": None, "10 MB": [BIG]},
        lambda b, v: b[0].memory.context("x", window=v),
    ),
    "context language": (
        {"int": 5, "word": "xx", "list": []},
        lambda b, v: b[0].memory.context("x", language=v),
    ),
    "turn": ({"int": 5, "nul": "\x00"}, lambda b, v: b[0].memory.turn(v, "x").__enter__()),
    "turn message": (TEXTS, lambda b, v: b[0].memory.turn("t", v).__enter__()),
    "used turn": (IDS, lambda b, v: b[0].memory.used(v, "cited", [b[1]])),
    "used use": (
        {"int": 5, "word": "seen", "list": []},
        lambda b, v: b[0].memory.used("t", v, [b[1]]),
    ),
    "used records": (
        {"int": 5, "none": None, "text": "rec_x", "ints": [5], "nul": ["\x00"]},
        lambda b, v: b[0].memory.used("t", "cited", v),
    ),
    "list where": (
        {
            "text": "alice",
            "int": 5,
            "list": [],
            "tuple": (),
            "zero": 0,
            "empty": "",
            "star": "*",
            "field": {"x') OR 1=1 --": "a"},
            "status": {"status": "*"},
            "statuses": {"status": ["active"]},
            "kind": {"kind": {}},
            "muted": {"muted": "yes"},
            "tag": {"tag": 5},
            "tags": {"tag": ["x"]},
            "user": {"user": ["lin"]},
            "no user": {"user": None},
            "no status": {"status": None},
            "no subject": {"subject": None},
            "no muted": {"muted": None},
            "nul": {"subject": "\x00"},
            "int key": {5: 5},
        },
        lambda b, v: b[0].memory.list(where=v),
    ),
    "list limit": (NUMBERS | {"zero": 0, "all": 10**6}, lambda b, v: b[0].memory.list(limit=v)),
    "list after": (
        {k: v for k, v in IDS.items() if k != "none"},
        lambda b, v: b[0].memory.list(after=v),
    ),
    "show": (IDS, lambda b, v: b[0].memory.show(v)),
    "history": (IDS, lambda b, v: b[0].memory.history(v)),
    "history as_of": (TIMES, lambda b, v: b[0].memory.history(b[1], as_of=v)),
    "history believed_at": (TIMES, lambda b, v: b[0].memory.history(b[1], believed_at=v)),
    "why": (IDS, lambda b, v: b[0].memory.why(v)),
    "mute": (IDS, lambda b, v: b[0].memory.mute(v)),
    "unmute": (IDS, lambda b, v: b[0].memory.unmute(v)),
    "expire": (IDS, lambda b, v: b[0].memory.expire(v)),
    "delete": (
        {
            "none": {},
            "two": {"record": "rec_x", "subject": "user:lin"},
            "field": {"tenant": "x"},
            "match": {"scope": {"user": "lin"}, "match": "prefix"},
            "scope": {"scope": "lin"},
            "part": {"scope": {"org": "x"}},
            "record": {"record": 5},
            "event": {"event": 5},
            "subject": {"subject": 5},
            "star": {"subject": "*"},
            "foreign": {"subject": "user:bob"},
            "foreign scope": {"scope": {"user": "bob"}},
        },
        lambda b, v: (b[0].memory.delete(**v), b[0].memory.erase(**v)),
    ),
    "erase": (
        {
            "none": {},
            "two": {"record": "rec_x", "subject": "user:lin"},
            "field": {"tenant": "x"},
            "match": {"scope": {"user": "lin"}, "match": ["within"]},
            "scope": {"scope": "lin"},
            "record": {"record": 5},
            "star": {"subject": "*"},
            "foreign": {"subject": "user:bob"},
        },
        lambda b, v: b[0].memory.erase(**v),
    ),
    "settings": (
        {
            "word": {"pause": "yes"},
            "int": {"pause": 1},
            "field": {"foo": True},
            "kinds": {"disable_kinds": "fact"},
            "kind": {"disable_kinds": ["wish"]},
            "lists": {"disable_kinds": [[]]},
            "nothing": {"pause": None},
        },
        lambda b, v: b[0].memory.settings(**v),
    ),
    "backup": (PATHS, lambda b, v: b[0].memory.backup(v, principal=b[0].who("root", "admin"))),
}

_CODE = re.compile(r"[a-z_]+\.[a-z_]+")
_OUTAGES = ("store.failed", "store.busy", "store.unreachable", "store.contended")


@pytest.fixture
def bench(desk: Desk) -> Bench:
    """A desk with a record, an event and a held candidate."""
    made = desk.remember("This project uses npm.")
    held = desk.propose(
        "I like to skip the review of pnpm",
        desk.say("I think you like to skip the review of pnpm.", by="assistant"),
        kind="preference",
    )
    assert made.record_id and held.candidate_id
    return desk, made.record_id, made.candidate.evidence[0], held.candidate_id


@pytest.mark.parametrize("row", TABLE)
def test_bad_input_is_a_typed_error_and_changes_nothing(bench: Bench, row: str) -> None:
    """Each bad value of the row: a code that blames the call, the same rows before and after."""
    desk = bench[0]
    bad, act = TABLE[row]
    before = dump(desk.memory, desk.place.tenant)
    wrong = {}
    for kind, value in bad.items():
        try:
            got = act(bench, value)
        except MunimentError as error:
            if not _CODE.fullmatch(error.code) or error.code in _OUTAGES or not str(error):
                wrong[kind] = f"{error.code}: {error}"
        except Exception as error:
            wrong[kind] = f"raw {type(error).__name__}: {str(error)[:80]}"
        else:
            wrong[kind] = f"accepted: {str(got)[:80]}"
        after = dump(desk.memory, desk.place.tenant)
        if after != before:
            changed = [name for name in after if after[name] != before[name]]
            wrong[kind] = f"changed {changed}; {wrong.get(kind, 'refused')}"
            before = after
    assert not wrong


def test_the_good_calls_beside_the_bad_ones_work(bench: Bench) -> None:
    """Positive controls: what the table varies is otherwise right."""
    desk, record, event, candidate = bench
    m = desk.memory
    assert m.append("x", speaker="me", path="a/b", url="https://e.test", run=1, metadata={"a": 1})
    assert m.propose({"content": "This project uses npm", "kind": "fact", "evidence": [event]})
    assert m.review(limit=1) and m.recall("npm", limit=1, neighbours=0, entities=["a"]) is not None
    assert m.recall("") is not None
    assert m.list(where={}, limit=1000) and m.list(where={"status": "active", "muted": False})
    assert m.revise(record, if_version=1, value="yarn", tags=["a"], key="k").tags == ("a",)
    assert m.history(record, as_of=NOW, believed_at=NOW.isoformat())
    assert m.settings(pause=False, disable_kinds=["lesson"])["disable_kinds"] == ["lesson"]
    m.used("turn_1", "cited", [record])
    assert m.revise_candidate(candidate, content="I like to skip the review of yarn")
    assert m.delete(scope={"user": "lin"}, match="within", dry_run=True)
    assert m.context("x", window=["y"], language="zh", budget_tokens=0).memory == ""


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "",
        b"x",
        5,
        "mysql://x/y",
        "postgresql://h:port/db",
        "sqlite:/x",
        "sqlite:///",
        "sqlite:///a\x00b",
        "sqlite:///\ud800",
        "sqlite:///x?y=1",
        "sqlite:////nonexistent-folder/x.db",
        "sqlite:////tmp",
        "sqlite+aiosqlite:///x",
    ],
)
def test_a_url_one_cannot_open_is_a_typed_error(url: Any, file_place: Place) -> None:
    """No default is guessed for it."""
    with pytest.raises(MunimentError) as error:
        muniment.open(url, key_file=file_place.folder / "key").close()
    assert error.value.code.split(".")[0] == "store"
    assert list(file_place.folder.iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [
        {"key_file": 5},
        {"principal": 5},
        {"principal": {"name": "x"}},
        {"predicates": 5},
        {"predicates": ["x"]},
        {"predicates": [{"name": "x"}]},
        {"predicates": [{"name": "x", "kind": "wish"}]},
        {"predicates": [{"name": "x", "kind": "fact", "expires": "5x"}]},
        {"predicates": [{"name": "x", "kind": "fact", "scope": ["org"]}]},
        {"predicates": [{"name": "x", "kind": "fact", "colour": "red"}]},
        {"predicates": [{"name": "package_manager", "kind": "fact"}]},
    ],
    ids=repr,
)
def test_options_one_cannot_open_with_are_typed_errors(options: dict[str, Any]) -> None:
    """Key file, principal and predicates are checked as the call's own."""
    with pytest.raises(MunimentError):
        muniment.open("sqlite://", **options).close()
    with muniment.open("sqlite://", predicates=[{"name": "pet", "kind": "fact"}]) as memory:
        assert memory.list() == []


def test_a_key_file_one_cannot_make_or_read_is_a_typed_error(file_place: Place) -> None:
    """Below a file, a folder, or not JSON."""
    plain = file_place.folder / "plain"
    plain.write_text("x")
    url = f"sqlite:///{file_place.folder}/n.db"
    for key_file in (plain / "key", file_place.folder, plain):
        with pytest.raises(MunimentError) as error:
            muniment.open(url, key_file=key_file).close()
        assert error.value.code.split(".")[0] == "key"


def test_half_a_million_characters_without_a_space_are_bounded(desk: Desk) -> None:
    """A 300 KB line is remembered, indexed and searched in moments."""
    start = datetime.now(UTC)
    line = "重跑gen-itgc后" * 20_000
    event = desk.say(line)
    desk.memory.remember(event=event, principal=desk.who(channel="runtime"))
    desk.memory.recall("gen-itgc", layers=("archive",), limit=1)
    assert (datetime.now(UTC) - start).total_seconds() < 20
