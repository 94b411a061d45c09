"""Who decides, and which words say that somebody did."""

from __future__ import annotations

import re

from muniment.events.event import Event
from muniment.gate.trust import Source, source_of

_DECIDING = re.compile(
    r"\b(?:decid|decision|approv|agreed|agrees|consent|permission|(?:allowed|permitted|free) to\b"
    r"|authori[sz]|chose|chosen|opted|signed off|sign-off|go-ahead|green-?li(?:ght|t)|waived)"
    r"|决定|决策|同意|批准|审批|核准|允许|准许|授权|选定|选择了|选了|敲定|拍板|认可|放行",
    re.IGNORECASE,
)


def decides(event: Event) -> bool:
    """Whether a person (or a policy) speaks in it, vouched for by the channel it came through."""
    return event.attested and source_of(event, None) >= Source.USER


def speaks_of_deciding(text: str) -> bool:
    """Whether the words say that something was decided, approved or allowed."""
    return _DECIDING.search(text) is not None
