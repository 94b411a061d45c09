"""The gate's settings.  The constitution is code (`rules.py`); these are only its numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from muniment.records.facts import Catalogue, builtin


@dataclass(frozen=True, slots=True)
class Policy:
    """What every decision records as its policy version."""

    version: str = "builtin-1"
    held_lapse_after: timedelta = timedelta(days=7)
    held_per_source: int = 20
    observation_expires_after: timedelta = timedelta(days=1)
    catalogue: Catalogue = field(default_factory=builtin)


@dataclass(frozen=True, slots=True)
class Switches:
    """What the owner (and the tenant) has switched off; both sets of switches count."""

    pause_writes: bool = False
    pause_recall: bool = False
    disable_kinds: frozenset[str] = frozenset()

    def joined(self, other: Switches) -> Switches:
        """Off in either is off."""
        return Switches(
            self.pause_writes or other.pause_writes,
            self.pause_recall or other.pause_recall,
            self.disable_kinds | other.disable_kinds,
        )
