"""How a dialect is declared: Shape, Operation and Dialect. Every surface is derived from these."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_type_hints

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from mnemic.core.context import Context
from mnemic.dialects.json_schema import tool_schema, whole_schema, without_closure
from mnemic.dialects.validation import invalid, without_flags
from mnemic.errors import Invalid, MnemicError, NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

    from mnemic.transfer.mirror import Mirror


APP_MIME = "text/html;profile=mcp-app"
"""The type of an MCP App."""


class Shape(BaseModel):
    """A request or a reply. Unknown fields are refused, so a mistyped argument is named, not dropped."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """How it is read: as pydantic does, but true and false are no numbers."""
        return without_flags(handler(source))


@dataclass(frozen=True, slots=True)
class Flags:
    """Command-line options of a request field, as in `Flags("-n", "--namespace")`.

    Without it a field is `--its-name`. *metavar* replaces the type in the help; with *stdin*, `-` reads the value from
    standard input.
    """

    names: tuple[str, ...]
    metavar: str | None
    stdin: bool

    def __init__(self, *names: str, metavar: str | None = None, stdin: bool = False):
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "metavar", metavar)
        object.__setattr__(self, "stdin", stdin)


@dataclass(frozen=True, slots=True)
class Positional:
    """A request field that is a positional argument, shown as *metavar*.

    A list takes all remaining words. With *stdin*, `-` reads standard input; so does a pipe if the argument is
    missing, *unless* one of these fields was given.
    """

    metavar: str
    stdin: bool = False
    unless: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Metavar:
    """A type whose values the help of the command line calls *word*, as in `--since TIME`."""

    word: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """A request field that the command line does not offer."""


@dataclass(frozen=True, slots=True)
class WholeBody:
    """A request field that the whole body of an HTTP request is given to, where it is not an object of fields."""


@dataclass(frozen=True, slots=True)
class Example:
    """One call worth showing: its arguments and what it is for."""

    purpose: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rendered:
    """An answer as a surface sends it: a text, and the same as an object unless the text is all there is."""

    text: str
    structured: dict[str, Any] | None = None
    is_error: bool = False
    is_json: bool = False
    """The text is JSON, where there is no object beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing a dialect can do: its name, its shapes, its function, and hints for the surfaces."""

    name: str
    title: str
    description: str
    request: type[Shape]
    reply: Any
    """The type of its answer: a Shape, or of an endpoint a TypedDict."""
    function: Callable[[Context, Any], Any]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False
    defers_uses: bool = False
    """It shows no use counts: pending ones need not be written before it runs, and those it makes may wait."""
    examples: tuple[Example, ...] = ()
    http: tuple[str, ...] = ()
    """Routes below /api/v1, as in `GET /recall`; those of a tool beside /tools/DIALECT/NAME."""
    status: int = 200
    """What HTTP answers with when it is done."""
    cli: str | None = None
    """The command's name, where the operation is one."""
    about: str = ""
    """What the command does, in one line for people; the description speaks to a model."""
    app: str | None = None
    """The address of the MCP App that shows its answers, which may call it too."""

    def parse(
        self, arguments: Mapping[str, Any], refusal: Callable[[ValidationError], Invalid] = invalid
    ) -> Shape:
        """The request made from *arguments*; Invalid with the faulty field, worded by *refusal*."""
        try:
            return self.request.model_validate(arguments)
        except ValidationError as error:
            raise refusal(error) from None


def declared(
    function: Callable[[Context, Any], Any], *, title: str, name: str | None = None, **hints: Any
) -> Operation:
    """The operation that *function* is: its annotations are its shapes, its docstring its text."""
    types = get_type_hints(function)
    return Operation(
        name=name or function.__name__.rstrip("_"),
        title=title,
        description=inspect.cleandoc(function.__doc__ or ""),
        request=types["request"],
        reply=types["return"],
        function=function,
        **hints,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A text a client can put before a conversation; its arguments are optional strings."""

    name: str
    title: str
    description: str
    arguments: tuple[str, ...]
    write: Callable[[Mapping[str, str]], str]
    suggest: Callable[[Context, str, str], Sequence[str]] | None = None
    """Values for an argument, given its name and what was typed so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something a client can read by address. *template* may hold `{names}`, given to *read*."""

    template: str
    name: str
    title: str
    description: str
    mime: str
    read: Callable[[Context, Mapping[str, str]], str]
    is_live: bool = False
    """Whether a client can subscribe to it: any change to the store may change what it says."""

    @property
    def is_app(self) -> bool:
        """True for an MCP App, a page that clients show beside the answer of a tool."""
        return self.mime == APP_MIME

    @property
    def is_template(self) -> bool:
        """True when the address has parts to fill in."""
        return "{" in self.template


@dataclass(frozen=True, slots=True)
class Unknown:
    """Error code and wording for an unknown tool, prompt or resource."""

    code: int
    words: str


@dataclass(frozen=True, slots=True)
class Tool:
    """An operation with the dialect that declares it, which parses its arguments and renders its reply."""

    dialect: Dialect
    operation: Operation

    def parse(self, arguments: Mapping[str, Any]) -> Shape:
        """The request that *arguments* make, or Invalid with the field that is wrong."""
        return self.dialect.parse(self.operation, arguments)


@dataclass(slots=True, kw_only=True)
class Dialect:
    """A dialect: its operations by name, and what surrounds them."""

    name: str
    title: str
    instructions: str
    operations: dict[str, Operation] = field(default_factory=dict)
    core: tuple[str, ...] = ()
    """The operations that a client is offered unless it asks for all; empty: all."""
    answers_twice: bool = True
    """Whether an MCP client is sent the structured content of an answer beside its text."""
    endpoints: dict[str, Operation] = field(default_factory=dict)
    """Endpoints: HTTP routes that are no tools."""
    commands: dict[str, Operation] = field(default_factory=dict)
    """Commands: for people and programs, over the CLI and REST; they are no tools."""
    aliases: dict[str, str] = field(default_factory=dict)
    prompts: tuple[Prompt, ...] = ()
    resources: tuple[Resource, ...] = ()
    server: Mapping[str, str] | None = None
    """What the server calls itself to clients that know the dialect's first home; None is our own name."""
    service: str = ""
    """Service name in the health reply of the daemon, where clients of the dialect check it."""
    offers: tuple[str, ...] = ("completions", "logging", "prompts", "resources", "tools")
    """The parts of MCP it takes part in."""
    unknown: Mapping[str, Unknown] = field(default_factory=dict)
    """Errors for an unknown `tool`, `prompt` or `resource` where they differ from MCP's."""
    mirror: Callable[[Mapping[str, str]], Mirror | None] | None = None
    """The file that the environment asks to be kept equal to the store, where the dialect has one."""
    mirror_variable: str = ""
    """The environment variable that names that file."""
    database: Callable[[Mapping[str, str]], Path | None] | None = None
    """The database that the environment asks for in the dialect's own variables, where it has such."""

    def operation(
        self,
        *,
        title: str,
        name: str | None = None,
        read_only: bool = False,
        destructive: bool = False,
        idempotent: bool = False,
        open_world: bool = False,
        defers_uses: bool = False,
        examples: Sequence[Example] = (),
        http: Sequence[str] = (),
        cli: str | None = None,
        about: str = "",
        app: str | None = None,
    ) -> Callable[[Callable[[Context, Any], Any]], Callable[[Context, Any], Any]]:
        """Declare the decorated function as an operation; its annotations are its shapes, its docstring its text."""

        def declare(function: Callable[[Context, Any], Any]) -> Callable[[Context, Any], Any]:
            operation = declared(
                function,
                title=title,
                name=name,
                read_only=read_only,
                destructive=destructive,
                idempotent=idempotent,
                open_world=open_world,
                defers_uses=defers_uses,
                examples=tuple(examples),
                http=tuple(http),
                cli=cli,
                about=about,
                app=app,
            )
            self.operations[operation.name] = operation
            return function

        return declare

    def endpoint(
        self,
        *routes: str,
        title: str,
        status: int = 200,
        defers_uses: bool = False,
        examples: Sequence[Example] = (),
    ) -> Callable[[Callable[[Context, Any], Any]], Callable[[Context, Any], Any]]:
        """Declare the decorated function as an endpoint at *routes*, which is no tool.

        Its arguments come from the path, the body or the query; it returns the JSON object of the reply.
        """

        def declare(function: Callable[[Context, Any], Any]) -> Callable[[Context, Any], Any]:
            operation = declared(
                function,
                title=title,
                http=routes,
                status=status,
                defers_uses=defers_uses,
                examples=tuple(examples),
            )
            self.endpoints[operation.name] = operation
            return function

        return declare

    def command(
        self, *, title: str, cli: str | None = None, reads: bool = True, examples: Sequence[Example] = ()
    ) -> Callable[[Callable[[Context, Any], Any]], Callable[[Context, Any], Any]]:
        """Declare the decorated function as a command, which is no tool: over REST, and in the shell as *cli*."""

        def declare(function: Callable[[Context, Any], Any]) -> Callable[[Context, Any], Any]:
            operation = declared(function, title=title, read_only=reads, cli=cli, examples=tuple(examples))
            self.commands[operation.name] = operation
            return function

        return declare

    def alias(self, name: str, other: str) -> None:
        """Let the operation *name* answer to *other* as well, without listing it twice."""
        self.aliases[other] = name

    def find(self, name: str) -> Operation:
        """The operation called *name*, or NotFound."""
        try:
            return self.operations[self.aliases.get(name, name)]
        except KeyError:
            raise NotFound(f"Unknown tool: {name[:80]}") from None

    def instructions_for(self, ctx: Context) -> str:
        """Server instructions sent to a client that connects as *ctx*."""
        return self.instructions

    def resolve(self, name: str) -> Tool:
        """The tool called *name* with the dialect that declares it: this one, unless it is a view. NotFound if none."""
        return Tool(self, self.find(name))

    def parse(self, operation: Operation, arguments: Mapping[str, Any]) -> Shape:
        """The request that *arguments* make, or Invalid with the field that is wrong."""
        return operation.parse(arguments, functools.partial(self.refusal, operation))

    def refusal(self, operation: Operation, error: ValidationError) -> Invalid:
        """The error for arguments that fail validation."""
        return invalid(error)

    def render(self, reply: BaseModel) -> Rendered:
        """*reply* as text and object. A dialect with words of its own overrides this."""
        content = as_json(reply)
        return Rendered(orjson.dumps(content).decode(), content)

    def render_error(self, name: str, error: MnemicError) -> Rendered:
        """A failed call of the tool *name* as this dialect tells it."""
        return Rendered(str(error), None, is_error=True)

    def unknown_tool(self, name: str) -> Rendered | None:
        """The answer to a call of a tool that there is not; None leaves it to the surface."""
        return None

    def listed(self, operation: Operation) -> dict[str, Any]:
        """*operation* as a list of tools shows it."""
        return {
            "name": operation.name,
            "description": " ".join(operation.description.split()),
            "inputSchema": tool_schema(operation.request),
            "annotations": _short_hints(operation),
        }


def hints(operation: Operation) -> dict[str, bool]:
    """The hints of *operation* as MCP names them."""
    return {
        "readOnlyHint": operation.read_only,
        "destructiveHint": operation.destructive,
        "idempotentHint": operation.idempotent,
        "openWorldHint": operation.open_world,
    }


def _short_hints(operation: Operation) -> dict[str, bool]:
    """The hints that differ from what MCP takes for granted."""
    if operation.read_only:
        return {"readOnlyHint": True, "openWorldHint": operation.open_world}
    shown = hints(operation)
    del shown["readOnlyHint"]
    return shown if operation.idempotent else {key: shown[key] for key in shown if key != "idempotentHint"}


def as_json(reply: BaseModel) -> dict[str, Any]:
    """*reply* as plain JSON values, without the fields that hold nothing."""
    content: dict[str, Any] = reply.model_dump(mode="json", by_alias=True, exclude_none=True)
    return content


@functools.cache
def whole_body(shape: type[BaseModel]) -> str | None:
    """The field of *shape* that the whole body is given to, if it has one."""
    fields = shape.model_fields.items()
    return next((name for name, info in fields if WholeBody() in info.metadata), None)


def listed_in_full(operation: Operation) -> dict[str, Any]:
    """The `tools/list` entry of *operation* with the full schema of its arguments."""
    return {
        "name": operation.name,
        "title": operation.title,
        "description": operation.description,
        "inputSchema": without_closure(whole_schema(operation.request)),
        "annotations": hints(operation),
    }
