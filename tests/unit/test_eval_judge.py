"""What came of a turn beside what should have: judged by hand; and broken twins of a write path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from muniment.evals.judge import InForce, Judged, Outcome, Seen, judge, paired
from muniment.evals.labels import ANY, Expected, Said, Turn, load
from muniment.evals.tally import confusion, share, summary_of
from muniment.events.message import Message
from muniment.scope import Scope
from tests.support.labelled import TURNS

LIN = Scope(user="lin")
APP = Scope(project="web-app")


def turn(*expect: Expected, group: str = "change", secret: str | None = None) -> Turn:
    """A turn of lin's; what is said does not matter here."""
    return Turn(
        id="t",
        group=group,
        language="en",
        place=Scope(user="lin", project="web-app"),
        said=datetime.fromisoformat("2026-09-01T09:00:00+08:00"),
        say=Said(Message("user", "…")),
        expect=expect,
        secret=secret,
    )


def seen(action: str = "activate", content: str = "uses pnpm", **more: Any) -> Seen:
    """A decision; one to keep has made a record."""
    made = {"record": f"r-{content}", "made": True} if action == "activate" else {}
    base = Seen(action, content, "fact", "user_stated", APP, "project:web-app", **made)
    return replace(base, **more)


def outcome(*decisions: Seen, before: Sequence[InForce] = (), **more: Any) -> Outcome:
    """What came of it: the records are in force."""
    made = [InForce(s.record, s.content, s.scope) for s in decisions if s.record]
    return Outcome(decisions, tuple(before), more.pop("after", (*before, *made)), **more)


PNPM = Expected("activate", "pnpm", stated={"kind": "fact", "scope": APP, "until": None})


def test_what_is_right_has_no_fault() -> None:
    """The record that was expected, and nothing more than was ignored."""
    found = judge(turn(PNPM), outcome(seen(), seen("ignore", "hello")))
    assert found.faults == () and found.units == (("activate", "activate"),)
    assert found.fields == {"kind": (1, 1), "scope": (1, 1), "until": (1, 1)}
    assert (found.made, found.twice, found.leaked, found.misattributed) == (1, 0, None, None)


@pytest.mark.parametrize(
    ("decisions", "units", "fault"),
    [
        ((), [("activate", "ignore")], "expected activate 'pnpm', seen nothing"),
        (
            (seen("hold"),),
            [("activate", "hold")],
            "expected activate 'pnpm', seen hold 'uses pnpm'",
        ),
        (
            (seen(content="uses yarn"),),
            [("activate", "ignore"), ("ignore", "activate")],
            "expected nothing more, seen activate 'uses yarn'",
        ),
        ((seen("refuse", ""),), [("activate", "refuse")], "expected activate 'pnpm', seen refuse"),
        ((seen(kind="rule"),), [("activate", "activate")], "kind: expected fact, seen rule"),
        (
            (seen(scope=LIN),),
            [("activate", "activate")],
            "scope: expected {'project': 'web-app'}, seen {'user': 'lin'}",
        ),
        (
            (seen(), seen(content="pnpm, again", record="r-2")),
            [("activate", "activate"), ("ignore", "activate")],
            "said twice: 'pnpm, again'",
        ),
    ],
)
def test_every_fault_is_told(
    decisions: tuple[Seen, ...], units: list[tuple[str, str]], fault: str
) -> None:
    """Nothing, another action, another thing, another field, one too many."""
    found = judge(turn(PNPM), outcome(*decisions))
    assert list(found.units) == units
    assert any(fault in told for told in found.faults), found.faults


def test_pairs_are_one_to_one_and_as_many_as_can_be() -> None:
    """The first label would fit both decisions, the second only one of them."""
    entries = [Expected("activate", "pnpm"), Expected("activate", "pnpm 9")]
    assert paired(entries, [seen(content="pnpm 9"), seen(content="pnpm")]) == {0: 1, 1: 0}
    assert paired(entries, [seen(content="pnpm 9")]) == {0: 0}
    held = [seen("hold", "pnpm 9"), seen("activate", "pnpm")]
    assert paired([Expected("activate", "pnpm"), Expected("hold", "pnpm")], held) == {0: 1, 1: 0}


def test_words_are_compared_as_people_read_them() -> None:
    """Case, width and white space aside."""
    assert paired([Expected("activate", "PNPM  9")], [seen(content="uses ｐｎｐｍ 9")]) == {0: 0}


@pytest.mark.parametrize(
    ("wanted", "end", "right"),
    [
        (None, None, 1),
        (None, "2026-09-30T16:00:00+00:00", 0),
        (ANY, "2026-09-30T16:00:00+00:00", 1),
        (ANY, None, 0),
        (date(2026, 9, 30), "2026-09-30T16:00:00+00:00", 1),  # midnight of that place
        (date(2026, 9, 30), "2026-09-30T15:00:00+00:00", 1),
        (date(2026, 9, 30), "2026-09-30T16:00:01+00:00", 0),
        (date(2026, 9, 30), None, 0),
    ],
)
def test_the_last_day_is_that_of_the_place(wanted: Any, end: str | None, right: int) -> None:
    """An end is the first instant at which it no longer holds."""
    label = Expected("activate", "pnpm", stated={"until": wanted})
    until = datetime.fromisoformat(end).astimezone(UTC) if end else None
    assert judge(turn(label), outcome(seen(end=until))).fields["until"] == (right, 1)


def test_what_is_replaced_is_in_force_no_longer_or_asked_about() -> None:
    """Else it is missed; and never there where nothing was kept before."""
    label = replace(PNPM, replaces="npm 6")
    old = InForce("r-1", "uses npm 6", APP)
    gone = judge(turn(label), outcome(seen(), before=[old], after=(InForce("r", "pnpm", APP),)))
    asked = judge(turn(label), outcome(seen("hold", asks=True), before=[old]))
    stays = judge(turn(label), outcome(seen(), before=[old]))
    never = judge(turn(label), outcome(seen()))
    found = [j.replaced for j in (gone, asked, stays, never)]
    assert found == [(1, 1, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1)]
    assert "still in force: 'npm 6'" in stays.faults and "never kept: 'npm 6'" in never.faults
    assert gone.faults == ()


def test_somebody_elses_words_are_not_the_speakers() -> None:
    """Held under the speaker's name: an error; under another's: none."""
    label = Expected("hold", "pnpm")
    wrong, right = (
        judge(turn(label, group="third_person"), outcome(seen("hold", subject=subject)))
        for subject in ("user:lin", "person:jack")
    )
    assert (wrong.misattributed, right.misattributed) == (True, False) and right.faults == ()


def test_a_secret_that_is_found_is_told_without_it() -> None:
    """The mistakes can be shown to anybody."""
    label = Expected("refuse")
    leaky = outcome(seen(content="it is hunter2"), leaks=("record", "export"))
    found = judge(turn(label, secret="hunter2"), leaky)
    assert found.leaked is True and "the secret is in record" in found.faults
    assert "hunter2" not in str(found.faults) and "[secret]" in str(found.faults)
    assert judge(turn(label, secret="hunter2"), outcome(seen("refuse", ""))).leaked is False
    odd = "hun\\ter'\"2"  # shown in quotes it looks otherwise
    escaped = judge(turn(label, secret=odd), outcome(seen(content=odd), leaks=("record",)))
    assert all("hun" not in fault for fault in escaped.faults)
    assert any("[secret]" in fault for fault in escaped.faults)


# ---------------------------------------------------------------- what it comes to


def ideal(labelled: Turn) -> Outcome:
    """What should come of a turn."""
    return outcome(
        *(
            seen(
                e.action,
                e.about or "",
                kind=e.stated.get("kind", "fact"),
                scope=e.stated.get("scope", APP),
                subject="person:x",
                end=datetime(2026, 9, 3, 5, tzinfo=UTC) if e.stated.get("until") else None,
            )
            for e in labelled.expect
        ),
        before=[InForce("old", e.replaces, APP) for e in labelled.expect if e.replaces],
        after=[InForce(f"r-{e.about}", e.about, APP) for e in labelled.expect if e.about],
    )


def everything(labelled: Turn) -> Outcome:
    """A write path that keeps whatever is said."""
    return outcome(seen(content=labelled.say.message.text))


def nothing(labelled: Turn) -> Outcome:
    """A write path that keeps nothing."""
    return outcome()


def tallied(came: Any, turns: Sequence[Turn], played: Sequence[Turn] | None = None) -> Any:
    """The shares over all turns; ``played`` are those whose outcome each one gets."""
    pairs = zip(turns, played or turns, strict=True)
    return summary_of([judge(t, came(p)) for t, p in pairs])["all"]["shares"]


def test_broken_write_paths_score_badly() -> None:
    """The ideal one is right everywhere; each twin falls where it is broken."""
    turns = load([TURNS]).turns
    sound = tallied(ideal, turns)
    rates = ("turns right", "activate precision", "activate recall", "ignore recall")
    assert [sound[r]["share"] for r in rates] == [1, 1, 1, 1]
    greedy = tallied(everything, turns)
    assert greedy["activate precision"]["share"] < 0.5 and greedy["ignore recall"]["share"] == 0
    assert greedy["kept in passing"]["share"] == 1 and greedy["hold recall"]["share"] == 0
    idle = tallied(nothing, turns)
    assert idle["activate recall"]["share"] == 0 and idle["activate precision"]["of"] == 0
    assert idle["ignore recall"]["share"] == 1 and idle["ignore precision"]["share"] < 0.5
    shuffled = tallied(ideal, turns, [*turns[1:], turns[0]])
    assert shuffled["turns right"]["share"] < 0.5 and shuffled["activate recall"]["share"] == 0


def test_shares_are_counted_by_hand() -> None:
    """Three turns: one right, one kept that is nothing, one missed."""
    judged: list[Judged] = [
        judge(turn(PNPM), outcome(seen())),
        replace(judge(turn(group="small_talk"), outcome(seen())), language="zh"),
        judge(turn(PNPM), outcome()),
    ]
    summary = summary_of(judged)
    assert list(summary) == ["all", "lang en", "lang zh", "group change", "group small_talk"]
    shares = summary["all"]["shares"]
    counted = {n: (s["count"], s["of"]) for n, s in shares.items() if s["of"]}
    assert counted == {
        "turns right": (1, 3),
        "activate precision": (1, 2),
        "ignore precision": (0, 1),
        "activate recall": (1, 2),
        "ignore recall": (0, 1),
        "kind right": (1, 1),
        "scope right": (1, 1),
        "until right": (1, 1),
        "duplicates": (0, 2),
        "kept in passing": (1, 1),
    }
    found = confusion(judged)
    assert found["activate"]["activate"] == found["activate"]["ignore"] == 1
    assert found["ignore"]["activate"] == 1 and sum(sum(r.values()) for r in found.values()) == 3
    assert share(0, 0) == {"count": 0, "of": 0, "share": None, "low": None, "high": None}
