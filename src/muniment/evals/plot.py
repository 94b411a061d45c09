"""A result as a picture: a bar a category with its interval, as SVG that needs nothing to draw."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

SHOWN = "rec@10"
_WIDTH, _LEFT, _BAR, _ROW, _TOP = 720, 200, 400, 28, 56


def svg(result: Mapping[str, Any]) -> str:
    """The share of gold among the first ten for each category, with 95 % intervals."""
    rows = [
        _row(name, group, _TOP + number * _ROW)
        for number, (name, group) in enumerate(result["summary"].items())
    ]
    bottom = _TOP + len(rows) * _ROW
    title = f"{result['dataset']}: {SHOWN}, archive layer, turns (commit {result['commit']})"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{bottom + 56}" '
            'font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            f'<text x="16" y="24" font-size="15">{escape(title)}</text>',
            *(_grid(step / 4, bottom) for step in range(5)),
            *rows,
            f'<text x="16" y="{bottom + 40}" fill="#555" font-size="10">'
            f"{escape(result['note'])}</text>",
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


def _row(name: str, group: Mapping[str, Any], y: int) -> str:
    score = group["scores"][SHOWN]
    middle, width = y + 9, round(score["mean"] * _BAR, 1)
    label = f"{name} (n={group['n']})"
    return (
        f'<text x="{_LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(label)}</text>'
        f'<rect x="{_LEFT}" y="{y}" width="{width}" height="18" fill="#5b8db8"/>'
        f'<path d="M{_x(score["low"])} {middle}H{_x(score["high"])}" stroke="#222"/>'
        f'<text x="{_LEFT + _BAR + 16}" y="{y + 13}">{score["mean"]:.3f} '
        f"[{score['low']:.3f}, {score['high']:.3f}]</text>"
    )
