"""What one run of the program carries from its flags to its command: the settings, the way to answer."""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mnemic.app import App
    from mnemic.dialects.operation import Dialect
    from mnemic.settings import Settings

ACTOR = "cli"
"""Who the journal says did it."""


@dataclass(slots=True)
class Session:
    """The flags of one run, given before or after the command's name."""

    flags: dict[str, Any] = field(default_factory=dict)
    as_json: bool = False

    def settings(self, **more: Any) -> Settings:
        """The settings in force for this run; *more* are flags of the command itself."""
        from mnemic.settings import load

        return load({**self.flags, **more})

    def open(self, **more: Any) -> App:
        """The store these settings name, open. Use it in a `with` block."""
        return _opened(self.settings(**more))

    def open_native(self, **more: Any) -> App:
        """The same for a native command: in the namespace of the project, unless another is named."""
        return _opened(self.settings(**more).for_project())

    def database_of(self, vocabulary: Dialect) -> dict[str, str]:
        """The database that a vocabulary's own variables name, as a flag; our flag and our variable count before."""
        place = vocabulary.database(os.environ) if vocabulary.database else None
        is_named = self.flags.get("db") or os.environ.get("MNEMIC_DB")
        return {} if place is None or is_named else {"db": str(place)}


def _opened(settings: Settings) -> App:
    from mnemic.app import open_app

    _collect_garbage()
    return open_app(settings, actor=ACTOR)


def _collect_garbage() -> None:
    """Look for garbage from now on, where main put it off: the work begins, which may be long."""
    if not gc.isenabled():
        gc.freeze()  # What was loaded stays: to look through it once took a twelfth of `mnemic open`.
        gc.enable()


pass_session = click.make_pass_decorator(Session)


def _keep(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value is not None:
        ctx.ensure_object(Session).flags[parameter.name.removeprefix(OURS)] = value


def _keep_json(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Session).as_json = True


OURS = "global_"
"""How the names of the program's own options begin, so that no argument of a command can have them."""
SHARED = frozenset(f"{OURS}{name}" for name in ("db", "namespace", "json"))


def global_options(taken: Iterable[str] = ()) -> list[click.Parameter]:
    """The options every command takes too, without those whose flag is *taken* by the command."""
    options = [
        _option("--db", _keep, "The database. [env: MNEMIC_DB]", metavar="PATH"),
        _option(
            "--namespace",
            _keep,
            "Write to this namespace, read it and global; auto: named after the git repository.",
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
        help="How much machinery answers; keyword does without a model. [default: semantic]",
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
