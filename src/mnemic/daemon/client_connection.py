"""One client of the daemon: its command line, run over the shared store with its own streams and surroundings."""

from __future__ import annotations

import contextvars
import json
import logging
import os
import queue
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mnemic import __version__
from mnemic.daemon.streams import ClientStreams
from mnemic.daemon_client import frames
from mnemic.daemon_client.address import config_folder, data_folder
from mnemic.daemon_client.client import CODE, is_same_user
from mnemic.daemon_client.frames import BrokenFrame, packed, packed_json, received
from mnemic.storage.cancellation import Cancellation

if TYPE_CHECKING:
    from mnemic.app import App
    from mnemic.daemon.server import Daemon
    from mnemic.daemon.shared_store import SharedStore
    from mnemic.dialects.framework import Dialect
    from mnemic.model.time import Moment
    from mnemic.settings import Settings

log = logging.getLogger(__name__)

HELLO_SECONDS = 5.0
PATIENCE_SECONDS = 5.0
"""Grace period for a call in progress when the client or the daemon ends."""
NETWORK = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables that a connection to a model server depends on, in capitals or not."""


class Hello(NamedTuple):
    """What a client says of itself."""

    kind: str
    version: str
    code: str
    database: str
    argv: list[str]
    environment: dict[str, str]
    folder: str
    columns: int
    terminal: list[bool]
    marks: list[dict[str, Any]]
    connection: str
    """The same after the client has found another daemon, so that its work session goes on."""


def read_hello(content: bytes) -> Hello:
    """The greeting in *content*; missing fields are empty."""
    fields = json.loads(content)
    kinds = {"argv": [], "environment": {}, "folder": "/", "columns": 0, "terminal": [False] * 3, "marks": []}
    return Hello(**{name: fields.get(name, kinds.get(name, "")) for name in Hello._fields})


class OwnProcess(BaseException):
    """The command needs a process of its own; not an error, so that no command mistakes it for one."""


class Connection:
    """A client and the thread that listens to it."""

    def __init__(self, daemon: Daemon, wire: socket.socket):
        self._daemon = daemon
        self._wire = wire
        self._sending = threading.Lock()
        self._input: queue.Queue[bytes] = queue.Queue(maxsize=64)
        self._cancellation = Cancellation()
        self._shared: SharedStore | None = None
        self._withheld: list[bytes] | None = []
        """Output from before the store was opened; None once it is sent as it comes."""
        self._hello: Hello | None = None
        self.is_ending = False
        """Whether its input is over because it or the daemon ends."""
        self.is_server = False
        """Whether the client is an MCP client."""
        self.is_done = False

    @property
    def is_client(self) -> bool:
        """Whether it runs something, as opposed to asking about the daemon."""
        return self._hello is not None and self._hello.kind == "run"

    def serve(self) -> None:
        """Answer the client until it leaves."""
        try:
            self._wire.settimeout(HELLO_SECONDS)
            messages = received(self._wire)
            tag, content = next(messages, (b"", b""))
            if tag == frames.HELLO and is_same_user(self._wire):
                self._hello = read_hello(content)
                self._wire.settimeout(None)
                self._greeted(self._hello, messages)
        except (OSError, BrokenFrame, ValueError, TypeError):
            pass  # whoever that was has left or is none of ours
        finally:
            self._wire.close()

    def end(self) -> None:
        """Finish the client's work: its input has ended."""
        self.is_ending = True
        with suppress(OSError):
            self._wire.shutdown(socket.SHUT_RD)

    def _greeted(self, hello: Hello, messages: Iterator[tuple[bytes, bytes]]) -> None:
        match hello.kind:
            case "status":
                self._answer(self._daemon.status())
            case "stop":
                self._answer(self._daemon.status())
                self._daemon.stop()
            case _ if (refusal := self._refusal(hello)) is not None:
                self.send(packed_json(frames.REFUSED, {"reason": refusal[0], "message": refusal[1]}))
            case "applied":
                self._answer({"applied": self._daemon.were_applied(hello.marks)})
            case "run":
                self._run(hello, messages)

    def _answer(self, content: dict[str, Any]) -> None:
        self.send(packed_json(frames.ACCEPTED, {}) + packed_json(frames.OUTPUT, content))

    def _refusal(self, hello: Hello) -> tuple[str, str] | None:
        """Why this client is not served, as a word and a sentence; None if it is."""
        if (hello.version, hello.code) != (__version__, CODE):
            if self._daemon.is_replaceable(self):
                self._daemon.stop()
                return "ending", "The local daemon of another version ends."
            return "version", (
                f"The local daemon (process {os.getpid()}) is of version {__version__} in {CODE}, this client of "
                f"{hello.version} in {hello.code}. `mnemic daemon stop` ends it; its clients start a new one."
            )
        if hello.database != self._daemon.database:
            return "elsewhere", "This is the daemon of another database."
        if self._daemon.is_stopped or self._daemon.stores.are_gone:
            self._daemon.stop()
            return "ending", "The local daemon is about to end."
        if hello.kind == "run" and _process_environment(hello.environment) != _process_environment(
            os.environ
        ):
            return "environment", "The local daemon runs with another home folder or time zone."
        return None

    def send(self, message: bytes) -> None:
        """Send a packed message; a client that has left misses it."""
        with self._sending:
            try:
                self._wire.sendall(message)
            except OSError:
                self._cancellation.set()

    def _run(self, hello: Hello, messages: Iterator[tuple[bytes, bytes]]) -> None:
        """Run the command in a thread of its own, while this one hears what the client says."""
        streams = ClientStreams(self._print, self._ask_for_input, (*hello.terminal,))  # type: ignore[arg-type]
        inherited = contextvars.copy_context()
        work = threading.Thread(
            target=inherited.run, args=(self._work, hello, streams), name="mnemic-command", daemon=True
        )
        work.start()
        try:
            for tag, content in messages:
                if tag == frames.INPUT:
                    self._input.put(content)
                elif tag == frames.INPUT_END:
                    break
            else:
                self._leave()
        except OSError:
            self._leave()
        self._input.put(b"")
        work.join()

    def _leave(self) -> None:
        """The client has gone, or the daemon ends."""
        if not self.is_ending:
            self._cancellation.set()
        self.is_ending = True

    def _work(self, hello: Hello, streams: ClientStreams) -> None:
        streams.use()
        try:
            code = self._cancellation.run(lambda: self._ran(hello))
            streams.stdout.flush()
            streams.stderr.flush()
        except OwnProcess:
            code = None
        except Exception:
            log.exception("unexpected failure")
            code = None
        if self._shared is not None:
            self._shared.worker.wake()
        self._daemon.let_go(self)
        self._finish(code)

    def _ran(self, hello: Hello) -> int:
        from mnemic.cli.program import run_words
        from mnemic.console.run import Run
        from mnemic.console.terminal import show_in_columns

        if hello.columns:
            show_in_columns(hello.columns)
        run = Run(
            as_json="--json" in hello.argv,
            opener=self._open,
            server=self._serve,
            environment=hello.environment,
            folder=Path(hello.folder),
        )
        return run_words(hello.argv, run)

    def _finish(self, code: int | None) -> None:
        """Tell the exit code; a command that never came to the store is left to its own process."""
        if self._withheld is not None or code is None:
            refusal = {"reason": "process", "message": "This command needs a process of its own."}
            self.send(packed_json(frames.REFUSED, refusal))
        else:
            self.send(packed_json(frames.EXIT, {"code": code}))
        with suppress(OSError):
            self._wire.shutdown(socket.SHUT_RDWR)

    def _print(self, descriptor: int, data: bytes) -> None:
        message = packed(frames.OUTPUT if descriptor == 1 else frames.ERROR, data)
        if self._withheld is None:
            self.send(message)
        else:
            self._withheld.append(message)

    def _ask_for_input(self) -> bytes:
        """All of the client's standard input."""
        if self._withheld is not None:
            self._accept()
        self.send(packed(frames.WANTED))
        return b"".join(iter(self._input.get, b""))

    def _accept(self) -> None:
        assert self._withheld is not None
        messages, self._withheld = [packed_json(frames.ACCEPTED, {}), *self._withheld], None
        self.send(b"".join(messages))

    def _open(self, settings: Settings, actor: str) -> App:
        """The client's app over the shared store, if its settings allow that."""
        assert self._hello is not None
        if os.path.realpath(settings.database) != self._daemon.database:
            raise OwnProcess
        if reaches_out(settings) and _network(self._hello.environment) != _network(os.environ):
            raise OwnProcess
        self._shared = shared = self._daemon.stores.take(settings)
        if shared is None:
            raise OwnProcess
        app = shared.lend(settings, self._hello.environment, Path(self._hello.folder), actor)
        app.ctx = replace(app.ctx, announce=lambda at: self._mark(None, actor, at))
        if self._withheld is not None:
            self._accept()
        return app

    def _mark(self, id: int | str | None, actor: str, at: Moment) -> None:
        self.send(packed_json(frames.MARK, {"id": id, "actor": actor, "at": at}))

    def _serve(self, app: App, dialect: Dialect) -> None:
        """Serve *dialect* to the client of `mnemic mcp`, as `run_stdio` does in a process of its own."""
        from mnemic.transports.background import log_missing
        from mnemic.transports.mcp.jsonrpc import RpcConversation
        from mnemic.transports.mcp.methods import Endpoint, offer
        from mnemic.transports.mcp.stdio import for_own_user, listen
        from mnemic.transports.mirror_loop import mirrored

        assert self._hello is not None and self._shared is not None
        self.is_server = True
        ctx = for_own_user(replace(app.ctx, wake=self._shared.worker.wake)).over(self._hello.connection)
        mirror = dialect.mirror(self._hello.environment) if dialect.mirror else None
        if ctx.features.has_language:
            inherited = contextvars.copy_context()
            threading.Thread(target=inherited.run, args=(log_missing, ctx), daemon=True).start()
        with mirrored(ctx, mirror):
            conversation = RpcConversation(
                Endpoint(dialect, offer(app.settings)), ctx, self._say, announce=self._mark
            )
            listen(conversation, self._input.get)
            conversation.close(PATIENCE_SECONDS if self.is_ending else None)

    def _say(self, line: bytes) -> None:
        self.send(packed(frames.OUTPUT, line))


def _process_environment(environment: Mapping[str, str]) -> tuple[str | None, ...]:
    """What of the environment the whole process goes by: the user's folders and the time zone."""
    folders = data_folder(environment), config_folder(environment)
    return environment.get("HOME"), environment.get("TZ"), *folders


def _network(environment: Mapping[str, str]) -> list[str | None]:
    return [environment.get(name) or environment.get(name.lower()) for name in NETWORK]


def reaches_out(settings: Settings) -> bool:
    """Whether a model server is asked."""
    from mnemic.app import features

    return settings.embedder in ("openai", "ollama") or features(settings).has_language
