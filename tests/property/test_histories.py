"""A random history of verbs gives the same answers on SQLite and on PostgreSQL.

Ids count up, the clock moves only when told to, and both stores share a chain key, so that
every answer can be compared as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import muniment
from muniment import Memory, MunimentError, Principal
from muniment.clock import ManualClock
from muniment.ids import CountingIds
from muniment.recall.envelope import Envelope
from tests.contract.kit import NOW
from tests.support.postgres import Server

USERS = ("lin", "bob")
SCOPES: tuple[dict[str, str] | None, ...] = ({"project": "web"}, {"project": "blog"}, None)
SENTENCES = (
    "This project uses npm.",
    "This project uses pnpm.",
    "No, I was wrong: this project uses yarn.",
    "I prefer short answers.",
    "记住我喜欢详细的回答。",
    "在这个项目里，不允许修改数据库 schema。",
    "current production version: v2.4.1",
    "current production version: v2.5.0",
    "Remember that I am allergic to nuts.",
    "忘掉我喜欢详细的回答这件事。",
    "这次先不要跑测试。",
    "My colleague Jack is allergic to cats.",
)
QUESTIONS = ("which package manager", "回答该多长", "schema, allergic, production version")
PLACES: tuple[dict[str, str] | None, ...] = ({"project": "web"}, None)

_TENANTS = itertools.count(1)
_user, _scope = st.sampled_from(USERS), st.sampled_from(SCOPES)
_which = st.integers(0, 5)

STEPS = st.one_of(
    st.tuples(
        st.just("say"),
        _user,
        _scope,
        st.sampled_from(SENTENCES),
        st.sampled_from(["user", "user", "user", "tool", "assistant", "web"]),
        st.sampled_from([0, 0, 0, 1, 90]),
    ),
    st.tuples(st.just("guess"), _user, st.sampled_from(["npm", "pnpm", "yarn"])),
    st.tuples(st.just("schedule"), _user, st.sampled_from(["bun", "pnpm"]), st.integers(1, 5)),
    st.tuples(st.just("wait"), st.sampled_from([1, 30, 60 * 24, 60 * 24 * 8])),
    st.tuples(st.just("confirm"), _user, _which),
    st.tuples(st.just("reject"), _user, _which),
    st.tuples(st.just("revise"), _user, _which, st.sampled_from(["short", "pnpm", "v3"])),
    st.tuples(st.sampled_from(["mute", "unmute", "expire", "delete", "erase"]), _user, _which),
    st.tuples(st.just("erase_event"), _user, _which),
    st.tuples(st.just("erase_all"), _user),
    st.tuples(st.just("pause"), _user, st.booleans()),
    st.tuples(st.just("used"), _user, _which),
    st.tuples(st.just("tidy")),
    st.tuples(st.just("rebuild")),
)
Step = tuple[Any, ...]


class World:
    """One store with a history in the making."""

    def __init__(self, url: str, key_file: Path | None, tenant: str) -> None:
        self.tenant, self.clock = tenant, ManualClock(NOW)
        self.memory: Memory = muniment.open(
            url, key_file=key_file, clock=self.clock, ids=CountingIds(), principal=self.who("lin")
        )
        self.events: list[str] = []

    def who(self, user: str, channel: str = "user") -> Principal:
        return Principal(tenant=self.tenant, user=user, channel=channel)

    def take(self, step: Step) -> Any:
        """One step; what it answered, or the code of its error."""
        verb, *rest = step
        try:
            return getattr(self, f"_{verb}", self._forget(verb))(*rest)
        except MunimentError as error:
            return error.code

    def _say(
        self, user: str, scope: dict[str, str] | None, text: str, by: str, days_ago: int
    ) -> Any:
        who = self.who(user, "runtime")
        event = self.memory.append(
            text,
            by=by,
            thread=f"{user}-{scope and scope['project']}",
            scope=scope,
            at=self.clock.now() - timedelta(days=days_ago),
            principal=who,
            url="https://e.test" if by == "web" else None,
        )
        self.events.append(event.id)
        return [d.to_dict() for d in self.memory.remember(event=event, principal=who)]

    def _propose(self, user: str, by: str, text: str, **fields: Any) -> Any:
        who = self.who(user, "runtime")
        event = self.memory.append(
            text, by=by, thread=f"{user}-web", scope=SCOPES[0], principal=who
        )
        proposal = {
            "content": f"the project uses {fields['value']}",
            "kind": "fact",
            "predicate": "package_manager",
            "evidence": [event.id],
            **fields,
        }
        return [d.to_dict() for d in self.memory.propose(proposal, principal=who)]

    def _guess(self, user: str, value: str) -> Any:
        return self._propose(user, "assistant", f"I think the project uses {value}", value=value)

    def _schedule(self, user: str, value: str, days: int) -> Any:
        start = self.clock.now() + timedelta(days=days)
        text = f"Soon the project uses {value}"
        return self._propose(user, "user", text, value=value, valid_from=start.isoformat())

    def _wait(self, minutes: int) -> None:
        self.clock.advance(timedelta(minutes=minutes))

    def _held(self, user: str, which: int) -> Any:
        waiting = self.memory.review(principal=self.who(user))
        return waiting[which % len(waiting)] if waiting else None

    def _confirm(self, user: str, which: int) -> Any:
        if held := self._held(user, which):
            who = self.who(user)
            return self.memory.confirm(held.id, digest=held.digest, principal=who).to_dict()
        return None

    def _reject(self, user: str, which: int) -> Any:
        if held := self._held(user, which):
            return self.memory.reject(held.id, digest=held.digest, principal=self.who(user)).id
        return None

    def _record(self, user: str, which: int) -> Any:
        records = self.memory.list(principal=self.who(user))
        return records[which % len(records)] if records else None

    def _revise(self, user: str, which: int, value: str) -> Any:
        if record := self._record(user, which):
            return self.memory.revise(
                record.id, if_version=record.version, value=value, principal=self.who(user)
            )
        return None

    def _forget(self, verb: str) -> Any:
        def forget(user: str, which: int) -> Any:
            record = self._record(user, which)
            if record is None:
                return None
            if verb in ("delete", "erase"):
                act = getattr(self.memory, verb)
                return _told(act(record=record.id, principal=self.who(user)))
            return _told(getattr(self.memory, verb)(record.id, principal=self.who(user)))

        return forget

    def _erase_event(self, user: str, which: int) -> Any:
        if not self.events:
            return None
        event = self.events[which % len(self.events)]
        return _told(self.memory.erase(event=event, principal=self.who(user)))

    def _erase_all(self, user: str) -> Any:
        return _told(self.memory.erase(subject=f"user:{user}", principal=self.who(user)))

    def _pause(self, user: str, on: bool) -> Any:
        return self.memory.settings(pause=on, principal=self.who(user))

    def _used(self, user: str, which: int) -> None:
        if record := self._record(user, which):
            self.memory.used("turn_1", "cited", [record.id], principal=self.who(user))

    def _tidy(self) -> Any:
        done = self.memory.tidy()
        return {k: done[k] for k in ("lapsed", "expired", "promoted")}

    def _rebuild(self) -> Any:
        return self.memory.rebuild_index()

    # ------------------------------------------------------------ looking

    def answers(self) -> dict[str, Any]:
        """Everything a person can ask for, for each person."""
        out: dict[str, Any] = {}
        for user in USERS:
            who = self.who(user)
            records = self.memory.list(principal=who, limit=1000)
            out[f"{user} list"] = records
            out[f"{user} review"] = self.memory.review(principal=who)
            out[f"{user} profile"] = self.memory.profile(principal=who)
            for record in records:
                told = self.memory.history(record.id, principal=who)
                out[f"{user} history {record.id}"] = told
                out[f"{user} why {record.id}"] = self.memory.why(record.id, principal=who).to_dict()
            out |= {f"{user} {k}": v for k, v in self.recalls(user).items()}
        report = self.memory.verify()
        assert report.ok, report.first_bad
        out["verify"] = (report.events, report.erased)
        return out

    def recalls(self, user: str) -> dict[str, Any]:
        """What reading gives: envelopes with scores, turns, context blocks."""
        out: dict[str, Any] = {}
        who = self.who(user)
        for question, scope in itertools.product(QUESTIONS, PLACES):
            place = f"{question!r} in {scope}"
            layers = ("records", "archive")
            found = self.memory.recall(
                question, scope=scope, layers=layers, limit=50, principal=who
            )
            out[f"recall {place}"] = found.to_dict()
            composed = self.memory.context(question, scope=scope, principal=who)
            out[f"context {place}"] = composed.memory
        return out

    def broken_rules(self) -> list[str]:
        """Recalled though it should not be: muted, not current, not one's own."""
        out = []
        now = self.clock.now()
        for user, question, scope in itertools.product(USERS, QUESTIONS, PLACES):
            who = self.who(user)
            found = self.memory.recall(question, scope=scope, limit=50, principal=who)
            for envelope in found:
                record = self.memory.show(envelope.id, principal=who)
                assert not isinstance(record, muniment.Event)
                if not record.current_at(now):
                    out.append(f"{user} got {record.id}: {record.status}, muted {record.muted}")
                if record.scope.user not in (None, user):
                    out.append(f"{user} got {record.id} of {record.scope}")
                if scope and record.scope.project not in (None, scope["project"]):
                    out.append(f"{user} got {record.id} of {record.scope} in {scope}")
            out += _two_values(found.envelopes)
        return out


def _told(forgotten: Any) -> Any:
    return {k: v for k, v in forgotten.to_dict().items() if k not in ("pending", "complete")}


def _two_values(envelopes: tuple[Envelope, ...]) -> list[str]:
    """One value: the same subject, scope and condition never have two of one predicate."""
    seen: dict[tuple[str, ...], str] = {}
    out = []
    for e in envelopes:
        if e.predicate not in ("package_manager", "answer_length", "deployed_version"):
            continue
        key = (e.subject, e.predicate, str(sorted(e.scope.items())), str(e.condition))
        if key in seen:
            out.append(f"two current values of {key}: {seen[key]}, {e.id}")
        seen[key] = e.id
    return out


@pytest.fixture(scope="module")
def stores(
    postgres_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """A PostgreSQL database, and the key both stores use."""
    url = postgres_server.fresh_database()
    yield url, tmp_path_factory.mktemp("keys") / "chain.key"
    postgres_server.drop_database(url)


def _play(world: World, steps: list[Step]) -> list[Any]:
    return [world.take(step) for step in steps]


@pytest.mark.postgres
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
@given(st.lists(STEPS, min_size=1, max_size=12))
def test_both_stores_give_the_same_answers(stores: tuple[str, Path], steps: list[Step]) -> None:
    """Step by step and in everything one can ask afterwards, scores and bytes included."""
    url, key_file = stores
    tenant = f"history-{next(_TENANTS)}"
    here, there = World("sqlite://", key_file, tenant), World(url, key_file, tenant)
    try:
        for number, step in enumerate(steps):
            assert here.take(step) == there.take(step), (number, step)
        left, right = here.answers(), there.answers()
        for name in left:
            assert left[name] == right[name], name
        assert left.keys() == right.keys()
    finally:
        here.memory.close()
        there.memory.close()


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
@given(st.lists(STEPS, min_size=2, max_size=14))
def test_what_holds_after_any_history(steps: list[Step]) -> None:
    """Only current, unmuted, permitted records and one value; rebuilt, the index says the same;
    another tenant's data moves nothing."""
    world = World("sqlite://", None, "mine")
    try:
        _play(world, steps)
        assert world.broken_rules() == []
        before = world.answers()
        world.memory.rebuild_index()
        after = world.answers()
        for name in before:
            assert after[name] == before[name], f"rebuilt: {name}"
        other = Principal(tenant="other", user="lin", channel="runtime")
        for text in SENTENCES:
            world.memory.remember(text * 2, scope=SCOPES[0], thread="x", principal=other)
        world.memory.rebuild_index(principal=other)
        for user in USERS:
            for name, told in world.recalls(user).items():
                assert told == before[f"{user} {name}"], f"beside another tenant: {name}"
    finally:
        world.memory.close()


def test_the_comparison_notices_a_difference(tmp_path: Path) -> None:
    """The broken twin: a store that misses one step answers differently until it has caught up.

    Both are asked at the same points of their histories: noting a read takes ids from the counter.
    """
    key = tmp_path / "chain.key"
    whole, lossy = World("sqlite://", key, "t"), World("sqlite://", key, "t")
    steps: list[Step] = [
        ("say", "lin", SCOPES[0], SENTENCES[0], "user", 0),
        ("wait", 1),
        ("say", "lin", SCOPES[0], SENTENCES[1], "user", 0),
    ]
    _play(whole, steps[:2])
    _play(lossy, steps[:2])
    missing = lossy.answers()
    assert whole.answers() == missing
    _play(whole, steps[2:])
    assert (told := whole.answers()) != missing
    _play(lossy, steps[2:])
    assert lossy.answers() == told
    whole.memory.close()
    lossy.memory.close()
