"""`memory.threads.compact`: a view within a budget, on every store; the thread stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from muniment import InvalidInput, NotFound, Unavailable
from muniment.store.unit import SqlUnit
from muniment.threads.compact import View
from muniment.threads.compactor import Ask
from muniment.verbs.parts import Parts
from tests.contract.kit import DAY, HOUR, WEB, Desk, Place, dump
from tests.contract.test_residue import _files_with as files_with
from tests.contract.test_residue import _tables_with as tables_with
from tests.support.talks import build_log

STATE = {
    "goal": "Finish the sixth article",
    "constraints": ["Do not touch the database schema"],
    "open": ["external links", "the cover", "the title"],
    "plan": [{"step": "write", "status": "done"}, {"step": "publish", "status": "todo"}],
    "next": "Mend the build first",
}
ALWAYS = (STATE["goal"], *STATE["constraints"], *STATE["open"], STATE["next"], "push-1", "deploy")


def _worked(desk: Desk, turns: int = 40, *, thread: str = "work", user: str = "lin") -> str:
    """A thread with a state, calls nested in calls, an approval and a call without outcome."""
    me = {"scope": WEB, "principal": desk.who(user, "runtime")}
    messages: list[dict[str, Any]] = [{"by": "user", "text": "Use the shorter title.", "id": "m1"}]
    for n in range(turns):
        outer, inner = {"call_id": f"out-{n}"}, {"call_id": f"in-{n}"}
        messages += [
            {"by": "user", "text": f"Write paragraph {n} of the article about state."},
            {"by": "tool_call", "text": "{}", "name": "delegate", "metadata": outer},
            {"by": "tool_call", "text": "{}", "name": "run_build", "metadata": inner},
            {
                "by": "tool",
                "text": build_log(),
                "name": "run_build",
                "path": "build.log",
                "metadata": inner,
            },
            {"by": "tool", "text": f"paragraph {n} written", "name": "delegate", "metadata": outer},
            {"by": "assistant", "text": f"Paragraph {n} is done."},
        ]
    events = desk.memory.append_many(messages, thread=thread, **me)
    decided = [{"text": "Use the shorter title", "evidence": [events[0].id]}]
    threads = desk.memory.threads
    threads.checkpoint(thread, {**STATE, "decisions": decided}, **me)
    threads.begin(thread, "push-1", "git_push", {"branch": "main"}, worker="w", lease=60, **me)
    threads.approve(thread, "deploy", {"target": "staging"}, scope=WEB, principal=desk.who(user))
    return str(events[0].id)


def _view(desk: Desk, budget: int = 900, **more: Any) -> View:
    more.setdefault("principal", desk.who("lin", "runtime"))
    return desk.memory.threads.compact("work", budget_tokens=budget, scope=WEB, **more)


def _pairs_apart(view: View) -> set[str]:
    """Calls shown without their result, or the other way round."""
    shown: dict[str, int] = {}
    for part in view.parts:
        if part.call is not None:
            shown[part.call] = shown.get(part.call, 0) + 1
    return {call for call, times in shown.items() if times != 2}


@pytest.mark.parametrize("budget", [300, 900, 4_000, 100_000])
def test_a_view_keeps_budget_pairs_and_state(desk: Desk, budget: int) -> None:
    """Whatever fits; and every event is in one part, by id."""
    first = _worked(desk)
    view = _view(desk, budget)
    assert view.tokens <= budget == view.budget_tokens
    assert all(text in view.text for text in ALWAYS)
    assert _pairs_apart(view) == set()
    ids = [i for part in view.parts for i in part.events]
    assert (len(ids), len(set(ids))) == (view.through, view.through)
    assert budget == 100_000 or view.summaries[0].decisions[0].refs == ((first, 1),)
    assert ("build.log" in view.text) or budget < 900


def test_compaction_changes_nothing_but_the_note_of_the_read(desk: Desk) -> None:
    """State, events, trail of decisions: the same rows before and after."""
    _worked(desk)
    before = dump(desk.memory, desk.place.tenant)
    state = desk.memory.threads.state("work", scope=WEB)
    _view(desk)
    assert dump(desk.memory, desk.place.tenant) == before
    assert desk.memory.threads.state("work", scope=WEB) == state
    assert any('"compact"' in entry for _, entry in desk.trail())


def test_what_no_view_may_lack_says_how_much_it_needs(desk: Desk) -> None:
    """The number named is enough."""
    _worked(desk)
    with pytest.raises(InvalidInput) as error:
        _view(desk, 30)
    assert error.value.code == "compact.budget"
    needed = int(error.value.message.rsplit(" ", 1)[-1])
    assert _view(desk, needed).tokens <= needed


def test_the_view_follows_the_thread_as_it_stands(desk: Desk) -> None:
    """A call is running, then nobody knows; an approval is good, then over; revoked it is gone."""
    _worked(desk)
    assert "status running" in _view(desk).text
    assert "standing valid" in _view(desk).text
    desk.wait(HOUR)
    assert "status unknown" in _view(desk).text
    desk.memory.threads.done("work", "push-1", {"ok": True}, worker="w", **_me(desk))
    desk.memory.threads.revoke("work", "deploy", scope=WEB, principal=desk.who())
    state = _view(desk).parts[0].text
    assert "push-1" not in state and "deploy" not in state and "the cover" in state


def _me(desk: Desk) -> dict[str, Any]:
    return {"scope": WEB, "principal": desk.who("lin", "runtime")}


def test_a_chinese_thread_is_told_in_chinese(desk: Desk) -> None:
    """By its goal, unless one says otherwise."""
    desk.memory.threads.checkpoint("work", {"goal": "写完第六篇", "open": ["外链"]}, **_me(desk))
    assert _view(desk).text.splitlines()[1:] == ["目标: 写完第六篇", "未决: 外链"]
    assert _view(desk, language="en").text.splitlines()[1] == "goal: 写完第六篇"


# ------------------------------------------------------------ with a model


class Model:
    """A compactor that answers what it is told to."""

    name = "scripted"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked = 0
        self.meanwhile: Callable[[], Any] = lambda: None

    def summarise(self, ask: Ask) -> object:
        self.asked += 1
        self.meanwhile()
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


GOOD = {"points": [{"text": "They wrote about marmalade, a paragraph a turn.", "refs": [2]}]}
HOSTILE = {
    "raises": (RuntimeError("down"), "raised"),
    "prose": ("It was a nice talk.", "invalid"),
    "invents a decision": (
        {"decisions": [{"text": "The user approved publishing at once", "refs": [1]}]},
        "ungrounded",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_compactor_changes_nothing(desk: Desk, kind: str) -> None:
    """The view says why it fell back; the thread resumes the same as before."""
    _worked(desk)
    answer, reason = HOSTILE[kind]
    before = dump(desk.memory, desk.place.tenant)
    resumed = desk.memory.threads.resume("work", **_me(desk)).to_dict()
    noted = dump(desk.memory, desk.place.tenant)
    view = _view(desk, compactor=Model(answer))
    assert view.fallback == reason
    assert all(text in view.text for text in ALWAYS)
    assert dump(desk.memory, desk.place.tenant) == noted
    assert before["events"] == noted["events"]
    assert desk.memory.threads.resume("work", **_me(desk)).to_dict() == resumed
    assert _stored(desk) == 0


def _stored(desk: Desk) -> int:
    work = lambda unit: unit.conn.exec_driver_sql(  # noqa: E731
        f"SELECT count(*) FROM summaries WHERE tenant_id = '{desk.place.tenant}'"
    ).scalar_one()
    return int(desk.memory._parts.read(desk.who(), work))


def test_a_draft_is_kept_and_used_again(desk: Desk) -> None:
    """The model is asked once; the next view begins with the same bytes, also after reopening."""
    _worked(desk)
    model = Model(GOOD)
    first = _view(desk, compactor=model)
    assert (first.fallback, first.summaries[0].by) == (None, "model:scripted")
    desk.say("And one more thing.", thread="work")
    second = _view(desk, compactor=model)
    assert second.summaries[0] == first.summaries[0]
    assert second.through == first.through + 1
    assert (model.asked, _stored(desk)) == (1, 1)
    assert [a for a, _ in desk.trail()].count("summarise") == 1
    if desk.place.durable:
        desk.reopen()
    assert _view(desk).summaries[0] == first.summaries[0], "without a model, too"


def test_erasing_an_event_takes_the_draft_that_covers_it(desk: Desk) -> None:
    """Its words are in no row and no view; an event of another thread takes nothing."""
    first = _worked(desk)
    other = desk.say("Something else.", thread="elsewhere")
    _view(desk, compactor=Model(GOOD))
    desk.memory.erase(event=other.id, principal=desk.who())
    assert _stored(desk) == 1, "positive control"
    assert "marmalade" in _view(desk).text
    desk.memory.erase(event=first, principal=desk.who())
    assert _stored(desk) == 0
    assert "marmalade" not in _view(desk).text


def test_what_is_erased_while_a_model_thinks_is_not_kept(desk: Desk) -> None:
    """The draft it comes back with may hold the words: it is not stored."""
    first = _worked(desk)
    model = Model(GOOD)
    model.meanwhile = lambda: desk.memory.erase(event=first, principal=desk.who())
    _view(desk, compactor=model)
    assert (model.asked, _stored(desk)) == (1, 0)


def test_a_draft_that_was_changed_in_the_store_is_not_used(durable_desk: Desk) -> None:
    """Words put into the row by hand reach no view."""
    desk = durable_desk
    _worked(desk)
    _view(desk, compactor=Model(GOOD))
    assert "marmalade" in _view(desk).text, "positive control"
    desk.place.run(
        "UPDATE summaries SET lines = replace(lines, 'marmalade', 'gunpowder') "
        f"WHERE tenant_id = '{desk.place.tenant}'"
    )
    text = _view(desk).text
    assert "gunpowder" not in text and "marmalade" not in text


def test_a_draft_leaves_no_residue(durable_desk: Desk) -> None:
    """Its words are in no file and no table after the erase; before, they were."""
    desk = durable_desk
    first = _worked(desk)
    _view(desk, compactor=Model({"points": [{"text": "They wrote about Zqxmarker.", "refs": [2]}]}))
    assert _residue(desk.place), "positive control"
    desk.memory.erase(event=first, principal=desk.who())
    desk.memory.scrub(principal=desk.who())
    assert _residue(desk.place) == set()


def _residue(place: Place) -> set[str]:
    if place.name == "file":
        return files_with(place.folder, "Zqxmarker")
    return tables_with(place, "Zqxmarker")


def test_deleting_the_thread_takes_the_draft(desk: Desk) -> None:
    """With the rest of its short-term state."""
    _worked(desk)
    _view(desk, compactor=Model(GOOD))
    gone = desk.memory.threads.delete("work", **_me(desk))
    assert gone["summaries"] == 1 and _stored(desk) == 0


# ------------------------------------------------------------ who may, and bad calls


def test_somebody_elses_thread_is_none(desk: Desk) -> None:
    """By id the same answer as for one that never was; bob's own label is his own."""
    _worked(desk)
    mine = desk.memory.threads.list(principal=desk.who())[0].thread.id
    for thread in (mine, "thr_never", "work"):
        with pytest.raises(NotFound) as error:
            desk.memory.threads.compact(thread, budget_tokens=900, principal=desk.who("bob"))
        assert error.value.code == "thread.not_found"


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"budget_tokens": 0}, "budget_tokens.invalid"),
        ({"budget_tokens": "many"}, "budget_tokens.invalid"),
        ({"budget_tokens": 900, "language": "fr"}, "language.invalid"),
        ({"budget_tokens": 900, "compactor": "gpt"}, "compactor.invalid"),
    ],
)
def test_bad_arguments_are_named(desk: Desk, more: dict[str, Any], code: str) -> None:
    """Typed, before anything is read."""
    with pytest.raises(InvalidInput) as error:
        desk.memory.threads.compact("work", **more)
    assert error.value.code == code


def test_compaction_needs_no_long_term_memory(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Off, or with its records and index out of reach, the same view."""
    _worked(desk)
    expected = _view(desk)
    parts = desk.memory._parts
    parts.memory_off = True
    assert _view(desk) == expected

    def down(*_: Any, **__: Any) -> Any:
        raise Unavailable("store.failed", "down")

    monkeypatch.setattr(SqlUnit, "records", property(down))
    monkeypatch.setattr(Parts, "ready", down)
    assert _view(desk) == expected
    with pytest.raises(Unavailable):
        desk.memory.list()


def test_a_thread_paused_for_days_is_compacted_the_same(durable_desk: Desk) -> None:
    """Reopened three days later: what depends on time is told as of now, the rest is the same."""
    _worked(durable_desk)
    before = _view(durable_desk)
    durable_desk.reopen()
    durable_desk.wait(3 * DAY)
    after = _view(durable_desk)
    assert [p for p in after.parts if p.kind == "event"] == [
        p for p in before.parts if p.kind == "event"
    ]
    assert "status unknown" in after.text
