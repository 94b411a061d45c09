"""Statements without a known attribute: what kind of record they could be, if any."""

from __future__ import annotations

import re

from muniment.events.event import EventKind
from muniment.extract.annotate import direction_of, topic_of
from muniment.extract.build import Reading, of_project
from muniment.extract.lexicon import says
from muniment.extract.people import UNNAMED
from muniment.extract.sentences import Piece
from muniment.gate.candidate import Direction
from muniment.records.record import Kind

# "搜索面板的颜色是绿色" begins like an order and states something.
_COPULA = re.compile(r"(?<![不还但就可要总只])是|等于|\b(?:is|are|was|equals)\b")


def general_kind(words: Piece, folded: str, reading: Reading, *, explicit: bool) -> Kind | None:
    """The kind of a statement, ``None`` where there is nothing lasting in it.

    ``words`` are without their lead, ``folded`` is the whole segment.  A wish for now counts as
    a rule: the gate keeps it to its thread.
    """
    if says("agent_config", folded):
        return Kind.RULE
    if says("pointer", folded):
        return Kind.POINTER
    if reading.by_user and for_now(folded):
        return _wish_for_now(words.folded, folded)
    if _norm(folded, reading, explicit=explicit) or (
        says("norm_weak", folded) and _stands(folded, reading, explicit=explicit)
    ):
        return Kind.PREFERENCE if says("style", folded) and reading.by_user else Kind.RULE
    if says("permission", folded) and topic_of(folded, Kind.RULE):
        return Kind.RULE
    if waives(folded) and (says("waiver", folded) or not says("task", words.folded)):
        return Kind.RULE
    if orders(folded, reading):
        return Kind.RULE
    if _stands(folded, reading, explicit=explicit):
        return Kind.PREFERENCE
    if _preference(folded, reading, explicit=explicit):
        return Kind.PREFERENCE
    if reading.by_user and _prohibits(words.folded):
        return Kind.RULE
    plain = not says("task", words.folded) or _COPULA.search(words.folded) is not None
    if (explicit and plain) or _durable(words, reading):
        return Kind.FACT
    return None


def waives(folded: str) -> bool:
    """Whether words do away with being asked, on a high-impact topic."""
    if not (says("asking", folded) and topic_of(folded, Kind.RULE)):
        return False
    return direction_of(folded) is Direction.LOOSENS


def orders(folded: str, reading: Reading) -> bool:
    """Whether what is no person's or model's words lays down how to act from now on."""
    if reading.event.kind in (EventKind.USER, EventKind.ASSISTANT) or says("user_claim", folded):
        return False
    return says("standing", folded) or says("norm", folded)


def for_now(folded: str) -> bool:
    """Whether the words keep themselves to this task."""
    return says("one_off", folded) and not says("lasting", folded)


def bare_prohibition(folded: str) -> bool:
    """Whether "don't touch the schema" stands without any word that makes it last."""
    lasting = ("agent_config", "standing", "norm", "permission", "modal_no")
    return not any(says(name, folded) for name in lasting)


def about_user(words: Piece, reading: Reading) -> bool:
    """Whether a plain fact is one about the user: it says so, or speaks of no project."""
    folded = words.folded
    return says("self", folded) or not (of_project(folded, reading) or says("cause", folded))


def _wish_for_now(bare: str, folded: str) -> Kind | None:
    idle = says("fleeting", bare) and not says("prohibition", folded)
    return None if idle else Kind.RULE


def _chatty(folded: str, reading: Reading) -> bool:
    """Whether a person speaks of life, not of work: "always here to help"."""
    if not reading.by_user or says("standing_sure", folded):
        return False
    return not (says("craft", folded) or says("directive", folded) or topic_of(folded, Kind.RULE))


def _stands(folded: str, reading: Reading, *, explicit: bool) -> bool:
    return says("standing", folded) and (explicit or not _chatty(folded, reading))


def _norm(folded: str, reading: Reading, *, explicit: bool) -> bool:
    if explicit:
        return says("norm", folded)
    guess = reading.by_user and says("conjecture", folded) and not says("craft", folded)
    return says("norm", folded) and not (guess or _chatty(folded, reading))


def _preference(folded: str, reading: Reading, *, explicit: bool) -> bool:
    if says("opinion_of_this", folded):
        return False
    if says("preference_sure", folded):
        return True
    worth = explicit or not reading.by_user or says("craft", folded)
    return worth and says("preference", folded)


def _prohibits(folded: str) -> bool:
    if says("imperative_no", folded):
        return True
    # "生产部署不能跳过审批" is a rule; "我不能登录" is a complaint.
    return says("modal_no", folded) and topic_of(folded, Kind.RULE) is not None


def _durable(words: Piece, reading: Reading) -> bool:
    folded = words.folded
    if says("cause", folded) or (says("first_person", folded) and says("sensitive", folded)):
        return True
    if any(says(name, folded) for name in ("trouble", "fleeting", "task")):
        return False
    if says("durable_fact", folded):
        return True
    if person := words.person:
        return person != UNNAMED and says("durable_other", folded)
    if not reading.by_user:
        return says("user_claim", folded)
    return says("durable_self", folded) or (says("durable_craft", folded) and says("craft", folded))
