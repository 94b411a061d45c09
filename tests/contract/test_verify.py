"""`verify` finds what was changed behind its back, and names the first row at fault."""

from __future__ import annotations

import pytest

from tests.contract.kit import Desk, Place

#: The thread with four events, by its owner's tenant.
_CHAIN = "(SELECT id FROM threads WHERE tenant_id = '{t}' AND length = 4)"
_MINE = "tenant_id = '{t}' AND thread_id = " + _CHAIN

#: The superseded record, its changes of standing, and the decision that made it.
_NPM = "tenant_id = '{t}' AND status <> 'active'"
_ITS = "record_id IN (SELECT id FROM records WHERE " + _NPM + ")"
_DECIDED = "tenant_id = '{t}' AND " + _ITS

TAMPERING: dict[str, tuple[str, ...]] = {
    "payload": (
        "UPDATE events SET payload = replace(payload, 'wombat 2', 'wombat 9') WHERE " + _MINE,
    ),
    "payload that is no JSON": ("UPDATE events SET payload = '{{bad' WHERE seq = 2 AND " + _MINE,),
    "payload that is no object": ("UPDATE events SET payload = '[]' WHERE seq = 2 AND " + _MINE,),
    "payload emptied": (
        "UPDATE events SET payload = NULL, salt = NULL WHERE seq = 2 AND " + _MINE,
    ),
    "salt": ("UPDATE events SET salt = NULL WHERE seq = 2 AND " + _MINE,),
    "kind": ("UPDATE events SET kind = 'web' WHERE seq = 2 AND " + _MINE,),
    "id": ("UPDATE events SET id = 'evt_other' WHERE seq = 2 AND " + _MINE,),
    "time said": ("UPDATE events SET said_at = 5 WHERE seq = 2 AND " + _MINE,),
    "time recorded": ("UPDATE events SET recorded_at = 5 WHERE seq = 2 AND " + _MINE,),
    "speaker": ("UPDATE events SET user_id = 'eve' WHERE seq = 2 AND " + _MINE,),
    "run": ("UPDATE events SET run = 'r' WHERE seq = 2 AND " + _MINE,),
    "event's key": ("UPDATE events SET key_id = 'key_other' WHERE seq = 2 AND " + _MINE,),
    "all keys": (
        "UPDATE events SET key_id = 'key_other' WHERE tenant_id = '{t}'",
        "UPDATE threads SET key_id = 'key_other' WHERE tenant_id = '{t}'",
    ),
    "row in the middle": ("DELETE FROM events WHERE seq = 2 AND " + _MINE,),
    "first row": ("DELETE FROM events WHERE seq = 1 AND " + _MINE,),
    "last row": ("DELETE FROM events WHERE seq = 4 AND " + _MINE,),
    "last row with the head's count": (
        "DELETE FROM events WHERE seq = 4 AND " + _MINE,
        "UPDATE threads SET length = 3 WHERE tenant_id = '{t}' AND length = 4",
    ),
    "order": (
        "UPDATE events SET seq = 99 WHERE seq = 2 AND " + _MINE,
        "UPDATE events SET seq = 2 WHERE seq = 3 AND " + _MINE,
        "UPDATE events SET seq = 3 WHERE seq = 99 AND " + _MINE,
    ),
    "all events of a thread": ("DELETE FROM events WHERE " + _MINE,),
    "thread row": ("DELETE FROM threads WHERE tenant_id = '{t}' AND length = 4",),
    "thread and events": (
        "DELETE FROM events WHERE " + _MINE,
        "DELETE FROM threads WHERE tenant_id = '{t}' AND length = 4",
    ),
    "thread's owner": ("UPDATE threads SET owner = 'eve' WHERE tenant_id = '{t}' AND length = 4",),
    "thread's scope": (
        "UPDATE threads SET scope = '{{}}', scope_key = '' WHERE tenant_id = '{t}' AND length = 4",
    ),
    "head's count": ("UPDATE threads SET length = 3 WHERE tenant_id = '{t}' AND length = 4",),
    "head's seal": (
        "UPDATE threads SET head_mac = head_tag WHERE tenant_id = '{t}' AND length = 4",
    ),
    "trail entry": (
        "UPDATE trail SET entry = replace(entry, 'lin', 'eve') "
        "WHERE tenant_id = '{t}' AND lane = '' AND seq = 2",
    ),
    "trail entry that is no JSON": (
        "UPDATE trail SET entry = '{{x' WHERE tenant_id = '{t}' AND lane = '' AND seq = 2",
    ),
    "trail action": (
        "UPDATE trail SET action = 'x' WHERE tenant_id = '{t}' AND lane = '' AND seq = 2",
    ),
    "trail time": ("UPDATE trail SET at = 5 WHERE tenant_id = '{t}' AND lane = '' AND seq = 2",),
    "trail row in the middle": (
        "DELETE FROM trail WHERE tenant_id = '{t}' AND lane = '' AND seq = 2",
    ),
    "last trail row": (
        "DELETE FROM trail WHERE tenant_id = '{t}' AND lane = '' AND seq = "
        "(SELECT max(seq) FROM trail WHERE tenant_id = '{t}' AND lane = '')",
    ),
    "trail order": (
        "UPDATE trail SET seq = 999 WHERE tenant_id = '{t}' AND lane = '' AND seq = 1",
        "UPDATE trail SET seq = 1 WHERE tenant_id = '{t}' AND lane = '' AND seq = 2",
        "UPDATE trail SET seq = 2 WHERE tenant_id = '{t}' AND lane = '' AND seq = 999",
    ),
    "trail head": ("DELETE FROM trail_heads WHERE tenant_id = '{t}' AND lane = ''",),
    "trail head's seal": (
        "UPDATE trail_heads SET mac = tag WHERE tenant_id = '{t}' AND lane = ''",
    ),
    "the whole trail": (
        "DELETE FROM trail WHERE tenant_id = '{t}'",
        "DELETE FROM trail_heads WHERE tenant_id = '{t}'",
    ),
    "the words of a record": ("UPDATE versions SET content = 'evil' WHERE tenant_id = '{t}'",),
    "the value of a record": ("UPDATE versions SET value = '\"evil\"' WHERE tenant_id = '{t}'",),
    "a record's status": ("UPDATE records SET status = 'deleted' WHERE " + _NPM,),
    "a record unmuted": ("UPDATE records SET muted = {false} WHERE tenant_id = '{t}' AND muted",),
    "a record's end": ("UPDATE records SET valid_to = NULL WHERE " + _NPM,),
    "a record's expiry": ("UPDATE records SET expires_at = 5 WHERE " + _NPM,),
    "a record's version": (
        "UPDATE records SET version = 1 WHERE tenant_id = '{t}' AND version = 2",
    ),
    "a record's origin": ("UPDATE records SET origin = 'admin_policy' WHERE " + _NPM,),
    "a record's scope": ("UPDATE records SET scope = '{{}}' WHERE " + _NPM,),
    "a record's row": ("DELETE FROM records WHERE " + _NPM,),
    "a record with all that is its own": (
        "DELETE FROM versions WHERE record_id IN (SELECT id FROM records WHERE " + _NPM + ")",
        "DELETE FROM transitions WHERE record_id IN (SELECT id FROM records WHERE " + _NPM + ")",
        "DELETE FROM records WHERE " + _NPM,
    ),
    "status and its change alike": (
        "UPDATE transitions SET status = 'expired' WHERE seq = 2 AND " + _ITS,
        "UPDATE records SET status = 'expired' WHERE " + _NPM,
    ),
    "the time of a change": ("UPDATE transitions SET recorded_at = 5 WHERE seq = 1 AND " + _ITS,),
    "the cause of a change": ("UPDATE transitions SET cause = 'x' WHERE seq = 2 AND " + _ITS,),
    "the last change undone": (
        "DELETE FROM transitions WHERE tenant_id = '{t}' AND seq = 2 AND muted",
        "UPDATE records SET muted = {false} WHERE tenant_id = '{t}' AND muted",
    ),
    "another change": (
        "INSERT INTO transitions SELECT tenant_id, record_id, 3, 'deleted', muted, valid_from, "
        "valid_to, expires_at, recorded_at, 'delete' FROM transitions WHERE seq = 2 AND " + _ITS,
        "UPDATE records SET status = 'deleted' WHERE " + _NPM,
    ),
    "a decision's action": ("UPDATE decisions SET action = 'refuse' WHERE " + _DECIDED,),
    "a decision's reasons": ("UPDATE decisions SET reasons = '[]' WHERE " + _DECIDED,),
    "a decision's origin": ("UPDATE decisions SET origin = 'admin_policy' WHERE " + _DECIDED,),
    "a decision's time": ("UPDATE decisions SET decided_at = 5 WHERE " + _DECIDED,),
    "a decision's record": ("UPDATE decisions SET record_id = 'rec_x' WHERE " + _DECIDED,),
    "a decision gone": ("DELETE FROM decisions WHERE " + _DECIDED,),
    "a decision added": (
        "INSERT INTO decisions SELECT tenant_id, 'dec_x', candidate_id, action, reconcile, "
        "reasons, origin, record_id, decided_at, policy_version, writer, write_reason "
        "FROM decisions WHERE " + _DECIDED,
    ),
}

#: Where the report must point: (table, what the row's name holds); ``ids`` are of the chain.
NAMED = {
    "payload": ("events", 1),
    "kind": ("events", 1),
    "time said": ("events", 1),
    "speaker": ("events", 1),
    "payload emptied": ("events", 1),
    "payload that is no JSON": ("events", 1),
}

#: The table that the report must name for what was done to records and decisions.
IN_TABLE = {
    "a record's status": "records",
    "a record unmuted": "records",
    "a record's end": "records",
    "status and its change alike": "transitions",
    "the last change undone": "transitions",
    "another change": "transitions",
    "a decision's action": "decisions",
    "a decision gone": "decisions",
    "a decision added": "decisions",
}


def _worked_on(desk: Desk) -> list[str]:
    ids = [desk.say(f"wombat {n}", thread="chain").id for n in (1, 2, 3)]
    ids.append(desk.say("wombat 4", thread="chain").id)
    desk.remember("This project uses npm.", thread="other")
    desk.wait()
    desk.remember("This project uses pnpm.", thread="other")
    short = desk.remember("I prefer short answers.", thread="other").record_id
    desk.memory.mute(short)
    desk.memory.revise(short, if_version=1, tags=["style"])
    desk.memory.list()
    report = desk.memory.verify()
    assert report.ok and report.events == 8 and report.trail_entries >= 4, report.first_bad
    return ids


@pytest.mark.parametrize("what", TAMPERING)
def test_tampering_is_found_and_the_first_bad_row_named(durable_place: Place, what: str) -> None:
    """Every kind of change by raw SQL shows; untouched, the same store verifies."""
    desk = Desk(durable_place)
    ids = _worked_on(desk)
    desk.memory.close()
    named = {"t": durable_place.tenant, "false": 0 if durable_place.name == "file" else "false"}
    durable_place.run(*(s.format(**named) for s in TAMPERING[what]))
    desk.memory = durable_place.open(desk.clock)
    report = desk.memory.verify()
    desk.memory.close()
    assert not report.ok
    assert report.first_bad is not None
    assert set(report.first_bad) >= {"table", "row", "why"}
    if what in NAMED:
        table, position = NAMED[what]
        assert (report.first_bad["table"], report.first_bad["row"]) == (table, ids[position])
    assert report.first_bad["table"] == IN_TABLE.get(what, report.first_bad["table"])


def test_the_first_of_two_bad_rows_is_named(durable_place: Place) -> None:
    """In the order of the chain."""
    desk = Desk(durable_place)
    ids = _worked_on(desk)
    desk.memory.close()
    chain = _MINE.format(t=durable_place.tenant)
    durable_place.run(f"UPDATE events SET kind = 'web' WHERE seq IN (4, 3) AND {chain}")
    desk.memory = durable_place.open(desk.clock)
    assert desk.memory.verify().first_bad["row"] == ids[2]
    desk.memory.close()


def test_an_erased_payload_still_verifies_and_is_counted(desk: Desk) -> None:
    """The chain holds its place; what is left of it does not tell the words."""
    ids = _worked_on(desk)
    desk.memory.erase(event=ids[1])
    report = desk.memory.verify()
    assert (report.ok, report.erased, report.events) == (True, 1, 8)


def test_one_tenants_bad_row_is_not_anothers(durable_place: Place) -> None:
    """Each tenant's chains stand for themselves."""
    desk = Desk(durable_place)
    _worked_on(desk)
    other = {"tenant": durable_place.tenant + "-b", "user": "lin", "channel": "runtime"}
    desk.memory.append("another tenant's word", principal=other)
    durable_place.run(f"UPDATE events SET kind = 'web' WHERE tenant_id = '{durable_place.tenant}'")
    assert not desk.memory.verify().ok
    assert desk.memory.verify(principal=other).ok
    desk.memory.close()


def test_verify_agrees_with_every_verb(desk: Desk) -> None:
    """After one of everything the chains are whole."""
    made = desk.remember("This project uses npm.")
    desk.memory.revise(made.record_id, if_version=1, value="yarn")
    held = desk.guess("pnpm")
    desk.memory.confirm(held.candidate_id, digest=held.digest)
    again = desk.guess("bun")
    desk.memory.reject(again.candidate_id, digest=again.digest)
    short = desk.remember("I prefer short answers.")
    for verb in ("mute", "unmute", "expire"):
        getattr(desk.memory, verb)(short.record_id)
    desk.memory.delete(record=short.record_id)
    desk.memory.settings(pause=True)
    desk.memory.settings(pause=False)
    desk.memory.recall("npm", scope={"project": "web"})
    desk.memory.export(desk.place.folder / "out")
    desk.wait()
    desk.memory.erase(subject="project:web")
    desk.memory.import_backup(desk.place.folder / "out")
    desk.memory.tidy()
    desk.memory.rebuild_index()
    report = desk.memory.verify()
    assert report.ok, report.first_bad
    assert report.erased > 0
