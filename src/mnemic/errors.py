"""Everything that can go wrong, in one tree. The class says what happened, the message what to do."""

from __future__ import annotations


class MnemicError(Exception):
    """The root: any failure this package raises on purpose. Its message is safe to show."""

    code = "failed"

    @property
    def message(self) -> str:
        """The sentence that an HTTP answer says beside `error`: the same, unless a dialect documents another."""
        return str(self)


class Invalid(MnemicError):
    """The input breaks a rule; *field* names the argument at fault."""

    code = "invalid"

    def __init__(self, message: str, field: str | None = None):
        super().__init__(message)
        self.field = field


class NotFound(MnemicError):
    """What was asked for is not in the store."""

    code = "not_found"


class Conflict(MnemicError):
    """The change conflicts with existing data: a taken name, a later change."""

    code = "conflict"


class Duplicate(Conflict):
    """The same thing is already known; `force` stores it all the same."""

    code = "duplicate"


class Denied(MnemicError):
    """The caller may not do this: no token, a foreign origin, a path outside the allowed folders."""

    code = "denied"


class Busy(MnemicError):
    """Another process held the store for longer than we wait. Nothing was written; try again."""

    code = "busy"


class Cancelled(MnemicError):
    """The caller has left before the answer. Nothing was written."""

    code = "cancelled"


class Unavailable(MnemicError):
    """A part that is needed is not there: a model, a server it lives on."""

    code = "unavailable"


class StoreUnusable(MnemicError):
    """The database cannot be used as it is: damaged, newer than this program, or not ours."""

    code = "store_unusable"


class ForeignFile(StoreUnusable):
    """The database was written by another program."""
