"""The dialect itself: its name, and how it words answers and failures."""

from __future__ import annotations

from mnemic.dialects.framework import Rendered
from mnemic.dialects.json_reply import ObjectDialect
from mnemic.dialects.lorekeeper.settings import database
from mnemic.errors import MnemicError


class LoreError(MnemicError):
    """A call that breaks a rule of this dialect, in its words."""

    code = "invalid"


class Lorekeeper(ObjectDialect):
    """The dialect, with its way of answering: nothing that is null is left out, a failure names the tool."""

    def render_error(self, name: str, error: MnemicError) -> Rendered:
        """A failure in Lorekeeper's words."""
        return Rendered(f"Error calling tool '{name}': {error}", is_error=True)

    def unknown_tool(self, name: str) -> Rendered:
        """The error for an unknown tool."""
        return Rendered(f"Unknown tool: '{name[:80]}'", is_error=True)


LOREKEEPER = Lorekeeper(
    name="lorekeeper",
    title="Lorekeeper",
    instructions="",
    server={"name": "lorekeeper-mcp-server"},
    database=database,
)
