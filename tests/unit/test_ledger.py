"""The state machine of a tool call, by itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment import Conflict, InvalidInput
from muniment.threads.ledger import (
    Begun,
    CallStatus,
    Outcome,
    Request,
    ToolCall,
    Worker,
    as_seen,
    begin,
    lease_of,
    settle,
)

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ANNA, BO = Worker("anna"), Worker("bo")
DONE = Outcome(CallStatus.DONE, {"id": 7})


def ask(worker: Worker = ANNA, **changes: Any) -> Request:
    """A request for the same call by that worker."""
    fields = {"thread": "t", "key": "k", "name": "push", "args_digest": "d", "observe": "git log"}
    return Request(**{**fields, "worker": worker, "lease": 5 * MINUTE, **changes})


def begun(worker: Worker = ANNA, **changes: Any) -> ToolCall:
    """A call that worker has begun at `NOW`."""
    return replace(begin(None, ask(worker), NOW).call, **changes)


def code(error: pytest.ExceptionInfo[Any]) -> str:
    """The code of a typed error."""
    return str(error.value.code)


def test_a_new_key_is_run_by_who_asked() -> None:
    """Written as begun, with the lease and the first attempt."""
    answer = begin(None, ask(), NOW)
    assert answer.write and answer.call.to_run
    assert (answer.call.attempt, answer.call.lease_until) == (1, NOW + 5 * MINUTE)


@pytest.mark.parametrize("status", [CallStatus.DONE, CallStatus.FAILED])
def test_a_settled_call_gives_its_outcome(status: CallStatus) -> None:
    """To anyone, at any time, and nothing is written."""
    there = begun(status=status, result=1, error="e")
    answer = begin(there, ask(BO), NOW + timedelta(days=90))
    assert answer == Begun(there, write=False)
    assert not answer.call.to_run


@pytest.mark.parametrize(
    ("worker", "after", "status"),
    [
        (BO, 4 * MINUTE, CallStatus.RUNNING),
        (BO, 5 * MINUTE, CallStatus.UNKNOWN),  # the lease ends at its instant
        (ANNA, MINUTE, CallStatus.UNKNOWN),  # by name, it has come back
        (Worker("anna", named=False), MINUTE, CallStatus.RUNNING),  # in this very process
        (Worker("anna", named=False), 6 * MINUTE, CallStatus.UNKNOWN),
    ],
)
def test_a_call_under_way_is_run_by_nobody_else(
    worker: Worker, after: timedelta, status: CallStatus
) -> None:
    """Running elsewhere or unknown; never a second run by itself."""
    answer = begin(begun(), ask(worker), NOW + after)
    assert (answer.call.status, answer.write) == (status, False)
    assert answer.call.observe == "git log"


def test_only_an_unknown_or_failed_call_is_tried_again() -> None:
    """And only when asked to; what runs elsewhere, or is done, is not."""
    late = NOW + 6 * MINUTE
    again = begin(begun(), ask(BO, retry=True, observe=None), late)
    assert again.write and again.call.to_run
    assert (again.call.attempt, again.call.worker, again.call.begun_at) == (2, "bo", late)
    assert again.call.observe == "git log", "how to observe it is not forgotten"
    failed = begin(begun(status=CallStatus.FAILED, error="e"), ask(BO, retry=True), NOW)
    assert failed.call.to_run and failed.call.error is None
    assert begin(begun(), ask(BO, retry=True), NOW).call.status is CallStatus.RUNNING
    done = begin(begun(status=CallStatus.DONE), ask(BO, retry=True), late)
    assert (done.call.status, done.write) == (CallStatus.DONE, False)


@pytest.mark.parametrize("change", [{"name": "pull"}, {"args_digest": "other"}])
def test_a_key_stands_for_one_call(change: dict[str, str]) -> None:
    """Another tool or other arguments under it are a conflict, settled or not."""
    for there in (begun(), begun(status=CallStatus.DONE)):
        with pytest.raises(Conflict) as error:
            begin(there, ask(**change), NOW)
        assert code(error) == "tool.key_reused"


def test_settling_records_the_outcome_once() -> None:
    """The same outcome again changes nothing, another one is a conflict."""
    first = settle(begun(), DONE, worker="anna", attempt=1, now=NOW + MINUTE)
    assert first.write and first.call.result == {"id": 7}
    assert first.call.finished_at == NOW + MINUTE
    again = settle(first.call, DONE, worker="bo", attempt=None, now=NOW + 9 * MINUTE)
    assert again == Begun(first.call, write=False)
    for other in (Outcome(CallStatus.DONE, {"id": 8}), Outcome(CallStatus.FAILED, error="x")):
        with pytest.raises(Conflict) as error:
            settle(first.call, other, worker="anna", attempt=1, now=NOW)
        assert code(error) == "tool.settled"


def test_who_may_settle() -> None:
    """Its worker, late or not; anyone once nobody holds it; nobody else before that."""
    late = NOW + 6 * MINUTE
    assert settle(begun(), DONE, worker="anna", attempt=1, now=late).write
    assert settle(begun(), DONE, worker="bo", attempt=None, now=late).write
    with pytest.raises(Conflict) as error:
        settle(begun(), DONE, worker="bo", attempt=None, now=NOW + MINUTE)
    assert code(error) == "tool.not_yours"


def test_a_late_worker_does_not_settle_the_attempt_of_another() -> None:
    """By name while the other holds it, by the number of its attempt for ever."""
    retried = begin(begun(), ask(BO, retry=True), NOW + 6 * MINUTE).call
    for attempt, now in ((None, NOW + 7 * MINUTE), (1, NOW + 7 * MINUTE), (1, NOW + 60 * MINUTE)):
        with pytest.raises(Conflict) as error:
            settle(retried, DONE, worker="anna", attempt=attempt, now=now)
        assert code(error) == "tool.not_yours"
    assert settle(retried, DONE, worker="bo", attempt=2, now=NOW + 7 * MINUTE).write


@pytest.mark.parametrize("value", [0, -1, True, "5", 8 * 86_400, timedelta(0), float("nan")])
def test_a_lease_is_bounded(value: object) -> None:
    """Seconds or a timedelta, up to a week."""
    with pytest.raises(InvalidInput) as error:
        lease_of(value)
    assert code(error) == "lease.invalid"
    assert lease_of(60) == MINUTE == lease_of(MINUTE)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "retry", "done", "failed", "late"]),
        st.sampled_from([ANNA, BO, Worker("~1", named=False)]),
        st.integers(0, 4),
    ),
    max_size=30,
)


@given(STEPS)
def test_whatever_happens_two_never_hold_one_call(steps: list[tuple[str, Worker, int]]) -> None:
    """Over any history: a call is handed out once an attempt, a recorded result never changes,
    and nobody is told to run a call while another's lease on it runs."""
    there: ToolCall | None = None
    now, handed, result = NOW, [], None
    for verb, worker, minutes in steps:
        now += minutes * MINUTE
        before = there
        try:
            if verb in ("begin", "retry"):
                answer = begin(there, ask(worker, retry=verb == "retry"), now)
            elif there is None:
                continue
            else:
                kind = CallStatus.FAILED if verb == "failed" else CallStatus.DONE
                attempt = 1 if verb == "late" else None
                outcome = Outcome(kind, worker.name)
                answer = settle(there, outcome, worker=worker.name, attempt=attempt, now=now)
        except Conflict:
            continue
        there = answer.call if answer.write else there
        if answer.call.to_run:
            handed.append(answer.call.attempt)
            if before is not None and not before.settled:
                assert before.worker == worker.name or before.lease_until <= now
        if there is not None and there.status is CallStatus.DONE:
            result = result or there.result
            assert there.result == result
            assert as_seen(there, now, BO) == there
    assert handed == list(range(1, len(handed) + 1))
