"""Whose is it: every way to an id, to a scope and to a tenant, with look-alikes on each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from muniment import InvalidInput, MunimentError, NotAllowed, NotFound, Principal, Scope
from tests.contract.kit import Desk, dump

LOOK_ALIKES = [
    "user1",
    "user10",
    "User1",
    "a%",
    "a_",
    "ab",
    "a/b",
    "a:b",
    "a&user=b",
    "a=b",
    "a%2Fb",
    "ａ",
    "a",
    "a'--",
    'a"b',
    "None",
    "null",
    "local",
]
REFUSED_IDS = ["", " ", "*", "a\x00b", "a\u200bb", " a", "a\n", "\ud800", "x" * 129, "a\u202eb"]

#: Every verb that takes the id of a record.
BY_RECORD: dict[str, Callable[[Desk, str, Principal], Any]] = {
    "show": lambda d, i, p: d.memory.show(i, principal=p),
    "history": lambda d, i, p: d.memory.history(i, principal=p),
    "why": lambda d, i, p: d.memory.why(i, principal=p),
    "revise": lambda d, i, p: d.memory.revise(i, if_version=1, value="detailed", principal=p),
    "mute": lambda d, i, p: d.memory.mute(i, principal=p),
    "unmute": lambda d, i, p: d.memory.unmute(i, principal=p),
    "expire": lambda d, i, p: d.memory.expire(i, principal=p),
    "delete": lambda d, i, p: d.memory.delete(record=i, principal=p),
    "delete_dry": lambda d, i, p: d.memory.delete(record=i, dry_run=True, principal=p),
    "erase": lambda d, i, p: d.memory.erase(record=i, principal=p),
    "erase_dry": lambda d, i, p: d.memory.erase(record=i, dry_run=True, principal=p),
}

#: Every verb that takes the id of an event, a thread or a candidate.
BY_OTHER: dict[str, tuple[str, Callable[[Desk, str, Principal], Any]]] = {
    "show_event": ("event", lambda d, i, p: d.memory.show(i, principal=p)),
    "remember": ("event", lambda d, i, p: d.memory.remember(event=i, principal=p)),
    "propose": (
        "event",
        lambda d, i, p: d.memory.propose(
            {"content": "x", "kind": "fact", "evidence": [i]}, principal=p
        ),
    ),
    "erase_event": ("event", lambda d, i, p: d.memory.erase(event=i, principal=p)),
    "delete_event": ("event", lambda d, i, p: d.memory.delete(event=i, principal=p)),
    "append": ("thread", lambda d, i, p: d.memory.append("x", thread=i, principal=p)),
    "thread": ("thread", lambda d, i, p: d.memory.thread(i, principal=p)),
    "turn": ("thread", lambda d, i, p: d.memory.turn(i, "x", principal=p).__enter__()),
    "confirm": ("candidate", lambda d, i, p: d.memory.confirm(i, digest="0", principal=p)),
    "reject": ("candidate", lambda d, i, p: d.memory.reject(i, digest="0", principal=p)),
    "revise_candidate": (
        "candidate",
        lambda d, i, p: d.memory.revise_candidate(i, value="yarn", principal=p),
    ),
}


def _outcome(act: Callable[[], Any]) -> tuple[str, str, str]:
    with pytest.raises(MunimentError) as error:
        act()
    return (error.value.kind, error.value.code, str(error.value))


def _annes(desk: Desk) -> dict[str, str]:
    """One of everything that is anne's alone."""
    made = desk.remember("I prefer short answers.", user="anne", scope=None)
    held = desk.guess(user="anne", scope={"user": "anne", "project": "web"}, thread="guess")
    event = made.candidate.evidence[0]
    thread = desk.memory.show(event, principal=desk.who("anne")).thread
    assert made.record_id and held.candidate_id
    return {
        "record": made.record_id,
        "event": event,
        "thread": thread,
        "candidate": held.candidate_id,
    }


@pytest.mark.parametrize("verb", BY_RECORD)
def test_a_foreign_record_and_none_look_the_same(desk: Desk, verb: str) -> None:
    """The same kind, code and words for bob; anne's own id works."""
    ids = _annes(desk)
    before = dump(desk.memory, desk.place.tenant)
    bob = desk.who("bob")
    foreign = _outcome(lambda: BY_RECORD[verb](desk, ids["record"], bob))
    nothing = _outcome(lambda: BY_RECORD[verb](desk, "rec_" + "0" * 26, bob))
    assert foreign == nothing
    assert foreign[:2] == ("not_found", "record.not_found")
    assert dump(desk.memory, desk.place.tenant) == before
    assert BY_RECORD[verb](desk, ids["record"], desk.who("anne")) is not None


@pytest.mark.parametrize("verb", BY_OTHER)
def test_a_foreign_event_thread_or_candidate_and_none_look_the_same(desk: Desk, verb: str) -> None:
    """Evidence, threads and the queue tell nothing of other people."""
    ids = _annes(desk)
    what, act = BY_OTHER[verb]
    before = dump(desk.memory, desk.place.tenant)
    bob = desk.who("bob")
    foreign = _outcome(lambda: act(desk, ids[what], bob))
    nothing = _outcome(lambda: act(desk, f"{ids[what][:4].rstrip('_')}_" + "0" * 26, bob))
    assert foreign == nothing
    assert foreign[0] == "not_found"
    assert dump(desk.memory, desk.place.tenant) == before


@pytest.mark.parametrize("verb", [*BY_RECORD, *BY_OTHER])
def test_another_tenants_id_is_not_found(desk: Desk, verb: str) -> None:
    """Not for its namesake user, not for its admin."""
    ids = _annes(desk)
    what, act = BY_OTHER.get(verb, ("record", BY_RECORD.get(verb)))
    assert act is not None
    for channel in ("user", "admin"):
        other = Principal(tenant=desk.place.tenant + "x", user="anne", channel=channel)
        try:
            kind = _outcome(lambda who=other: act(desk, ids[what], who))[0]
        except MunimentError:  # pragma: no cover
            raise
        assert kind in ("not_found", "not_allowed")


def test_no_path_shows_another_persons_memory(desk: Desk) -> None:
    """Recall, list, profile, archive, context, review, export: anne sees hers, bob nothing."""
    _annes(desk)
    desk.say("a private word about MARKERWOMBAT", user="anne", scope=None, thread="private")
    out = desk.place.folder / "out"
    text = "prefer short answers MARKERWOMBAT pnpm"

    def everything(user: str) -> dict[str, bool]:
        p = desk.who(user)
        desk.memory.export(out, principal=p)
        return {
            "recall": len(desk.memory.recall(text, principal=p)) > 0,
            "archive": len(desk.memory.recall(text, layers=("archive",), principal=p)) > 0,
            "list": bool(desk.memory.list(principal=p)),
            "list where": bool(desk.memory.list(where={"subject": "user:anne"}, principal=p)),
            "context": "short" in desk.memory.context(text, principal=p).memory,
            "profile": bool(desk.memory.profile(principal=p)["fields"]),
            "review": bool(desk.memory.review(principal=p)),
            "export": "short answers" in out.read_text("utf-8"),
        }

    assert all(everything("anne").values()), "positive control"
    assert not any(everything("bob").values())
    assert not any(everything("ann").values())


@pytest.mark.parametrize("layer", ["records", "archive"])
def test_look_alike_users_are_strangers(desk: Desk, layer: str) -> None:
    """Prefixes, wildcards, separators, case and width: each sees exactly its own one."""
    for number, user in enumerate(LOOK_ALIKES):
        event = desk.say(f"I like wombats of kind {number}.", user=user, scope=None)
        made = desk.propose(f"I like wombats of kind {number}", event, user=user, kind="preference")
        assert made.action == "activate", made.reasons
    for number, user in enumerate(LOOK_ALIKES):
        who = desk.who(user)
        found = desk.memory.recall("wombats of kind", layers=(layer,), limit=50, principal=who)
        assert [e.content.rstrip(".") for e in found] == [f"I like wombats of kind {number}"], user
        assert len(desk.memory.list(principal=who)) == 1
        assert len(desk.memory.list(where={"user": user}, principal=who)) == 1
        planned = desk.memory.erase(subject=f"user:{user}", dry_run=True, principal=who)
        assert planned.counts["records"] == planned.counts["events"] == 1, user


def test_look_alike_projects_are_distinct(desk: Desk) -> None:
    """A fact of project `a%` is no fact of `ab`, and `a&user=b` is no user."""
    for number, project in enumerate(LOOK_ALIKES):
        event = desk.say(
            f"The database is Redis{number}.", scope={"project": project}, thread=f"t{number}"
        )
        made = desk.propose(
            f"the database is Redis{number}", event, predicate="database", value=f"Redis{number}"
        )
        assert made.action == "activate", made.reasons
    for number, project in enumerate(LOOK_ALIKES):
        assert desk.values("database", scope={"project": project}) == [f"Redis{number}"], project
        member = desk.who("bob", projects=(project,))
        assert [r.value for r in desk.memory.list(principal=member)] == [f"Redis{number}"]


def test_scope_keys_are_injective() -> None:
    """Different parts, different keys, whatever the ids hold."""
    scopes = [Scope(user=u) for u in LOOK_ALIKES] + [Scope(project=u) for u in LOOK_ALIKES]
    scopes += [Scope(user=a, project=b) for a in LOOK_ALIKES[:9] for b in LOOK_ALIKES[:9]]
    assert len({s.key for s in scopes}) == len(scopes)


@pytest.mark.parametrize("bad", REFUSED_IDS)
def test_ids_that_could_pass_for_others_are_refused(desk: Desk, bad: str) -> None:
    """Empty, star, NUL, invisible, half-pairs and padding name nobody."""
    for act in (
        lambda: Principal(user=bad),
        lambda: Principal(tenant=bad),
        lambda: Scope(project=bad),
        lambda: desk.memory.recall("x", scope={"user": bad}),
        lambda: desk.memory.list(where={"user": bad}),
        lambda: desk.memory.list(where={"subject": bad}),
        lambda: desk.memory.show(bad),
        lambda: desk.memory.erase(subject=bad),
        lambda: desk.memory.thread(bad),
    ):
        try:
            got = act()
        except (InvalidInput, NotFound):
            continue
        assert got == []


def test_memberships_decide_what_can_be_read_and_written(desk: Desk) -> None:
    """Outside a project, team or workspace: not recalled, not listed, not writable."""
    event = desk.say("The database is Redis.", scope={"project": "web"})
    made = desk.propose("the database is Redis", event, predicate="database", value="Redis")
    outside = desk.who("bob", projects=("other",))
    inside = desk.who("bob", projects=("web",))
    assert [r.id for r in desk.memory.list(principal=inside)] == [made.record_id]
    assert len(desk.memory.recall("database", scope={"project": "web"}, principal=inside)) == 1
    assert desk.memory.list(principal=outside) == []
    with pytest.raises(NotFound):
        desk.memory.show(made.record_id, principal=outside)
    for act in (
        lambda: desk.memory.recall("database", scope={"project": "web"}, principal=outside),
        lambda: desk.memory.append("x", scope={"project": "web"}, principal=outside),
        lambda: desk.memory.append("x", scope={"team": "red"}, principal=inside),
        lambda: desk.memory.append("x", scope={"user": "lin"}, principal=inside),
        lambda: desk.memory.delete(scope={"user": "lin"}, principal=inside),
    ):
        with pytest.raises(NotAllowed):
            act()
    assert len(desk.memory.recall("database", principal=inside)) == 0, "elsewhere it does not apply"


def test_without_the_role_a_project_fact_is_ones_own(desk: Desk) -> None:
    """It activates in {user, project}; the colleague does not get it before somebody approves."""
    member = desk.who("bob", "runtime", projects=("web",))
    decisions = desk.memory.remember(
        "This project uses npm.", scope={"project": "web"}, principal=member
    )
    assert decisions[0].candidate.scope == Scope(user="bob", project="web")
    assert desk.values(user="bob") == ["npm"]
    assert desk.values(user="eve") == []
    writer = desk.who("eve", "runtime", projects=("web",), roles=("write:project",))
    desk.wait()
    [shared] = desk.memory.remember(
        "This project uses npm.", scope={"project": "web"}, principal=writer
    )
    assert shared.candidate.scope == Scope(project="web")
    assert desk.values(user="lin") == ["npm"]


def test_an_agent_cannot_attest_confirm_or_forget(desk: Desk) -> None:
    """Channel, never a field, decides: `by: user` is refused and nothing of it is written."""
    made = desk.remember("I prefer short answers.")
    agent = desk.who(channel="agent")
    before = dump(desk.memory, desk.place.tenant)
    for by in ("user", "confirmation", "approval", "policy", "file", "system"):
        with pytest.raises(NotAllowed) as error:
            desk.memory.append("I prefer detailed answers.", by=by, principal=agent)
        assert error.value.code == "channel.cannot_attest"
    for act in (
        lambda: desk.memory.revise(made.record_id, if_version=1, value="detailed", principal=agent),
        lambda: desk.memory.erase(record=made.record_id, principal=agent),
        lambda: desk.memory.mute(made.record_id, principal=agent),
        lambda: desk.memory.settings(pause=True, principal=agent),
    ):
        with pytest.raises(NotAllowed):
            act()
    assert dump(desk.memory, desk.place.tenant) == before
    own = desk.memory.append("I prefer detailed answers.", by="assistant", principal=agent)
    held = desk.memory.propose(
        {
            "content": "I prefer detailed answers",
            "kind": "preference",
            "predicate": "answer_length",
            "value": "detailed",
            "evidence": [own.id],
        },
        principal=agent,
    )
    assert [d.action for d in held] == ["hold"]


@pytest.mark.parametrize(
    "extra",
    [
        {"origin": "user_stated"},
        {"status": "active"},
        {"user_id": "bob"},
        {"sure": True},
        {"confirmed": True},
        {"namespace": "policy"},
        {"namespace": "policy/x"},
        {"scope": {"user": "bob"}},
        {"scope": {"project": "other"}},
        {"scope": {}},
        {"subject": "user:bob"},
        {"version": 9},
        {"tenant": "x"},
    ],
)
def test_a_proposal_cannot_say_what_follows_from_its_channel(
    desk: Desk, extra: dict[str, Any]
) -> None:
    """Naming it is an error, or at least gives nobody more than the words and thread support."""
    event = desk.say("I prefer short answers.", scope={"user": "lin", "project": "web"})
    base = {"content": "I prefer short answers", "kind": "preference", "evidence": [event.id]}
    before = dump(desk.memory, desk.place.tenant)
    try:
        made = desk.memory.propose({**base, **extra}, principal=desk.who(channel="agent"))
    except InvalidInput:
        assert dump(desk.memory, desk.place.tenant) == before
    else:
        assert [d.action for d in made] == ["hold"], extra
    assert desk.memory.propose(base)[0].action == "activate", "positive control"


def test_standing_stated_in_metadata_is_refused(desk: Desk) -> None:
    """`{"user_id": "bob", "status": "active"}` is rejected and changes nothing."""
    for claim in ({"user_id": "bob"}, {"origin": "admin_policy"}, {"status": "active"}):
        with pytest.raises(InvalidInput) as refused:
            desk.say("I prefer short answers.", by="web", metadata=claim, url="https://e.test")
        assert refused.value.code == "metadata.reserved"
    assert desk.records() == desk.records(user="bob") == []
    said = desk.say(
        "I prefer short answers.", by="web", metadata={"shelf": "4"}, url="https://e.test"
    )
    assert said.metadata == {"shelf": "4"}, "positive control"


def test_tenants_do_not_see_each_other_on_any_path(desk: Desk) -> None:
    """The same user in two tenants: the same words, two worlds; scores do not move."""
    desk.remember("This project uses npm.")
    scores = [e.score for e in desk.memory.recall("npm package manager", scope={"project": "web"})]
    other = Principal(tenant=desk.place.tenant + "-b", user="lin", channel="runtime")
    for number in range(20):
        desk.memory.remember(
            "This project uses npm. " * (number % 3 + 1), scope={"project": "web"}, principal=other
        )
    again = [e.score for e in desk.memory.recall("npm package manager", scope={"project": "web"})]
    assert again == scores
    assert len(desk.memory.recall("uses npm", layers=("archive",), limit=50)) == 1
    assert len(desk.records()) == 1
    assert desk.memory.verify().events == 1
    admin = desk.who("root", "admin")
    assert desk.memory.export(desk.place.folder / "x", principal=admin).events == 1
    assert desk.memory.erase(subject="user:lin", principal=admin).counts["events"] == 1
    theirs = desk.memory.recall("uses npm", layers=("archive",), limit=50, principal=other)
    assert len(theirs) == 20


def test_an_unknown_tenant_is_empty_not_an_error_that_tells(desk: Desk) -> None:
    """Reading gives nothing, ids are not found, and no row is left behind."""
    nobody = Principal(tenant="nobody-" + desk.place.tenant, user="lin")
    assert len(desk.memory.recall("x", principal=nobody)) == 0
    assert desk.memory.list(principal=nobody) == []
    assert desk.memory.review(principal=nobody) == []
    with pytest.raises(NotFound):
        desk.memory.show("rec_x", principal=nobody)


def test_shared_threads_labels_are_ones_own(desk: Desk) -> None:
    """Two users' "main" are two threads, and neither can open the other's by its id."""
    ann = desk.memory.thread("main", principal=desk.who("ann"))
    bob = desk.memory.thread("main", principal=desk.who("bob"))
    assert ann.id != bob.id
    with pytest.raises(NotFound):
        desk.memory.append("x", thread=ann.id, principal=desk.who("bob"))
    assert desk.memory.append("x", thread=ann.id, principal=desk.who("ann")).seq == 1


def test_neighbours_stay_inside_ones_own_thread(desk: Desk) -> None:
    """A project fact found by a colleague brings no neighbouring turns along."""
    desk.say("MARKER before", thread="t")
    desk.remember("This project uses npm.", thread="t")
    desk.say("MARKER after", thread="t")
    bob = desk.who("bob")
    seen = desk.memory.recall(
        "npm MARKER", scope={"project": "web"}, layers=("records", "archive"), principal=bob
    )
    assert "MARKER" not in repr(seen.to_dict())
    assert len(seen) == 1
    mine = desk.memory.recall("MARKER npm", layers=("archive",), neighbours=2)
    assert "MARKER after" in repr(mine.to_dict()), "positive control"
