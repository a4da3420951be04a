"""The MCP methods of a dialect, as plain JSON and independent of the transport (`stdio`, `http`)."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mnemic.dialects.execution import Internal, answer_tool, guarded
from mnemic.dialects.framework import APP_MIME, Dialect, Operation, Prompt, Rendered, Resource
from mnemic.errors import Invalid, MnemicError, NotFound

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
"""Error code before the 2026 revision, which uses INVALID_PARAMS."""

LIST_TTL_MS = 3_600_000
"""How long a client may cache results that are constant while the program runs."""

LASTING = frozenset(
    ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover")
)
"""Methods whose results may be cached that long."""

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions that begin with `initialize`."""
MODERN_VERSIONS = ("2026-07-28",)
"""Revisions in which every request is self-contained."""

SERVER_KEY = "io.modelcontextprotocol/serverInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
APPS = "io.modelcontextprotocol/ui"
"""The extension MCP Apps: pages that a client shows beside the answers of tools."""
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
MAX_SUGGESTIONS = 100

_PREFIX = re.compile(r"[A-Za-z0-9_-]{0,24}")
_NOT_IN_A_NAME = re.compile(r"[^\w .@/+:-]+")


class ProtocolError(MnemicError):
    """A request refused by the protocol; *number* is the JSON-RPC error code."""

    code = "protocol"

    def __init__(self, number: int, message: str, data: Any = None):
        super().__init__(message)
        self.number = number
        self.data = data


@functools.cache
def server_info() -> Result:
    """Name and version of this server."""
    return {"name": "mnemic", "title": "Mnemic", "version": version("mnemic")}


def introduced(dialect: Dialect) -> Result:
    """Name and version under which clients of *dialect* know the server."""
    return {**server_info(), **dialect.server} if dialect.server else server_info()


def client_name(client_info: Any) -> str | None:
    """The client's name, cleaned for the journal; None if it sent none."""
    name = client_info.get("name") if isinstance(client_info, Mapping) else None
    return clean_name(name) if isinstance(name, str) else None


def clean_name(name: str) -> str | None:
    """*name* without characters unsafe in logs and headers; None if nothing remains."""
    return _NOT_IN_A_NAME.sub("", name).strip()[:64] or None


def shows_apps(capabilities: Any) -> bool:
    """Whether a client with these *capabilities* shows MCP Apps."""
    for key in ("extensions", APPS):
        capabilities = capabilities.get(key) if isinstance(capabilities, Mapping) else None
    kinds = capabilities.get("mimeTypes") if isinstance(capabilities, Mapping) else None
    return isinstance(kinds, list) and APP_MIME in kinds


@dataclass(frozen=True, slots=True)
class Offer:
    """Presentation of a dialect: core tools or all, a name prefix, replies as text, structure or both."""

    all_tools: bool = False
    prefix: str = ""
    structured: bool = False


def offer(settings: Settings) -> Offer:
    """The presentation that the settings ask for."""
    if settings.tools not in ("core", "all"):
        raise Invalid(f"tools: must be core or all, not {settings.tools!r}", "tools")
    if not _PREFIX.fullmatch(settings.tool_prefix):
        raise Invalid("tool_prefix: up to 24 letters, digits, _ and -", "tool_prefix")
    return Offer(settings.tools == "all", settings.tool_prefix, settings.structured)


class Endpoint:
    """A dialect as an MCP server; `handle` and `handle_modern` answer one request each."""

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
        with_apps = {"tools/list": self._list_tools_with_apps, "resources/list": self._list_all_resources}
        self._with_apps = {name: method for name, method in with_apps.items() if name in both}

    def capabilities(self) -> Result:
        """Capabilities of the server."""
        all_of_them: Result = {
            "completions": {},
            "prompts": {"listChanged": False},
            "resources": {"subscribe": self.can_be_subscribed, "listChanged": False},
            "tools": {"listChanged": False},
        }
        return {part: capability for part, capability in all_of_them.items() if part in self.dialect.offers}

    @property
    def can_be_subscribed(self) -> bool:
        """Whether there are resources to subscribe to."""
        return bool(self._live)

    def live_address(self, params: Params) -> str:
        """The resource URI that a client subscribes to; ProtocolError if there is none."""
        uri = _text(params, "uri")
        if uri not in self._live:
            raise self._no_resource(uri)
        return uri

    def live_addresses(self, params: Params) -> set[str]:
        """The URIs in a 2026 subscription that can be subscribed to."""
        if "notifications" not in params:
            raise ProtocolError(INVALID_PARAMS, "notifications: must be an object")
        requested = _object(params, "notifications").get("resourceSubscriptions") or []
        if not isinstance(requested, list) or not all(isinstance(address, str) for address in requested):
            raise ProtocolError(
                INVALID_PARAMS, "notifications.resourceSubscriptions: must be a list of texts"
            )
        return self._live.intersection(requested)

    def initialize(self, ctx: Context, params: Params) -> Result:
        """The answer to `initialize`: the requested revision, or our newest with a handshake."""
        requested = _text(params, "protocolVersion")
        logging: Result = {"logging": {}} if "logging" in self.dialect.offers else {}
        return {
            "protocolVersion": requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": {**self.capabilities(), **logging},
            "serverInfo": introduced(self.dialect),
            **self._instructions(ctx),
        }

    def _instructions(self, ctx: Context) -> Result:
        text = self.dialect.instructions_for(ctx)
        return {"instructions": self._prefixed(text)} if text else {}

    def _prefixed(self, text: str) -> str:
        """*text* with the prefix added to every tool named in backticks."""
        if not self._offer.prefix:
            return text
        names = "|".join(map(re.escape, self.dialect.operations))
        return re.sub(f"`({names})`", rf"`{self._offer.prefix}\1`", text)

    def handle(self, ctx: Context, method: str, params: Params, *, apps: bool = False) -> Result:
        """The result of *method* after a handshake, or ProtocolError; with *apps*, for a client that shows them."""
        return _run(self._methods(self._of_the_handshake, apps), ctx, method, params)

    def _methods(self, methods: Mapping[str, Method], apps: bool) -> Mapping[str, Method]:
        return {**methods, **self._with_apps} if apps else methods

    def handle_modern(self, ctx: Context, method: str, params: Params) -> Result:
        """The result of *method* in the 2026 revision, or ProtocolError."""
        apps = shows_apps(_object(params, "_meta").get(CAPABILITIES_KEY))
        try:
            result = _run(self._methods(self._modern, apps), ctx, method, params)
        except ProtocolError as error:
            if error.number != RESOURCE_NOT_FOUND:
                raise
            raise ProtocolError(INVALID_PARAMS, str(error), error.data) from None
        envelope = {"resultType": "complete", "_meta": {SERVER_KEY: introduced(self.dialect)}}
        return {**result, **_freshness(method, apps), **envelope}

    def _ping(self, ctx: Context, params: Params) -> Result:
        return {}

    def _set_level(self, ctx: Context, params: Params) -> Result:
        """No log messages are sent, so every level is satisfied."""
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
        return [self._listed(self.dialect.operations[name]) for name in self._offered]

    @property
    def _offered(self) -> Sequence[str]:
        """The names of the tools that a model is offered."""
        every = tuple(self.dialect.operations)
        return every if self._offer.all_tools else self.dialect.core or every

    def _list_tools_with_apps(self, ctx: Context, params: Params) -> Result:
        _refuse_cursor(params)
        return {"tools": self._tools_with_apps}

    @functools.cached_property
    def _tools_with_apps(self) -> list[Result]:
        """The tools with the apps that show their answers, and those that apps alone call: no model sees these."""
        every, offered = self.dialect.operations, self._offered
        called = [name for name, one in every.items() if one.app and name not in offered]
        return [
            *(_with_app(self._listed(every[name]), every[name].app) for name in offered),
            *({**self._listed(every[name]), **_app_meta(visibility=["app"])} for name in called),
        ]

    def _listed(self, operation: Operation) -> Result:
        entry = self.dialect.listed(operation)
        name, text = self._offer.prefix + entry["name"], self._prefixed(entry["description"])
        return {**entry, "name": name, "description": text}

    def _call_tool(self, ctx: Context, params: Params) -> Result:
        name, arguments = _name(params, "tool"), _object(params, "arguments")
        name = name.removeprefix(self._offer.prefix)
        try:
            tool = self.dialect.resolve(name)
        except NotFound as error:
            rendered = self.dialect.unknown_tool(name)
            if rendered is None:
                raise self._unknown("tool", name, INVALID_PARAMS, self._prefixed(str(error))) from None
            return _result(rendered)
        rendered = answer_tool(tool, ctx, arguments).rendered
        is_sent_once = not (tool.dialect.answers_twice or self._offer.structured)
        return _result(replace(rendered, structured=None) if is_sent_once else rendered)

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
        """Completions for a prompt argument; none for unknown ones, which the protocol allows."""
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
        fixed = [one for one in self.dialect.resources if not (one.is_template or one.is_app)]
        return {"resources": [_listed_resource(resource, "uri") for resource in fixed]}

    def _list_all_resources(self, ctx: Context, params: Params) -> Result:
        """The resources and, for a client that shows them, the apps."""
        listed: Result = self._list_resources(ctx, params)
        apps = [_listed_resource(one, "uri") for one in self.dialect.resources if one.is_app]
        return {"resources": [*listed["resources"], *apps]}

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
        content = {"uri": uri, "mimeType": resource.mime, "text": text}
        return {"contents": [{**content, **_app_meta(prefersBorder=True)} if resource.is_app else content]}

    def _resource(self, uri: str) -> tuple[Resource, Mapping[str, str]] | None:
        """The resource at *uri* with its path parameters, or None."""
        for resource in self.dialect.resources:
            if found := _pattern(resource.template).fullmatch(uri):
                return resource, {name: unquote(part) for name, part in found.groupdict().items()}
        return None

    def _no_resource(self, uri: str) -> ProtocolError:
        """Message for an unknown URI."""
        return self._unknown("resource", uri, RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri[:200]})

    def _unknown(self, what: str, name: str, code: int, message: str, data: Any = None) -> ProtocolError:
        """The error for a missing *what*: in the dialect's wording, or with this *code* and *message*."""
        own = self.dialect.unknown.get(what)
        if own is None:
            return ProtocolError(code, message, data)
        return ProtocolError(own.code, f"{own.words}: {name[:200]}", data)


@functools.cache
def _pattern(template: str) -> re.Pattern[str]:
    """Pattern of the URIs of *template*; a `{name}` is one segment."""
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


def _app_meta(**fields: Any) -> Result:
    """Metadata of the extension MCP Apps."""
    return {"_meta": {"ui": fields}}


def _with_app(tool: Result, address: str | None) -> Result:
    """The entry of a tool whose answers the app at *address* shows, if there is one."""
    return {**tool, **_app_meta(resourceUri=address)} if address else tool


def _listed_resource(resource: Resource, address: str) -> Result:
    return {
        address: resource.template,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime,
    }


def _result(rendered: Rendered) -> Result:
    result: Result = {"content": [{"type": "text", "text": rendered.text}], "isError": rendered.is_error}
    if rendered.structured is not None:
        result["structuredContent"] = rendered.structured
    return result


def _run(methods: Mapping[str, Method], ctx: Context, method: str, params: Params) -> Result:
    """The result of *method*. Any failure becomes a ProtocolError that is safe to show."""
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


def _freshness(method: str, apps: bool) -> Result:
    """Cache lifetime of the result of *method*, which the 2026 revision requires; lists with *apps* are not for all."""
    if method in LASTING:
        return {"ttlMs": LIST_TTL_MS, "cacheScope": "private" if apps else "public"}
    return {"ttlMs": 0, "cacheScope": "private"} if method == "resources/read" else {}


def _refuse_cursor(params: Params) -> None:
    """Every list is one page, so any cursor is unknown."""
    if params.get("cursor") is not None:
        raise ProtocolError(INVALID_PARAMS, "cursor: unknown")


def _text(params: Params, key: str) -> str:
    value = params.get(key)
    if not isinstance(value, str) or not value:
        raise ProtocolError(INVALID_PARAMS, f"{key}: must be a text")
    return value


def _name(params: Params, kind: str) -> str:
    """Name of the requested tool or prompt."""
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
