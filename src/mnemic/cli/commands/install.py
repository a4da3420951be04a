"""`mnemic install` and `mnemic uninstall`: Mnemic in the configuration of an MCP client."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from mnemic.cli.dialect_names import LISTED, names
from mnemic.client_config import (
    CLIENTS,
    Client,
    ConfigScope,
    Edit,
    Records,
    ServerEntry,
    configured,
    plan_install,
    plan_uninstall,
    this_machine,
)
from mnemic.client_config.executable import executable
from mnemic.console import output
from mnemic.console.run import Run, Verb, pass_run
from mnemic.console.terminal import bad, good
from mnemic.dialects import NATIVE
from mnemic.errors import Conflict, MnemicError
from mnemic.project import AUTO, current_namespace


class ClientName(click.Choice[str]):
    """The name of a client, or another word that it is known by."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        named = (one for one, client in CLIENTS.items() if value.lower() in client.aliases)
        return str(super().convert(next(named, value), param, ctx))


_client = click.argument("client", type=ClientName(list(CLIENTS)), metavar="CLIENT", required=False)
_scope = click.option(
    "--scope",
    type=click.Choice([scope.value for scope in ConfigScope]),
    default=ConfigScope.USER.value,
    show_default=True,
    help="Configure it for the user, or for the project in this folder.",
)
_name = click.option("--name", default="mnemic", show_default=True, help="Name of the server in the client.")
_dry_run = click.option("--dry-run", is_flag=True, help="Show the change without making it.")
_all = click.option("--all", "every", is_flag=True, help="All clients that are found here.")
CAPTURE = (
    "Hooks brief the agent and keep turns, a summary and lasting statements of each session in a project.",
    "Secrets are redacted, <private>…</private> is never kept. `mnemic tidy review` shows what was captured,",
    "`mnemic capture pause` stops it; --no-hooks leaves the hooks out.",
)


@click.command(cls=Verb, epilog="Clients: " + ", ".join(CLIENTS) + f"\n\n{LISTED}")
@_client
@click.option(
    "--dialect",
    metavar="NAME",
    shell_complete=names,
    help="Dialect to serve. [default: mnemic]",
)
@_scope
@_name
@click.option("--no-hooks", is_flag=True, help="Leave the client's hooks alone: nothing is captured.")
@_all
@click.option("--list", "lists", is_flag=True, help="List the clients and which are found here.")
@_dry_run
@pass_run
def install(
    run: Run,
    client: str | None,
    dialect: str | None,
    scope: str,
    name: str,
    no_hooks: bool,
    every: bool,
    lists: bool,
    dry_run: bool,
) -> None:
    """Set up CLIENT to use Mnemic: its MCP server, its hooks, and a block in its instruction file.

    Everything else in the files stays as it is, comments included. Doing it again changes nothing.
    """
    if lists:
        return list_clients(run, name)
    where = ConfigScope(scope)
    server = ServerEntry(name, executable(where), words(run, dialect, where))
    flags = None if no_hooks or dialect not in (None, NATIVE) else hook_flags(server)

    def plan(one: str) -> Sequence[Edit]:
        return plan_install(CLIENTS[one], this_machine(), where, server, flags)

    carry_out(run, chosen(client, every, where), plan, dry_run, installs=True)
    return None


@click.command(cls=Verb, epilog="Clients: " + ", ".join(CLIENTS))
@_client
@_scope
@_name
@_all
@_dry_run
@pass_run
def uninstall(run: Run, client: str | None, scope: str, name: str, every: bool, dry_run: bool) -> None:
    """Remove Mnemic from CLIENT: server, hooks and block. Memories stay."""
    where = ConfigScope(scope)
    clients = chosen(client, every, where)

    def plan(one: str) -> Sequence[Edit]:
        return plan_uninstall(CLIENTS[one], this_machine(), where, name, records(), leaving=clients)

    carry_out(run, clients, plan, dry_run, installs=False)


def chosen(client: str | None, every: bool, scope: ConfigScope) -> list[str]:
    """The clients that are meant: the one that was named, or all that are found and have files for *scope*."""
    if (client is None) != every:
        raise click.UsageError("Name a client, or give --all; --list shows the clients.")
    if not every:
        return [str(client)]
    has_files = {one for one, known in CLIENTS.items() if scope is ConfigScope.USER or known.project_file}
    return [one for one, known in CLIENTS.items() if one in has_files and known.is_found(this_machine())]


def records() -> Records:
    """Where it is kept what files held before we changed them."""
    from mnemic.settings import data_folder

    return Records(data_folder() / "installed")


def list_clients(run: Run, name: str) -> None:
    """Show the clients: which are found here, which are set up, and what is set up for each."""
    machine = this_machine()
    ready = {setup.client.name for setup in configured(machine, name) if not setup.fault}
    rows = [
        {"client": one, "title": known.title, "found": known.is_found(machine), "installed": one in ready}
        | {"hooks": known.hooks is not None}
        for one, known in CLIENTS.items()
    ]
    output.present(run, {"clients": rows}, map(_client_line, rows))


def _client_line(row: dict[str, object]) -> str:
    state = "installed" if row["installed"] else "found" if row["found"] else "-"
    hooks = "hooks" if row["hooks"] else ""
    return f"{row['client']!s:16}{row['title']!s:18}{state:11}{hooks}".rstrip()


def carry_out(
    run: Run,
    clients: Sequence[str],
    plan: Callable[[str], Sequence[Edit]],
    dry_run: bool,
    *,
    installs: bool,
) -> None:
    """Make the edits of each client unless they are only to be shown, and tell what happened.

    Clients may share a file, so that each is planned after the one before it is done. A client whose files cannot be
    edited does not keep the others from theirs.
    """
    kept = records()
    plans: dict[str, Sequence[Edit]] = {}
    refused: list[str] = []
    for one in clients:
        try:
            edits = plan(one)
            if not dry_run:
                _make(edits, kept, installs)
            plans[one] = edits
        except MnemicError as error:
            if len(clients) == 1:
                raise
            refused.append(str(error))
    facts = [_facts(client, edits, dry_run) for client, edits in plans.items()]
    shown = [*(_shown(plans) if dry_run else _done(plans)), *_notices(plans, installs, dry_run)]
    output.tell(
        run, facts[0] if len(facts) == 1 else {"clients": facts}, *(shown or ["No client was found."])
    )
    if refused:
        raise Conflict("\n".join(refused))


def _make(edits: Sequence[Edit], kept: Records, installs: bool) -> None:
    # What was made first is removed last: its folders are empty then.
    for edit in edits if installs else reversed(edits):
        if edit.is_needed:
            edit.make(kept)


def _facts(client: str, edits: Sequence[Edit], dry_run: bool) -> dict[str, object]:
    changed = [str(edit.file) for edit in edits if edit.is_needed]
    return {
        "client": client,
        "file": str(edits[0].file),
        "changed": bool(changed),
        "files": changed,
        "dry_run": dry_run,
    }


def _shown(plans: Mapping[str, Sequence[Edit]]) -> list[str]:
    """The differences that would be made, each once: clients may share a file."""
    needed = {edit.file: edit for edits in plans.values() for edit in edits if edit.is_needed}
    lines = [_coloured(line) for edit in needed.values() for line in edit.difference()]
    return [*lines, *(line for client, edits in plans.items() for line in _unchanged(client, edits))]


def _done(plans: Mapping[str, Sequence[Edit]]) -> list[str]:
    """What was done to the files of each client."""
    return [line for client, edits in plans.items() for line in _changed(client, edits)]


def _changed(client: str, edits: Sequence[Edit]) -> list[str]:
    title, needed = CLIENTS[client].title, [edit for edit in edits if edit.is_needed]
    done = [f"{title}: {'removed' if edit.after is None else 'wrote'} {edit.file}." for edit in needed]
    return done or _unchanged(client, edits)


def _unchanged(client: str, edits: Sequence[Edit]) -> list[str]:
    is_needed = any(edit.is_needed for edit in edits)
    return [] if is_needed else [f"{CLIENTS[client].title}: nothing to change in {edits[0].file}."]


def _notices(plans: Mapping[str, Sequence[Edit]], installs: bool, dry_run: bool) -> list[str]:
    """What to know of it: what is captured, and how each client takes it up."""
    changed = [one for one, edits in plans.items() if any(edit.is_needed for edit in edits)]
    if not installs:
        return ["Memories stay where they are."] if changed and not dry_run else []
    captures = any(_has_hooks(CLIENTS[one], plans[one]) for one in changed)
    title = "{}: " if len(changed) > 1 else ""
    after = [title.format(CLIENTS[one].title) + CLIENTS[one].after for one in changed if not dry_run]
    return [*(CAPTURE if captures else ()), *after]


def _has_hooks(client: Client, edits: Sequence[Edit]) -> bool:
    return client.hooks is not None and any(f"--client {client.name}" in (edit.after or "") for edit in edits)


def hook_flags(server: ServerEntry) -> tuple[str, ...]:
    """The flags of the server that hooks need as well: the database and, if one is set, the namespace."""
    given = server.arguments
    places = [at for at, word in enumerate(given) if word in ("--db", "--namespace")]
    return tuple(word for at in places for word in given[at : at + 2])


def _coloured(line: str) -> str:
    return good(line) if line.startswith("+") else bad(line) if line.startswith("-") else line


def words(run: Run, dialect: str | None, scope: ConfigScope) -> tuple[str, ...]:
    """The arguments a client starts us with: a database set by a variable is named: clients see none."""
    from mnemic.app import dialect as known

    settings = run.settings(**(run.database_of(known(dialect)) if dialect else {}))
    database = settings.db if scope is ConfigScope.USER else run.flags.get("db")
    named = settings.namespace if scope is ConfigScope.USER else run.flags.get("namespace")
    namespace = pinned(dialect) if scope is ConfigScope.PROJECT and named in (None, AUTO) else named
    if database and "://" not in database and scope is ConfigScope.USER:
        database = str(Path(database).expanduser().absolute())
    flags = (("--dialect", dialect), ("--namespace", namespace), ("--db", database))
    return ("mcp", *(word for flag, value in flags if value for word in (flag, value)))


def pinned(dialect: str | None) -> str | None:
    """The namespace that a project's shared file names: a colleague's clone may lie in a folder of another name."""
    return current_namespace() if dialect in (None, "mnemic") else None
