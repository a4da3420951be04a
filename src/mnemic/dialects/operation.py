"""How a vocabulary is declared: Shape, Operation and Dialect. Every surface is derived from these."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_type_hints

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from mnemic.core.context import Context
from mnemic.dialects.brief import tool_schema
from mnemic.dialects.numbers import without_flags
from mnemic.dialects.refusals import invalid
from mnemic.errors import Invalid, MnemicError, NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

    from mnemic.core.moving.mirror import Mirror


class Shape(BaseModel):
    """A request or a reply. Unknown fields are refused, so a mistyped argument is named, not dropped."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """How it is read: as pydantic does, but true and false are no numbers."""
        return without_flags(handler(source))


@dataclass(frozen=True, slots=True)
class Flags:
    """How a request field is written on the command line: its option strings, as in `Flags("-n", "--namespace")`.

    Without it a field is `--its-name`. The *metavar* stands for the value where its type does not say enough; `-` reads
    the value from standard input when *stdin* is set.
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
    """A request field that stands on the command line without a flag, shown as *metavar*.

    A list takes all remaining words. With *stdin*, `-` reads a text from standard input, and so does leaving it out in
    a pipe, *unless* one of these fields was given.
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
    gathers_use: bool = False
    """The uses it counts may wait to be written down together with others'."""
    examples: tuple[Example, ...] = ()
    http: tuple[str, ...] = ()
    """Routes below /api/v1, as in `GET /recall`; those of a tool beside /tools/DIALECT/NAME."""
    status: int = 200
    """What HTTP answers with when it is done."""
    cli: str | None = None
    """The command's name, where the operation is one."""
    about: str = ""
    """What the command does, in one line for people; the description speaks to a model."""

    def parse(
        self, arguments: Mapping[str, Any], told: Callable[[ValidationError], Invalid] = invalid
    ) -> Shape:
        """The request that *arguments* make, or Invalid with the field that is wrong, as *told*."""
        try:
            return self.request.model_validate(arguments)
        except ValidationError as error:
            raise told(error) from None


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
    def is_template(self) -> bool:
        """True when the address has parts to fill in."""
        return "{" in self.template


@dataclass(frozen=True, slots=True)
class Unknown:
    """How a client is told that there is no such tool, prompt or resource: the code, and the words before its name."""

    code: int
    words: str


@dataclass(slots=True, kw_only=True)
class Dialect:
    """A vocabulary: its operations by name, and what surrounds them."""

    name: str
    title: str
    instructions: str
    operations: dict[str, Operation] = field(default_factory=dict)
    core: tuple[str, ...] = ()
    """The operations that a client is offered unless it asks for all; empty: all."""
    answers_twice: bool = True
    """Whether an MCP client is sent the structured content of an answer beside its text."""
    endpoints: dict[str, Operation] = field(default_factory=dict)
    """What is reached only at an address of its own, and is no tool."""
    commands: dict[str, Operation] = field(default_factory=dict)
    """What is a command of the command line and a method of the Python API, but no tool."""
    aliases: dict[str, str] = field(default_factory=dict)
    prompts: tuple[Prompt, ...] = ()
    resources: tuple[Resource, ...] = ()
    server: Mapping[str, str] | None = None
    """What the server calls itself to clients that know the vocabulary's first home; None is our own name."""
    offers: tuple[str, ...] = ("completions", "logging", "prompts", "resources", "tools")
    """The parts of MCP it takes part in."""
    unknown: Mapping[str, Unknown] = field(default_factory=dict)
    """What is said over MCP of an unknown `tool`, `prompt` or `resource`, where it is not what MCP says."""
    mirror: Callable[[Mapping[str, str]], Mirror | None] | None = None
    """The file that the environment asks to be kept equal to the store, where the vocabulary has one."""
    database: Callable[[Mapping[str, str]], Path | None] | None = None
    """The database that the environment asks for in the vocabulary's own variables, where it has such."""

    def operation(
        self,
        *,
        title: str,
        name: str | None = None,
        read_only: bool = False,
        destructive: bool = False,
        idempotent: bool = False,
        open_world: bool = False,
        gathers_use: bool = False,
        examples: Sequence[Example] = (),
        http: Sequence[str] = (),
        cli: str | None = None,
        about: str = "",
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
                gathers_use=gathers_use,
                examples=tuple(examples),
                http=tuple(http),
                cli=cli,
                about=about,
            )
            self.operations[operation.name] = operation
            return function

        return declare

    def endpoint(
        self,
        *routes: str,
        title: str,
        status: int = 200,
        gathers_use: bool = False,
        examples: Sequence[Example] = (),
    ) -> Callable[[Callable[[Context, Any], Any]], Callable[[Context, Any], Any]]:
        """Declare the decorated function as what is done at *routes*, and nowhere else.

        Its arguments come in the path, the body or the query; what it returns is the JSON object of the answer.
        """

        def declare(function: Callable[[Context, Any], Any]) -> Callable[[Context, Any], Any]:
            operation = declared(
                function,
                title=title,
                http=routes,
                status=status,
                gathers_use=gathers_use,
                examples=tuple(examples),
            )
            self.endpoints[operation.name] = operation
            return function

        return declare

    def command(
        self, *, cli: str, title: str, examples: Sequence[Example] = ()
    ) -> Callable[[Callable[[Context, Any], Any]], Callable[[Context, Any], Any]]:
        """Declare the decorated function as the reading command *cli*, which is no tool."""

        def declare(function: Callable[[Context, Any], Any]) -> Callable[[Context, Any], Any]:
            operation = declared(function, title=title, read_only=True, cli=cli, examples=tuple(examples))
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
        """What a client is told about this server when it connects as *ctx*."""
        return self.instructions

    def home_of(self, name: str) -> Dialect:
        """The vocabulary in whose words the tool *name* is called and answers: this one, unless it is a view."""
        return self

    def call(self, ctx: Context, name: str, arguments: Mapping[str, Any]) -> BaseModel:
        """Do *name* with *arguments*: the reply, or an error of our tree."""
        operation = self.find(name)
        reply: BaseModel = operation.function(ctx, self.parse(operation, arguments))
        return reply

    def parse(self, operation: Operation, arguments: Mapping[str, Any]) -> Shape:
        """The request that *arguments* make, or Invalid with the field that is wrong."""
        return operation.parse(arguments, functools.partial(self.refusal, operation))

    def refusal(self, operation: Operation, error: ValidationError) -> Invalid:
        """What is said of arguments that do not make a request."""
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
    told = hints(operation)
    del told["readOnlyHint"]
    return told if operation.idempotent else {key: told[key] for key in told if key != "idempotentHint"}


def as_json(reply: BaseModel) -> dict[str, Any]:
    """*reply* as plain JSON values, without the fields that hold nothing."""
    content: dict[str, Any] = reply.model_dump(mode="json", by_alias=True, exclude_none=True)
    return content


@functools.cache
def whole_body(shape: type[BaseModel]) -> str | None:
    """The field of *shape* that the whole body is given to, if it has one."""
    fields = shape.model_fields.items()
    return next((name for name, info in fields if WholeBody() in info.metadata), None)
