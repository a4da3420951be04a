"""What a dialect says over MCP: the answer to every method as plain JSON, whatever carries it.

Two transports ask here, `stdio` and `streamable`. Neither knows a tool, and this module knows neither.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mnemic.dialects.operation import Dialect, Operation, Prompt, Rendered, Resource
from mnemic.errors import Invalid, MnemicError, NotFound
from mnemic.surfaces.bridge import Internal, answer, guarded

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.settings import Settings

Params = Mapping[str, Any]
Result = dict[str, Any]
Method = Callable[["Context", Params], Result]

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
"""Of the revisions before 2026; since then it is INVALID_PARAMS."""

LIST_TTL_MS = 3_600_000
"""How long a client may keep what does not change while the program runs."""

LASTING = frozenset(
    ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover")
)
"""The methods whose results a client may keep for that long."""

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions that begin with `initialize`."""
MODERN_VERSIONS = ("2026-07-28",)
"""The revisions in which every request stands alone."""

SERVER_KEY = "io.modelcontextprotocol/serverInfo"
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
MAX_SUGGESTIONS = 100

_PREFIX = re.compile(r"[A-Za-z0-9_-]{0,24}")
_NOT_IN_A_NAME = re.compile(r"[^\w .@/+:-]+")


class ProtocolError(MnemicError):
    """A request that MCP refuses; *number* is the code of the JSON-RPC error that says so."""

    code = "protocol"

    def __init__(self, number: int, message: str, data: Any = None):
        super().__init__(message)
        self.number = number
        self.data = data


@functools.cache
def server_info() -> Result:
    """Who is speaking."""
    return {"name": "mnemic", "title": "Mnemic", "version": version("mnemic")}


def introduced(dialect: Dialect) -> Result:
    """Who is speaking, by the name that clients of *dialect* know."""
    return {**server_info(), **dialect.server} if dialect.server else server_info()


def client_name(client_info: Any) -> str | None:
    """The name a client gave itself, fit for the journal; None if it gave none."""
    name = client_info.get("name") if isinstance(client_info, Mapping) else None
    return clean_name(name) if isinstance(name, str) else None


def clean_name(name: str) -> str | None:
    """*name* without what a log or a header could stumble over; None if nothing is left."""
    return _NOT_IN_A_NAME.sub("", name).strip()[:64] or None


@dataclass(frozen=True, slots=True)
class Offer:
    """How a dialect is offered: with its core tools or all, a prefix before their names, answers sent twice or once."""

    all_tools: bool = False
    prefix: str = ""
    structured: bool = False


def offer(settings: Settings) -> Offer:
    """What the settings ask for."""
    if settings.tools not in ("core", "all"):
        raise Invalid(f"tools: must be core or all, not {settings.tools!r}", "tools")
    if not _PREFIX.fullmatch(settings.tool_prefix):
        raise Invalid("tool_prefix: up to 24 letters, digits, _ and -", "tool_prefix")
    return Offer(settings.tools == "all", settings.tool_prefix, settings.structured)


class Endpoint:
    """A dialect as an MCP server: `handle` and `handle_modern` answer one request each."""

    def __init__(self, dialect: Dialect, offer: Offer | None = None):
        self.dialect = dialect
        self._offer = offer or Offer()
        self._live = {resource.template for resource in dialect.resources if resource.is_live}
        self._prompts = {prompt.name: prompt for prompt in dialect.prompts}
        methods: dict[str, dict[str, Method]] = {
            "completions": {"completion/complete": self._complete},
            "prompts": {"prompts/list": self._list_prompts, "prompts/get": self._get_prompt},
            "resources": {
                "resources/list": self._list_resources,
                "resources/templates/list": self._list_templates,
                "resources/read": self._read_resource,
            },
            "tools": {"tools/list": self._list_tools, "tools/call": self._call_tool},
        }
        both = {name: method for part in dialect.offers for name, method in methods.get(part, {}).items()}
        self._of_the_handshake = {**both, "ping": self._ping}
        if "logging" in dialect.offers:
            self._of_the_handshake["logging/setLevel"] = self._set_level
        self._modern = {**both, "server/discover": self._discover}

    def capabilities(self) -> Result:
        """What this server can do."""
        all_of_them: Result = {
            "completions": {},
            "prompts": {"listChanged": False},
            "resources": {"subscribe": self.can_be_subscribed, "listChanged": False},
            "tools": {"listChanged": False},
        }
        return {part: told for part, told in all_of_them.items() if part in self.dialect.offers}

    @property
    def can_be_subscribed(self) -> bool:
        """Whether there is anything to tell the changes of."""
        return bool(self._live)

    def live_address(self, params: Params) -> str:
        """The address that a client asks to be told the changes of, or ProtocolError if there is no such thing."""
        uri = _text(params, "uri")
        if uri not in self._live:
            raise self._no_resource(uri)
        return uri

    def live_addresses(self, params: Params) -> set[str]:
        """Of what a client of the 2026 revision asks to be told, the addresses whose changes there are to tell."""
        if "notifications" not in params:
            raise ProtocolError(INVALID_PARAMS, "notifications: must be an object")
        asked = _object(params, "notifications").get("resourceSubscriptions") or []
        if not isinstance(asked, list) or not all(isinstance(address, str) for address in asked):
            raise ProtocolError(
                INVALID_PARAMS, "notifications.resourceSubscriptions: must be a list of texts"
            )
        return self._live.intersection(asked)

    def initialize(self, ctx: Context, params: Params) -> Result:
        """The answer to a handshake: the revision asked for, or our newest that has one."""
        asked = _text(params, "protocolVersion")
        logging: Result = {"logging": {}} if "logging" in self.dialect.offers else {}
        return {
            "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": {**self.capabilities(), **logging},
            "serverInfo": introduced(self.dialect),
            **self._instructions(ctx),
        }

    def _instructions(self, ctx: Context) -> Result:
        text = self.dialect.instructions_for(ctx)
        return {"instructions": self._prefixed(text)} if text else {}

    def _prefixed(self, text: str) -> str:
        """*text* with the prefix before every tool that it names in backticks."""
        if not self._offer.prefix:
            return text
        names = "|".join(map(re.escape, self.dialect.operations))
        return re.sub(f"`({names})`", rf"`{self._offer.prefix}\1`", text)

    def handle(self, ctx: Context, method: str, params: Params) -> Result:
        """The result of *method* after a handshake, or ProtocolError."""
        return _run(self._of_the_handshake, ctx, method, params)

    def handle_modern(self, ctx: Context, method: str, params: Params) -> Result:
        """The result of *method* in the 2026 revision, or ProtocolError."""
        try:
            result = _run(self._modern, ctx, method, params)
        except ProtocolError as error:
            if error.number != RESOURCE_NOT_FOUND:
                raise
            raise ProtocolError(INVALID_PARAMS, str(error), error.data) from None
        said = {"resultType": "complete", "_meta": {SERVER_KEY: introduced(self.dialect)}}
        return {**result, **_freshness(method), **said}

    def _ping(self, ctx: Context, params: Params) -> Result:
        return {}

    def _set_level(self, ctx: Context, params: Params) -> Result:
        """We send no log messages, so every level is already kept."""
        if params.get("level") not in LOG_LEVELS:
            raise ProtocolError(INVALID_PARAMS, f"level: must be one of {', '.join(LOG_LEVELS)}")
        return {}

    def _discover(self, ctx: Context, params: Params) -> Result:
        return {
            "supportedVersions": list(MODERN_VERSIONS),
            "capabilities": self.capabilities(),
            **self._instructions(ctx),
        }

    def _list_tools(self, ctx: Context, params: Params) -> Result:
        _refuse_cursor(params)
        return {"tools": self._tools}

    @functools.cached_property
    def _tools(self) -> list[Result]:
        every = self.dialect.operations
        names = every if self._offer.all_tools else self.dialect.core or every
        return [self._listed(every[name]) for name in names]

    def _listed(self, operation: Operation) -> Result:
        told = self.dialect.listed(operation)
        name, text = self._offer.prefix + told["name"], self._prefixed(told["description"])
        return {**told, "name": name, "description": text}

    def _call_tool(self, ctx: Context, params: Params) -> Result:
        name, arguments = _name(params, "tool"), _object(params, "arguments")
        name = name.removeprefix(self._offer.prefix)
        try:
            self.dialect.find(name)
        except NotFound as error:
            told = self.dialect.unknown_tool(name)
            if told is None:
                raise self._unknown("tool", name, INVALID_PARAMS, self._prefixed(str(error))) from None
            return _result(told)
        told = answer(self.dialect, ctx, name, arguments).rendered
        is_sent_once = not (self.dialect.home_of(name).answers_twice or self._offer.structured)
        return _result(replace(told, structured=None) if is_sent_once else told)

    def _list_prompts(self, ctx: Context, params: Params) -> Result:
        _refuse_cursor(params)
        return {"prompts": [_listed_prompt(prompt) for prompt in self.dialect.prompts]}

    def _get_prompt(self, ctx: Context, params: Params) -> Result:
        name, arguments = _name(params, "prompt"), _object(params, "arguments")
        prompt = self._prompts.get(name)
        if prompt is None:
            raise self._unknown("prompt", name, INVALID_PARAMS, f"unknown prompt: {name[:80]}")
        for key, value in arguments.items():
            if key not in prompt.arguments or not isinstance(value, str):
                raise ProtocolError(INVALID_PARAMS, f"{key[:80]}: not a text argument of {prompt.name}")
        content = {"type": "text", "text": prompt.write(arguments)}
        return {"description": prompt.description, "messages": [{"role": "user", "content": content}]}

    def _complete(self, ctx: Context, params: Params) -> Result:
        """Suggestions for a prompt's argument; none for what we do not know, which is no mistake here."""
        argument = _object(params, "argument")
        name, typed = _text(argument, "name"), str(argument.get("value", ""))
        prompt = self._prompts.get(str(_object(params, "ref").get("name")))
        found: Sequence[str] = ()
        if prompt and prompt.suggest and name in prompt.arguments:
            found = prompt.suggest(ctx, name, typed)
        shown = list(found[:MAX_SUGGESTIONS])
        return {"completion": {"values": shown, "total": len(found), "hasMore": len(found) > len(shown)}}

    def _list_resources(self, ctx: Context, params: Params) -> Result:
        _refuse_cursor(params)
        fixed = [resource for resource in self.dialect.resources if not resource.is_template]
        return {"resources": [_listed_resource(resource, "uri") for resource in fixed]}

    def _list_templates(self, ctx: Context, params: Params) -> Result:
        _refuse_cursor(params)
        templates = [resource for resource in self.dialect.resources if resource.is_template]
        return {"resourceTemplates": [_listed_resource(resource, "uriTemplate") for resource in templates]}

    def _read_resource(self, ctx: Context, params: Params) -> Result:
        uri = _text(params, "uri")
        found = self._resource(uri)
        if found is None:
            raise self._no_resource(uri)
        resource, parts = found
        try:
            text = resource.read(ctx, parts)
        except NotFound as error:
            own = self.dialect.unknown.get("resource")
            code = own.code if own else RESOURCE_NOT_FOUND
            raise ProtocolError(code, str(error), {"uri": uri[:200]}) from None
        return {"contents": [{"uri": uri, "mimeType": resource.mime, "text": text}]}

    def _resource(self, uri: str) -> tuple[Resource, Mapping[str, str]] | None:
        """The resource at *uri* and the parts of the address that are its own, or None."""
        for resource in self.dialect.resources:
            if found := _pattern(resource.template).fullmatch(uri):
                return resource, {name: unquote(part) for name, part in found.groupdict().items()}
        return None

    def _no_resource(self, uri: str) -> ProtocolError:
        """What is said of an address that leads nowhere."""
        return self._unknown("resource", uri, RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri[:200]})

    def _unknown(self, what: str, name: str, code: int, message: str, data: Any = None) -> ProtocolError:
        """The error for a *what* that is not there: in the dialect's words, or with this *code* and *message*."""
        own = self.dialect.unknown.get(what)
        if own is None:
            return ProtocolError(code, message, data)
        return ProtocolError(own.code, f"{own.words}: {name[:200]}", data)


@functools.cache
def _pattern(template: str) -> re.Pattern[str]:
    """What the addresses of *template* look like; a `{name}` is one segment."""
    pieces = re.split(r"\{(\w+)\}", template)
    return re.compile(
        "".join(f"(?P<{piece}>[^/]+)" if odd % 2 else re.escape(piece) for odd, piece in enumerate(pieces))
    )


def _listed_prompt(prompt: Prompt) -> Result:
    return {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": [{"name": name, "required": False} for name in prompt.arguments],
    }


def _listed_resource(resource: Resource, address: str) -> Result:
    return {
        address: resource.template,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime,
    }


def _result(told: Rendered) -> Result:
    result: Result = {"content": [{"type": "text", "text": told.text}], "isError": told.is_error}
    if told.structured is not None:
        result["structuredContent"] = told.structured
    return result


def _run(methods: Mapping[str, Method], ctx: Context, method: str, params: Params) -> Result:
    """What *method* results in. Whatever goes wrong is a ProtocolError, and safe to show."""
    if method not in methods:
        raise ProtocolError(METHOD_NOT_FOUND, "Method not found", method[:80])
    try:
        return guarded(methods[method], ctx, params)
    except ProtocolError:
        raise
    except Internal as error:
        raise ProtocolError(INTERNAL_ERROR, str(error)) from None
    except MnemicError as error:
        raise ProtocolError(INVALID_PARAMS, str(error)) from None


def _freshness(method: str) -> Result:
    """How long the result of *method* may be kept, where the 2026 revision wants that said."""
    if method in LASTING:
        return {"ttlMs": LIST_TTL_MS, "cacheScope": "public"}
    return {"ttlMs": 0, "cacheScope": "private"} if method == "resources/read" else {}


def _refuse_cursor(params: Params) -> None:
    """Every list is one page, so no cursor was ever handed out."""
    if params.get("cursor") is not None:
        raise ProtocolError(INVALID_PARAMS, "cursor: unknown")


def _text(params: Params, key: str) -> str:
    value = params.get(key)
    if not isinstance(value, str) or not value:
        raise ProtocolError(INVALID_PARAMS, f"{key}: must be a text")
    return value


def _name(params: Params, kind: str) -> str:
    """The name of the tool or prompt that is asked for."""
    value = params.get("name")
    if not isinstance(value, str) or not value:
        raise ProtocolError(INVALID_PARAMS, f"missing or empty {kind} name")
    return value


def _object(params: Params, key: str) -> Mapping[str, Any]:
    value = params.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ProtocolError(INVALID_PARAMS, f"{key}: must be an object")
    return value
