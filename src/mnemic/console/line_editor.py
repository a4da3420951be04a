"""Lines typed at a prompt or piped in, with editing, completion and a history file where the platform has them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

HISTORY = "shell_history"
KEPT_LINES = 1_000

Complete = Callable[[str, str], list[str]]
"""How the word that is being typed may go on, given its beginning and the line before it."""


def lines(prompt: str, complete: Complete) -> Iterator[str]:
    """The lines of standard input; at a terminal each is asked for with *prompt*."""
    return _typed(prompt, complete) if sys.stdin.isatty() else _piped()


def _piped() -> Iterator[str]:
    """A line that is not UTF-8 is passed on with surrogates, for the reader to refuse."""
    for line in sys.stdin.buffer:
        yield line.decode(errors="surrogateescape")


def _typed(prompt: str, complete: Complete) -> Iterator[str]:
    with _editing(complete):
        while True:
            try:
                yield input(prompt)
            except EOFError:
                click.echo()
                return
            except KeyboardInterrupt:  # drops the line, as in other shells
                click.echo()


@contextmanager
def _editing(complete: Complete) -> Iterator[None]:
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_completer_delims(" ")
    readline.set_completer(lambda begun, number: _candidate(complete, begun, number))
    readline.parse_and_bind("tab: complete")
    history = _history_file()
    with suppress(OSError):
        readline.read_history_file(history)
    readline.set_history_length(KEPT_LINES)
    try:
        yield
    finally:
        with suppress(OSError):
            readline.write_history_file(history)


def _candidate(complete: Complete, begun: str, number: int) -> str | None:
    import readline

    found = complete(begun, readline.get_line_buffer()[: readline.get_begidx()])
    return f"{found[number]} " if number < len(found) else None


def _history_file() -> Path:
    """Where typed lines are kept. They may quote memories, so only their owner may read them."""
    from mnemic.settings import data_folder

    path = data_folder() / HISTORY
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        path.chmod(0o600)
    return path
