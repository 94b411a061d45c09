"""What the decision lane of the trail says of the other tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from muniment.store.verify_ledger import ToldLedger
from muniment.store.verify_state import ToldState


class Broken(Exception):
    """The first row that does not fit."""

    def __init__(self, table: str, row: str, why: str) -> None:
        super().__init__(why)
        self.bad = {"table": table, "row": row, "why": why}


@dataclass(slots=True)
class Told:
    """Taken in entry by entry.

    ``moves`` names every change of standing (record/number) with its keyed digest, ``first_moves``
    the least number of each record; what was written before changes were told is not there.
    """

    given: Counter[str] = field(default_factory=Counter)
    erased_events: set[str] = field(default_factory=set)
    erased_records: set[str] = field(default_factory=set)
    titles: dict[str, str] = field(default_factory=dict)
    moves: dict[str, str] = field(default_factory=dict)
    first_moves: dict[str, int] = field(default_factory=dict)
    decisions: dict[str, dict[str, Any]] = field(default_factory=dict)
    deletions: set[str] = field(default_factory=set)
    state: ToldState = field(default_factory=ToldState)
    ledger: ToldLedger = field(default_factory=ToldLedger)

    def hear(self, action: str, at: datetime, entry: dict[str, Any]) -> None:
        """Take in one entry."""
        self.state.hear(action, entry)
        self.ledger.hear(action, entry)
        for name, digest in entry.get("moves", {}).items():
            record, _, seq = name.rpartition("/")
            self.moves[name] = digest
            self.first_moves.setdefault(record, int(seq))
        if "decision" in entry:
            self.decisions[entry["decision"]] = {**entry, "at": at}
        elif action == "delete" and "candidate" in entry:
            self.deletions.add(entry["candidate"])
        if action == "append":
            self.given[entry["thread"]] += int(entry["count"])
        elif action == "erase":
            self.erased_events.update(entry["events"])
            self.erased_records.update(entry["records"])
            self.titles.update(entry.get("titles", {}))
        elif entry.get("title") and entry.get("record"):
            self.titles[f"{entry['record']}/{entry.get('version', 1)}"] = entry["title"]
