"""A call of a tool happens once: under its key, whoever asks, however often, whoever dies."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from muniment import AsyncMemory, Conflict, InvalidInput, Memory, NotAllowed, NotFound
from muniment.threads.ledger import CallStatus
from tests.contract.kit import DAY, Desk, Place

ROOT = Path(__file__).parents[2]
MINUTE = timedelta(minutes=1)
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def begin(desk: Desk, **more: Any) -> Any:
    """One and the same call, by whoever is named."""
    given = {"key": "k", "name": "push", "args": {"to": "main"}, "observe": "git ls-remote"}
    return desk.memory.threads.begin("task", **{**given, **more})


def refused(error: type[Exception], work: Any) -> str:
    """The code with which it is refused."""
    with pytest.raises(error) as raised:
        work()
    return str(getattr(raised.value, "code", ""))


def test_the_same_key_gives_what_was_recorded(desk: Desk) -> None:
    """At once, from another worker, and ninety days later; saying it twice is fine."""
    call = begin(desk)
    assert call.to_run
    done = desk.memory.threads.done("task", call, {"sha": "a1b2c3"})
    assert desk.memory.threads.done("task", "k", {"sha": "a1b2c3"}) == done
    desk.wait(90 * DAY)
    for again in (begin(desk), begin(desk, worker="other"), begin(desk, retry=True)):
        assert (again.status, again.result) == (CallStatus.DONE, {"sha": "a1b2c3"})
        assert not again.to_run


def test_it_is_there_when_the_store_is_opened_again(durable_desk: Desk) -> None:
    """The ledger outlives the process."""
    durable_desk.memory.threads.done("task", begin(durable_desk), [1, 2])
    durable_desk.reopen()
    assert begin(durable_desk).result == [1, 2]


def test_a_failure_is_recorded_and_may_be_tried_again(desk: Desk) -> None:
    """Not by itself; the error stays until somebody begins anew."""
    threads = desk.memory.threads
    threads.failed("task", begin(desk), "no network")
    found = begin(desk)
    assert (found.status, found.error, found.to_run) == (CallStatus.FAILED, "no network", False)
    again = begin(desk, retry=True)
    assert (again.to_run, again.attempt, again.error) == (True, 2, None)
    assert threads.done("task", again, "pushed").result == "pushed"


@pytest.mark.parametrize("change", [{"name": "pull"}, {"args": {"to": "dev"}}, {"args": None}])
def test_a_key_stands_for_one_call(desk: Desk, change: dict[str, Any]) -> None:
    """Another tool or other arguments under it are a conflict; the order of keys is none."""
    begin(desk, args={"to": "main", "n": 1})
    begin(desk, args={"n": 1, "to": "main"}, worker="w")
    assert refused(Conflict, lambda: begin(desk, **change)) == "tool.key_reused"


def test_arguments_are_never_stored(desk: Desk) -> None:
    """Not even their words: only whether they are the same."""
    begin(desk, args={"text": "wombatmarker"})
    assert begin(desk, args={"text": "wombatmarker"}).status is CallStatus.RUNNING
    with desk.memory._parts.store.backend.reading(desk.place.tenant) as conn:
        for table in ("tool_calls", "trail", "events"):
            rows = conn.exec_driver_sql(f"SELECT * FROM {table}").all()
            assert "wombatmarker" not in repr(rows)


def test_a_live_lease_keeps_others_away_and_then_the_call_is_unknown(desk: Desk) -> None:
    """Never run again by itself: somebody observes and settles it, or says retry."""
    begin(desk, worker="anna", lease=60)
    assert begin(desk, worker="bo").status is CallStatus.RUNNING
    assert begin(desk, worker="bo", retry=True).status is CallStatus.RUNNING
    desk.wait(MINUTE)
    lost = begin(desk, worker="bo")
    assert (lost.status, lost.observe) == (CallStatus.UNKNOWN, "git ls-remote")
    settled = desk.memory.threads.done("task", "k", "was there", worker="bo")
    assert settled.status is CallStatus.DONE
    assert begin(desk, worker="anna").result == "was there"


def test_a_worker_that_comes_back_by_name_does_not_wait_for_its_lease(desk: Desk) -> None:
    """It knows best that it is not running the call; one without a name cannot be told apart."""
    begin(desk, worker="anna", lease=DAY)
    assert begin(desk, worker="anna").status is CallStatus.UNKNOWN
    assert begin(desk, worker="anna", retry=True).attempt == 2
    assert begin(desk, key="k2").to_run
    assert begin(desk, key="k2").status is CallStatus.RUNNING


def test_a_process_that_died_without_a_name_leaves_its_lease(durable_desk: Desk) -> None:
    """The next one waits it out, then the call is unknown."""
    begin(durable_desk)
    durable_desk.reopen()
    assert begin(durable_desk).status is CallStatus.RUNNING
    durable_desk.wait(5 * MINUTE)
    assert begin(durable_desk).status is CallStatus.UNKNOWN


def test_a_late_worker_is_refused(desk: Desk) -> None:
    """It lost its lease and another began again: its outcome is not that of the call."""
    threads = desk.memory.threads
    late = begin(desk, worker="anna", lease=60)
    desk.wait(MINUTE)
    mine = begin(desk, worker="bo", retry=True)
    assert refused(Conflict, lambda: threads.done("task", late, "mine")) == "tool.not_yours"
    anna = {"worker": "anna"}
    assert refused(Conflict, lambda: threads.done("task", "k", 1, **anna)) == "tool.not_yours"
    threads.done("task", mine, "bo's")
    assert refused(Conflict, lambda: threads.done("task", late, "mine")) == "tool.settled"
    assert refused(Conflict, lambda: threads.failed("task", late, "x")) == "tool.settled"
    assert threads.done("task", late, "bo's").result == "bo's", "the same outcome does no harm"
    assert begin(desk).result == "bo's"


def test_a_worker_whose_lease_ran_out_unnoticed_may_still_settle(desk: Desk) -> None:
    """Nobody has taken the call up meanwhile: its outcome is the best there is."""
    call = begin(desk, lease=60)
    desk.wait(DAY)
    assert desk.memory.threads.done("task", call, "late").result == "late"


def test_only_what_was_begun_can_be_settled(desk: Desk) -> None:
    """Another key, another thread."""
    threads = desk.memory.threads
    call = begin(desk)
    assert refused(NotFound, lambda: threads.done("task", "other", 1)) == "tool.not_found"
    assert refused(NotFound, lambda: threads.done("elsewhere", call, 1)) == "tool.not_found"


def test_the_same_key_in_another_thread_is_another_call(desk: Desk) -> None:
    """And another person's threads are nobody else's."""
    threads = desk.memory.threads
    threads.done("task", begin(desk), 1)
    assert threads.begin("second", "k", "push", {"to": "main"}).to_run
    bob = desk.who("bob")
    assert threads.begin("task", "k", "push", principal=bob).to_run, "bob's own `task`"
    thread = threads.calls("task")[0].thread
    work = lambda: threads.begin(thread, "k", "push", principal=bob)  # noqa: E731
    assert refused(NotFound, work) == "thread.not_found"


@pytest.mark.parametrize("channel", ["import", "job"])
def test_only_those_who_act_begin_calls(desk: Desk, channel: str) -> None:
    """An agent does; an import or a job has no tools."""
    assert begin(desk, principal=desk.who(channel="agent")).to_run
    work = lambda: begin(desk, principal=desk.who(channel=channel))  # noqa: E731
    assert refused(NotAllowed, work) == "tool.channel"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"key": ""}, "id.invalid"),
        ({"key": None}, "id.invalid"),
        ({"name": " x"}, "id.invalid"),
        ({"args": {1, 2}}, "args.invalid"),
        ({"args": float("nan")}, "args.invalid"),
        ({"args": "\ud800"}, "args.invalid"),
        ({"args": "x" * (8 * 1024 * 1024)}, "args.too_large"),
        ({"worker": 7}, "id.invalid"),
        ({"lease": -1}, "lease.invalid"),
        ({"lease": 10**9}, "lease.invalid"),
        ({"observe": ""}, "text.empty"),
        ({"retry": "yes"}, "retry.invalid"),
        ({"wait": 601}, "wait.invalid"),
        ({"wait": "5"}, "wait.invalid"),
        ({"step": ""}, "id.invalid"),
    ],
)
def test_what_is_wrong_is_named(desk: Desk, wrong: dict[str, Any], code: str) -> None:
    """And nothing is begun."""
    assert refused(InvalidInput, lambda: begin(desk, **wrong)) == code
    assert begin(desk).to_run


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (object(), "result.invalid"),
        ({"$blob": "x"}, "result.invalid"),
        ("x" * (8 * 1024 * 1024), "result.too_large"),
    ],
)
def test_a_wrong_result_settles_nothing(desk: Desk, result: object, code: str) -> None:
    """The call stays begun."""
    call = begin(desk)
    assert refused(InvalidInput, lambda: desk.memory.threads.done("task", call, result)) == code
    work = lambda: desk.memory.threads.done("task", "k", 1, attempt=0)  # noqa: E731
    assert refused(InvalidInput, work) == "attempt.invalid"
    assert desk.memory.threads.done("task", call, None).status is CallStatus.DONE


def test_secrets_do_not_reach_the_ledger(desk: Desk) -> None:
    """A result, an error, a way to observe: each without the credential in it."""
    threads = desk.memory.threads
    call = begin(desk, observe=f"curl -H 'Authorization: {SECRET}'")
    result = threads.done("task", call, {"token": SECRET, "ok": True})
    failed = threads.failed("task", begin(desk, key="k2"), f"bad token {SECRET}")
    for text in (call.observe, str(result.result), failed.error):
        assert "[secret:" in text and SECRET not in text
    assert result.result["ok"] is True
    assert threads.done("task", "k", {"token": SECRET, "ok": True}) == result, "still the same"


def test_large_results_are_kept_apart_and_given_whole(desk: Desk) -> None:
    """One copy however often it is said; listed by name, and gone with the thread."""
    threads = desk.memory.threads
    large = {"lines": ["wombat"] * 20_000}
    for key in ("k", "k2"):
        assert threads.done("task", begin(desk, key=key), large).result == large
    assert begin(desk).result == large
    assert threads.done("task", "k", large).result == large
    assert [set(c.result) for c in threads.calls("task")] == [{"$blob", "type", "size"}] * 2
    assert _count(desk, "blobs") == 1
    threads.delete("task")
    assert (_count(desk, "blobs"), _count(desk, "tool_calls")) == (0, 0)


def test_the_ledger_lists_what_stands_how(desk: Desk) -> None:
    """Oldest first, as of now."""
    threads = desk.memory.threads
    for number, key in enumerate(("a", "b", "c", "d")):
        call = begin(desk, key=key, lease=60 + number * 3600, run="r1", step=number)
        desk.wait(MINUTE)
        if key == "a":
            threads.done("task", call, 1)
        elif key == "b":
            threads.failed("task", call, "no")
    desk.wait(timedelta(hours=2, minutes=30))
    found = [(c.key, str(c.status)) for c in threads.calls("task")]
    assert found == [("a", "done"), ("b", "failed"), ("c", "unknown"), ("d", "running")]
    assert [c.key for c in threads.calls("task", limit=2)] == ["c", "d"]
    assert [(c.run, c.step) for c in threads.calls("task")][3] == ("r1", "3")
    assert refused(InvalidInput, lambda: threads.calls("task", limit=0)) == "limit.invalid"


def test_every_begin_and_end_is_in_the_trail(desk: Desk) -> None:
    """By a digest of the key: keys may hold words."""
    desk.memory.threads.done("task", begin(desk, key="wombat key"), 1)
    begin(desk, key="wombat key")
    entries = [e for a, e in desk.trail() if a.startswith("tool_")]
    assert len(entries) == 2
    assert "wombat" not in repr(entries)


def _count(desk: Desk, table: str) -> int:
    with desk.memory._parts.store.backend.reading(desk.place.tenant) as conn:
        where = f"tenant_id = '{desk.place.tenant}'"
        return int(conn.exec_driver_sql(f"SELECT count(*) FROM {table} WHERE {where}").scalar())


# ---------------------------------------------------------------- races


def test_of_many_threads_with_one_key_one_runs_and_the_others_wait(desk: Desk) -> None:
    """Every one of them gets the one result, and the tool ran once."""
    ran: list[int] = []
    start = threading.Barrier(8)

    def act(number: int) -> Any:
        start.wait()
        call = begin(desk, wait=20)
        if call.to_run:
            ran.append(number)
            call = desk.memory.threads.done("task", call, {"by": number})
        return call.result

    results: list[Any] = [None] * 8

    def run(number: int) -> None:
        try:
            results[number] = act(number)
        except Exception as error:
            results[number] = error

    workers = [threading.Thread(target=run, args=(n,)) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(ran) == 1
    assert results == [{"by": ran[0]}] * 8


def test_whoever_does_not_wait_is_told(desk: Desk) -> None:
    """And who waits in vain is told the same, after that time."""
    begin(desk)
    assert begin(desk).status is CallStatus.RUNNING
    assert begin(desk, wait=0.1).status is CallStatus.RUNNING


WORKER = """
import pathlib, sys, time, muniment
url, key_file, tenant, side, start, number = sys.argv[1:]
who = {"tenant": tenant, "user": "lin", "channel": "runtime"}
with muniment.open(url, key_file=key_file or None, principal=who) as memory:
    pathlib.Path(start + number).touch()
    while not pathlib.Path(start).exists():
        time.sleep(0.001)
    call = memory.threads.begin("task", "k", "append", wait=30)
    if call.to_run:
        with open(side, "a") as file:
            file.write(number)
        time.sleep(0.2)
        call = memory.threads.done("task", call, number)
    print(call.result)
"""


def test_of_two_processes_with_one_key_one_runs_and_the_other_gets_it(
    durable_place: Place, tmp_path: Path
) -> None:
    """The tool's effect is there once, and both know its result."""
    durable_place.open().close()
    side, start = tmp_path / "side", tmp_path / "start"
    key_file = str(durable_place.key_file or "")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    common = [durable_place.url, key_file, durable_place.tenant, str(side), str(start)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, *common, str(number)],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in (1, 2)
    ]
    ready = [start.with_name(f"start{n}") for n in (1, 2)]
    while not all(p.exists() for p in ready):
        assert all(p.poll() is None for p in running), running[0].communicate()
    start.touch()
    answers = []
    for process in running:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err[-2000:]
        answers.append(out.strip())
    assert side.read_text() in ("1", "2")
    assert answers == [side.read_text()] * 2


def test_waiting_does_not_hold_up_the_one_who_is_waited_for(desk: Desk) -> None:
    """Not in async code either, where all writes share one thread."""

    async def main(memory: Memory) -> list[Any]:
        twin = AsyncMemory(memory)
        first = await twin.threads.begin("task", "k", "push")
        waiting = asyncio.create_task(twin.threads.begin("task", "k", "push", wait=20))
        await asyncio.sleep(0.1)
        await twin.threads.done("task", first, "sent")
        return [first.status, (await waiting).result]

    assert asyncio.run(main(desk.memory)) == [CallStatus.BEGUN, "sent"]


def test_other_writers_see_each_call_begun_once(desk: Desk) -> None:
    """Forty calls over eight threads, each asked for by all of them."""
    ran: Counter[str] = Counter()
    lock = threading.Lock()

    def run() -> None:
        for number in range(40):
            call = begin(desk, key=f"k{number}")
            if call.to_run:
                with lock:
                    ran[call.key] += 1
                desk.memory.threads.done("task", call, number)

    workers = [threading.Thread(target=run) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert ran == Counter({f"k{n}": 1 for n in range(40)})
    assert {c.status for c in desk.memory.threads.calls("task")} == {CallStatus.DONE}
    assert desk.memory.verify().ok


# ---------------------------------------------------------------- tampering, copies, erasure

LARGE = {"lines": ["wombat"] * 20_000}


def _ledger(desk: Desk) -> None:
    """A call that is done, one with a large result, one begun, an approval."""
    threads = desk.memory.threads
    threads.done("task", begin(desk), {"sha": "a1b2c3"})
    threads.done("task", begin(desk, key="large"), LARGE)
    begin(desk, key="open")
    threads.approve("task", "push", {"do": "push"}, until=DAY)
    threads.approve("task", "second", {"do": "pull"})
    threads.revoke("task", "second")


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("UPDATE tool_calls SET result = '{\"sha\":\"ffffff\"}' WHERE key = 'k'", "tool_calls"),
        ("UPDATE tool_calls SET result = 'no json' WHERE key = 'k'", "tool_calls"),
        ("UPDATE tool_calls SET status = 'begun' WHERE key = 'k'", "tool_calls"),
        ("UPDATE tool_calls SET status = 'won' WHERE key = 'k'", "tool_calls"),
        ("UPDATE tool_calls SET key = 'other' WHERE key = 'open'", "tool_calls"),
        ("DELETE FROM tool_calls WHERE key = 'open'", "tool_calls"),
        ("UPDATE approvals SET until = until + 1 WHERE name = 'push'", "approvals"),
        ("UPDATE approvals SET revoked_at = NULL", "approvals"),
        ("UPDATE approvals SET what = '{}' WHERE name = 'push'", "approvals"),
        ("DELETE FROM approvals WHERE name = 'second'", "approvals"),
        ("UPDATE blobs SET type = 'x'", "blobs"),
    ],
)
def test_what_was_changed_behind_its_back_is_found(
    durable_desk: Desk, statement: str, table: str
) -> None:
    """Each row is sealed in the trail, each large value named by its bytes."""
    _ledger(durable_desk)
    report = durable_desk.memory.verify()
    assert report.ok, report.first_bad
    where = f"tenant_id = '{durable_desk.place.tenant}'"
    joined = " AND " if " WHERE " in statement else " WHERE "
    durable_desk.place.run(statement + joined + where)
    report = durable_desk.memory.verify()
    assert not report.ok
    assert report.first_bad is not None and report.first_bad["table"] == table


def test_a_fork_and_a_copy_repeat_nothing_and_verify(desk: Desk) -> None:
    """Settled calls come along with their results; approvals and open calls do not."""
    threads = desk.memory.threads
    _ledger(desk)
    threads.checkpoint("task", {"goal": "x"})
    for to, verb in (("copied", threads.copy), ("forked", threads.fork)):
        verb("task", to)
        again = threads.begin(to, "k", "push", {"to": "main"})
        assert again.result == {"sha": "a1b2c3"}
        assert threads.begin(to, "large", "push", {"to": "main"}).result == LARGE
        assert threads.begin(to, "open", "push", {"to": "main"}).to_run
        assert threads.approvals(to) == []
    report = desk.memory.verify()
    assert report.ok, report.first_bad
    threads.delete("task")
    assert threads.begin("forked", "large", "push", {"to": "main"}).result == LARGE
    assert refused(NotFound, lambda: begin(desk)) == "thread.deleted"
    assert desk.memory.verify().ok


def test_erasing_an_event_takes_its_words_out_of_results(desk: Desk) -> None:
    """Small and large, an error, an approval; the calls stay, so that nothing is done again."""
    threads, marker = desk.memory.threads, "the wombat lives at 5 Elm Street"
    said = desk.say(marker, thread="task", scope=None)
    threads.checkpoint("task", {"data": {"notes": [marker] * 3000}, "goal": "keep"})
    threads.done("task", begin(desk), {"read": marker})
    threads.done("task", begin(desk, key="large"), [marker] * 3000)
    threads.failed("task", begin(desk, key="failed"), f"cannot send: {marker}")
    threads.done("task", begin(desk, key="other"), "kept")
    threads.approve("task", "send", {"text": marker})
    threads.approve("task", "push", {"do": "push"})
    assert marker in _everything(desk)
    plan = desk.memory.erase(event=said.id, dry_run=True)
    report = desk.memory.erase(event=said.id)
    assert plan.counts == report.counts
    assert (report.counts["calls_emptied"], report.counts["approvals"]) == (3, 1)
    assert report.counts["events"] == 2, "what was said, and the approval of it"
    assert marker not in _everything(desk)
    for key in ("k", "large"):
        assert begin(desk, key=key).result == {"erased": True}
    assert begin(desk, key="failed").status is CallStatus.FAILED
    assert begin(desk, key="other").result == "kept"
    assert [c.approval.name for c in threads.approvals("task")] == ["push"]
    assert threads.state("task").state["goal"] == "keep"
    assert desk.memory.verify().ok


def test_equal_words_in_anothers_thread_are_theirs(desk: Desk) -> None:
    """Lin erases what she said; what Bob's tools answered, and Bob approved, stays."""
    threads, marker, bob = desk.memory.threads, "meet me at the old mill", desk.who("bob")
    said = desk.say(marker, thread="task", scope=None)
    for who in (desk.who(), bob):
        threads.done("task", begin(desk, principal=who), marker, principal=who)
        threads.approve("task", "send", marker, principal=who)
        threads.checkpoint("task", {"goal": marker}, principal=who)
    desk.memory.erase(event=said.id)
    assert begin(desk).result == {"erased": True}
    assert threads.approvals("task") == []
    assert "goal" not in threads.state("task").state
    assert begin(desk, principal=bob).result == marker
    assert len(threads.approvals("task", principal=bob)) == 1
    assert threads.state("task", principal=bob).state["goal"] == marker
    assert desk.memory.verify().ok


def _everything(desk: Desk) -> str:
    tables = ("tool_calls", "blobs", "approvals", "checkpoints", "thread_state", "events")
    with desk.memory._parts.store.backend.reading(desk.place.tenant) as conn:
        where = f"tenant_id = '{desk.place.tenant}'"
        rows = [conn.exec_driver_sql(f"SELECT * FROM {t} WHERE {where}").all() for t in tables]
    return repr(
        [[bytes(v) if isinstance(v, memoryview) else v for v in r] for t in rows for r in t]
    )
