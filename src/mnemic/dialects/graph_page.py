"""Reading a large graph a page at a time: two arguments that the dialects' documents do not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from mnemic.dialects.json_schema import EXTENSION
from mnemic.dialects.validation import StorableText

READABLE = 100_000
"""How many characters of one answer clients are known to show; more may be cut."""
MAX_PAGE = 10_000

Limit = Annotated[int | None, Field(ge=1, le=MAX_PAGE, json_schema_extra={EXTENSION: True})]
After = Annotated[StorableText | None, Field(json_schema_extra={EXTENSION: True})]


def with_note(graph: Mapping[str, Any], text: str) -> dict[str, Any]:
    """*graph*, whose answer is *text*, with a hint at the pages in front if that is longer than clients show."""
    if len(text) <= READABLE:
        return dict(graph)
    note = (
        f"This answer has {len(text)} characters; many clients cut after {READABLE}. "
        "read_graph also takes limit, the number of entities, and after, the name of the last one you "
        "have; search_nodes and open_nodes give parts of the graph."
    )
    return {"note": note, **graph}
