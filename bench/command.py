"""The command line: which figures, on which stores, at which sizes."""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench import deciding, reading, screening, threads, together, writing
from bench.figures import BOTH, FIGURES, Figure, Row, WorkNotDone
from bench.places import Places
from bench.table import as_json, machine, markdown, told

# importing registers them
__all__ = ["deciding", "main", "reading", "screening", "threads", "together", "writing"]

MISSED, NOT_DONE = 3, 1
EXPLANATION = """
result, limit and reached are what the figure is about; (yes) and (no) are shown beside, on a
store the limit was not set for. The columns to the right are the machine at that moment: 4 KB
written and synced in the same directory; one row inserted durably by the bare driver, and how
many of those a call costs; 1,000 SHA-256 of 1 KB. On a shared machine wall times are noisy:
compare ratios, medians and processor time.
"""


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    listed = "\n".join(f"  {f.name:11}{f.title}" for f in FIGURES.values())
    made = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure muniment and print its figures with the limits they have to keep.",
        epilog=f"figures:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("names", nargs="*", metavar="figure", help="all, if none is named")
    made.add_argument("--quick", action="store_true", help="tiny sizes: does it run at all?")
    made.add_argument("--json", action="store_true", help="print JSON")
    made.add_argument("--store", choices=BOTH, help="one store only")
    made.add_argument("--dir", type=Path, help="where the stores go (else the temporary directory)")
    made.add_argument("--strict", action="store_true", help=f"exit {MISSED} if a limit is missed")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run figures and print them; 1 if one could not be measured, 2 for wrong arguments."""
    made = parser()
    given = made.parse_args(arguments)
    unknown = sorted(set(given.names) - set(FIGURES))
    if unknown:
        made.error(f"no figure {unknown[0]}; there are {', '.join(FIGURES)}")
    chosen = [FIGURES[n] for n in given.names] or list(FIGURES.values())
    rows: list[Row] = []
    failed: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="muniment-bench-", dir=given.dir) as directory,
        Places(Path(directory)) as places,
    ):
        for figure in chosen:
            for store in figure.stores:
                if given.store in (None, store):
                    _say(f"{figure.name} on {store} …")
                    _attempt(places, figure, store, given.quick, rows, failed)
    _print(rows, failed, json=given.json)
    missed = [c for row in rows for c in row.checks if c.binding and not c.reached]
    return NOT_DONE if failed else MISSED if missed and given.strict else 0


def _attempt(
    places: Places,
    figure: Figure,
    store: str,
    quick: bool,
    rows: list[Row],
    failed: list[str],
) -> None:
    try:
        found = measured(places, figure, store, quick=quick)
        rows += found
        for row in found:
            _say(f"  {row.size}: {'; '.join(map(told, row.checks))}")
    except WorkNotDone as error:
        failed.append(f"{figure.name} on {store}: {error}")
    except Exception as error:  # one figure less is no reason to lose the others
        traceback.print_exc()
        failed.append(f"{figure.name} on {store}: {type(error).__name__}: {error}")


def measured(places: Places, figure: Figure, store: str, *, quick: bool) -> list[Row]:
    """One figure on one store, with the machine probed before and after."""
    with places.at(store) as place:
        before = place.probe()
        found = figure.rows(place, figure.quick if quick else figure.full)
        place.close()
        probe = before.joined(place.probe())
    return [replace(r, figure=figure.name, store=store, probe=probe) for r in found]


def _print(rows: Sequence[Row], failed: Sequence[str], *, json: bool) -> None:
    if json:
        print(as_json(rows))
    else:
        print(f"{machine()}\n\n{markdown(rows)}\n{EXPLANATION}")
    for line in failed:
        _say(f"NOT MEASURED: {line}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
