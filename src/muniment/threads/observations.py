"""What was seen of the outside (a build, a branch, a price), and whether it may be told as fact.

An observation is good from when it was made until its thread is resumed or its term is over.
After that it is *stale*: told with its time and the way to observe it again, never as now.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from muniment.clock import as_utc

RESUMED, TERM = "resumed", "term"
VALUE_CHARS_MAX = 200  # what is told of one value


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing observed, when, and how to observe it again."""

    name: str
    value: Any
    observed_at: datetime
    how: str | None = None
    good_for_s: float | None = None

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> Observation:
        """From an item of a state's section ``observations``."""
        return cls(
            name=str(item["name"]),
            value=item.get("value"),
            observed_at=as_utc(item["observed_at"], name="observed_at"),
            how=item.get("how"),
            good_for_s=item.get("good_for_s"),
        )

    def stale(self, now: datetime, resumed_at: datetime | None = None) -> str | None:
        """Why it may not be told as fact (`RESUMED`, `TERM`), or ``None`` if it may.

        ``resumed_at`` is when the thread was last taken up; what was observed at that very
        instant was observed before it.
        """
        if resumed_at is not None and self.observed_at <= resumed_at:
            return RESUMED
        age_s = (now - self.observed_at).total_seconds()
        if self.good_for_s is not None and age_s >= self.good_for_s:
            return TERM
        return None

    def told(self, language: str = "en", *, fresh: bool) -> str:
        """The words for a model: as a fact only while it is fresh."""
        value = plain(self.value)
        value = value if len(value) <= VALUE_CHARS_MAX else f"{value[: VALUE_CHARS_MAX - 1]}…"
        said = f"{self.name}: {value}"
        return said if fresh else f"{said} ({self.again(language)})"

    def again(self, language: str = "en") -> str:
        """As of when, and by what it is to be observed again."""
        at = self.observed_at.isoformat(timespec="minutes")
        if language == "zh":
            return f"截至 {at}；须重新观察：{self.how or '方法未记录'}"
        return f"as of {at}, to be observed again by: {self.how or 'no way is recorded'}"


def plain(value: Any) -> str:
    """A JSON value as words."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
