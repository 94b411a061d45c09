"""Held candidates: one row a fact with a counter, capped, lapsing, confirmed exactly."""

from __future__ import annotations

import json

import pytest

from muniment import Conflict, InvalidInput, MunimentError, NotAllowed, NotFound
from muniment.gate.candidate import Held
from tests.contract.kit import DAY, Desk, dump


def _refused(desk: Desk, code: str, held: Held, **how: object) -> None:
    """Confirming like this raises that code and changes nothing."""
    before = dump(desk.memory, desk.place.tenant)
    with pytest.raises(MunimentError) as error:
        desk.memory.confirm(held.id, **{"digest": held.digest, **how})
    assert error.value.code == code
    assert dump(desk.memory, desk.place.tenant) == before


def test_held_is_not_memory(desk: Desk) -> None:
    """What a model inferred waits with its evidence and answers nothing until confirmed."""
    decision = desk.guess()
    assert (decision.action, decision.origin) == ("hold", "model_inferred")
    assert (desk.records(), desk.values()) == ([], [])
    [held] = desk.memory.review()
    assert (held.id, held.digest) == (decision.candidate_id, decision.digest)
    done = desk.memory.confirm(held.id, digest=held.digest)
    assert (done.action, done.origin, done.candidate_id) == ("activate", "user_confirmed", held.id)
    assert desk.values() == ["pnpm"]
    assert desk.memory.review() == []
    record = desk.memory.show(done.record_id)
    assert (record.confirmed, record.sure, len(record.evidence)) == (True, True, 2)


def test_the_same_guess_is_counted_not_queued_twice(desk: Desk) -> None:
    """Twenty restatements are one row with a counter."""
    for _ in range(20):
        desk.guess()
    [held] = desk.memory.review()
    assert held.count == 20


def test_two_guesses_about_one_fact_never_confirm_the_wrong_one(desk: Desk) -> None:
    """What a decision shows with a digest is what confirming that digest activates."""
    desk.guess("pnpm")
    second = desk.guess("yarn")
    [held] = desk.memory.review()
    shown = held.candidate.value
    assert second.candidate_id != held.id or second.candidate.value == shown
    try:
        done = desk.memory.confirm(second.candidate_id, digest=second.digest)
    except Conflict:
        return
    assert done.candidate.value == second.candidate.value == desk.values()[0]


def test_guesses_about_a_set_wait_side_by_side(desk: Desk) -> None:
    """Where several values can hold, each is a question of its own and none is lost."""
    decisions = []
    for name in ("a", "b", "c"):
        event = desk.say(f"I think the entry point is src/{name}.ts.", by="assistant")
        decisions.append(
            desk.propose(
                f"the entry point is src/{name}.ts",
                event,
                predicate="entry_point",
                value=f"src/{name}.ts",
            )
        )
    assert sorted(h.candidate.value for h in desk.memory.review()) == [
        "src/a.ts",
        "src/b.ts",
        "src/c.ts",
    ]
    for decision in decisions:
        desk.memory.confirm(decision.candidate_id, digest=decision.digest)
    assert len(desk.records()) == 3


def test_two_peoples_guesses_are_two_rows(desk: Desk) -> None:
    """One's own proposal waits for oneself, whoever else proposed the same about the project."""
    desk.guess("pnpm", user="ann")
    mine = desk.guess("pnpm", user="bob")
    assert [h.id for h in desk.memory.review(principal=desk.who("bob"))] == [mine.candidate_id]
    done = desk.memory.confirm(mine.candidate_id, digest=mine.digest, principal=desk.who("bob"))
    assert done.action == "activate"


def test_review_shows_only_what_one_may_answer(desk: Desk) -> None:
    """A colleague's waiting words are neither listed nor answerable."""
    held = desk.guess(user="ann")
    assert [h.id for h in desk.memory.review(principal=desk.who("ann"))] == [held.candidate_id]
    for candidate in desk.memory.review(principal=desk.who("bob")):
        desk.memory.confirm(candidate.id, digest=candidate.digest, principal=desk.who("bob"))
    with pytest.raises(NotFound):
        desk.memory.confirm(
            held.candidate_id, digest=held.digest, principal=desk.who("bob", roles=())
        )


def test_one_source_can_only_fill_its_share_of_the_queue(desk: Desk) -> None:
    """Beyond the cap candidates are dropped and say so; another source still gets in."""
    page = desk.say("many claims", by="web", url="https://example.test/flood")
    for number in range(25):
        last = desk.propose(f"the entry point is src/x{number}.ts", page)
    assert last.reasons[0] == "held.too_many"
    assert len(desk.memory.review()) == 20
    assert desk.guess().action == "hold"
    assert len(desk.memory.review()) == 21


def test_held_candidates_lapse_after_seven_days(desk: Desk) -> None:
    """Just before they wait; after they are gone, without any job having run."""
    held = desk.guess()
    desk.wait(7 * DAY - DAY / 24)
    assert len(desk.memory.review()) == 1
    desk.wait(DAY / 12)
    assert desk.memory.review() == []
    with pytest.raises(NotFound):
        desk.memory.confirm(held.candidate_id, digest=held.digest)
    assert desk.memory.tidy()["lapsed"] == 1
    assert desk.memory.tidy()["lapsed"] == 0


@pytest.mark.parametrize("tidied", [False, True])
def test_what_lapsed_can_be_proposed_again(desk: Desk, tidied: bool) -> None:
    """A lapsed row stands in nobody's way, whether a job has tidied or not."""
    desk.guess()
    desk.wait(8 * DAY)
    if tidied:
        desk.memory.tidy()
    again = desk.guess()
    assert [h.id for h in desk.memory.review()] == [again.candidate_id]
    assert desk.memory.confirm(again.candidate_id, digest=again.digest).action == "activate"


def test_lapsed_rows_do_not_fill_the_queue_or_a_page_of_it(desk: Desk) -> None:
    """Neither the cap nor `limit` counts what has lapsed."""
    page = desk.say("many claims", by="web", url="https://example.test/flood")
    for number in range(20):
        desk.propose(f"the entry point is src/x{number}.ts", page)
    desk.wait(8 * DAY)
    new = desk.propose("the entry point is src/new.ts", page)
    assert new.action == "hold"
    assert [h.id for h in desk.memory.review(limit=5)] == [new.candidate_id]


def test_an_edit_changes_the_digest_and_the_old_one_is_refused(desk: Desk) -> None:
    """Approving what changed since it was shown is a conflict; the new digest works."""
    first = desk.guess()
    edited = desk.memory.revise_candidate(first.candidate_id, value="yarn")
    assert edited.digest != first.digest
    before = dump(desk.memory, desk.place.tenant)
    with pytest.raises(Conflict) as error:
        desk.memory.confirm(first.candidate_id, digest=first.digest)
    assert error.value.code == "candidate.stale_digest"
    with pytest.raises(Conflict):
        desk.memory.reject(first.candidate_id, digest=first.digest)
    with pytest.raises(InvalidInput) as missing:
        desk.memory.confirm(first.candidate_id, digest=None)
    assert missing.value.code == "candidate.digest_missing"
    assert dump(desk.memory, desk.place.tenant) == before
    desk.memory.confirm(edited.id, digest=edited.digest)
    assert desk.values() == ["yarn"]


def test_who_may_confirm(desk: Desk) -> None:
    """A person for their own; the runtime only with the user's answer; agents and jobs never."""
    older = desk.say("yes")
    desk.wait()
    desk.guess()
    [held] = desk.memory.review()
    _refused(desk, "confirm.channel", held, principal=desk.who(channel="agent"))
    _refused(desk, "confirm.channel", held, principal=desk.who(channel="job"))
    _refused(desk, "confirm.channel", held, principal=desk.who(channel="import"))
    runtime = desk.who(channel="runtime")
    _refused(desk, "confirm.needs_answer", held, principal=runtime)
    reply = desk.say("Shall I?", by="assistant")
    _refused(desk, "confirm.needs_answer", held, principal=runtime, answer=reply.id)
    _refused(desk, "confirm.answer_too_old", held, principal=runtime, answer=older.id)
    _refused(desk, "candidate.not_found", held, principal=desk.who("bob"))
    yes = desk.say("yes")
    done = desk.memory.confirm(held.id, digest=held.digest, principal=runtime, answer=yes.id)
    assert done.action == "activate"


def test_somebody_elses_answer_confirms_nothing(desk: Desk) -> None:
    """The runtime cannot relay bob's yes to a question put to lin."""
    desk.guess()
    yes = desk.say("yes", user="bob")
    [held] = desk.memory.review()
    _refused(desk, "event.not_found", held, principal=desk.who(channel="runtime"), answer=yes.id)


def test_an_imported_yes_is_no_answer(desk: Desk) -> None:
    """A sentence in a file does not answer a question put to a person."""
    desk.guess()
    desk.wait()
    path = desk.place.folder / "talk.jsonl"
    row = {"by": "user", "text": "yes", "id": "y", "at": desk.clock.now().isoformat()}
    path.write_text(json.dumps(row))
    desk.memory.import_file(path)
    [turn] = desk.memory.recall("yes", layers=("archive",))
    [held] = desk.memory.review()
    with pytest.raises(NotAllowed):
        desk.memory.confirm(
            held.id, digest=held.digest, answer=turn.id, principal=desk.who(channel="runtime")
        )


def test_loosening_a_high_impact_rule_waits_for_someone_entitled(desk: Desk) -> None:
    """The owner alone does not do; the role `approve` does."""
    event = desk.say("以后部署到生产不需要审批，直接发布。", scope={"project": "web"})
    decisions = desk.memory.remember(event=event, principal=desk.who(channel="runtime"))
    assert [d.action for d in decisions] == ["hold"]
    [held] = desk.memory.review()
    _refused(desk, "confirm.needs_role", held)
    approver = desk.who(roles=("approve",))
    assert desk.memory.confirm(held.id, digest=held.digest, principal=approver).action == "activate"


def test_rejected_stays_away_until_the_user_says_it(desk: Desk) -> None:
    """A rejection is a tombstone for models and replays, not for the user's own word."""
    held = desk.guess()
    desk.memory.reject(held.candidate_id, digest=held.digest)
    assert desk.memory.review() == []
    desk.wait()
    assert desk.guess().reasons[0] == "tombstone"
    assert desk.memory.review() == []
    desk.wait()
    assert desk.remember("This project uses pnpm.").action == "activate"


def test_the_runtime_does_not_reject_of_its_own_accord(desk: Desk) -> None:
    """A tombstone takes the person's word, as a confirmation does."""
    held = desk.guess()
    with pytest.raises(NotAllowed):
        desk.memory.reject(
            held.candidate_id, digest=held.digest, principal=desk.who(channel="runtime")
        )
    assert len(desk.memory.review()) == 1


def test_agents_jobs_and_imports_do_not_reject_or_edit(desk: Desk) -> None:
    """Only people empty the queue."""
    held = desk.guess()
    for channel in ("agent", "job", "import"):
        who = desk.who(channel=channel)
        with pytest.raises(NotAllowed):
            desk.memory.reject(held.candidate_id, digest=held.digest, principal=who)
        with pytest.raises(NotAllowed):
            desk.memory.revise_candidate(held.candidate_id, value="yarn", principal=who)
    assert len(desk.memory.review()) == 1


def test_erasing_its_evidence_takes_the_held_candidate_along(desk: Desk) -> None:
    """Held candidates are erasable; afterwards nothing waits and nothing can be confirmed."""
    event = desk.say("I think the project uses pnpm.", by="assistant")
    held = desk.propose("the project uses pnpm", event, predicate="package_manager", value="pnpm")
    assert len(desk.memory.review()) == 1
    assert desk.memory.erase(event=event.id).counts["candidates"] == 1
    assert desk.memory.review() == []
    with pytest.raises(NotFound):
        desk.memory.confirm(held.candidate_id, digest=held.digest)


def test_a_confirmation_with_a_key_is_done_once(desk: Desk) -> None:
    """The replay names the same record; without the key the candidate is gone."""
    held = desk.guess()
    first = desk.memory.confirm(held.candidate_id, digest=held.digest, key="c")
    again = desk.memory.confirm(held.candidate_id, digest=held.digest, key="c")
    assert (again.record_id, again.replayed) == (first.record_id, True)
    with pytest.raises(NotFound):
        desk.memory.confirm(held.candidate_id, digest=held.digest)
    assert len(desk.records()) == 1


def test_forget_that_mutes_at_once_and_deletes_when_confirmed(desk: Desk) -> None:
    """忘掉: no longer recalled from now on, deleted after the person's yes."""
    record = desk.remember("我喜欢简短的回答。").record_id
    assert desk.found("回答该多长") != []
    desk.wait()
    decision = desk.remember("忘掉我喜欢简短的回答这件事。")
    assert (decision.action, decision.reconcile, decision.record_id) == ("hold", "delete", record)
    assert desk.found("回答该多长") == []
    assert desk.memory.show(record).muted
    [held] = desk.memory.review()
    done = desk.memory.confirm(held.id, digest=held.digest)
    assert (done.reconcile, done.status) == ("delete", "deleted")
    with pytest.raises(NotFound):
        desk.memory.show(record)
