"""What a command shows: Rich on a terminal, plain text in a pipe, one document as JSON.

Whatever comes from a store passes `safe`, so that no stored text can act on a terminal.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from muniment.cli.plain import plain
from muniment.text import safe_for_terminal


def safe(value: object) -> str:
    """A value as text that only can be read."""
    return safe_for_terminal(str(value))


class Screen:
    """Standard output.  On a terminal it has colours and tables; in a pipe a table is lines of
    tab-separated cells and nothing is wrapped."""

    def __init__(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")
        self._rich = Console(highlight=False) if sys.stdout.isatty() else None

    def line(self, text: object = "", *, style: str = "", indent: int = 0) -> None:
        """One paragraph."""
        shown = safe(text)
        if self._rich is None:
            print("\n".join(" " * indent + part if part else "" for part in shown.split("\n")))
            return
        self._rich.print(_padded(Text(shown, style=style), indent), soft_wrap=False)

    def heading(self, text: object) -> None:
        """A line above what belongs together."""
        self.line()
        self.line(text, style="bold cyan")

    def raw(self, text: object) -> None:
        """Text to be copied: never wrapped, never styled."""
        print(safe(text))

    def command(self, text: str, note: str = "") -> None:
        """A command line to copy, with what it does above it."""
        if note:
            self.line(note, indent=2, style="dim")
        if self._rich is None:
            print(f"  {safe(text)}")
            return
        self._rich.print(Text(f"  {safe(text)}", style="green"), soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Rows under a head."""
        if self._rich is None:
            for row in [columns, *rows]:
                print("\t".join(_cell(value) for value in row))
            return
        table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
        for number, name in enumerate(columns):
            table.add_column(name, overflow="fold", no_wrap=number == 0)  # ids can be copied
        for row in rows:
            table.add_row(*[Text(safe(value)) for value in row])
        self._rich.print(table)

    def fields(self, pairs: Iterable[tuple[str, object]], *, indent: int = 0) -> None:
        """Names with their values; those without a value are left out."""
        kept = [(name, value) for name, value in pairs if value not in (None, "", (), [])]
        if self._rich is None:
            for name, value in kept:
                print(f"{' ' * indent}{name}: {_cell(value)}")
            return
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(overflow="fold")
        for name, value in kept:
            grid.add_row(name, Text(safe(value)))
        self._rich.print(_padded(grid, indent))

    @staticmethod
    def data(value: object) -> None:
        """One JSON document.  Undrawn and acting characters are written as JSON escapes."""
        text = json.dumps(plain(value), ensure_ascii=not _unicode(), indent=2)
        if safe(text) != text:
            text = "".join(c if safe(c) == c else json.dumps(c)[1:-1] for c in text)
        print(text)


def _padded(what: Any, indent: int) -> Any:
    from rich.padding import Padding

    return Padding(what, (0, 0, 0, indent)) if indent else what


def _cell(value: object) -> str:
    return safe(value).replace("\n", " ⏎ ").replace("\t", " ")


def _unicode() -> bool:
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    return encoding.lower().replace("-", "") in ("utf8", "utf8sig")


def quoted(words: Sequence[str]) -> str:
    """Words as one line for a shell."""
    return shlex.join(words)
