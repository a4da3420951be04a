"""Commands made from operations: their parameters, their help, and how they run."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mnemic.cli.parameters import Written, written_fields
from mnemic.console.input_values import read_stdin
from mnemic.console.run import Run, Verb
from mnemic.errors import MnemicError

if TYPE_CHECKING:
    from mnemic.cli.command_index import IndexedCommand
    from mnemic.dialects.framework import Example, Operation

_QUOTED = re.compile(r"`(\w+)`")


def command_for(operation: Operation) -> Verb:
    """The command that does *operation*."""
    fields = written_fields(operation.request)

    @click.pass_context
    def callback(ctx: click.Context, /, **given: Any) -> int:
        return perform(ctx.ensure_object(Run), operation, arguments(ctx, fields), fields)

    return Verb(
        operation.cli,
        callback=callback,
        params=[field.parameter() for field in fields],
        help=explained(operation),
        short_help=operation.about or operation.description.partition("\n")[0],
        epilog=examples(operation, fields),
    )


def explained(operation: Operation) -> str:
    """The help of the command: its line for people, then what the description says below its first paragraph."""
    if not operation.about:
        return operation.description
    _, _, rest = operation.description.partition("\n\n")
    return f"{operation.about}\n\n{rest}".rstrip()


def arguments(ctx: click.Context, fields: Sequence[Written]) -> dict[str, Any]:
    """The operation's arguments as they were written; what was not written is left out."""
    given = {
        field.name: field.value(ctx.params[field.name])
        for field in fields
        if ctx.get_parameter_source(field.name) is ParameterSource.COMMANDLINE
    }
    return {**piped(fields, given), **given}


def piped(fields: Sequence[Written], given: Mapping[str, Any]) -> dict[str, Any]:
    """What a pipe holds, for the argument that may be read from one and was not given."""
    for field in fields:
        if field.reads_pipe(given) and not sys.stdin.isatty():
            text = read_stdin(field.name).rstrip("\n")
            return {field.name: text} if text else {}
    return {}


def perform(run: Run, operation: Operation, given: dict[str, Any], fields: Sequence[Written]) -> int:
    """Do *operation* and show its reply; the exit code."""
    from mnemic.cli.views import answer
    from mnemic.dialects import execution

    try:
        request = operation.parse(given)  # before the store is opened: bad input must not create one
        with run.open_native(reads=operation.read_only) as app:
            reply = execution.run(operation, app.ctx, request)
    except MnemicError as error:
        error.args = (named_as_written(error, fields),)
        raise
    return answer(run, reply)


def named_as_written(error: MnemicError, fields: Sequence[Written]) -> str:
    """The message of *error* with fields named as on the command line: the first word, and words in backticks."""
    labels = {field.name: field.label for field in fields}
    message = _QUOTED.sub(lambda found: labels.get(found[1], found[0]), str(error))
    name = getattr(error, "field", None)
    if name in labels and message.startswith(f"{name}:"):
        return labels[name] + message.removeprefix(name)
    return message


def examples(operation: Operation, fields: Sequence[Written]) -> str | None:
    """The operation's examples as command lines, where they can be written as such."""
    lines = [line for example in operation.examples if (line := command_line(operation, example, fields))]
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines) if lines else None


def command_line(operation: Operation, example: Example, fields: Sequence[Written]) -> str | None:
    """*example* as it is typed, or None if it uses a field that the command line does not offer."""
    by_name = {field.name: field for field in fields}
    if not example.arguments.keys() <= by_name.keys():
        return None
    given = [(by_name[name], value) for name, value in example.arguments.items()]
    given.sort(key=lambda pair: pair[0].positional is None)
    words = [word for field, value in given for word in field.written(value)]
    return shlex.join(["mnemic", operation.cli or operation.name, *words])


def declared(command: IndexedCommand) -> Operation:
    """The operation behind *command*. Imports only the module that declares it."""
    from mnemic.app import dialect

    found = dialect(command.dialect, command.part)
    operations = (*found.operations.values(), *found.commands.values())
    return next(operation for operation in operations if operation.cli == command.name)
