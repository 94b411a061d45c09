"""Rows as a table for a terminal (which is Markdown at the same time), or as JSON."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from collections.abc import Sequence

from bench.figures import Check, Row

HEADER = (
    "figure",
    "store",
    "size",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "cpu p50 ms",
    "result",
    "limit",
    "reached",
    "fsync ms",
    "peer ms",
    "p50 / peer",
    "sha ms",
)


def machine() -> str:
    """What matters of the machine, and nothing that names it."""
    load = ", ".join(f"{n:.1f}" for n in os.getloadavg())
    return (
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{os.cpu_count()} cores, load {load}"
    )


def markdown(rows: Sequence[Row]) -> str:
    """All rows, one line for each number that has a limit, notes below."""
    lines = [HEADER, *(line for row in rows for line in _lines(row))]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADER))]
    padded = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    notes = [f"- {row.figure}, {row.store}: {row.notes}" for row in rows if row.notes]
    return "\n".join([padded[0], rule, *padded[1:], *([""] if notes else []), *notes])


def _lines(row: Row) -> list[tuple[str, ...]]:
    first = (row.figure, row.store, row.size)
    times = tuple(_number(t) for t in (row.p50_ms, row.p95_ms, row.p99_ms, row.cpu_p50_ms))
    probe = row.probe
    beside: tuple[str, ...] = ("", "", "", "")
    if probe is not None:
        times_peer = row.p50_ms / probe.peer_ms if row.p50_ms else None
        beside = tuple(map(_number, (probe.fsync_ms, probe.peer_ms, times_peer, probe.cpu_ms)))
    lines = []
    for check in row.checks:
        lines.append((*first, *times, *_judged(check), *beside))
        first, times, beside = ("", "", ""), ("", "", "", ""), ("", "", "", "")
    return lines


def told(check: Check) -> str:
    """A check in one phrase."""
    value, limit, reached = _judged(check)
    return f"{value}, {limit}: {reached}"


def _judged(check: Check) -> tuple[str, str, str]:
    sign = "≤" if check.at_most else "≥"
    unit = f" {check.unit}" if check.unit else ""
    reached = "yes" if check.reached else "NO"
    return (
        f"{check.what} {_number(check.value)}{unit}",
        f"{sign} {_number(check.limit)}{unit}",
        reached if check.binding else f"({reached.lower()})",
    )


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def as_json(rows: Sequence[Row]) -> str:
    """All rows as one JSON document."""
    document = {"machine": machine(), "rows": [row.to_dict() for row in rows]}
    return json.dumps(document, ensure_ascii=False, indent=2)
