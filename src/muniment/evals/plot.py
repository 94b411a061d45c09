"""A result as a picture: a bar a row with its interval, as SVG that needs nothing to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

SHOWN = "rec@10"
RIGHT = "turns right"
_WIDTH, _LEFT, _BAR, _ROW, _TOP = 720, 200, 400, 28, 56
#: A row: what it is, and the share with its bounds.
Row = tuple[str, float, float, float]


def svg(result: Mapping[str, Any]) -> str:
    """The share of gold among the first ten for each category, with 95 % intervals."""
    found = {
        name: (group["n"], group["scores"][SHOWN]) for name, group in result["summary"].items()
    }
    rows = [(f"{n} (n={of})", s["mean"], s["low"], s["high"]) for n, (of, s) in found.items()]
    title = f"{result['dataset']}: {SHOWN}, archive layer, turns (commit {result['commit']})"
    return _bars(title, result["note"], rows)


def svg_of_writing(result: Mapping[str, Any]) -> str:
    """Every share over all turns, then for each language and group the turns without a fault."""
    whole, *parts = result["summary"].items()
    shares = [(name, share) for name, share in whole[1]["shares"].items()]
    shares += [(name, part["shares"][RIGHT]) for name, part in parts]
    rows = [
        (f"{name} (n={s['of']})", s["share"], s["low"], s["high"]) for name, s in shares if s["of"]
    ]
    title = f"eval write: labels {result['labels']} (commit {result['commit']})"
    return _bars(title, f"Languages and groups: {RIGHT}. Bounds: 95 %, Wilson.", rows)


def _bars(title: str, note: str, rows: Sequence[Row]) -> str:
    bottom = _TOP + len(rows) * _ROW
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{bottom + 56}" '
            'font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            f'<text x="16" y="24" font-size="15">{escape(title)}</text>',
            *(_grid(step / 4, bottom) for step in range(5)),
            *(_row(row, _TOP + number * _ROW) for number, row in enumerate(rows)),
            f'<text x="16" y="{bottom + 40}" fill="#555" font-size="10">{escape(note)}</text>',
            "</svg>\n",
        ]
    )


def _x(share: float) -> float:
    return round(_LEFT + share * _BAR, 1)


def _grid(share: float, bottom: int) -> str:
    return (
        f'<path d="M{_x(share)} {_TOP - 8}V{bottom}" stroke="#ddd"/>'
        f'<text x="{_x(share)}" y="{bottom + 16}" text-anchor="middle" fill="#555">{share:g}</text>'
    )


def _row(row: Row, y: int) -> str:
    label, share, low, high = row
    middle, width = y + 9, round(share * _BAR, 1)
    return (
        f'<text x="{_LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(label)}</text>'
        f'<rect x="{_LEFT}" y="{y}" width="{width}" height="18" fill="#5b8db8"/>'
        f'<path d="M{_x(low)} {middle}H{_x(high)}" stroke="#222"/>'
        f'<text x="{_LEFT + _BAR + 16}" y="{y + 13}">{share:.3f} [{low:.3f}, {high:.3f}]</text>'
    )
