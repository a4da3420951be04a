"""The dialect itself: how it answers and fails, its limits, and an entity as it shows one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
from pydantic import ValidationError

from mnemic.core.context import Context
from mnemic.core.entities import as_entity, entity
from mnemic.dialects.framework import Operation, Rendered, Shape
from mnemic.dialects.json_reply import ObjectDialect
from mnemic.dialects.validation import invalid
from mnemic.errors import Invalid, MnemicError, NotFound, Unavailable
from mnemic.model.graph import Entity
from mnemic.model.memory import Memory
from mnemic.model.time import SECOND, Moment, iso
from mnemic.transfer.graph_file import shown

MAX_ENTITIES = 50
MAX_OBSERVATIONS = 100
MAX_LENGTH = 2_000
MAX_QUERY = 500
MAX_RESULTS = 50
GENERIC = "Generic"
STATUS = "status"
INVERSES = {"contiene": "parte_de", "parte_de": "contiene"}
INTERNAL = "internal"
NO_MODEL = (
    "Embedding model not available. Run 'python scripts/download_model.py' to download the model first."
)


class McpMemoryError(MnemicError):
    """A call that breaks a limit or a rule of this dialect, in its words."""

    code = "invalid"


class BadArguments(Invalid):
    """Arguments that do not fit the schema."""


def unfit(error: ValidationError) -> McpMemoryError:
    """Error of one part of a request: pydantic's message without its URLs."""
    lines = str(error).split("\n")
    return McpMemoryError(
        "\n".join(line for line in lines if not line.startswith("    For further information"))
    )


class McpMemory(ObjectDialect):
    """The dialect, with its way of answering: every failure but bad arguments is an ordinary result."""

    def render_error(self, name: str, error: MnemicError) -> Rendered:
        """A failure as an ordinary result `{"error": …}`."""
        content = {"error": str(error)}
        is_error = isinstance(error, BadArguments) or error.code == INTERNAL
        return Rendered(orjson.dumps(content).decode(), content, is_error=is_error)

    def refusal(self, operation: Operation, error: ValidationError) -> Invalid:
        """The validation error in pydantic's words."""
        refused = invalid(error)
        return BadArguments(str(refused), refused.field)

    def unknown_tool(self, name: str) -> Rendered:
        """The error for an unknown tool."""
        return Rendered(f"Unknown tool: '{name[:80]}'", is_error=True)


MCP_MEMORY = McpMemory(
    name="mcp-memory",
    title="mcp-memory",
    instructions="",
    server={"name": "memory"},
)


class Named(Shape):
    """One entity, by its name."""

    entity_name: str


def found(ctx: Context, name: str) -> Memory:
    """The entity called *name*, or NotFound in the words of this dialect."""
    memory = entity(ctx.read(), ctx, name)
    if memory is None:
        raise not_found(name)
    return memory


def not_found(name: str) -> NotFound:
    """Error for an unknown entity name."""
    return NotFound(f"Entity not found: {name}")


def entity_fields(thing: Entity) -> dict[str, Any]:
    """An entity with its number, which reflections refer to."""
    return {"id": thing.id, **shown(thing)}


def memory_entry(memory: Memory) -> dict[str, Any]:
    """The same of a memory, with its status if it has one."""
    status = {STATUS: memory.metadata[STATUS]} if STATUS in memory.metadata else {}
    return {**entity_fields(as_entity(memory)), **status}


def with_errors(errors: Sequence[str]) -> dict[str, Sequence[str]]:
    """The key for what went wrong, if something did."""
    return {"errors": errors} if errors else {}


def stamp(moment: Moment) -> str:
    """*moment* as this dialect writes times: in UTC, to the second."""
    return iso(moment - moment % SECOND)[:19].replace("T", " ")


@contextmanager
def model_needed() -> Iterator[None]:
    """Say in this dialect's words that there is no model."""
    try:
        yield
    except Unavailable:
        raise Unavailable(NO_MODEL) from None


# -- limits


def check_query(query: str) -> None:
    """Raise McpMemoryError if a query is too long."""
    if len(query) > MAX_QUERY:
        raise McpMemoryError(
            f"Query too long: {len(query)} > {MAX_QUERY} characters. Use a more concise search query."
        )


def check_limit(limit: int) -> None:
    """Raise McpMemoryError if too many results are asked for, or none."""
    if limit > MAX_RESULTS:
        raise McpMemoryError(f"Limit too high: {limit} > {MAX_RESULTS}. Request fewer results.")
    if limit < 1:
        raise McpMemoryError(f"Limit too low: {limit} < 1. Request at least one result.")


def check_names(names: Sequence[str], advice: str) -> None:
    """Raise McpMemoryError if too many entities are named."""
    if len(names) > MAX_ENTITIES:
        raise McpMemoryError(
            f"Too many entity names: {len(names)} > {MAX_ENTITIES}. {advice} fewer entities at a time."
        )


def check_observations(texts: Sequence[str]) -> None:
    """Raise McpMemoryError if there are too many observations, or one is too long."""
    if len(texts) > MAX_OBSERVATIONS:
        raise McpMemoryError(
            f"Too many observations: {len(texts)} > {MAX_OBSERVATIONS}. Split into smaller batches."
        )
    for place, text in enumerate(texts):
        if len(text) > MAX_LENGTH:
            raise McpMemoryError(f"Observation {place}{_too_long(text)}")


def check_entities(observations: Sequence[Sequence[str]]) -> None:
    """Raise McpMemoryError if there are too many entities, or one has too many or too long observations."""
    if len(observations) > MAX_ENTITIES:
        raise McpMemoryError(
            f"Too many entities: {len(observations)} > {MAX_ENTITIES}. Create fewer entities at a time."
        )
    for number, texts in enumerate(observations):
        if len(texts) > MAX_OBSERVATIONS:
            raise McpMemoryError(
                f"Entity {number} has too many observations: {len(texts)} > {MAX_OBSERVATIONS}. "
                "Split into smaller batches."
            )
        for place, text in enumerate(texts):
            if len(text) > MAX_LENGTH:
                raise McpMemoryError(f"Entity {number}, observation {place}{_too_long(text)}")


def _too_long(text: str) -> str:
    return f" too long: {len(text)} > {MAX_LENGTH} characters. Shorten or split the observation."
