"""`mnemic call`: any tool of any dialect, with JSON in and its answer out."""

from __future__ import annotations

from typing import Any

import click

from mnemic.app import NATIVE
from mnemic.errors import Invalid, MnemicError
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.reading import from_json, read_stdin
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.vocabularies import LISTED, names, tools


@click.command(cls=Verb, epilog=LISTED)
@click.argument("dialect", shell_complete=names)
@click.argument("tool", shell_complete=tools)
@click.argument("json", required=False, metavar="[JSON]")
@pass_session
def call(session: Session, dialect: str, tool: str, json: str | None) -> int:
    """Call TOOL of DIALECT with the arguments in JSON.

    A dash reads them from standard input. The answer is the tool's own.

    \b
    Examples:
      mnemic call mnemic recall '{"query": "deploy"}'
      echo '{"ids": [1]}' | mnemic call mnemic open -
    """
    from mnemic import app as application

    spoken = application.dialect(dialect)
    vocabulary = spoken.home_of(tool)
    operation = vocabulary.find(tool)
    try:
        request = vocabulary.parse(operation, _arguments(json))
        opened = session.open_native if dialect == NATIVE else session.open
        with opened(**session.database_of(spoken)) as app:
            rendered = vocabulary.render(operation.function(app.ctx, request))
    except MnemicError as error:
        from mnemic.surfaces.cli.failure import exit_code

        click.echo(vocabulary.render_error(tool, error).text, err=True)
        return exit_code(error)
    if rendered.structured is None:
        click.echo(rendered.text)
    else:
        output.json(rendered.structured)
    return 1 if rendered.is_error else 0


def _arguments(text: str | None) -> dict[str, Any]:
    given = from_json(read_stdin("json") if text == "-" else text or "{}", "json")
    if not isinstance(given, dict):
        raise Invalid("json: must be an object", "json")
    return given
