"""The only source of "now".  Every instant inside Muniment is an aware datetime in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol

from muniment.errors import InvalidInput


class Clock(Protocol):
    """Injected wherever a decision depends on the time."""

    def now(self) -> datetime:
        """The current instant, aware, UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class ManualClock:
    """A clock that moves only when told to; for scenarios and tests."""

    def __init__(self, at: datetime) -> None:
        self._at = as_utc(at, name="now")

    def now(self) -> datetime:
        return self._at

    def set(self, at: datetime) -> None:
        """Jump to an instant."""
        self._at = as_utc(at, name="now")

    def advance(self, by: timedelta) -> None:
        """Move on by a span."""
        self._at += by


def as_utc(value: object, *, name: str) -> datetime:
    """An aware datetime (or an ISO 8601 string with a zone) in UTC.

    Raises `InvalidInput` ``time.invalid`` or, for a time without a zone, ``time.naive``: the
    same clock face means different instants in different places, so none is guessed.
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInput(
                "time.invalid", f"{name}: not a time; write it as 2026-09-29T10:00:00+08:00"
            ) from None
    if not isinstance(value, datetime):
        raise InvalidInput("time.invalid", f"{name}: pass a datetime or an ISO 8601 string")
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidInput("time.naive", f"{name}: the time has no zone; add one, such as +08:00")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput("time.invalid", f"{name}: outside the years 1 to 9999") from None


def micros(at: datetime) -> int:
    """Microseconds since 1970 in UTC: how instants are stored, so that both stores sort alike."""
    delta = at - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def from_micros(value: int) -> datetime:
    """The inverse of `micros`."""
    return _EPOCH + timedelta(microseconds=value)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
