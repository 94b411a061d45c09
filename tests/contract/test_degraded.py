"""Long-term memory off or out of reach: the turn goes on, and says what it went without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from muniment import Memory, NotAllowed, Turn, Unavailable
from muniment.verbs.parts import Parts
from tests.contract.kit import WEB, Desk

WORDS = "I prefer short answers. Which package manager?"


def _turn(desk: Desk, memory: Memory | None = None, *, user: str = "lin") -> Turn:
    """One round of the loop, to its end."""
    runtime = desk.who(user, channel="runtime")
    host = memory or desk.memory
    with host.turn("now", WORDS, scope=WEB, principal=runtime) as turn:
        assert turn.answer("npm, I think.") == "npm, I think."
        turn.tool("build", "ok")
    return turn


def _texts(memory: Memory, turn: Turn) -> list[str | None]:
    """What the thread of the turn holds."""
    assert turn.message is not None
    work = lambda unit: unit.events.around(turn.message, 0, 10)  # noqa: E731
    return [e.text for e in memory._parts.read(memory.principal, work)]


def test_a_turn_with_memory_is_not_degraded(desk: Desk) -> None:
    """The control of everything below: recalled, remembered, nothing lacking."""
    desk.remember("This project uses npm.", thread="before")
    turn = _turn(desk)
    assert (turn.degraded, turn.memory_degraded) == ((), False)
    assert "npm" in turn.context.memory
    assert [d.action for d in turn.decisions] == ["activate"]
    assert len(_texts(desk.memory, turn)) == 3


@pytest.mark.parametrize("how", ["argument", "environment"])
def test_a_turn_goes_on_with_memory_off(
    desk: Desk, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing recalled, nothing remembered, the evidence kept; the reason is named."""
    desk.remember("This project uses npm.", thread="before")
    if how == "environment":
        monkeypatch.setenv("MUNIMENT_MEMORY_OFF", "1")
    options = {"memory_off": True} if how == "argument" else {}
    if not desk.place.durable:  # a store in memory cannot be opened twice: switch it off in place
        desk.memory._parts.memory_off = True
    off = desk.place.open(desk.clock, **options) if desk.place.durable else desk.memory
    turn = _turn(desk, off)
    assert turn.degraded == ("memory_off",)
    assert turn.context.memory == ""
    assert [(d.action, d.reasons[0]) for d in turn.decisions] == [("ignore", "switch.off")]
    assert _texts(off, turn) == [WORDS, "npm, I think.", "ok"]
    assert [r.value for r in desk.records()] == ["npm"]
    if off is not desk.memory:
        off.close()


def test_an_argument_outranks_the_environment(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """`memory_off=False` is on, whatever the operator's default."""
    monkeypatch.setenv("MUNIMENT_MEMORY_OFF", "true")
    with desk.place.open(desk.clock, memory_off=False) as on:
        assert on.recall("x").degraded == ()
    with desk.place.open(desk.clock) as off:
        assert off.recall("x").degraded == ("memory_off",)


def test_a_tenant_can_be_switched_off(desk: Desk) -> None:
    """An admin's pause holds for every user of the tenant and nobody else; undone, all is back."""
    desk.remember("This project uses npm.", thread="before")
    admin = desk.who("root", channel="admin")
    with pytest.raises(NotAllowed):
        desk.memory.settings(tenant_wide=True, pause=True, principal=desk.who())
    desk.memory.settings(tenant_wide=True, pause=True, principal=admin)
    for user in ("lin", "bob"):
        turn = _turn(desk, user=user)
        assert turn.degraded == ("recall_paused",)
        assert [d.reasons[0] for d in turn.decisions] == ["switch.off"]
        assert turn.message is not None
    elsewhere = {"tenant": desk.place.tenant + "-b", "user": "lin"}
    assert desk.memory.recall("x", principal=elsewhere).degraded == ()
    desk.memory.settings(tenant_wide=True, pause=False, principal=admin)
    assert "npm" in _turn(desk).context.memory


@pytest.fixture
def no_records(durable_desk: Desk) -> Iterator[Desk]:
    """A store whose table of records is out of reach."""
    desk = durable_desk
    desk.remember("This project uses npm.", thread="before")
    desk.place.run("ALTER TABLE records RENAME TO records_gone")
    yield desk
    desk.place.run("ALTER TABLE records_gone RENAME TO records")


def test_a_turn_goes_on_without_the_records(no_records: Desk) -> None:
    """The reads and the gate cannot ask; the evidence is kept all the same."""
    turn = _turn(no_records)
    assert turn.degraded == ("schema.missing",)
    assert (turn.context.memory, turn.decisions) == ("", [])
    assert _texts(no_records.memory, turn) == [WORDS, "npm, I think.", "ok"]


class _Down:
    """An index that cannot be asked anything."""

    def __getattr__(self, name: str) -> Any:
        def refuse(*_: Any, **__: Any) -> Any:
            raise Unavailable("index.unreachable", "down")

        return refuse


def test_a_turn_goes_on_without_the_index(desk: Desk) -> None:
    """What applies is loaded from the truth, what is said is kept and decided on."""
    desk.remember("In this project the database schema must not be changed.", thread="before")
    parts, index = desk.memory._parts, desk.memory._parts.index
    parts.index, parts._known = _Down(), set()  # type: ignore[assignment]
    turn = _turn(desk)
    parts.index = index
    assert turn.degraded == ("index_unavailable",)
    assert "schema" in turn.context.memory
    assert [d.action for d in turn.decisions] == ["activate"]


def test_a_turn_goes_on_when_the_store_cannot_write(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No message stored, no decision, no use noted; what is known is still read."""
    desk.remember("This project uses npm.", thread="before")

    def full(*_: Any, **__: Any) -> Any:
        raise Unavailable("store.full", "full")

    monkeypatch.setattr(Parts, "write", full)
    turn = _turn(desk)
    assert turn.degraded == ("store.full",)
    assert "npm" in turn.context.memory, "and in the place the turn was opened in"
    assert (turn.message, turn.text, turn.decisions) == (None, WORDS, [])
    assert turn.propose(content="x", kind="fact") == []


@pytest.mark.parametrize("why", ["memory_off", "recall_paused"])
def test_threads_go_on_with_memory_off(desk: Desk, why: str) -> None:
    """Checkpoint, call, resume, view and packet as ever; resuming names the reason."""
    if why == "memory_off":
        desk.memory._parts.memory_off = True
    else:
        admin = desk.who("root", channel="admin")
        desk.memory.settings(tenant_wide=True, pause=True, principal=admin)
    threads, me = desk.memory.threads, {"scope": WEB, "principal": desk.who(channel="runtime")}
    threads.checkpoint("now", {"goal": "Finish", "next": "publish"}, **me)
    call = threads.begin("now", "push-1", "git_push", **me)
    assert threads.done("now", call, {"ok": True}, **me).settled
    turn = _turn(desk)
    assert turn.degraded == (why,)
    resumed = threads.resume("now", **me)
    assert (resumed.memory_degraded, resumed.state["goal"]) == ((why,), "Finish")
    view = threads.compact("now", budget_tokens=500, **me)
    assert "goal: Finish" in view.text and WORDS in view.text
    assert threads.receive(threads.handoff("now", **me), principal=desk.who()).ok


def test_threads_go_on_without_the_records(no_records: Desk) -> None:
    """None of them reads or writes long-term memory."""
    threads, me = no_records.memory.threads, {"principal": no_records.who(channel="runtime")}
    made = threads.checkpoint(
        "own", {"goal": "Finish"}, messages=[{"by": "user", "text": "go"}], **me
    )
    assert made.version == 1
    assert threads.resume("own", **me).state["goal"] == "Finish"
    assert "goal: Finish" in threads.compact("own", budget_tokens=500, **me).text
    assert threads.handoff("own", **me).version == 1


def test_a_closed_store_stops_the_turn(desk: Desk) -> None:
    """That is a mistake of the caller's, not a store in trouble."""
    desk.memory.close()
    with pytest.raises(Unavailable) as error:
        _turn(desk)
    assert error.value.code == "store.closed"
