"""Commands that a running daemon does: the client hands over the command line and prints what comes back.

Imports the standard library alone.
"""

from __future__ import annotations

import json
import os
import sys

from mnemic.daemon_client import frames
from mnemic.daemon_client.address import (
    Address,
    address_of,
    configured,
    database_of,
    holds_relative_path,
    verb_of,
)
from mnemic.daemon_client.client import Gone, Refused, Wire, hello, introduced, surroundings, were_applied
from mnemic.daemon_client.frames import BrokenFrame, packed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

FORWARDED = frozenset(
    (
        "analytics",
        "bulk",
        "call",
        "explore",
        "facets",
        "forget",
        "graph",
        "history",
        "hook",
        "link",
        "list",
        "namespaces",
        "open",
        "rate",
        "recall",
        "reflect",
        "remember",
        "review",
        "revise",
        "session",
        "sessions",
        "stats",
        "tidy",
        "undo",
        "verify",
    )
)
"""The commands that are worth a warm process: they read or write memories and need nothing of this process."""
OWN_PROCESS = frozenset(("--help", "-h", "--in-process", "--version"))
"""Words with which a command is not handed over."""
FAILED, BUSY, INTERRUPTED = 1, 3, 130
HOOK_SECONDS = 25.0
"""After so long a hook ends, whatever the daemon does: a coding agent waits for it."""


def forwarded(words: Sequence[str]) -> int | None:
    """The exit code of the command if a daemon did it; None if it is to be run in this process."""
    verb = verb_of(words)
    if verb == "mcp" and _may_share(words):
        from mnemic.daemon_client.shim import serve

        return serve(words)
    if verb == "hook" and os.name == "posix":
        _end_in_time()
    if verb in FORWARDED and _may_share(words) and _writes_utf8():
        code = _run(words)
        return 0 if verb == "hook" and code is not None else code
    return None


def _end_in_time() -> None:
    """End this process quietly when the time of a hook is over."""
    import signal

    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, HOOK_SECONDS)


def _may_share(words: Sequence[str]) -> bool:
    """Whether nothing speaks against a daemon: the system, a flag, a variable."""
    return (
        os.name == "posix"
        and OWN_PROCESS.isdisjoint(words)
        and not os.environ.get("MNEMIC_DEBUG")
        and not holds_relative_path(words, os.environ)
        and who_shares(os.environ) in ("mcp", "always")
    )


def who_shares(environment: Mapping[str, str]) -> str:
    """The setting `daemon`: mcp, always or never."""
    return str(environment.get("MNEMIC_DAEMON") or configured(environment).get("daemon") or "mcp")


def _writes_utf8() -> bool:
    return all(
        stream is not None and stream.encoding.lower() == "utf-8" for stream in (sys.stdout, sys.stderr)
    )


def _run(words: Sequence[str]) -> int | None:
    database = database_of(words, os.environ)
    address = address_of(database) if database else None
    if address is None:
        return None
    starts = who_shares(os.environ) == "always"
    greeting = hello(address, "run", argv=list(words), **surroundings())
    try:
        wire = introduced(address, greeting, starts=starts)
    except Refused:
        return None
    return None if wire is None else Command(address, wire).run()


class Command:
    """A command that the daemon does on behalf of this process."""

    def __init__(self, address: Address, wire: Wire):
        self._address = address
        self._wire = wire
        self._marks: list[Any] = []
        self._has_written = False
        self._input: list[bytes] | None = None
        """The standard input, once the daemon has asked for it."""

    def run(self) -> int | None:
        """Its exit code; None if the daemon ended before it had done or said anything."""
        try:
            return self._relayed()
        except KeyboardInterrupt:
            self._wire.close()
            print("Interrupted. `mnemic history` lists what was stored.", file=sys.stderr)
            return INTERRUPTED
        except BrokenPipeError:  # whoever read our output has left
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return FAILED
        except (Gone, BrokenFrame):
            return self._lost()

    def _relayed(self) -> int:
        while True:
            tag, content = self._wire.receive()
            if tag == frames.OUTPUT:
                self._write(1, content)
            elif tag == frames.ERROR:
                self._write(2, content)
            elif tag == frames.MARK:
                self._marks.append(json.loads(content))
            elif tag == frames.WANTED:
                self._send_input()
            elif tag == frames.REFUSED:
                raise Gone
            elif tag == frames.EXIT:
                return int(json.loads(content)["code"])

    def _write(self, descriptor: int, content: bytes) -> None:
        self._has_written = True
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]

    def _send_input(self) -> None:
        self._input = []
        while piece := os.read(0, frames.CHUNK):
            self._input.append(piece)
            self._wire.send(packed(frames.INPUT, piece))
        self._wire.send(packed(frames.INPUT_END))

    def _lost(self) -> int | None:
        """The daemon has ended in the middle. What has left no trace is done again, here."""
        if self._has_written or were_applied(self._address, self._marks):
            sentence = "Error: The local daemon ended in the middle. `mnemic history` shows what was stored."
            print(sentence, file=sys.stderr)
            return BUSY
        if self._input is not None:
            self._put_back(b"".join(self._input))
        return None

    def _put_back(self, content: bytes) -> None:
        """Let this process read *content* from its standard input again."""
        import tempfile

        with tempfile.TemporaryFile() as file:
            file.write(content)
            file.seek(0)
            os.dup2(file.fileno(), 0)
