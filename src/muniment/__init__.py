"""Muniment: memory for agents as state with a title.

>>> import muniment
>>> memory = muniment.open("sqlite://")
>>> [decision] = memory.remember("From now on use pnpm in this project.", scope={"project": "app"})
>>> decision.action.value
'activate'
>>> memory.close()
"""

from muniment.aio import AsyncMemory
from muniment.context.compose import Context
from muniment.context.scrub import Scrubber
from muniment.context.turn import Turn
from muniment.errors import (
    Conflict,
    InvalidInput,
    MunimentError,
    NotAllowed,
    NotFound,
    Unavailable,
)
from muniment.events.event import Event
from muniment.events.message import Message
from muniment.gate.decision import Decision
from muniment.memory import Memory, open
from muniment.recall.envelope import Envelope, Recalled
from muniment.records.record import Record
from muniment.scope import Channel, Principal, Scope

__version__ = "0.1.0"

__all__ = [
    "AsyncMemory",
    "Channel",
    "Conflict",
    "Context",
    "Decision",
    "Envelope",
    "Event",
    "InvalidInput",
    "Memory",
    "Message",
    "MunimentError",
    "NotAllowed",
    "NotFound",
    "Principal",
    "Recalled",
    "Record",
    "Scope",
    "Scrubber",
    "Turn",
    "Unavailable",
    "__version__",
    "open",
]
