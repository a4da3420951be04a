"""The session of one run: global flags, settings, the open store, and how to answer."""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.console.terminal import safe, show_times_in
from mnemic.errors import NotFound

if TYPE_CHECKING:
    import tempfile
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from mnemic.app import App
    from mnemic.dialects.framework import Dialect
    from mnemic.model.change import Position
    from mnemic.settings import Settings

ACTOR = "cli"
"""Who the journal says did it."""


@dataclass(slots=True)
class Run:
    """The flags of one run, given before or after the command's name, and how to answer."""

    flags: dict[str, Any] = field(default_factory=dict)
    as_json: bool = False
    began: tuple[Settings, Position] | None = None
    """The store that was opened first, and its newest change then."""
    opened: App | None = None
    """The store that all lines of a shell share."""
    opener: Callable[[Settings, str], App] | None = None
    """Opens the store that settings name, on behalf of an actor. A run that has none only parses."""
    server: Callable[[App, Dialect], None] | None = None
    """Serves a dialect to the client of `mnemic mcp`."""
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    """The variables of the caller: in the local daemon, those of its client."""
    folder: Path | None = None
    """The working folder of the caller; None is that of this process."""
    warns: bool = True
    """Whether unknown keys in a configuration file are still to be told of."""

    def settings(self, **more: Any) -> Settings:
        """The settings in force for this run; *more* are flags of the command itself."""
        from mnemic.settings import load

        settings = load({**self.flags, **more}, self.environment, self._warn if self.warns else None)
        self.warns = False
        if self.folder is None or "://" in settings.database:
            return settings
        return replace(settings, db=str(self.folder / Path(settings.database).expanduser()))

    def _warn(self, sentence: str) -> None:
        click.echo(f"Warning: {safe(sentence)}", err=True)

    def open(self, *, reads: bool = False, **more: Any) -> OpenStore:
        """The store these settings name, open, for a `with` block.

        A command that only *reads* creates no database: one that `--db` names must be there, a missing default
        reads as empty.
        """
        return self._open(self.settings(**more), reads)

    def open_existing(self) -> OpenStore:
        """The store these settings name, open; NotFound if there is none, wherever its name comes from.

        For commands whose answer over a new, empty database would be taken for one about the store that was meant.
        """
        settings = self.settings()
        if is_missing(settings.database):
            raise _not_there(settings.database)
        return self._open(settings, reads=False)

    def open_native(self, *, reads: bool = False, **more: Any) -> OpenStore:
        """The same for a native command: in the namespace of the project, unless another is named."""
        return self._open(self.settings(**more).for_project(), reads)

    def _open(self, settings: Settings, reads: bool) -> OpenStore:
        if self.opened is not None and self.opened.settings == settings:
            return OpenStore(self.opened, stays=True)
        _collect_garbage()
        scratch = self._scratch(settings) if reads and is_missing(settings.database) else None
        if scratch is not None:
            settings = replace(settings, db=str(Path(scratch.name) / "empty.db"))
        try:
            app = self._app(settings)
        except BaseException:
            if scratch is not None:
                scratch.cleanup()
            raise
        show_times_in(app.ctx.zone)
        if self.began is None:
            self.began = settings, app.ctx.store.newest()
        return OpenStore(app, scratch=scratch)

    def _app(self, settings: Settings) -> App:
        assert self.opener is not None, "this run was given nothing to open stores with"
        return self.opener(settings, ACTOR)

    def _scratch(self, settings: Settings) -> tempfile.TemporaryDirectory[str]:
        """A folder for a temporary empty database, since there is none; NotFound if `--db` named it."""
        if self.flags.get("db"):
            raise _not_there(settings.database)
        import tempfile

        return tempfile.TemporaryDirectory(prefix="mnemic-")

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep one store open for every command that is run inside."""
        with self.open_native() as app:
            self.opened = app
            yield

    def interrupted(self) -> str:
        """What to say when the user stops the program: what it has changed in the store so far."""
        number = self._changes()
        if not number:
            return "Interrupted. Nothing was changed."
        counted = "1 change was" if number == 1 else f"{number:,} changes were"
        return f"Interrupted. {counted} stored since it began; `mnemic history` lists them."

    def _changes(self) -> int:
        """How many changes the store has seen since this run opened it; an import keeps the names of their authors."""
        if self.began is None or is_missing(self.began[0].database):
            return 0
        from mnemic.model.filter import ChangeFilter

        settings, position = self.began
        with self._app(replace(settings, embedder="none")) as app:
            return sum(1 for _ in app.ctx.read().journal(ChangeFilter(after=position)))

    def for_one_line(self) -> Run:
        """A session for one line of a shell: the same store and flags, to which the line may add its own."""
        return replace(self, flags=dict(self.flags), began=None)

    def database_of(self, dialect: Dialect) -> dict[str, Any]:
        """The database that a dialect's own variables name, as a flag; our flag and our variable count before."""
        place = dialect.database(self.environment) if dialect.database else None
        is_named = self.flags.get("db") or self.environment.get("MNEMIC_DB")
        return {} if place is None or is_named else {"db": str(place)}


def _not_there(database: str) -> NotFound:
    return NotFound(f"--db: there is no database {database}")


def is_missing(database: str) -> bool:
    """Whether *database* names a file that is not there."""
    return "://" not in database and not Path(database).expanduser().exists()


class OpenStore:
    """An open store for a `with` block."""

    def __init__(
        self, app: App, *, stays: bool = False, scratch: tempfile.TemporaryDirectory[str] | None = None
    ):
        self.app = app
        self.stays = stays
        self.scratch = scratch

    def __enter__(self) -> App:
        return self.app

    def __exit__(self, *exception: object) -> None:
        if not self.stays:
            self.app.close()
        if self.scratch is not None:
            self.scratch.cleanup()


def _collect_garbage() -> None:
    """Look for garbage from now on, where main put it off: the work begins, which may be long."""
    if not gc.isenabled():
        gc.freeze()  # What was loaded stays: to look through it once took a twelfth of `mnemic open`.
        gc.enable()


pass_run = click.make_pass_decorator(Run)


def _keep(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value is not None:
        ctx.ensure_object(Run).flags[parameter.name.removeprefix(OURS)] = value


def _keep_json(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Run).as_json = True


OURS = "global_"
"""How the names of the program's own options begin, so that no argument of a command can have them."""
SHARED = frozenset(f"{OURS}{name}" for name in ("db", "namespace", "json"))


def global_options(taken: Iterable[str] = ()) -> list[click.Parameter]:
    """The options every command takes too, without those whose flag is *taken* by the command."""
    options = [
        _option(
            "--db", _keep, "Database: a file or a postgresql:// address. [env: MNEMIC_DB]", metavar="PLACE"
        ),
        _option(
            "--namespace",
            _keep,
            "Write to this namespace, read it and global; * reads all. [default: that of the git repository]",
            metavar="NAME",
        ),
        _option("--json", _keep_json, "Answer in JSON.", is_flag=True),
    ]
    names = set(taken)
    return [option for option in options if names.isdisjoint(option.opts)]


def _option(flag: str, callback: Callable[..., None], text: str, **more: Any) -> click.Option:
    name = OURS + flag.removeprefix("--")
    return click.Option([flag, name], callback=callback, expose_value=False, help=text, **more)


TIERS = ("keyword", "semantic", "smart", "autonomous")


def tier_option() -> click.Option:
    """The feature tier: words alone, vectors, a language model, and all of it."""
    return click.Option(
        ["-T", "--tier", f"{OURS}tier"],
        type=click.Choice(TIERS),
        callback=_keep,
        expose_value=False,
        help="Feature tier; keyword needs no model. [default: semantic]",
    )


class Verb(click.Command):
    """A command that also takes the program's own options after its name."""

    def __init__(self, *arguments: Any, **keywords: Any):
        super().__init__(*arguments, **keywords)
        self.params += global_options(
            name for param in self.params for name in (*param.opts, *param.secondary_opts)
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the command's own options first, then the program's."""
        own: list[tuple[str, str]] = []
        common: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None or isinstance(param, click.Argument):
                continue
            is_ours = param.name in SHARED or "--help" in param.opts
            (common if is_ours else own).append(record)
        if own:
            with formatter.section("Options"):
                formatter.write_dl(own)
        with formatter.section("Everywhere"):
            formatter.write_dl(common)


class VerbGroup(click.Group):
    """A command with commands of its own, such as `mnemic token`."""

    command_class = Verb

    def __init__(self, *arguments: Any, **keywords: Any):
        super().__init__(*arguments, **keywords)
        self.params += global_options()
