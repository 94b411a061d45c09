"""Scheduled, expired, as of, believed at: readers compare the times, jobs only tidy."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.contract.kit import DAY, HOUR, Desk


def _version(desk: Desk, text: str = "current production version: v2.4.1", **more: object):
    return desk.remember(text, by="tool", name="deploys", **more)


def test_scheduled_becomes_current_at_read_time(desk: Desk) -> None:
    """Before its day the old value holds, from that instant the new one, job or no job."""
    desk.remember("This project uses npm.")
    desk.wait()
    start = desk.clock.now() + 7 * DAY
    later = desk.schedule("pnpm", start)
    assert (later.status, later.reconcile) == ("scheduled", "supersede")
    assert desk.values() == ["npm"]
    desk.clock.set(start - timedelta(microseconds=1))
    assert desk.values() == ["npm"]
    desk.clock.set(start)
    assert desk.values() == ["pnpm"]
    assert desk.memory.tidy()["promoted"] == 1
    assert desk.values() == ["pnpm"]
    assert [r.value for r in desk.records(status="active")] == ["pnpm"]
    assert [r.value for r in desk.records(status="superseded")] == ["npm"]


@pytest.mark.parametrize("tidied", [False, True])
def test_one_value_whatever_is_said_around_a_scheduled_one(desk: Desk, tidied: bool) -> None:
    """npm, pnpm from next week, then yarn now: there is one current value on every day."""
    desk.remember("This project uses npm.")
    desk.wait()
    desk.schedule("pnpm", desk.clock.now() + 7 * DAY)
    desk.wait(DAY)
    desk.remember("This project uses yarn.")
    assert desk.values() == ["yarn"]
    desk.wait(10 * DAY)
    if tidied:
        desk.memory.tidy()
    assert len(desk.values()) == 1
    assert desk.memory.tidy() is not None, "jobs go on"


@pytest.mark.parametrize("tidied", [False, True])
def test_a_due_value_is_the_one_a_new_word_supersedes(desk: Desk, tidied: bool) -> None:
    """A scheduled value whose day has come holds its key, also before a job has promoted it."""
    desk.remember("This project uses npm.")
    desk.wait()
    scheduled = desk.schedule("pnpm", desk.clock.now() + 7 * DAY)
    desk.wait(9 * DAY)
    if tidied:
        desk.memory.tidy()
    new = desk.remember("This project uses yarn.")
    assert new.supersedes == scheduled.record_id
    assert desk.values() == ["yarn"]
    desk.wait(DAY)
    desk.memory.tidy()
    assert desk.values() == ["yarn"]


def test_volatile_facts_expire_for_readers_at_once(desk: Desk) -> None:
    """Past its time it is not recalled; the row is tidied later."""
    made = _version(desk)
    assert made.expires_at == desk.clock.now() + DAY
    assert desk.values("production version") != []
    desk.wait(DAY)
    assert desk.values("production version") == []
    assert (
        "v2.4.1" not in desk.memory.context("production version", scope={"project": "web"}).memory
    )
    assert desk.memory.tidy()["expired"] == 1
    assert desk.memory.show(made.record_id).status == "expired"
    assert desk.memory.history(made.record_id).value is None
    assert desk.memory.history(made.record_id, as_of=made.decided_at + HOUR).value == "v2.4.1"


@pytest.mark.parametrize("tidied", [False, True])
def test_what_is_observed_again_is_current_again(desk: Desk, tidied: bool) -> None:
    """The same observation after expiry holds anew, whether a job has run or not."""
    _version(desk)
    desk.wait(2 * DAY)
    if tidied:
        desk.memory.tidy()
    assert desk.values("production version") == []
    again = _version(desk)
    assert again.expires_at == desk.clock.now() + DAY
    assert desk.values("production version") == ["v2.4.1"]


def test_observing_again_in_time_prolongs(desk: Desk) -> None:
    """Seen at 0 h and at 20 h: still current at 30 h."""
    _version(desk)
    desk.wait(20 * HOUR)
    _version(desk)
    desk.wait(10 * HOUR)
    assert desk.values("production version") == ["v2.4.1"]


def test_a_newer_observation_replaces_the_older(desk: Desk) -> None:
    """Between two unsure sources the later holds."""
    _version(desk)
    desk.wait()
    _version(desk, "current production version: v2.5.0")
    assert desk.values("production version") == ["v2.5.0"]
    assert len(desk.records(status="active")) == 1


def test_as_of_and_believed_at_are_two_axes(desk: Desk) -> None:
    """Learnt late: on day 5 we still believed npm, though pnpm held since day 2."""
    start = desk.clock.now()
    first = desk.remember("This project uses npm.")
    desk.clock.set(start + 10 * DAY)
    desk.remember("This project uses pnpm.", at=start + 2 * DAY)
    ask = desk.memory.history
    assert ask(first.record_id, as_of=start + 5 * DAY).value == "pnpm"
    assert ask(first.record_id, as_of=start + 5 * DAY, believed_at=start + 5 * DAY).value == "npm"
    assert ask(first.record_id, believed_at=start + 5 * DAY).value == "npm"
    assert ask(first.record_id, as_of=start + DAY).value == "npm"


def test_deleted_records_stay_out_of_history(desk: Desk) -> None:
    """The rest of the key's timeline remains."""
    old = desk.remember("This project uses npm.")
    desk.wait()
    new = desk.remember("This project uses pnpm.")
    desk.memory.delete(record=new.record_id)
    told = desk.memory.history(old.record_id)
    assert [t["value"] for t in told.timeline] == ["npm"]


def test_yesterday_counts_from_when_it_was_said(desk: Desk) -> None:
    """Imported three weeks later, "last week" still means the week before it was said."""
    said = desk.clock.now() - 21 * DAY
    made = desk.remember("We moved to pnpm last week, use pnpm from now on.", at=said)
    record = desk.memory.show(made.record_id)
    assert said - 14 * DAY <= record.valid_from <= said
