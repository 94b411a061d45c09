"""The constitution: one small pure function a rule, in the order in which they decide.

Each looks at the case and answers with a finding or nothing.  All findings are collected; the
first that refuses, holds, ignores or keeps to the thread decides.  Text patterns have only set
flags by now; what decides is where the evidence came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from muniment.events.event import PERSONAL, Event
from muniment.gate.candidate import Candidate, Claim, Direction, Flag, Intent
from muniment.gate.decision import Action
from muniment.gate.policy import Policy, Switches, covered
from muniment.gate.reasons import Reason
from muniment.gate.trust import ORIGIN, STANDING, TABLE, Source
from muniment.records.facts import Predicate
from muniment.records.record import Durability, Record, Sensitivity


@dataclass(frozen=True, slots=True)
class Current:
    """What the store holds that bears on a candidate, read in the deciding transaction.

    ``timeline`` has every record of its fact key, ``twin`` the active record of the same words,
    ``opposite`` one that says the contrary, ``general`` the rule it would be an exception of,
    ``revocable`` what a revocation can mean.
    """

    timeline: tuple[Record, ...] = ()
    twin: Record | None = None
    opposite: Record | None = None
    general: Record | None = None
    revocable: tuple[Record, ...] = ()
    tombstone_at: datetime | None = None
    switches: Switches = field(default_factory=Switches)


@dataclass(frozen=True, slots=True)
class Case:
    """Everything a rule may look at."""

    candidate: Candidate
    evidence: Sequence[Event]
    source: Source
    grounded: bool
    predicate: Predicate | None
    current: Current
    policy: Policy
    now: datetime

    @property
    def by_person(self) -> bool:
        """A person said or confirmed it, or an administrator set it."""
        return self.source >= Source.USER

    @property
    def confirmed(self) -> bool:
        """A person has seen exactly this and said yes."""
        return self.source >= Source.CONFIRMED


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule's answer; ``action`` `ACTIVATE` only remarks."""

    action: Action
    reason: Reason


Rule = Callable[[Case], Finding | None]


def evidence_exists(case: Case) -> Finding | None:
    """Without evidence there is nothing to decide about."""
    return None if case.evidence else Finding(Action.REFUSE, Reason.EVIDENCE_MISSING)


def echo(case: Case) -> Finding | None:
    """What we said ourselves is not news, however often a model repeats it."""
    repeated = case.source is Source.MODEL and case.current.twin is not None
    echoes = repeated or case.candidate.has(Flag.ECHO)
    return Finding(Action.IGNORE, Reason.ECHO) if echoes else None


def states_something(case: Case) -> Finding | None:
    """Questions, quotations and hypotheticals state nothing."""
    said = case.candidate.flags & {Flag.QUESTION, Flag.HYPOTHETICAL, Flag.QUOTED}
    return Finding(Action.IGNORE, Reason.NOT_A_STATEMENT) if said and not case.confirmed else None


def grounded(case: Case) -> Finding | None:
    """The words must be in the evidence, unless a person has confirmed them as shown."""
    if case.grounded or case.confirmed:
        return None
    return Finding(Action.HOLD, Reason.NOT_GROUNDED)


def qualifiers_kept(case: Case) -> Finding | None:
    """A dropped when, where or except widens what was said."""
    lost = case.candidate.has(Flag.QUALIFIER_LOST) and not case.confirmed
    return Finding(Action.HOLD, Reason.QUALIFIER_LOST) if lost else None


def secrets(case: Case) -> Finding | None:
    """Credentials and identity numbers are refused whoever asks."""
    return Finding(Action.REFUSE, Reason.SECRET) if case.candidate.has(Flag.SECRET) else None


def belongs_to_configuration(case: Case) -> Finding | None:
    """Retries, models and budgets of the agent itself are settings, not memories."""
    return Finding(Action.REFUSE, Reason.CONFIG) if case.candidate.has(Flag.CONFIG) else None


def one_off(case: Case) -> Finding | None:
    """A person's wish for this task stays in the thread; others cannot constrain it."""
    once = case.candidate.durability is Durability.ONE_OFF and case.source is Source.USER
    return Finding(Action.THREAD_ONLY, Reason.ONE_OFF) if once else None


def worth_keeping(case: Case) -> Finding | None:
    """Would the next task, not knowing it, ask again or choose wrongly?"""
    if case.candidate.claim is Claim.NOTHING and case.candidate.intent is not Intent.REVOCATION:
        return Finding(Action.IGNORE, Reason.SMALL_TALK)
    return None


def worth_dropping(case: Case) -> Finding | None:
    """What this product has no use for, unless a person has confirmed it as shown."""
    c = case.candidate
    if case.confirmed or c.intent is Intent.REVOCATION:
        return None
    dropped = case.policy.worth.drops(c.content, c.predicate)
    return Finding(Action.IGNORE, Reason.DROPPED) if dropped else None


def policy_refuses(case: Case) -> Finding | None:
    """What the policy file keeps out, whoever says it."""
    return next((f for f in _by_policy(case) if f.action is Action.REFUSE), None)


def policy_holds(case: Case) -> Finding | None:
    """What the policy file has wait until a person has confirmed it as shown."""
    if case.confirmed:
        return None
    return next((f for f in _by_policy(case) if f.action is Action.HOLD), None)


def _by_policy(case: Case) -> Iterator[Finding]:
    """What each entry of ``safety:`` has to say; an administrator's word stands above them."""
    c, safety = case.candidate, case.policy.safety
    if case.source is Source.POLICY or c.intent is Intent.REVOCATION:
        return
    if c.kind not in safety.kinds:
        yield Finding(Action.REFUSE, Reason.POLICY_KIND)
    for one in safety.data_classes.values():
        if covered([one.topic], c.content, c.predicate):
            yield Finding(one.then, Reason.POLICY_DATA)
    if c.sensitivity in safety.sensitivity:
        yield Finding(safety.sensitivity[c.sensitivity], Reason.POLICY_SENSITIVITY)
    if c.subject.startswith("person:"):
        yield Finding(safety.third_parties, Reason.THIRD_PARTY)
    if safety.guards(c):
        yield Finding(Action.HOLD, Reason.POLICY_APPROVAL)
    if case.source > Source.MODEL and ORIGIN[case.source] not in safety.origins:
        yield Finding(Action.HOLD, Reason.POLICY_ORIGIN)


def reach(case: Case) -> Finding | None:
    """The table of channels and events."""
    action, reason = TABLE.get((case.source, case.candidate.claim), (Action.IGNORE, None))
    if reason is None:
        reason = STANDING.get(case.source, Reason.SMALL_TALK)
    return Finding(action, reason)


def attested(case: Case) -> Finding | None:
    """What a person is only said to have said counts as observed; the reasons say why."""
    unvouched = any(e.kind in PERSONAL and not e.attested for e in case.evidence)
    return Finding(Action.ACTIVATE, Reason.ORIGIN_UNATTESTED) if unvouched else None


def steering(case: Case) -> Finding | None:
    """Text that would govern later sessions is refused from sources that may not."""
    if case.candidate.has(Flag.STEERING) and case.source <= Source.OBSERVED:
        action = Action.HOLD if case.source is Source.MODEL else Action.REFUSE
        return Finding(action, Reason.STEERING)
    return None


def third_party(case: Case) -> Finding | None:
    """About another person: waits, and never answers for the user."""
    about_other = case.candidate.subject.startswith("person:") and not case.confirmed
    return Finding(Action.HOLD, Reason.THIRD_PARTY) if about_other else None


def sensitive(case: Case) -> Finding | None:
    """Health, finance, location and the like need an explicit wish."""
    wished = case.candidate.has(Flag.EXPLICIT) or case.confirmed
    held = case.candidate.sensitivity is Sensitivity.SENSITIVE and not wished
    return Finding(Action.HOLD, Reason.SENSITIVE) if held else None


def loosens(case: Case) -> Finding | None:
    """A rule that loosens on a high-impact topic waits for someone entitled."""
    c = case.candidate
    if c.topic is None or c.direction is not Direction.LOOSENS or case.confirmed:
        return None
    return Finding(Action.HOLD, Reason.LOOSENS)


def hedged(case: Case) -> Finding | None:
    """Maybe and probably are not yet a statement."""
    unsure = case.candidate.has(Flag.HEDGED) and not case.confirmed
    return Finding(Action.HOLD, Reason.HEDGED) if unsure else None


def reaches_others(case: Case) -> Finding | None:
    """The part of a scope that takes a role to write is only proposed."""
    wider = case.candidate.wider is not None and not case.confirmed
    return Finding(Action.HOLD, Reason.NEEDS_ROLE) if wider else None


def switches(case: Case) -> Finding | None:
    """The owner's switches outrank everything that would be written."""
    off = case.current.switches
    if off.pause_writes:
        return Finding(Action.IGNORE, Reason.SWITCHED_OFF)
    if case.candidate.kind.value in off.disable_kinds:
        return Finding(Action.IGNORE, Reason.KIND_OFF)
    return None


def tombstone(case: Case) -> Finding | None:
    """What was deleted, rejected or erased stays away until the user says it again."""
    buried_at = case.current.tombstone_at
    if buried_at is None:
        return None
    if any(e.live and e.said_at > buried_at for e in case.evidence):
        return Finding(Action.ACTIVATE, Reason.TOMBSTONE_CLOSED)
    return Finding(Action.IGNORE, Reason.TOMBSTONE)


def volatile(case: Case) -> Finding | None:
    """What changes quickly says so."""
    observed = case.source is Source.OBSERVED
    quick = case.candidate.durability is Durability.VOLATILE
    return Finding(Action.ACTIVATE, Reason.VOLATILE) if observed or quick else None


RULES: tuple[Rule, ...] = (
    evidence_exists,
    echo,
    states_something,
    secrets,
    policy_refuses,
    belongs_to_configuration,
    tombstone,
    one_off,
    worth_keeping,
    worth_dropping,
    reach,
    attested,
    steering,
    grounded,
    qualifiers_kept,
    third_party,
    sensitive,
    loosens,
    policy_holds,
    hedged,
    reaches_others,
    switches,
    volatile,
)
