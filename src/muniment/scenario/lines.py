"""A scenario's YAML, whose every complaint names a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from muniment.lines import Map, NotYaml, parse

__all__ = ["Map", "NotAScenario", "read"]


class NotAScenario(Exception):
    """The file cannot be played as it stands; nothing of it was run."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message, self.line = message, line


def read(path: Path) -> Any:
    """The one document in a file; `NotAScenario` for what is no YAML or cannot be read."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotAScenario(f"cannot be read: {error.strerror}") from None
    except NotYaml as error:
        raise NotAScenario(error.message, error.line) from None
    except ValueError as error:
        raise NotAScenario(f"not YAML: {str(error).splitlines()[0]}") from None
