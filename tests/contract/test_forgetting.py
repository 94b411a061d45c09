"""The four forgettings: dry run first, exact reach by lineage, tombstones against re-learning."""

from __future__ import annotations

import pytest

from muniment import NotAllowed, NotFound
from tests.contract.kit import DAY, HOUR, Desk, dump

SHORT, SHORTER = "我喜欢简短的回答。", "以后回答简短一点。"
ASK = "回答该多长"


@pytest.mark.parametrize("verb", ["mute", "unmute", "expire", "delete", "erase"])
def test_a_dry_run_says_it_all_and_changes_nothing(desk: Desk, verb: str) -> None:
    """The plan names the record the deed then reaches."""
    record = desk.remember(SHORT).record_id
    before = dump(desk.memory, desk.place.tenant)
    act = getattr(desk.memory, verb)
    target = {"record": record}
    planned = act(**target, dry_run=True)
    assert (planned.dry_run, planned.records) == (True, (record,))
    assert dump(desk.memory, desk.place.tenant) == before
    done = act(**target)
    assert (done.dry_run, done.records, done.counts) == (False, (record,), planned.counts)
    assert dump(desk.memory, desk.place.tenant) != before


def test_mute_stops_and_unmute_resumes_recall(desk: Desk) -> None:
    """The record stays listed; muting sets no tombstone."""
    record = desk.remember(SHORT).record_id
    desk.memory.mute(record)
    assert desk.found(ASK) == []
    assert desk.memory.context(ASK).memory == ""
    assert [r.muted for r in desk.records()] == [True]
    desk.memory.unmute(record)
    assert len(desk.found(ASK)) == 1


def test_a_muted_record_said_again_is_recalled_again(desk: Desk) -> None:
    """The user's newer word outweighs the switch; a replay of the old one does not."""
    event = desk.say(SHORT)
    who = desk.who(channel="runtime")
    [first] = desk.memory.remember(event=event, principal=who)
    desk.wait()
    desk.memory.mute(first.record_id)
    desk.memory.remember(event=event, principal=who)
    assert desk.found(ASK) == []
    desk.wait()
    desk.remember(SHORTER)
    assert len(desk.found(ASK)) == 1


def test_expire_ends_it_now_and_keeps_the_past(desk: Desk) -> None:
    """Not recalled any more; questions about the past still see it."""
    record = desk.remember(SHORT).record_id
    desk.wait()
    desk.memory.expire(record)
    assert desk.found(ASK) == []
    assert desk.memory.show(record).status == "expired"
    desk.wait()
    assert desk.memory.history(record).value is None
    assert desk.memory.history(record, as_of=desk.clock.now() - HOUR * 1.5).value == "简短"
    assert desk.remember(SHORTER).action == "activate", "expiry is no tombstone"


def test_delete_is_out_of_every_answer(desk: Desk) -> None:
    """Nothing shows it: recall, list, show, history, why, profile, export, context."""
    record = desk.remember(SHORT).record_id
    desk.memory.delete(record=record)
    assert desk.found(ASK) == []
    assert desk.records() == []
    for verb in ("show", "history", "why"):
        with pytest.raises(NotFound):
            getattr(desk.memory, verb)(record)
    with pytest.raises(NotFound):
        desk.memory.delete(record=record)
    assert desk.memory.profile()["fields"] == {}
    assert desk.memory.export(desk.place.folder / "out").records == 0


def test_deleted_is_not_learnt_again_until_said_anew(desk: Desk) -> None:
    """The same event, an older one and a model's guess are blocked; a new word of the user not."""
    event = desk.say(SHORT)
    who = desk.who(channel="runtime")
    [first] = desk.memory.remember(event=event, principal=who)
    desk.wait()
    desk.memory.delete(record=first.record_id)
    [replay] = desk.memory.remember(event=event, principal=who)
    assert (replay.action, replay.reasons[0]) == ("ignore", "tombstone")
    assert desk.remember(SHORT, at=desk.clock.now() - DAY).action == "ignore"
    guess = desk.say("The user likes short answers.", by="assistant")
    held = desk.propose(
        "the user likes short answers",
        guess,
        kind="preference",
        predicate="answer_length",
        value="short",
        scope={"user": "lin"},
    )
    assert held.reasons[0] == "tombstone"
    desk.wait()
    anew = desk.remember(SHORTER)
    assert (anew.action, anew.reconcile) == ("activate", "insert")
    assert "tombstone.said_again" in anew.reasons
    assert len(desk.found(ASK)) == 1


def test_a_tombstone_can_be_set_again(desk: Desk) -> None:
    """Said again and deleted again: blocked again."""
    for _ in range(2):
        record = desk.remember(SHORT).record_id
        assert record is not None
        desk.wait()
        desk.memory.delete(record=record)
        assert desk.remember(SHORT, at=desk.clock.now() - HOUR).reasons[0] == "tombstone"
        desk.wait()


def test_a_deleted_old_version_is_blocked_too(desk: Desk) -> None:
    """Everything a record ever said stays away, not only its last words."""
    event = desk.say(SHORT)
    who = desk.who(channel="runtime")
    [first] = desk.memory.remember(event=event, principal=who)
    desk.memory.revise(first.record_id, if_version=1, value="详细")
    desk.wait()
    desk.memory.delete(record=first.record_id)
    assert desk.memory.remember(event=event, principal=who)[0].reasons[0] == "tombstone"


def test_an_import_does_not_bring_it_back(desk: Desk) -> None:
    """Neither the transcript nor remembering its events, attested or not."""
    path = desk.place.folder / "talk.jsonl"
    path.write_text('{"id": "m", "by": "user", "text": "我喜欢简短的回答。"}\n', "utf-8")
    record = desk.remember(SHORT).record_id
    desk.wait()
    desk.memory.delete(record=record)
    desk.wait()
    desk.memory.import_file(path, attest=True)
    [turn] = desk.memory.recall("简短的回答", layers=("archive",), limit=1, neighbours=0)
    assert turn.content == "我喜欢简短的回答。"
    for envelope in desk.memory.recall("简短的回答", layers=("archive",)):
        for decision in desk.memory.remember(event=envelope.id):
            assert decision.action == "ignore", decision.reasons
    assert desk.records() == []


def _two_sources(desk: Desk) -> tuple[str, str, str]:
    one = desk.say("记住我喜欢简短的回答，MARKERONE。", thread="one")
    who = desk.who(channel="runtime")
    record = desk.memory.remember(event=one, principal=who)[0].record_id
    desk.wait()
    two = desk.say(SHORTER, thread="two")
    assert desk.memory.remember(event=two, principal=who)[0].record_id == record
    desk.wait()
    assert record is not None
    return one.id, two.id, record


def test_of_two_sources_one_erased_leaves_the_record(desk: Desk) -> None:
    """It stays with the other; both erased, it is gone."""
    one, two, record = _two_sources(desk)
    planned = desk.memory.erase(event=one, dry_run=True)
    assert (planned.records, planned.kept) == ((), (record,))
    done = desk.memory.erase(event=one)
    assert (done.records, done.kept, done.events) == ((), (record,), (one,))
    assert desk.memory.show(record).evidence == (two,)
    assert desk.memory.erase(event=two).records == (record,)
    with pytest.raises(NotFound):
        desk.memory.show(record)
    assert desk.found(ASK) == []


def test_a_kept_record_no_longer_speaks_in_the_erased_words(desk: Desk) -> None:
    """Content, source and quotes come from what survives."""
    one, two, record = _two_sources(desk)
    assert "MARKERONE" in (desk.memory.show(record).content or ""), "positive control"
    desk.memory.erase(event=one)
    kept = desk.memory.show(record)
    assert kept.value is not None
    assert "MARKERONE" not in repr(kept)
    assert kept.source["event"] == two
    assert "MARKERONE" not in repr(desk.memory.why(record).to_dict())


def test_erasing_a_record_takes_the_words_it_stands_on(desk: Desk) -> None:
    """Its only evidence is blanked, the chain still verifies, the archive finds nothing."""
    event = desk.say(SHORT)
    record = desk.memory.remember(event=event, principal=desk.who(channel="runtime"))[0].record_id
    assert record is not None
    assert len(desk.memory.recall("简短", layers=("archive",))) == 1
    done = desk.memory.erase(record=record)
    assert (done.records, done.events) == ((record,), (event.id,))
    assert len(desk.memory.recall("简短", layers=("archive",))) == 0
    for what in (record, event.id):
        with pytest.raises(NotFound):
            desk.memory.show(what)
    report = desk.memory.verify()
    assert (report.ok, report.erased) == (True, 1)


def test_an_event_two_records_stand_on_survives_the_erasure_of_one(desk: Desk) -> None:
    """The other record keeps its evidence."""
    event = desk.say("The entry point is src/a.ts. The database is Redis.")
    one = desk.propose(
        "the entry point is src/a.ts", event, predicate="entry_point", value="src/a.ts"
    )
    two = desk.propose("the database is Redis", event, predicate="database", value="Redis")
    assert one.action == two.action == "activate"
    done = desk.memory.erase(record=one.record_id)
    assert done.events == ()
    assert desk.memory.show(two.record_id).evidence == (event.id,)
    assert desk.memory.erase(record=two.record_id).events == (event.id,)


def test_erased_is_not_learnt_again(desk: Desk) -> None:
    """The same transcript appended and remembered once more stays away; a new word does not."""
    desk.say(SHORT, id="m1")
    record = desk.remember(SHORT, id="m1").record_id
    desk.wait()
    desk.memory.erase(record=record)
    replayed = desk.say(SHORT, id="m1")
    assert replayed.erased
    late = desk.remember(SHORT, at=desk.clock.now() - HOUR)
    assert (late.action, late.reasons[0]) == ("ignore", "tombstone")
    desk.wait()
    assert desk.remember(SHORTER).action == "activate"


def test_a_warm_recall_does_not_show_what_was_erased(desk: Desk) -> None:
    """Recall, erase, the same recall: absent, also from the context block."""
    record = desk.remember(SHORT).record_id
    desk.memory.rebuild_index()
    assert len(desk.found(ASK)) == 1
    desk.memory.erase(record=record)
    assert desk.found(ASK) == []
    assert desk.memory.context(ASK).memory == ""


def test_delete_all_of_one_person_touches_nobody_else(desk: Desk) -> None:
    """Of three people's records exactly the one's go, and the report counts them."""
    for user in ("ann", "bob", "eve"):
        for number in range(12):
            event = desk.say(f"Remember that I like tea number {number}.", user=user, scope=None)
            made = desk.propose(f"I like tea number {number}", event, user=user, kind="preference")
            assert made.action == "activate", made.reasons
    mine = desk.who("ann")
    done = desk.memory.delete(subject="user:ann", principal=mine)
    assert done.counts["records"] == 12
    assert desk.records(user="ann") == []
    assert len(desk.records(user="bob")) == len(desk.records(user="eve")) == 12
    erased = desk.memory.erase(subject="user:ann", principal=mine)
    assert erased.counts["records"] == 12
    assert erased.counts["events"] >= 12
    assert len(desk.memory.recall("tea", layers=("archive",), principal=mine)) == 0
    bobs = desk.memory.recall("tea", layers=("archive",), principal=desk.who("bob"), limit=50)
    assert len(bobs) == 12


def test_scope_within_reaches_inside_and_exact_only_itself(desk: Desk) -> None:
    """{user} within takes {user, project}; exact does not; a look-alike is another scope."""
    desk.remember("I prefer short answers.", scope=None)
    event = desk.say("In this project I like tabs.", thread="inside")
    inside = desk.propose(
        "In this project I like tabs",
        event,
        kind="preference",
        scope={"user": "lin", "project": "web"},
    )
    assert inside.action == "activate"
    assert desk.memory.delete(scope={"user": "lin"}, dry_run=True).counts["records"] == 1
    within = desk.memory.delete(scope={"user": "lin"}, match="within", dry_run=True)
    assert within.counts["records"] == 2
    done = desk.memory.delete(scope={"user": "lin", "project": "web"}, match="within")
    assert done.records == (inside.record_id,)
    assert len(desk.records()) == 1


@pytest.mark.parametrize(
    ("channel", "allowed"),
    [
        ("runtime", {"mute", "unmute"}),
        ("user", {"mute", "unmute", "expire", "delete", "erase"}),
        ("admin", {"mute", "unmute", "expire", "delete", "erase"}),
        ("agent", set()),
        ("import", set()),
        ("job", set()),
    ],
)
def test_which_channel_may_forget(desk: Desk, channel: str, allowed: set[str]) -> None:
    """The table of channels; a refusal changes nothing."""
    record = desk.remember(SHORT).record_id
    before = dump(desk.memory, desk.place.tenant)
    done = set()
    for verb in ("mute", "unmute", "expire", "delete", "erase"):
        act = getattr(desk.memory, verb)
        try:
            act(record=record, dry_run=True, principal=desk.who(channel=channel))
            done.add(verb)
        except NotAllowed as error:
            assert error.code == f"{verb}.channel"
            with pytest.raises(NotAllowed):
                act(record=record, principal=desk.who(channel=channel))
    assert done == allowed
    assert dump(desk.memory, desk.place.tenant) == before


def test_forgetting_a_subject_leaves_other_peoples_queue_alone(desk: Desk) -> None:
    """What waits for bob is neither closed nor counted by ann's erasure of the project."""
    event = desk.say("This project uses yarn.", user="bob")
    shared = desk.propose(
        "This project uses yarn", event, user="bob", predicate="package_manager", value="yarn"
    )
    waiting = desk.propose("I like to skip the yarn review", event, user="bob", kind="preference")
    assert (shared.action, waiting.action) == ("activate", "hold")
    done = desk.memory.erase(subject="project:web", principal=desk.who("ann"))
    assert (done.counts["candidates"], done.counts["events"]) == (0, 0)
    assert [h.id for h in desk.memory.review(principal=desk.who("bob"))] == [waiting.candidate_id]


def test_a_wide_target_tells_nothing_about_other_peoples_records(desk: Desk) -> None:
    """Somebody else's single record and none at all look the same."""
    event = desk.say("I like the tool frobnicate.", user="bob", scope={"user": "bob"})
    made = desk.propose("I like the tool frobnicate", event, user="bob", subject="tool:frobnicate")
    assert made.action == "activate"
    ann = desk.who("ann")
    for verb in (desk.memory.delete, desk.memory.erase):
        theirs = verb(subject="tool:frobnicate", dry_run=True, principal=ann)
        nothing = verb(subject="tool:nothing", dry_run=True, principal=ann)
        assert theirs == nothing
    mine = desk.memory.delete(subject="tool:frobnicate", dry_run=True, principal=desk.who("bob"))
    assert mine.counts["records"] == 1


def test_erasing_a_person_reaches_the_answers_in_their_threads(desk: Desk) -> None:
    """What the assistant and tools repeated in the person's own threads goes, or is said."""
    desk.say("My name is Zed MARKERZED.", scope=None)
    desk.say("Hello Zed MARKERZED!", by="assistant", scope=None)
    desk.say("found MARKERZED in the address book", by="tool", name="search", scope=None)
    assert len(desk.memory.recall("MARKERZED", layers=("archive",))) == 3
    done = desk.memory.erase(subject="user:lin")
    left = desk.memory.recall("MARKERZED", layers=("archive",))
    assert not len(left) or not done.complete
    assert not len(left)


def test_an_admin_erasing_a_project_spares_a_user_of_that_name(desk: Desk) -> None:
    """Subject `project:x` and the user id `project:x` are two things."""
    desk.say("a word of the user called project:x", user="project:x", scope=None)
    done = desk.memory.erase(subject="project:x", principal=desk.who("root", "admin"))
    assert done.counts["events"] == 0


def test_deleting_what_was_to_come_leaves_what_is(desk: Desk) -> None:
    """A scheduled change that is taken back never happens."""
    desk.remember("This project uses npm.")
    desk.wait()
    later = desk.schedule("pnpm", desk.clock.now() + 7 * DAY)
    desk.memory.delete(record=later.record_id)
    desk.wait(10 * DAY)
    assert desk.values() == ["npm"]
