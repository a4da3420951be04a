"""`mnemic hook`: answers the hooks of coding agents. It never fails and never keeps an agent waiting for long."""

from __future__ import annotations

import contextvars
import json
import queue
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.console.run import Run, Verb, pass_run
from mnemic.errors import Invalid, MnemicError

if TYPE_CHECKING:
    from mnemic.hooks import HookClient
    from mnemic.hooks.base import HookEvent
    from mnemic.settings import Settings

SECONDS = {"start": 5.0, "prompt": 4.0, "work": 10.0, "turn": 10.0, "compact": 20.0, "end": 10.0}
"""How long an agent may be kept waiting at each moment of a session."""
MOST_INPUT = 20_000_000
LOG = "hooks.log"
LARGEST_LOG = 256_000


@click.command(cls=Verb, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("event", default="", metavar="EVENT")
@click.option(
    "--client", default="claude-code", metavar="NAME", help="Client that calls. [default: claude-code]"
)
@pass_run
def hook(run: Run, event: str, client: str) -> int:
    """Answer a hook of a coding agent: its JSON on standard input, ours on standard output.

    EVENT is the client's own name for it, such as SessionStart. `mnemic install` sets hooks up. Whatever goes wrong,
    the exit code is 0 and the reason is in hooks.log beside the database.
    """
    run.warns = False  # an agent may take what is on standard error for a failure
    given = sys.stdin.buffer.read(MOST_INPUT) if sys.stdin else b""
    replies: queue.Queue[str | BaseException] = queue.Queue()
    around, seconds = contextvars.copy_context(), _limit(event, client)

    def work() -> None:
        try:
            replies.put(around.run(_safely, run, event, client, given))
        except BaseException as error:  # the local daemon leaves the command to another process
            replies.put(error)

    try:
        threading.Thread(target=work, daemon=True).start()
    except RuntimeError:  # no more threads are allowed
        work()
    try:
        answer = replies.get(timeout=seconds)
    except queue.Empty:
        _note(run, f"{client} {event}: gave up after {seconds:g} s")
        return 0
    if isinstance(answer, BaseException):
        raise answer
    if answer:
        click.echo(answer)
    return 0


def _limit(event: str, client: str) -> float:
    from mnemic.hooks import HOOK_CLIENTS

    known = HOOK_CLIENTS.get(client)
    name = known.event_named(event) if known else None
    return SECONDS[known.events[name]] if known and name else min(SECONDS.values())


def _safely(run: Run, event: str, client: str, given: bytes) -> str:
    """The answer; nothing, and a line in the log, if there is none."""
    try:
        return _answer(run, event, client, given)
    except MnemicError as error:
        _note(run, f"{client} {event}: {error}")
    except Exception as error:
        _note(run, f"{client} {event}: {type(error).__name__}: {error}")
    return ""


def _answer(run: Run, word: str, client_name: str, given: bytes) -> str:
    from mnemic.hooks import HOOK_CLIENTS

    client = HOOK_CLIENTS.get(client_name)
    name = client.event_named(word) if client else None
    if client is None or name is None:
        raise Invalid("no such client or event")
    event = client.read(client.events[name], _payload(given))
    text = _hook_reply(run, client, event)
    return json.dumps(client.reply(name, text), ensure_ascii=False) if text else ""


def _payload(given: bytes) -> dict[str, Any]:
    try:
        held = json.loads(given)
    except ValueError as error:
        raise Invalid(f"standard input is not JSON: {error}") from None
    if not isinstance(held, dict):
        raise Invalid("standard input is not a JSON object")
    return held


def _hook_reply(run: Run, client: HookClient, event: HookEvent) -> str:
    from mnemic.core.context import GLOBAL
    from mnemic.hooks import When
    from mnemic.hooks.answer import Limits, answer, is_excluded

    settings = run.settings()
    namespace = _namespace(settings, event.folder or run.folder)
    if is_excluded(event.folder, namespace, settings.capture_exclude):
        return ""
    limits = Limits(
        settings.brief_tokens, settings.prompt_tokens, settings.capture, is_project=namespace is not None
    )
    with run.open_native(namespace=namespace or GLOBAL) as app:
        text = answer(app.ctx.on_behalf_of(client.name), client, event, limits)
        has_language = app.ctx.language is not None
    if has_language and limits.captures and event.when in (When.COMPACT, When.END):
        _summarise_later(run, settings.database, namespace or GLOBAL)
    return text


def _summarise_later(run: Run, database: str, namespace: str) -> None:
    """Start a process in which the language model writes what the session came to: it may take a minute."""
    import subprocess

    words = ("-P", "-m", "mnemic", "--namespace", namespace, "capture", "summarise")
    with suppress(OSError, RuntimeError):  # no process or thread may be started: the summary stays as it is
        child = subprocess.Popen(
            (sys.executable, *words),
            env={**run.environment, "MNEMIC_DB": database},
            cwd=run.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        threading.Thread(
            target=child.wait, daemon=True
        ).start()  # the local daemon is to leave no trace of it


def _namespace(settings: Settings, folder: Path | None) -> str | None:
    """The namespace that was set, or that of the project of *folder*."""
    from mnemic.project import AUTO, current_namespace, namespace_of

    if settings.namespace not in ("", AUTO, "*"):
        return settings.namespace
    return current_namespace() if folder is None else namespace_of(folder, Path.home())


def _note(run: Run, line: str) -> None:
    """Add *line* to the log, as far as that is possible."""
    try:
        file = _log_file(run)
        kept = file.read_bytes()[-LARGEST_LOG // 2 :] if file.stat().st_size > LARGEST_LOG else None
    except (OSError, MnemicError):
        kept = None
    try:
        file = _log_file(run)
        file.parent.mkdir(parents=True, exist_ok=True)
        if kept is not None:
            file.write_bytes(kept.partition(b"\n")[2])
        with file.open("a", encoding="utf-8") as stream:
            stream.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {' '.join(line.split())[:500]}\n")
    except (OSError, MnemicError):
        return


def _log_file(run: Run) -> Path:
    from mnemic.settings import data_folder

    try:
        database = run.settings().database
    except MnemicError:
        database = ""
    is_file = database and "://" not in database
    return (Path(database).expanduser().parent if is_file else data_folder()) / LOG
