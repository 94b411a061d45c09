"""What the parts of a score weigh, read from ``weights.toml`` beside this file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class TurnWeights:
    """Of a turn's parts, in the terms of ``weights.toml``."""

    meaning: float
    beside: tuple[float, float]
    short_chars: int
    sitting: float
    thread: float
    thread_best: int
    assistant: float
    time: float


_DATA = tomllib.loads(
    resources.files("muniment.recall").joinpath("weights.toml").read_text("utf-8")
)
TURNS = TurnWeights(**{**_DATA["turns"], "beside": tuple(_DATA["turns"]["beside"])})
RECORDS: Mapping[str, float] = _DATA["records"]
ENOUGH: Mapping[str, float] = _DATA["enough"]
