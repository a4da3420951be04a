"""How a failed command ends: its exit code, and its error as a sentence or as JSON on standard error."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from mnemic.errors import Busy, Invalid, MnemicError, Unavailable

if TYPE_CHECKING:
    from mnemic.console.run import Run

FAILED, MISUSED, BUSY, INTERRUPTED = 1, 2, 3, 130


def guarded(run: Run, work: Callable[[], Any]) -> int:
    """The exit code of *work*; an exception is reported and turned into one."""
    try:
        result = work()
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        return _misused(run, error)
    except click.Abort:
        return report(run, INTERRUPTED, "interrupted", run.interrupted())
    except MnemicError as error:
        return report(run, exit_code(error), error.code, str(error), getattr(error, "field", None))
    except BrokenPipeError:
        raise
    except OSError as error:
        return report(run, FAILED, "failed", _system_sentence(error))
    except Exception as error:
        if os.environ.get("MNEMIC_DEBUG"):
            raise
        sentence = f"Unexpected {type(error).__name__}. MNEMIC_DEBUG=1 shows where."
        return report(run, FAILED, "internal", sentence)


def _system_sentence(error: OSError) -> str:
    where = f": {error.filename}" if error.filename else ""
    what_to_do = ". Free some space and try again" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
    return f"{error.strerror or type(error).__name__}{where}{what_to_do}"


def _misused(run: Run, error: click.ClickException) -> int:
    """Report an error of click's: with the usage of the command, unless JSON was asked for."""
    if not run.as_json:
        error.show()
        return error.exit_code
    parameter = getattr(error, "param", None)
    code = Invalid.code if isinstance(error, click.UsageError) else "not_found"
    return report(run, error.exit_code, code, error.format_message(), parameter and parameter.name)


def report(run: Run, status: int, code: str, message: str, field: str | None = None) -> int:
    """Write the error to standard error, as `{"error": …}` if JSON was asked for; the exit code *status*."""
    if run.as_json:
        import orjson

        facts = {"code": code, "message": message, **({"field": field} if field else {})}
        click.echo(orjson.dumps({"error": facts}), err=True)
    else:
        click.echo(message if status == INTERRUPTED else f"Error: {message}", err=True)
    return status


def exit_code(error: MnemicError) -> int:
    """The exit code that says what kind of failure *error* is."""
    if isinstance(error, Invalid):
        return MISUSED
    return BUSY if isinstance(error, (Busy, Unavailable)) else FAILED
