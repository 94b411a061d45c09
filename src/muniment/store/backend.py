"""What a store must bring (a port), and the one error that is only ever retried."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine

from muniment.errors import MunimentError


class RaceLost(Exception):
    """Another writer was faster; the transaction left nothing and is run again."""


class Backend(Protocol):
    """SQLite or PostgreSQL: only what differs between them."""

    dialect: str
    driver_error: type[Exception]  # the root of what the driver itself raises
    read_only: bool
    engine: Engine

    @property
    def in_memory(self) -> bool:
        """Whether everything is gone on close."""
        ...

    def writing(self, tenant: str) -> AbstractContextManager[Connection]:
        """A write transaction on one tenant."""
        ...

    def reading(self, tenant: str) -> AbstractContextManager[Connection]:
        """A read transaction on one tenant: one snapshot."""
        ...

    def administering(self) -> AbstractContextManager[Connection]:
        """A write transaction outside any tenant."""
        ...

    def translate(self, error: BaseException) -> MunimentError | RaceLost | None:
        """A driver's error in Muniment's words, or ``None`` if it is not one of its own."""
        ...

    def exposed(self) -> list[str]:
        """The names of files that others on this machine can read."""
        ...

    def scrub(self, *, thorough: bool = False) -> list[str]:
        """Make deleted bytes unreadable; what could not be reached, in words.

        ``thorough`` may lock tables and take as long as rewriting them.
        """
        ...

    def copy_to(self, target: Path) -> None:
        """A consistent copy of the whole store."""
        ...

    def close(self) -> None:
        """Release every connection."""
        ...
