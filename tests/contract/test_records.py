"""The rules of records: one value, order by time said, merge, revise, sets, conditions."""

from __future__ import annotations

import pytest

from muniment import Conflict, InvalidInput
from tests.contract.kit import DAY, HOUR, WEB, Desk, dump

NPM, PNPM = "This project uses npm.", "This project uses pnpm."


def test_one_value_is_current_and_the_later_word_supersedes(desk: Desk) -> None:
    """A change closes the validity of the old value when the new one begins."""
    old = desk.remember(NPM)
    assert (old.action, old.reconcile, old.version) == ("activate", "insert", 1)
    desk.wait()
    new = desk.remember(PNPM)
    assert (new.reconcile, new.supersedes, new.status) == ("supersede", old.record_id, "active")
    assert [r.value for r in desk.records(status="active")] == ["pnpm"]
    [before] = desk.records(status="superseded")
    assert before.valid_to == desk.memory.show(new.record_id).valid_from
    assert desk.values() == ["pnpm"]


def test_a_correction_closes_the_belief_not_the_validity(desk: Desk) -> None:
    """What was never so is not true of the past either; a change leaves the past as it was."""
    old = desk.remember(NPM)
    desk.wait(DAY)
    event = desk.say("No, I was wrong: this project uses pnpm, it never used npm.")
    corrected = desk.memory.remember(event=event, principal=desk.who(channel="runtime"))
    [new] = [d for d in corrected if d.candidate.value == "pnpm"]
    assert new.reconcile == "supersede"
    if "reconcile.corrects" not in new.reasons:
        pytest.fail(f"read as a change, not a correction: {new.reasons}")
    day_one = desk.memory.history(old.record_id, as_of=old.decided_at + HOUR)
    assert day_one.value == "pnpm"
    believed = desk.memory.history(old.record_id, believed_at=old.decided_at + HOUR)
    assert believed.value == "npm"


def test_a_change_leaves_the_past_as_it_was(desk: Desk) -> None:
    """As of yesterday the old value held, by today's belief and by yesterday's."""
    old = desk.remember(NPM)
    desk.wait(DAY)
    new = desk.remember(PNPM)
    yesterday = old.decided_at + HOUR
    assert desk.memory.history(new.record_id, as_of=yesterday).value == "npm"
    assert desk.memory.history(new.record_id, believed_at=yesterday).value == "npm"
    now = desk.memory.history(new.record_id)
    assert (now.value, now.record) == ("pnpm", new.record_id)
    assert [t["value"] for t in now.timeline] == ["npm", "pnpm"]


def test_what_was_said_earlier_enters_as_history(desk: Desk) -> None:
    """Order is by time said: an older statement arriving later changes nothing current."""
    now = desk.remember(PNPM)
    early = desk.remember(NPM, at=desk.clock.now() - 90 * DAY)
    assert (early.reconcile, early.status) == ("insert", "superseded")
    assert desk.values() == ["pnpm"]
    assert desk.memory.history(now.record_id, as_of=desk.clock.now() - 30 * DAY).value == "npm"
    assert desk.memory.history(now.record_id, as_of=desk.clock.now() - 99 * DAY).value is None


def test_three_out_of_order_statements_make_one_timeline(desk: Desk) -> None:
    """Whatever the order of arrival, each value holds from its word to the next."""
    start = desk.clock.now()
    last = desk.remember("This project uses yarn.", at=start - 10 * DAY)
    desk.remember(NPM, at=start - 90 * DAY)
    desk.remember(PNPM, at=start - 50 * DAY)
    for days, value in ((95, None), (80, "npm"), (40, "pnpm"), (5, "yarn")):
        at = start - days * DAY
        assert desk.memory.history(last.record_id, as_of=at).value == value, days
    assert desk.values() == ["yarn"]


def test_two_values_said_at_the_same_time_are_asked_about(desk: Desk) -> None:
    """In two threads at one instant nothing says which is later: held, the old one stays."""
    desk.remember(NPM, thread="one")
    second = desk.remember(PNPM, thread="two")
    assert (second.action, second.reconcile) == ("hold", "ask")
    assert second.reasons[0] == "conflict.said_at_the_same_time"
    assert desk.values() == ["npm"]
    [held] = desk.memory.review()
    desk.wait()
    desk.memory.confirm(held.id, digest=held.digest)
    assert desk.values() == ["pnpm"]


def test_within_one_thread_its_order_breaks_the_tie(desk: Desk) -> None:
    """The same clock, the same thread: the second sentence was said second."""
    desk.remember(NPM)
    assert desk.remember(PNPM).reconcile == "supersede"
    assert desk.values() == ["pnpm"]


def test_an_unsure_source_does_not_replace_a_sure_one(desk: Desk) -> None:
    """A backup file says yarn: held and asked; the authoritative file later says so: current."""
    desk.remember(NPM)
    desk.wait()
    copy = desk.say('{"packageManager": "yarn@4"}', by="file", path="package.json.bak")
    asked = desk.propose("the project uses yarn", copy, predicate="package_manager", value="yarn")
    assert (asked.action, asked.reconcile) == ("hold", "ask")
    assert desk.values() == ["npm"]
    desk.wait()
    real = desk.say('{"packageManager": "yarn@4"}', by="file", path="package.json")
    taken = desk.propose("the project uses yarn", real, predicate="package_manager", value="yarn")
    assert (taken.action, taken.reconcile) == ("activate", "supersede")
    assert desk.values() == ["yarn"]


def test_a_sure_source_replaces_an_unsure_one_even_when_older(desk: Desk) -> None:
    """Precedence: sure before unsure, whatever came last."""
    event = desk.say("The tool saw pnpm as package manager", by="tool", name="probe")
    seen = desk.propose(
        "the package manager is pnpm", event, predicate="package_manager", value="pnpm"
    )
    assert seen.action == "activate"
    desk.wait()
    assert desk.remember(NPM).reconcile == "supersede"
    assert desk.values() == ["npm"]


def test_saying_it_again_adds_evidence_and_no_version(desk: Desk) -> None:
    """A restatement is a merge: one record, one version, two sources."""
    first = desk.remember(NPM)
    desk.wait()
    again = desk.remember("We use npm here.")
    assert (again.action, again.reconcile) == ("activate", "merge")
    assert again.record_id == first.record_id
    record = desk.memory.show(first.record_id)
    assert (record.version, len(record.evidence)) == (1, 2)
    assert len(desk.memory.why(first.record_id).quotes) == 2
    assert desk.memory.history(first.record_id).versions == 1


def test_remembering_one_event_twice_changes_nothing(desk: Desk) -> None:
    """The same evidence is not two sources."""
    event = desk.say(NPM)
    who = desk.who(channel="runtime")
    [first] = desk.memory.remember(event=event, principal=who)
    [second] = desk.memory.remember(event=event, principal=who)
    assert (second.reconcile, second.record_id) == ("merge", first.record_id)
    assert desk.memory.show(first.record_id).evidence == (event.id,)


def test_a_set_holds_several_values(desk: Desk) -> None:
    """Where the catalogue says set, a second value stands beside the first."""
    for value in ("PostgreSQL", "Redis"):
        event = desk.say(f"The database is {value}.")
        one = desk.propose(f"the database is {value}", event, predicate="database", value=value)
        assert one.reconcile == "insert"
        desk.wait()
    assert {r.value for r in desk.records(predicate="database")} == {"PostgreSQL", "Redis"}
    event = desk.say("The database is postgres.")
    same = desk.propose("the database is postgres", event, predicate="database", value="postgres")
    assert same.reconcile == "merge"


def test_a_to_b_to_a_ends_in_a_with_two_ends_in_between(desk: Desk) -> None:
    """Going back is a new record; nothing is revived and nothing circles."""
    ids = []
    for text in (NPM, PNPM, NPM):
        ids.append(desk.remember(text).record_id)
        desk.wait()
    assert len(set(ids)) == 3
    assert desk.values() == ["npm"]
    assert len(desk.records(status="active")) == 1
    assert desk.memory.show(ids[2]).supersedes == ids[1]


def test_other_facts_stay_when_one_is_contradicted(desk: Desk) -> None:
    """Of 20 facts about one thing a contradiction ends exactly one."""
    for number in range(20):
        event = desk.say(f"The entry point is src/app{number}.ts.")
        desk.propose(
            f"the entry point is src/app{number}.ts",
            event,
            predicate="entry_point",
            value=f"src/app{number}.ts",
        )
    desk.remember(NPM)
    desk.wait()
    desk.remember(PNPM)
    assert len(desk.records(status="active")) == 21
    assert len(desk.records(status="superseded")) == 1


def test_an_exception_stands_beside_its_rule_and_leads_where_it_holds(desk: Desk) -> None:
    """The conditional rule is linked, injected only where its condition holds, and first there."""
    place = {"user": "lin", "project": "blog", "task": "article"}
    rule = desk.remember(
        "记住：以后这个博客的文章完成全部检查后，直接提交并推送到 origin/main。", scope=place
    )
    desk.wait()
    event = desk.say("文章仍然直接推送，但涉及部署配置时先让我确认。", scope=place)
    decisions = desk.memory.remember(event=event, principal=desk.who(channel="runtime"))
    [exception] = [d for d in decisions if d.exception_of is not None]
    assert exception.exception_of == rule.record_id

    def ask(text: str, entity: str) -> list[tuple[str, str | None]]:
        found = desk.memory.recall(text, scope=place, stage="wrap_up", entities=[entity])
        return [(e.id, e.overridden_by) for e in found]

    holds = ask("这篇文章还改了部署配置", "部署配置")
    assert holds[0] == (exception.record_id, None)
    assert (rule.record_id, exception.record_id) in holds
    others = ask("这篇文章写完了，只改了正文", "正文")
    assert [i for i, _ in others] == [rule.record_id]


def test_revise_makes_a_version_and_a_stale_one_is_refused(desk: Desk) -> None:
    """Two devices: the second edit on the same version is a conflict and changes nothing."""
    record = desk.remember("我喜欢简短的回答。").record_id
    new = desk.memory.revise(record, if_version=1, value="详细")
    assert (new.version, new.value, new.content) == (2, "详细", "回答要详细")
    before = dump(desk.memory, desk.place.tenant)
    with pytest.raises(Conflict) as error:
        desk.memory.revise(record, if_version=1, value="适中")
    assert error.value.code == "record.stale_version"
    assert dump(desk.memory, desk.place.tenant) == before
    stored = desk.memory.show(record)
    assert (stored.version, stored.value, stored.content) == (2, "详细", "回答要详细")
    assert len(stored.evidence) == 2, "the revision is an event of its own"
    assert desk.memory.history(record).versions == 2


@pytest.mark.parametrize("ahead", [0, 2, 99, -1])
def test_revise_takes_only_the_current_version(desk: Desk, ahead: int) -> None:
    """Any other number is stale, also one from the future."""
    record = desk.remember("I prefer short answers.").record_id
    with pytest.raises((Conflict, InvalidInput)):
        desk.memory.revise(record, if_version=ahead, value="detailed")
    assert desk.memory.revise(record, if_version=1, value="detailed").version == 2


def test_a_revised_value_renders_the_content_in_the_records_language(desk: Desk) -> None:
    """English stays English."""
    record = desk.remember("I prefer short answers.").record_id
    assert desk.memory.revise(record, if_version=1, value="detailed").content == (
        "answers should be detailed"
    )


def test_content_and_value_that_disagree_are_refused(desk: Desk) -> None:
    """`record.inconsistent`; the pair that agrees is taken."""
    record = desk.remember("我喜欢简短的回答。").record_id
    with pytest.raises(InvalidInput) as error:
        desk.memory.revise(record, if_version=1, content="回答要详细", value="简短")
    assert error.value.code == "record.inconsistent"
    with pytest.raises(InvalidInput):
        desk.memory.revise(record, if_version=1, content="回答要详细")
    assert desk.memory.revise(record, if_version=1, content="回答要详细", value="详细").version == 2


def test_a_revision_leaves_every_other_field_as_it_was(desk: Desk) -> None:
    """Changing one field keeps the rest byte for byte, and a rendered one keeps its tags."""
    event = desk.say("I prefer short answers.", scope=None)
    made = desk.propose(
        "I prefer short answers",
        event,
        kind="preference",
        predicate="answer_length",
        value="short",
        tags=["a_b", "[x]"],
        confidence=0.5,
    )
    before = desk.memory.show(made.record_id)
    after = desk.memory.revise(made.record_id, if_version=1, value="detailed")
    stored = desk.memory.show(made.record_id)
    for name in ("tags", "scope", "subject", "kind", "confidence", "condition", "said_at"):
        assert getattr(after, name) == getattr(before, name) == getattr(stored, name), name


def test_a_revised_record_is_found_by_its_new_words_only(desk: Desk) -> None:
    """The index follows; asking in the old words finds the new value."""
    record = desk.remember("This project uses npm.").record_id
    desk.memory.rebuild_index()
    desk.memory.revise(record, if_version=1, content="This project uses yarn", value="yarn")
    assert desk.found("npm package manager") == ["This project uses yarn"]


def test_idempotency_key_returns_the_first_decision(desk: Desk) -> None:
    """A replay says so, writes nothing, and the key does not serve another request."""
    who = desk.who(channel="runtime")
    [first] = desk.memory.remember(NPM, thread="talk", scope=WEB, key="k-1", principal=who)
    before = dump(desk.memory, desk.place.tenant)
    [again] = desk.memory.remember(NPM, thread="talk", scope=WEB, key="k-1", principal=who)
    assert (again.id, again.record_id, again.replayed) == (first.id, first.record_id, True)
    assert again.candidate.content == first.candidate.content
    assert dump(desk.memory, desk.place.tenant) == before
    with pytest.raises(Conflict) as error:
        desk.memory.remember(PNPM, thread="talk", scope=WEB, key="k-1", principal=who)
    assert error.value.code == "idempotency.reused"
    assert desk.values() == ["npm"]


def test_idempotency_keys_belong_to_whoever_used_them(desk: Desk) -> None:
    """Two people's key "1" are two keys: neither is answered with the other's decision."""
    text = "我喜欢简短的回答。"
    ann = desk.memory.remember(text, key="1", principal=desk.who("ann"))[0]
    bob = desk.memory.remember(text, key="1", principal=desk.who("bob"))[0]
    assert not bob.replayed
    assert bob.record_id != ann.record_id
    assert [r.id for r in desk.records(user="bob")] == [bob.record_id]


def test_revise_with_a_key_is_done_once(desk: Desk) -> None:
    """The replay of a revision is no stale version."""
    record = desk.remember("I prefer short answers.").record_id
    first = desk.memory.revise(record, if_version=1, value="detailed", key="r")
    again = desk.memory.revise(record, if_version=1, value="detailed", key="r")
    assert (first.version, again.version, again.value) == (2, 2, "detailed")
    assert desk.memory.history(record).versions == 2


def test_appending_an_id_twice_is_one_event(desk: Desk) -> None:
    """The same id in the same thread is the same event; another text under it is refused."""
    one, two = desk.say("hello there", id="m1"), desk.say("hello there", id="m1")
    other = desk.say("hello there", id="m1", thread="elsewhere")
    assert one == two
    assert other.id != one.id
    with pytest.raises(InvalidInput) as error:
        desk.say("something else", id="m1")
    assert error.value.code == "event.id_taken"


def test_appending_many_is_all_or_none(desk: Desk) -> None:
    """A bad message among good ones leaves nothing."""
    good = [{"by": "user", "text": f"message {n}"} for n in range(5)]
    before = dump(desk.memory, desk.place.tenant)
    with pytest.raises(InvalidInput):
        desk.memory.append_many([*good, {"by": "user", "text": "a\x00b"}], thread="talk")
    assert dump(desk.memory, desk.place.tenant) == before
    events = desk.memory.append_many(good, thread="talk")
    assert [e.seq for e in events] == [1, 2, 3, 4, 5]


def test_list_and_show_agree(desk: Desk) -> None:
    """One record looks the same through both."""
    record = desk.remember(NPM).record_id
    assert desk.records() == [desk.memory.show(record)]


def test_list_pages_by_id_and_filters_exactly(desk: Desk) -> None:
    """`after` goes on where a page ended; a tag with a wildcard character is only itself."""
    for n, tag in enumerate(("a_b", "aXb", "a%b", "a*", "[x]")):
        event = desk.say(f"The entry point is src/page{n}.ts.")
        desk.propose(
            f"the entry point is src/page{n}.ts",
            event,
            predicate="entry_point",
            value=f"src/page{n}.ts",
            tags=[tag],
        )
    first = desk.memory.list(limit=2)
    rest = desk.memory.list(limit=100, after=first[-1].id)
    assert len(first) == 2 and len(rest) == 3
    for tag in ("a_b", "a%b", "a*", "[x]"):
        assert [r.tags for r in desk.memory.list(where={"tag": tag})] == [(tag,)]
    assert desk.memory.list(where={"tag": "a"}) == []
