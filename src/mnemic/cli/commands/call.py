"""`mnemic call`: any tool of any dialect, with JSON in and its answer out."""

from __future__ import annotations

from typing import Any

import click

from mnemic.app import NATIVE
from mnemic.cli.dialect_names import LISTED, names, tools
from mnemic.console import output
from mnemic.console.input_values import from_json, read_stdin
from mnemic.console.run import Run, Verb, pass_run
from mnemic.errors import Invalid, MnemicError


@click.command(cls=Verb, epilog=LISTED)
@click.argument("dialect", shell_complete=names)
@click.argument("tool", shell_complete=tools)
@click.argument("json", required=False, metavar="[JSON]")
@pass_run
def call(run: Run, dialect: str, tool: str, json: str | None) -> int:
    """Call TOOL of DIALECT with the arguments in JSON.

    A dash reads them from standard input. The answer is the tool's own.

    \b
    Examples:
      mnemic call mnemic recall '{"query": "deploy"}'
      echo '{"ids": [1]}' | mnemic call mnemic open -
    """
    from mnemic import app as application
    from mnemic.dialects import execution

    chosen = application.dialect(dialect)
    found = chosen.resolve(tool)
    try:
        request = found.parse(_arguments(json))
        opened = run.open_native if dialect == NATIVE else run.open
        with opened(**run.database_of(chosen)) as app:
            rendered = found.dialect.render(execution.run(found.operation, app.ctx, request))
    except MnemicError as error:
        from mnemic.console.failure import exit_code

        click.echo(found.dialect.render_error(tool, error).text, err=True)
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
