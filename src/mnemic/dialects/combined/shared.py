"""The dialect of tools whose name several dialects share: how they answer and fail."""

from __future__ import annotations

import orjson
from pydantic import BaseModel

from mnemic.dialects.framework import Rendered, Shape
from mnemic.dialects.graph_page import with_note
from mnemic.dialects.json_reply import ObjectDialect, Reply, answer
from mnemic.errors import MnemicError


class Shared(ObjectDialect):
    """Replies of shared tools: an object; a failure is reported in the three forms clients look for."""

    def render(self, reply: BaseModel) -> Rendered:
        """The reply as an object and its JSON text."""
        rendered = super().render(reply)
        if isinstance(reply, WholeGraph):
            return super().render(answer(**with_note(reply.root, rendered.text)))
        return rendered

    def render_error(self, name: str, error: MnemicError) -> Rendered:
        """A failure with the error keys of every dialect."""
        content = {"error": str(error)}
        return Rendered(orjson.dumps(content).decode(), content, is_error=True)


class WholeGraph(Reply):
    """The answer of `read_graph`, which may be longer than clients show."""


SHARED = Shared(
    name="all",
    title="All dialects at once",
    instructions=(
        "`all` has every tool of every dialect. These names are used by several: each takes the arguments of all "
        "who have it and answers with the keys of all. Every other tool is what its own dialect says."
    ),
)


class SharedRequest(Shape, extra="ignore"):
    """Part of a request; unknown fields are ignored."""
