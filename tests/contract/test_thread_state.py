"""The state of threads: committed by steps, read back at any version, never damaged in silence."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muniment import Conflict, InvalidInput, MunimentError, NotFound, Unavailable
from muniment.threads.state import LISTS, STEP_STATUS, applied, parse
from tests.contract.kit import DAY, HOUR, NOW, WEB, Desk, Place

PLAN = [{"step": "write", "status": "done"}, {"step": "build", "after": ["write"]}]


def _commit(desk: Desk, changes: Any, thread: str = "A", **more: Any) -> Any:
    return desk.memory.threads.checkpoint(thread, changes, **more)


def _state(desk: Desk, thread: str = "A", **more: Any) -> dict[str, Any]:
    return dict(desk.memory.threads.state(thread, **more).state)


# ---------------------------------------------------------------- committing and reading


def test_a_step_is_its_messages_and_its_state(desk: Desk) -> None:
    """One call, one version: events appended, state merged, `through` the last of them."""
    made = _commit(
        desk,
        {"goal": "the sixth article", "plan": PLAN},
        messages=[{"by": "user", "text": "go on"}, {"by": "assistant", "text": "I will"}],
        run="r1",
        turn=1,
        step="write",
        principal=desk.who(channel="runtime"),
    )
    assert (made.version, made.through, made.run, made.turn) == (1, 2, "r1", "1")
    second = _commit(desk, {"plan": [{"step": "build", "status": "running"}]})
    assert (second.version, second.through) == (2, 2)
    found = desk.memory.threads.state("A")
    assert found.version == 2
    assert found.state["goal"] == "the sixth article"
    assert found.state["plan"] == [
        {"step": "write", "status": "done"},
        {"step": "build", "after": ["write"], "status": "running"},
    ]
    assert desk.memory.verify().checkpoints == 2


def test_changes_merge_replace_and_remove(desk: Desk) -> None:
    """Texts replace, items merge by name, null clears, `remove` takes one out, data is patched."""
    _commit(
        desk,
        {
            "next": "a",
            "open": ["why slow", "who pays"],
            "artifacts": [{"path": "a.md", "revision": "1"}, {"path": "b.md"}],
            "data": {"a": {"b": 1, "c": 2}, "d": [1]},
            "progress": ["begun"],
        },
    )
    _commit(
        desk,
        {
            "next": "b",
            "open": [{"text": "why slow", "remove": True}],
            "artifacts": [{"path": "a.md", "revision": "2"}],
            "data": {"a": {"b": None, "e": 3}, "d": [2]},
            "progress": ["went on"],
        },
    )
    state = _state(desk)
    assert state["next"] == "b"
    assert [i["text"] for i in state["open"]] == ["who pays"]
    assert state["artifacts"] == [{"path": "a.md", "revision": "2"}, {"path": "b.md"}]
    assert state["data"] == {"a": {"c": 2, "e": 3}, "d": [2]}
    assert [i["text"] for i in state["progress"]] == ["begun", "went on"]
    _commit(desk, {"open": None, "next": None})
    assert not {"open", "next"} & set(_state(desk))


def test_every_version_can_be_read_and_compared(desk: Desk) -> None:
    """`at`, `history` and `diff`, over whole checkpoints and changes alike."""
    for number in range(1, 41):
        _commit(desk, {"next": f"step {number}", "data": {f"k{number}": "x" * 300}})
    versions = [h.version for h in desk.memory.threads.history("A", limit=1000)]
    assert versions == list(range(40, 0, -1))
    wholes = (
        desk.place.run(
            f"SELECT count(*) FROM checkpoints WHERE tenant_id = '{desk.place.tenant}' AND whole"
        )
        if desk.place.durable
        else [(2,)]
    )
    assert 1 < wholes[0][0] < 20
    for number in (1, 17, 39, 40):
        state = _state(desk, at=number)
        assert state["next"] == f"step {number}" and len(state["data"]) == number
    changed = desk.memory.threads.diff("A", 38, 39)
    assert [(d.section, d.key, d.before, d.after) for d in changed] == [
        ("next", None, "step 38", "step 39"),
        ("data", "k39", None, "x" * 300),
    ]
    assert [d.section for d in desk.memory.threads.diff("A", 0, 1)] == ["next", "data"]


def test_a_state_survives_the_process(durable_place: Place) -> None:
    """Committed is committed: another process reads the same."""
    desk = Desk(durable_place)
    _commit(desk, {"goal": "g", "plan": PLAN})
    desk.memory.close()
    again = Desk(durable_place, desk.clock)
    assert _state(again)["goal"] == "g"
    assert again.memory.threads.list()[0].goal == "g"
    again.memory.close()


def test_an_unknown_thread_has_an_empty_state(desk: Desk) -> None:
    """No state yet is not an error, and reading opens nothing."""
    assert desk.memory.threads.state("never").version == 0
    assert desk.memory.threads.list() == []


def test_the_version_read_has_to_be_the_newest(desk: Desk) -> None:
    """Compare-and-set: the other writer's work stands."""
    _commit(desk, {"next": "a"}, if_version=0)
    _commit(desk, {"next": "b"}, if_version=1)
    with pytest.raises(Conflict) as caught:
        _commit(desk, {"next": "c"}, if_version=1)
    assert caught.value.code == "thread.stale" and "version 2" in str(caught.value)
    assert _state(desk)["next"] == "b"


def test_a_key_is_answered_once(desk: Desk) -> None:
    """A replay returns the first version and appends nothing."""
    said = [{"by": "user", "text": "go on"}]
    first = _commit(desk, {"progress": ["one"]}, key="k", messages=said)
    _commit(desk, {"progress": ["two"]})
    again = _commit(desk, {"progress": ["one"]}, key="k", messages=said)
    assert again.version == first.version == 1
    assert len(_state(desk)["progress"]) == 2
    with pytest.raises(Conflict):
        _commit(desk, {"progress": ["other"]}, key="k", messages=said)


def test_two_workers_lose_nothing(durable_place: Place) -> None:
    """2,000 steps of two workers on one thread: each is there once, versions without a gap."""
    desks = [Desk(durable_place), Desk(durable_place)]
    steps = 100 if durable_place.name == "postgres" else 1000
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(steps):
                _commit(desks[number], {"data": {f"w{number}-{step}": 1}})
        except BaseException as error:  # told below, in the test's own thread
            failed.append(error)

    workers = [threading.Thread(target=work, args=(n,)) for n in (0, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failed == []
    found = desks[0].memory.threads.state("A")
    assert found.version == 2 * steps == len(found.state["data"])
    assert desks[0].memory.verify().ok
    for desk in desks:
        desk.memory.close()


# ---------------------------------------------------------------- large and foreign values


def test_large_values_lie_apart_and_go_with_their_last_use(desk: Desk) -> None:
    """Over 64 KB: named by digest, readable by this thread alone, gone after a prune."""
    long = "line of a log\n" * 9000
    _commit(desk, {"data": {"log": long}, "observations": [{"name": "out", "value": long}]})
    state = _state(desk)
    digest = state["data"]["log"]["$blob"]
    assert state["observations"][0]["value"]["$blob"] == digest
    kind, data = desk.memory.threads.blob("A", digest)
    assert (kind, json.loads(data)) == ("application/json", long)
    desk.memory.threads.checkpoint("B", {"goal": "other"})
    with pytest.raises(NotFound):
        desk.memory.threads.blob("B", digest)
    _commit(desk, {"data": {"log": None}, "observations": None})
    assert desk.memory.threads.blob("A", digest)  # the version before still has it
    desk.memory.threads.prune("A")
    with pytest.raises(NotFound):
        desk.memory.threads.blob("A", digest)


def test_naming_a_large_value_gives_no_right_to_it(desk: Desk) -> None:
    """A fork shares what its source has; a digest somebody put into a state opens nothing."""
    long = "line of a log\n" * 9000
    _commit(desk, {"data": {"log": long}})
    digest = _state(desk)["data"]["log"]["$blob"]
    desk.memory.threads.fork("A", "A2")
    desk.memory.threads.delete("A")
    assert desk.memory.threads.blob("A2", digest)  # the control: shared, and kept by this use
    _commit(desk, {"data": {"mine": {"$blob": digest}}}, thread="B", principal=desk.who("ann"))
    ann = desk.who("ann")
    desk.memory.threads.fork("B", "B2", principal=ann)
    desk.memory.threads.copy("B", "B3", principal=ann)
    for label in ("B", "B2", "B3"):
        with pytest.raises(NotFound) as caught:
            desk.memory.threads.blob(label, digest, principal=ann)
        assert caught.value.code == "blob.not_found"


def test_foreign_values_are_kept_as_they_are(desk: Desk) -> None:
    """A name, a type, bytes: never read here."""
    _commit(desk, {}, opaque={"graph": ("msgpack", b"\x00\xff\x01")})
    named = _state(desk)["opaque"]["graph"]
    assert named["type"] == "msgpack" and named["size"] == 3
    assert desk.memory.threads.blob("A", named["$blob"]) == ("msgpack", b"\x00\xff\x01")
    _commit(desk, {}, opaque={"graph": None})
    assert "opaque" not in _state(desk)


def test_secrets_do_not_enter_a_state(desk: Desk) -> None:
    """Block-grade ones are placeholders wherever they stand."""
    token = "xoxb-" + "123456789012-1234567890123-" + "AbCdEfGhIjKlMnOpQrStUvWx"
    _commit(desk, {"data": {"t": token, token: 1}, "setup": [f"export T={token}"]})
    text = json.dumps(_state(desk))
    assert token not in text and text.count("[secret:") >= 2


# ---------------------------------------------------------------- whole threads


def test_a_fork_goes_its_own_way(desk: Desk) -> None:
    """From any version, under a new label; the source is left as it is."""
    _commit(desk, {"next": "a", "plan": PLAN})
    _commit(desk, {"next": "b"})
    made = desk.memory.threads.fork("A", "B", at=1)
    source = desk.memory.threads.state("A").thread
    assert (made.version, made.parent) == (1, f"{source}@1")
    _commit(desk, {"next": "c"}, thread="B")
    assert (_state(desk)["next"], _state(desk, "B")["next"]) == ("b", "c")
    with pytest.raises(Conflict) as caught:
        desk.memory.threads.fork("A", "B")
    assert caught.value.code == "thread.exists"
    assert desk.memory.verify().ok


def test_a_copy_has_the_whole_history(desk: Desk) -> None:
    """Every version reads the same under the new label."""
    for number in range(12):
        _commit(desk, {"data": {f"k{number}": "x" * 900}})
    desk.memory.threads.copy("A", "B")
    for version in (1, 6, 12):
        assert _state(desk, "B", at=version) == _state(desk, at=version)
    assert desk.memory.verify().ok


def test_pruning_keeps_the_newest(desk: Desk) -> None:
    """The state is the same; the kept versions read as before; the others are gone."""
    for number in range(10):
        _commit(desk, {"next": str(number), "data": {f"k{number}": number}})
    before = _state(desk), _state(desk, at=9)
    assert desk.memory.threads.prune("A", keep=2) == 8
    assert (_state(desk), _state(desk, at=9)) == before
    assert [h.version for h in desk.memory.threads.history("A")] == [10, 9]
    with pytest.raises(NotFound) as caught:
        desk.memory.threads.state("A", at=8)
    assert caught.value.code == "checkpoint.not_found"
    _commit(desk, {"next": "on"})
    assert desk.memory.threads.prune("A", keep=50) == 0
    assert desk.memory.verify().ok


def test_a_deleted_thread_takes_nothing_more(desk: Desk) -> None:
    """State, history and list forget it; late writes of every kind are refused."""
    _commit(desk, {"goal": "g"}, messages=[{"by": "user", "text": "tea with the ambassador"}])
    desk.memory.threads.delete("A")
    late = [
        lambda: _commit(desk, {"goal": "h"}),
        lambda: desk.memory.append("late", thread="A"),
        lambda: desk.memory.remember("I prefer tea.", thread="A"),
        lambda: desk.memory.threads.state("A"),
        lambda: desk.memory.threads.fork("A", "B"),
        lambda: desk.memory.threads.delete("A"),
    ]
    for call in late:
        with pytest.raises(NotFound) as caught:
            call()
        assert caught.value.code == "thread.deleted"
    assert desk.memory.threads.list() == []
    assert list(desk.memory.recall("ambassador tea", layers=["archive"])) == []
    assert desk.memory.verify().ok


def test_the_list_shows_what_each_is_about(desk: Desk) -> None:
    """Newest first, with label, goal and next step; only one's own, and only in the scope asked."""
    _commit(desk, {"goal": "first", "next": "n"})
    desk.clock.advance(HOUR)
    _commit(desk, {"goal": "second"}, thread="B", scope=WEB)
    _commit(desk, {"goal": "theirs"}, thread="C", principal=desk.who("ann"))
    shown = [t.to_dict() for t in desk.memory.threads.list()]
    assert [(t["label"], t["goal"], t["next"]) for t in shown] == [
        ("B", "second", None),
        ("A", "first", "n"),
    ]
    assert [t.goal for t in desk.memory.threads.list(scope=WEB)] == ["second"]


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ("goal", "state.invalid"),
        ({"goals": "x"}, "state.unknown_section"),
        ({"goal": 3}, "text.not_string"),
        ({"goal": "a\0b"}, "text.nul"),
        ({"plan": {"step": "a"}}, "state.invalid"),
        ({"plan": [3]}, "state.invalid"),
        ({"plan": [{"status": "done"}]}, "text.not_string"),
        ({"plan": [{"step": "a", "status": "begun"}]}, "state.invalid"),
        ({"plan": [{"step": "a", "after": ["b"]}]}, "plan.unknown_step"),
        (
            {"plan": [{"step": "a", "after": ["b"]}, {"step": "b", "after": ["a"]}]},
            "plan.cycle",
        ),
        ({"plan": [{"step": "a", "after": ["a"]}]}, "plan.cycle"),
        ({"plan": [{"step": "first", "remove": True}]}, "plan.unknown_step"),
        ({"plan": [{"step": "first", "after": ["second"]}]}, "plan.cycle"),
        ({"data": [1]}, "state.invalid"),
        ({"data": {"x": float("nan")}}, "state.invalid"),
        ({"data": {"x": object()}}, "state.invalid"),
        ({"data": {"x": "\ud800"}}, "state.invalid"),
        (
            {"observations": [{"name": "b", "observed_at": "2026-09-01T12:00:00"}]},
            "time.naive",
        ),
        ({"observations": [{"name": "b", "observed_at": (NOW + DAY).isoformat()}]}, "time.future"),
        ({"open": ["x"] * 20_001}, "state.too_large"),
    ],
)
def test_a_malformed_change_changes_nothing(desk: Desk, changes: Any, code: str) -> None:
    """A typed error that says what to do; the state and the events are as before."""
    plan = [{"step": "first"}, {"step": "second", "after": ["first"]}]
    _commit(desk, {"goal": "g", "plan": plan})
    with pytest.raises(InvalidInput) as caught:
        _commit(desk, changes, messages=[{"by": "user", "text": "hello"}])
    assert caught.value.code == code
    assert _state(desk) == {"goal": "g", "plan": plan}
    assert desk.memory.threads.state("A").version == 1
    assert desk.memory.doctor()["events"] == 0


def test_a_message_that_is_wrong_takes_the_step_with_it(desk: Desk) -> None:
    """All of a step or none of it."""
    with pytest.raises(MunimentError):
        _commit(
            desk,
            {"goal": "g"},
            messages=[{"by": "user", "text": ""}, {"by": "nobody", "text": "x"}],
        )
    assert desk.memory.threads.state("A").version == 0


def test_somebody_elses_thread_is_none(desk: Desk) -> None:
    """By id it looks as if there were none; by label it is one's own."""
    _commit(desk, {"goal": "mine"})
    id_ = desk.memory.threads.state("A").thread
    other = desk.who("ann")
    for call in (
        lambda: desk.memory.threads.state(id_, principal=other),
        lambda: desk.memory.threads.checkpoint(id_, {"goal": "x"}, principal=other),
        lambda: desk.memory.threads.delete(id_, principal=other),
        lambda: desk.memory.threads.prune(id_, principal=other),
        lambda: desk.memory.threads.fork(id_, "B", principal=other),
        lambda: desk.memory.threads.history(id_, principal=other),
    ):
        with pytest.raises(NotFound) as caught:
            call()
        assert caught.value.code == "thread.not_found"
    assert desk.memory.threads.state("A", principal=other).version == 0


# ---------------------------------------------------------------- damage


def _damage(desk: Desk, statement: str) -> None:
    desk.place.run(statement.replace("$T", f"tenant_id = '{desk.place.tenant}'"))


def test_a_damaged_head_is_read_from_its_checkpoints(durable_desk: Desk) -> None:
    """The newest state is derived; what was committed is not lost with it."""
    _commit(durable_desk, {"goal": "g", "next": "n"})
    _commit(durable_desk, {"next": "m"})
    _damage(durable_desk, "UPDATE thread_state SET data = '\"evil\"' WHERE $T AND section = 'goal'")
    assert _state(durable_desk)["goal"] == "g"
    report = durable_desk.memory.verify()
    assert not report.ok and report.first_bad is not None
    assert report.first_bad["table"] == "thread_state"
    _commit(durable_desk, {"goal": "h"})
    assert durable_desk.memory.verify().ok


@pytest.mark.parametrize("how", ["changed", "not json", "seal"])
def test_a_damaged_checkpoint_names_the_last_good_one(durable_desk: Desk, how: str) -> None:
    """An error, never a wrong state; it says from where one can go on, and one can."""
    for number in range(1, 6):
        _commit(durable_desk, {"next": f"step {number}"})
    value = {
        "changed": 'data = \'{"next":"evil"}\'',
        "not json": "data = '[1]'",
        "seal": "digest = 'x'",
    }
    _damage(durable_desk, f"UPDATE checkpoints SET {value[how]} WHERE $T AND version = 5")
    _damage(durable_desk, "UPDATE thread_state SET data = '\"evil\"' WHERE $T")
    with pytest.raises(Unavailable) as caught:
        durable_desk.memory.threads.state("A")
    assert caught.value.code == "checkpoint.corrupted" and "last good version is 4" in str(
        caught.value
    )
    assert _state(durable_desk, at=4)["next"] == "step 4"
    durable_desk.memory.threads.fork("A", "B", at=4)
    assert _state(durable_desk, "B")["next"] == "step 4"
    assert not durable_desk.memory.verify().ok


def test_a_state_of_a_later_version_is_said_so(durable_desk: Desk) -> None:
    """A newer format is refused with what to do."""
    _commit(durable_desk, {"goal": "g"})
    _damage(durable_desk, "UPDATE checkpoints SET format = 2 WHERE $T")
    _damage(durable_desk, "UPDATE thread_state SET digest = 'x' WHERE $T")
    with pytest.raises(Unavailable) as caught:
        durable_desk.memory.threads.state("A")
    assert caught.value.code == "state.newer_format"


@pytest.mark.parametrize(
    "statement",
    [
        'UPDATE checkpoints SET data = \'{"next":"evil"}\' WHERE $T AND version = 2',
        "UPDATE checkpoints SET through = 7 WHERE $T AND version = 2",
        "UPDATE checkpoints SET digest = 'x' WHERE $T AND version = 3",
        "DELETE FROM checkpoints WHERE $T AND version = 3",
        "DELETE FROM checkpoints WHERE $T AND version = 2",
        "DELETE FROM checkpoints WHERE $T AND version = 1",
        "DELETE FROM checkpoints WHERE $T",
        "UPDATE thread_state SET data = '\"x\"' WHERE $T",
        "DELETE FROM thread_state WHERE $T",
        "UPDATE threads SET version = 2 WHERE $T",
    ],
)
def test_verify_names_what_was_done_to_a_state(durable_desk: Desk, statement: str) -> None:
    """Changed, cut or lost rows of checkpoints and newest states are found."""
    for number in range(1, 4):
        _commit(durable_desk, {"next": f"step {number}"})
    assert durable_desk.memory.verify().checkpoints == 3
    _damage(durable_desk, statement)
    report = durable_desk.memory.verify()
    assert not report.ok and report.first_bad is not None
    assert report.first_bad["table"] in ("checkpoints", "thread_state")


# ---------------------------------------------------------------- erasure

MARK = "MARKERSTATEQZX"


def _holds(desk: Desk) -> bool:
    tables = ("checkpoints", "thread_state", "threads", "tool_calls", "approvals", "blobs")
    found = []
    for table in tables:
        for row in desk.place.run(f"SELECT * FROM {table} WHERE tenant_id = '{desk.place.tenant}'"):
            found += [
                MARK in str(value)
                or (isinstance(value, bytes | memoryview) and MARK.encode() in bytes(value))
                for value in row
            ]
    return any(found)


def test_an_erased_event_leaves_no_state_that_stands_on_it(durable_desk: Desk) -> None:
    """Items that cite it or repeat its words go from every version; the rest goes on."""
    event = durable_desk.say(f"Never publish {MARK} before Friday.", thread="A", scope=None)
    _commit(
        durable_desk,
        {"goal": "stay", "constraints": [{"text": f"no {MARK}", "evidence": [event.id]}]},
    )
    _commit(durable_desk, {"open": [f"Never publish {MARK} before Friday. Ask again"], "next": "n"})
    assert _holds(durable_desk)
    done = durable_desk.memory.erase(event=event.id)
    assert (done.counts["threads_in_part"], done.counts["state_items"]) == (1, 2)
    assert not _holds(durable_desk)
    assert _state(durable_desk) == {"goal": "stay", "next": "n"}
    _commit(durable_desk, {"next": "m"})
    assert durable_desk.memory.verify().ok


@pytest.mark.parametrize("how", ["scope", "subject"])
def test_an_erased_scope_or_person_takes_the_threads_state(durable_desk: Desk, how: str) -> None:
    """State, history, labels and blobs of the threads meant; others stay."""
    big = MARK + "x" * 70_000
    _commit(durable_desk, {"goal": MARK, "data": {"big": big}}, thread=f"about {MARK}", scope=WEB)
    other = durable_desk.who("ann")
    _commit(durable_desk, {"goal": "theirs"}, thread="B", principal=other)
    assert _holds(durable_desk)
    target: dict[str, Any] = (
        {"scope": {**WEB, "user": "lin"}} if how == "scope" else {"subject": "user:lin"}
    )
    durable_desk.memory.erase(**target)
    assert not _holds(durable_desk)
    assert durable_desk.memory.threads.state("B", principal=other).state["goal"] == "theirs"
    assert durable_desk.memory.verify().ok


# ---------------------------------------------------------------- any history

_names = st.sampled_from(["a", "b", "c"])
_item = st.builds(
    lambda name, status, gone: {"step": name, **({"remove": True} if gone else {"status": status})},
    _names,
    st.sampled_from(STEP_STATUS),
    st.booleans(),
)
_change = st.fixed_dictionaries(
    {},
    optional={
        "goal": st.one_of(st.none(), st.text("xyz", min_size=1, max_size=5)),
        "plan": st.one_of(st.none(), st.lists(_item, max_size=3)),
        "open": st.one_of(st.none(), st.lists(_names, max_size=3)),
        "progress": st.lists(_names, max_size=2),
        "data": st.dictionaries(
            _names,
            st.one_of(st.none(), st.integers(), st.text("xyz äß", max_size=3000)),
            max_size=3,
        ),
    },
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=st.lists(_change, min_size=1, max_size=12), keep=st.integers(1, 5))
def test_every_version_is_what_the_changes_say(desk: Desk, changes: list[Any], keep: int) -> None:
    """Against a model in plain Python: every version, before and after a prune, and the copy."""
    label = f"t{desk.clock.now().timestamp()}-{len(desk.memory.threads.list(limit=1000))}"
    model: list[dict[str, Any]] = []
    state: dict[str, Any] = {}
    for change in changes:
        state = applied(state, parse(change, desk.clock.now()))
        made = _commit(desk, change, thread=label)
        model.append(json.loads(json.dumps(state)))
        assert made.version == len(model)
    assert [_state(desk, label, at=n + 1) for n in range(len(model))] == model
    desk.memory.threads.copy(label, f"{label}-copy")
    desk.memory.threads.prune(label, keep=keep)
    kept = [h.version for h in desk.memory.threads.history(label)]
    assert kept == list(range(len(model), max(0, len(model) - keep), -1))
    for thread, versions in ((label, kept), (f"{label}-copy", range(1, len(model) + 1))):
        for version in versions:
            assert _state(desk, thread, at=version) == model[version - 1]


def test_the_model_knows_every_section() -> None:
    """Each list has a name for its items or is a log: nothing is merged by accident."""
    assert {name for name, key in LISTS.items() if key is None} == {"progress"}
