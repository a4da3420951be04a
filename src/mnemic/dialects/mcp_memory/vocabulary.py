"""The dialect itself: how it answers and fails, its limits, and an entity as it shows one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
from pydantic import ValidationError

from mnemic.core.context import Context
from mnemic.core.entities import as_entity, entity
from mnemic.dialects.objects import ObjectDialect
from mnemic.dialects.operation import Operation, Rendered, Shape
from mnemic.dialects.refusals import invalid
from mnemic.errors import Invalid, MnemicError, NotFound, Unavailable
from mnemic.formats.graphs import shown
from mnemic.model.graph import Entity
from mnemic.model.memory import Memory
from mnemic.model.values import SECOND, Moment, iso

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


class Refused(MnemicError):
    """A call that breaks a limit or a rule of this vocabulary, in its words."""

    code = "invalid"


class BadArguments(Invalid):
    """Arguments that do not fit the schema."""


def unfit(error: ValidationError) -> Refused:
    """What is said of a part of a request that does not fit its model: pydantic's words without its addresses."""
    lines = str(error).split("\n")
    return Refused("\n".join(line for line in lines if not line.startswith("    For further information")))


class McpMemory(ObjectDialect):
    """The dialect, with its way of answering: every failure but bad arguments is an ordinary result."""

    def render_error(self, name: str, error: MnemicError) -> Rendered:
        """See Dialect."""
        content = {"error": str(error)}
        is_error = isinstance(error, BadArguments) or error.code == INTERNAL
        return Rendered(orjson.dumps(content).decode(), content, is_error=is_error)

    def refusal(self, operation: Operation, error: ValidationError) -> Invalid:
        """See Dialect."""
        told = invalid(error)
        return BadArguments(str(told), told.field)

    def unknown_tool(self, name: str) -> Rendered:
        """See Dialect."""
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
    """The entity called *name*, or NotFound in the words of this vocabulary."""
    memory = entity(ctx.store.read(), ctx, name)
    if memory is None:
        raise not_found(name)
    return memory


def not_found(name: str) -> NotFound:
    """What is said of a name that nothing has."""
    return NotFound(f"Entity not found: {name}")


def told(thing: Entity) -> dict[str, Any]:
    """An entity with its number, which reflections refer to."""
    return {"id": thing.id, **shown(thing)}


def told_memory(memory: Memory) -> dict[str, Any]:
    """The same of a memory, with its status if it has one."""
    status = {STATUS: memory.metadata[STATUS]} if STATUS in memory.metadata else {}
    return {**told(as_entity(memory)), **status}


def with_errors(errors: Sequence[str]) -> dict[str, Sequence[str]]:
    """The key for what went wrong, if something did."""
    return {"errors": errors} if errors else {}


def stamp(moment: Moment) -> str:
    """*moment* as this vocabulary writes times: in UTC, to the second."""
    return iso(moment - moment % SECOND)[:19].replace("T", " ")


@contextmanager
def model_needed() -> Iterator[None]:
    """Say in this vocabulary's words that there is no model."""
    try:
        yield
    except Unavailable:
        raise Unavailable(NO_MODEL) from None


# -- limits


def check_query(query: str) -> None:
    """Refused if a query is too long."""
    if len(query) > MAX_QUERY:
        raise Refused(
            f"Query too long: {len(query)} > {MAX_QUERY} characters. Use a more concise search query."
        )


def check_limit(limit: int) -> None:
    """Refused if too many results are asked for, or none."""
    if limit > MAX_RESULTS:
        raise Refused(f"Limit too high: {limit} > {MAX_RESULTS}. Request fewer results.")
    if limit < 1:
        raise Refused(f"Limit too low: {limit} < 1. Request at least one result.")


def check_names(names: Sequence[str], advice: str) -> None:
    """Refused if too many entities are named."""
    if len(names) > MAX_ENTITIES:
        raise Refused(
            f"Too many entity names: {len(names)} > {MAX_ENTITIES}. {advice} fewer entities at a time."
        )


def check_observations(texts: Sequence[str]) -> None:
    """Refused if there are too many observations, or one is too long."""
    if len(texts) > MAX_OBSERVATIONS:
        raise Refused(
            f"Too many observations: {len(texts)} > {MAX_OBSERVATIONS}. Split into smaller batches."
        )
    for place, text in enumerate(texts):
        if len(text) > MAX_LENGTH:
            raise Refused(f"Observation {place}{_too_long(text)}")


def check_entities(observations: Sequence[Sequence[str]]) -> None:
    """Refused if there are too many entities, or one has too many or too long observations."""
    if len(observations) > MAX_ENTITIES:
        raise Refused(
            f"Too many entities: {len(observations)} > {MAX_ENTITIES}. Create fewer entities at a time."
        )
    for number, texts in enumerate(observations):
        if len(texts) > MAX_OBSERVATIONS:
            raise Refused(
                f"Entity {number} has too many observations: {len(texts)} > {MAX_OBSERVATIONS}. "
                "Split into smaller batches."
            )
        for place, text in enumerate(texts):
            if len(text) > MAX_LENGTH:
                raise Refused(f"Entity {number}, observation {place}{_too_long(text)}")


def _too_long(text: str) -> str:
    return f" too long: {len(text)} > {MAX_LENGTH} characters. Shorten or split the observation."
