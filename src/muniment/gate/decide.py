"""`decide`: pure, total, ordered.  Nothing is read and nothing written here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from muniment.events.event import Event
from muniment.gate.candidate import Candidate
from muniment.gate.decision import Action, Reconcile, Verdict
from muniment.gate.policy import Policy
from muniment.gate.reasons import Reason
from muniment.gate.reconcile import reconcile, sure
from muniment.gate.rules import RULES, Case, Current, Finding
from muniment.gate.trust import ORIGIN, Source, cap, weakest
from muniment.scope import Channel


def decide(
    candidate: Candidate,
    evidence: Sequence[Event],
    current: Current,
    policy: Policy,
    *,
    channel: Channel,
    grounded: bool,
    now: datetime,
) -> Verdict:
    """What becomes of a candidate, and why.

    ``channel`` is that of the proposer, ``grounded`` whether its words occur in the evidence.
    Reasons list every finding, the decisive one first.
    """
    predicate = policy.catalogue.get(candidate.predicate)
    source = cap(weakest(evidence, predicate), channel) if evidence else Source.SYSTEM
    case = Case(candidate, evidence, source, grounded, predicate, current, policy, now)
    findings = [f for rule in RULES if (f := rule(case)) is not None]
    decisive = next((f for f in findings if f.action is not Action.ACTIVATE), None)
    if decisive is None:
        return _with_reasons(reconcile(case), findings)
    return Verdict(
        action=decisive.action,
        reconcile=_waiting(case) if decisive.action is Action.HOLD else Reconcile.IGNORE,
        reasons=_codes([decisive, *(f for f in findings if f is not decisive)]),
        origin=ORIGIN[source],
        sure=sure(case),
    )


def _waiting(case: Case) -> Reconcile:
    """What confirming a held candidate would do."""
    return reconcile(case).reconcile


def _with_reasons(verdict: Verdict, findings: Sequence[Finding]) -> Verdict:
    return replace(verdict, reasons=(*verdict.reasons, *_codes(findings)))


def _codes(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f.reason.value for f in findings))


def limited(verdict: Verdict, waiting: int, policy: Policy) -> Verdict:
    """Held candidates are capped per source: beyond the cap they are not even held."""
    if verdict.action is not Action.HOLD or waiting < policy.held_per_source:
        return verdict
    reasons = (Reason.HELD_FULL.value, *verdict.reasons)
    return replace(verdict, action=Action.IGNORE, reconcile=Reconcile.IGNORE, reasons=reasons)
