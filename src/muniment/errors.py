"""Every error Muniment raises, and what each one asks of the caller.

::

    MunimentError
    ├── InvalidInput   invalid_input   the call itself is wrong: mend it, then call again
    ├── NotFound       not_found       no such thing *for this principal* (never says more)
    ├── NotAllowed     not_allowed     the principal may not do this; a retry changes nothing
    ├── Conflict       conflict        what was read has moved on: read again, then decide
    └── Unavailable    unavailable     the store cannot answer now; nothing was changed

``kind`` is one of the five words above and never changes; ``code`` is stable and more exact
(`docs/reference/errors.md` lists every code); ``str(error)`` says what to do.  A refusal by the
gate is not an error: it is a `Decision` with its reasons.
"""

from __future__ import annotations


class MunimentError(Exception):
    """The root; never raised itself."""

    kind = "error"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[MunimentError], tuple[str, str]]:
        return type(self), (self.code, self.message)


class InvalidInput(MunimentError):
    """The call is wrong as it stands; nothing was changed."""

    kind = "invalid_input"


class NotFound(MunimentError):
    """Nothing by that id that this principal may know of: absent and forbidden look the same."""

    kind = "not_found"


class NotAllowed(MunimentError):
    """The principal's channel, roles or memberships do not permit the verb."""

    kind = "not_allowed"


class Conflict(MunimentError):
    """The version or digest passed is not the current one; the other writer's work stands."""

    kind = "conflict"


class Unavailable(MunimentError):
    """The store could not be asked (closed, read-only, full, busy, wrong schema, key lost)."""

    kind = "unavailable"
