"""Operations for the owner of a store: tokens, standards, settings, clients, import, backups, checks."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from enum import StrEnum
from io import BytesIO
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field

from mnemic.core import access, standards
from mnemic.core import history as past
from mnemic.core.context import Context
from mnemic.dialects.framework import Shape
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.history import ChangeShape, shown_change
from mnemic.dialects.native.types import (
    BriefShape,
    ConflictEntry,
    Name,
    Namespace,
    Request,
    Tags,
    Time,
    When,
    brief,
)
from mnemic.errors import Denied, Invalid
from mnemic.model.access import Token
from mnemic.model.change import Subject
from mnemic.model.filter import ChangeFilter
from mnemic.storage.queries import newest_change

if TYPE_CHECKING:
    from mnemic.transfer.import_report import Report

SERVER = "mnemic"
"""Name of our server in the configuration of a client."""
MOST_LISTED = 20
"""Conflicts and errors of an import that are listed one by one."""


def must_administer(ctx: Context) -> None:
    """Denied unless the caller may see and change everything."""
    if ctx.granted is not None or not ctx.may_write:
        raise Denied("This token may not administer the store.")


class TokenAction(StrEnum):
    """What to do with access tokens."""

    LIST = "list"
    CREATE = "create"
    ROTATE = "rotate"
    REVOKE = "revoke"


class TokensRequest(Request):
    """Nothing, to list the tokens; or what to do with one."""

    action: Annotated[TokenAction, Field(description="what to do")] = TokenAction.LIST
    name: Annotated[Name | None, Field(description="the token's name")] = None
    namespaces: Annotated[Tags | None, Field(description="create: only these namespaces")] = None
    can_write: Annotated[bool, Field(description="create: whether it may change anything")] = True
    expires: Annotated[When | None, Field(description="create: when it expires, as 2027-01-31")] = None


class TokenShape(Shape):
    """An access token without its secret."""

    name: str
    namespaces: list[str] | None = None
    can_write: bool
    created_at: Time
    expires_at: Time | None = None
    used_at: Time | None = None


class TokensReply(Shape):
    """The tokens there are, and the secret of a new one, which is never shown again."""

    tokens: list[TokenShape]
    secret: str | None = None


@MNEMIC.command(title="Tokens", reads=False)
def tokens(ctx: Context, request: TokensRequest) -> TokensReply:
    """List, create, rotate and revoke access tokens."""
    must_administer(ctx)
    secret = _token_action(ctx, request)
    return TokensReply(tokens=[_shown_token(token) for token in access.tokens(ctx)], secret=secret)


def _token_action(ctx: Context, request: TokensRequest) -> str | None:
    if request.action is TokenAction.LIST:
        return None
    if request.name is None:
        raise Invalid("name: name the token", "name")
    match request.action:
        case TokenAction.REVOKE:
            access.revoke_token(ctx, request.name)
            return None
        case TokenAction.ROTATE:
            return access.rotate_token(ctx, request.name)
    wanted = access.TokenRequest(
        name=request.name,
        namespaces=tuple(request.namespaces) if request.namespaces else None,
        can_write=request.can_write,
        expires_at=ctx.moment(request.expires, "expires") if request.expires else None,
    )
    return access.create_token(ctx, wanted)


def _shown_token(token: Token) -> TokenShape:
    return TokenShape(
        name=token.name,
        namespaces=None if token.grant.namespaces is None else list(token.grant.namespaces),
        can_write=token.grant.can_write,
        created_at=token.created_at,
        expires_at=token.expires_at,
        used_at=token.used_at,
    )


class StandardsRequest(Request):
    """Nothing, to list the standards; or a namespace and the memory that states its rules."""

    namespace: Annotated[Namespace | None, Field(description="the namespace; * is all of them")] = None
    memory: Annotated[int | None, Field(description="the memory with its rules", ge=1, lt=2**53)] = None
    parent: Annotated[Namespace | None, Field(description="the namespace it inherits from")] = None
    clear: Annotated[bool, Field(description="take the standard away")] = False


class StandardShape(Shape):
    """The standard of a namespace."""

    namespace: str
    memory: BriefShape | None = None
    parent: str | None = None


class StandardsReply(Shape):
    """The standards that are set."""

    standards: list[StandardShape]


@MNEMIC.command(title="Standards", reads=False)
def standard_memories(ctx: Context, request: StandardsRequest) -> StandardsReply:
    """List, set and clear the memories that state the rules of namespaces."""
    if request.namespace is not None:
        if request.clear:
            standards.clear_standard(ctx, request.namespace)
        elif request.memory is not None:
            standards.set_standard(ctx, request.namespace, request.memory, request.parent)
        else:
            raise Invalid("memory: name the memory, or set clear", "memory")
    seen = [name for name in standards.settings(ctx.read()) if ctx.may_see(name)]
    found = [standards.standard_of(ctx, name) for name in seen]
    return StandardsReply(
        standards=[
            StandardShape(
                namespace=one.namespace, memory=brief(one.memory) if one.memory else None, parent=one.parent
            )
            for one in found
        ]
    )


class SettingsRequest(Request):
    """Nothing, to show the settings; or one to write into the configuration file."""

    key: Annotated[Name | None, Field(description="the setting")] = None
    value: Annotated[str | None, Field(description="its new value; none lets the default hold")] = None


class SettingShape(Shape):
    """A setting, its value and where that comes from."""

    key: str
    value: Any
    source: str
    help: str
    choices: list[str] | None = None
    is_secret: bool = False


class SettingsReply(Shape):
    """The settings and the file they are written to. A running daemon reads it when it starts."""

    file: str
    settings: list[SettingShape]


@MNEMIC.command(title="Settings", reads=False)
def settings(ctx: Context, request: SettingsRequest) -> SettingsReply:
    """Show the settings and where each comes from, or write one into the configuration file."""
    from mnemic import config_file

    must_administer(ctx)
    if request.key is not None:
        config_file.put(request.key, request.value)
    return SettingsReply(
        file=str(config_file.path()),
        settings=[
            SettingShape(
                key=one.key,
                value=one.value,
                source=one.source,
                help=one.help,
                choices=list(one.choices) or None,
                is_secret=one.is_secret,
            )
            for one in config_file.entries()
        ],
    )


class ClientsRequest(Request):
    """Nothing, to list the clients; or one to set up or to leave."""

    client: Annotated[Name | None, Field(description="the client")] = None
    uninstall: Annotated[bool, Field(description="remove Mnemic from it instead")] = False
    apply: Annotated[bool, Field(description="do it; otherwise only show the change")] = False


class ClientShape(Shape):
    """A program that can use Mnemic over MCP."""

    name: str
    title: str
    is_found: bool
    is_installed: bool


class ClientsReply(Shape):
    """The clients, and how the files of one change."""

    clients: list[ClientShape]
    difference: str | None = None
    note: str | None = None


@MNEMIC.command(title="Clients", reads=False)
def clients(ctx: Context, request: ClientsRequest) -> ClientsReply:
    """List the MCP clients of this machine, or set one up to use Mnemic."""
    from mnemic.client_config import CLIENTS, configured, this_machine

    must_administer(ctx)
    edits = _client_edits(request) if request.client is not None else None
    machine = this_machine()
    ready = {setup.client.name for setup in configured(machine, SERVER) if not setup.fault}
    return ClientsReply(
        clients=[
            ClientShape(
                name=name, title=known.title, is_found=known.is_found(machine), is_installed=name in ready
            )
            for name, known in CLIENTS.items()
        ],
        difference=edits,
        note=CLIENTS[request.client].after if edits and request.client and request.apply else None,
    )


def _client_edits(request: ClientsRequest) -> str:
    """Make, or only show, the edits of one client's files; the difference."""
    from mnemic.client_config import (
        CLIENTS,
        ConfigScope,
        Records,
        ServerEntry,
        plan_install,
        plan_uninstall,
        this_machine,
    )
    from mnemic.client_config.executable import executable
    from mnemic.settings import data_folder, load

    if request.client not in CLIENTS:
        raise Invalid(f"client: there are {', '.join(CLIENTS)}", "client")
    known, kept = CLIENTS[request.client], Records(data_folder() / "installed")
    if request.uninstall:
        edits = list(reversed(plan_uninstall(known, this_machine(), ConfigScope.USER, SERVER, kept)))
    else:
        database = load({}, os.environ).db
        flags = ("--db", database) if database else ()
        server = ServerEntry(SERVER, executable(ConfigScope.USER), ("mcp", *flags))
        edits = list(plan_install(known, this_machine(), ConfigScope.USER, server, flags))
    needed = [edit for edit in edits if edit.is_needed]
    difference = "\n".join(line for edit in needed for line in edit.difference())
    for edit in needed if request.apply else ():
        edit.make(kept)
    return difference


class ImportRequest(Request):
    """The content of a file of memories."""

    content: Annotated[str, Field(description="the file: a JSON document, or lines of JSON")]
    apply: Annotated[bool, Field(description="import it; otherwise only say what it holds")] = False


class ImportReply(Shape):
    """What the file would bring, or what came of it."""

    imported: int
    """How many memories are new or change one that is known."""
    new: int
    changed: int
    known: int
    """How many are here already, as they are."""
    links: int
    titles: list[str]
    """The titles of the first few that are new or change something."""
    changes: list[ChangeShape] | None = None
    """Of a preview: what the first few known memories that change would say."""
    errors: list[str]
    conflicts: list[ConflictEntry]
    is_applied: bool
    is_compared: bool = True
    """Whether a preview was compared with what is here; that of a PostgreSQL database is not."""


@MNEMIC.command(title="Import", reads=False)
def import_content(ctx: Context, request: ImportRequest) -> ImportReply:
    """Import memories and links from the content of an exported file, or preview it."""
    must_administer(ctx)
    if request.apply:
        return _imported(_taken_in(ctx, request.content), is_applied=True)
    try:
        with ctx.engines.copied(ctx.store) as copy:
            return _tried(replace(ctx, store=copy, embedder=None), request.content)
    except Denied:
        empty = replace(ctx, store=ctx.engines.in_memory(), embedder=None)
        return _imported(_taken_in(empty, request.content), is_compared=False)


def _tried(copy: Context, content: str) -> ImportReply:
    """What an import does to a copy of the store."""
    newest = newest_change(copy.read())
    done = _taken_in(copy, content)
    wanted = ChangeFilter(after=newest.position if newest else None, subject=Subject.MEMORY)
    changes = [one for one in copy.read().journal(wanted) if one.before is not None]
    names = past.titles_of(copy, changes)
    shown = [shown_change(one, names.get((one.subject, one.subject_id))) for one in changes[:MOST_LISTED]]
    return _imported(done).model_copy(update={"changes": shown})


def _taken_in(ctx: Context, content: str) -> Report:
    from mnemic.transfer import formats

    stream = BytesIO(content.encode())
    first = formats.first_line(stream)
    return formats.take_in(ctx, first, stream, formats.looks_like(first))


def _imported(done: Report, *, is_applied: bool = False, is_compared: bool = True) -> ImportReply:
    from mnemic.transfer.wire import conflict_entry

    return ImportReply(
        imported=done.imported,
        new=done.added,
        changed=done.imported - done.added,
        known=done.skipped,
        links=done.links,
        titles=list(done.titles),
        conflicts=[cast(ConflictEntry, conflict_entry(clash)) for clash in done.conflicts[:MOST_LISTED]],
        errors=list(done.errors[:MOST_LISTED]),
        is_applied=is_applied,
        is_compared=is_compared,
    )


class BackupsRequest(Request):
    """Nothing, to list the backups; or the wish for a new one."""

    make: Annotated[bool, Field(description="copy the whole database now")] = False
    restore: Annotated[str | None, Field(description="go back to this backup, by its file name")] = None
    apply: Annotated[
        bool, Field(description="with restore: do it; otherwise only say what it would undo")
    ] = False


class BackupShape(Shape):
    """A backup file."""

    file: str
    bytes: int
    made_at: Time


class BackupsReply(Shape):
    """The backups in the data folder, newest first."""

    folder: str
    backups: list[BackupShape]
    undone: int | None = None
    """With restore: how many changes were made since the backup, and are undone."""


@MNEMIC.command(title="Backups", reads=False)
def backups(ctx: Context, request: BackupsRequest) -> BackupsReply:
    """List the backups in the data folder, make one, or restore one while others use the store.

    Going back undoes all changes made since the backup, as one change that can be undone itself; a backup of the
    present state is made first. What was purged since stays purged: for that, and for a damaged database, end the
    daemon and run `mnemic restore --from FILE`.
    """
    from mnemic.core import backups as copies
    from mnemic.settings import data_folder

    must_administer(ctx)
    folder, undone = data_folder() / "backups", None
    if request.restore is not None:
        undone = copies.restore(ctx, folder, request.restore, dry_run=not request.apply)
    if request.make:
        copies.make(ctx, folder)
    return BackupsReply(
        folder=str(folder),
        backups=[
            BackupShape(file=str(one.path), bytes=one.bytes, made_at=one.made_at)
            for one in copies.listed(folder)
        ],
        undone=undone,
    )


class ChecksRequest(Request):
    """Nothing."""


class CheckShape(Shape):
    """One check: ok, note or broken, and what was found."""

    check: str
    health: str
    detail: str


class ChecksReply(Shape):
    """The checks of the store."""

    checks: list[CheckShape]


@MNEMIC.command(title="Checks")
def checks(ctx: Context, request: ChecksRequest) -> ChecksReply:
    """Check the database, its journal, the embedding models and the vectors."""
    from mnemic.core.health_checks import store_checks

    must_administer(ctx)
    return ChecksReply(
        checks=[
            CheckShape(**{item.name: str(getattr(one, item.name)) for item in fields(one)})
            for one in store_checks(ctx)
        ]
    )
