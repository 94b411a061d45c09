"""What a candidate that may enter does to what is already there: pure.

Order is by when things were said, never by when they arrived.
"""

from __future__ import annotations

from datetime import datetime

from muniment.gate.candidate import Candidate, Intent
from muniment.gate.decision import Action, Reconcile, Verdict
from muniment.gate.reasons import Reason
from muniment.gate.rules import Case
from muniment.gate.trust import ORIGIN, Source
from muniment.records.facts import Predicate
from muniment.records.record import Durability, Record, Status
from muniment.text import normalise


def sure(case: Case) -> bool:
    """Stated or confirmed by a person, set by policy, or in the file of record."""
    return case.source >= Source.FILE_OF_RECORD


def reconcile(case: Case) -> Verdict:
    """Insert, merge, supersede, enter as history, delete or ask."""
    if case.candidate.intent is Intent.REVOCATION:
        return _revoke(case)
    rival = _rival(case)
    if rival is None:
        return _insert(case)
    if same_value(case.candidate, rival, case.predicate):
        return _verdict(case, Reconcile.MERGE, Reason.SAME, target=rival)
    return _contradict(case, rival)


def same_value(candidate: Candidate, record: Record, predicate: Predicate | None) -> bool:
    """Equal after normalisation and, with a predicate, after its table of spellings."""
    if predicate is not None and candidate.value is not None:
        return _plain(predicate.canonical(candidate.value)) == _plain(
            predicate.canonical(record.value)
        )
    return normalise(candidate.content) == normalise(record.content or "")


def _plain(value: object) -> str:
    return normalise(value) if isinstance(value, str) else repr(value)


def _rival(case: Case) -> Record | None:
    """The record it has to settle with: its twin, the current holder of its key, its contrary."""
    if case.current.twin is not None:
        return case.current.twin
    holders = [r for r in case.current.timeline if r.status is Status.ACTIVE]
    if holders and (case.predicate is None or case.predicate.single):
        return holders[0]
    return case.current.opposite


def _insert(case: Case) -> Verdict:
    general = case.current.general
    reason = Reason.EXCEPTION if general is not None else None
    return _verdict(case, Reconcile.INSERT, reason, exception_of=general)


def _contradict(case: Case, rival: Record) -> Verdict:
    if not sure(case) and rival.sure:
        return _ask(case, Reason.CONFLICT_UNSURE, rival)
    if sure(case) == rival.sure:
        order = _order(case, rival)
        if order == 0:
            return _ask(case, Reason.CONFLICT_SAME_TIME, rival)
        if order < 0:
            return _as_history(case, rival)
    if case.candidate.intent is Intent.CORRECTION:
        return _verdict(
            case, Reconcile.SUPERSEDE, Reason.CORRECTS, target=rival, valid_from=rival.valid_from
        )
    start = max(_start(case), rival.valid_from)
    return _verdict(case, Reconcile.SUPERSEDE, Reason.NEWER, target=rival, valid_from=start)


def _order(case: Case, rival: Record) -> int:
    """-1, 0 or 1: the candidate was said before, with or after the rival.

    Within one thread its order breaks a tie of the clock.
    """
    said, other = case.candidate.said_at, rival.said_at
    if said != other:
        return 1 if said > other else -1
    last = max(case.evidence, key=lambda e: (e.said_at, e.seq))
    if rival.source.get("thread") == last.thread:
        seq = int(rival.source.get("seq", -1))
        return (last.seq > seq) - (last.seq < seq)
    return 0


def _as_history(case: Case, rival: Record) -> Verdict:
    """Said earlier, arrived later: valid until the next value known to have followed."""
    start = _start(case)
    later = [r.valid_from for r in (*case.current.timeline, rival) if r.valid_from > start]
    end = min(later, default=rival.valid_from)
    return _verdict(
        case,
        Reconcile.INSERT,
        Reason.OLDER,
        status=Status.SUPERSEDED,
        valid_from=min(start, end),
        valid_to=end,
    )


def _revoke(case: Case) -> Verdict:
    if not case.current.revocable:
        return _outcome(case, Action.IGNORE, Reconcile.IGNORE, Reason.NOTHING_TO_REVOKE)
    target = case.current.revocable[0]
    return _outcome(case, Action.HOLD, Reconcile.DELETE, Reason.REVOKED, target)


def _ask(case: Case, reason: Reason, rival: Record) -> Verdict:
    return _outcome(case, Action.HOLD, Reconcile.ASK, reason, rival)


def _outcome(
    case: Case, action: Action, how: Reconcile, reason: Reason, target: Record | None = None
) -> Verdict:
    return Verdict(
        action=action,
        reconcile=how,
        reasons=(reason.value,),
        origin=ORIGIN[case.source],
        sure=sure(case),
        target=target.id if target else None,
    )


def _verdict(
    case: Case,
    how: Reconcile,
    reason: Reason | None,
    *,
    target: Record | None = None,
    exception_of: Record | None = None,
    status: Status = Status.ACTIVE,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
) -> Verdict:
    start = valid_from or _start(case)
    if status is Status.ACTIVE and start > case.now:
        status = Status.SCHEDULED
    return Verdict(
        action=Action.ACTIVATE,
        reconcile=how,
        reasons=(reason.value,) if reason else (),
        origin=ORIGIN[case.source],
        sure=sure(case),
        status=status,
        target=target.id if target else None,
        exception_of=exception_of.id if exception_of else None,
        valid_from=start,
        valid_to=valid_to or case.candidate.valid_to,
        expires_at=_expiry(case),
        closes_tombstone=case.current.tombstone_at is not None,
    )


def _start(case: Case) -> datetime:
    return case.candidate.valid_from or case.candidate.said_at


def _expiry(case: Case) -> datetime | None:
    """When it ends, at the latest when the policy says that its kind does."""
    found = _own_expiry(case)
    most = case.policy.safety.expires.get(case.candidate.kind)
    if most is None or case.source is Source.POLICY:
        return found
    latest = case.candidate.said_at + most
    return latest if found is None else min(found, latest)


def _own_expiry(case: Case) -> datetime | None:
    """What changes quickly, and whatever was merely observed, does not outlive its time."""
    c, span = case.candidate, None
    if case.predicate and case.predicate.expires:
        span = case.predicate.expires
    if c.expires_at is not None:
        return c.expires_at
    if span is None and (case.source is Source.OBSERVED or c.durability is Durability.VOLATILE):
        span = case.policy.observation_expires_after
    return c.said_at + span if span is not None else None
