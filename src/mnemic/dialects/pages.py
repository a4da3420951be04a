"""Reading a large graph a page at a time: two arguments that the vocabularies' documents do not have."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.dialects.schemas import EXTENSION
from mnemic.dialects.texts import Words

READABLE = 100_000
"""How many characters of one answer clients are known to show; more may be cut."""
MAX_PAGE = 10_000

Limit = Annotated[int | None, Field(ge=1, le=MAX_PAGE, json_schema_extra={EXTENSION: True})]
After = Annotated[Words | None, Field(json_schema_extra={EXTENSION: True})]


def note_on(text: str) -> str | None:
    """What is to be said about an answer of this *text*: a hint at the pages if it is longer than clients show."""
    if len(text) <= READABLE:
        return None
    return (
        f"This answer has {len(text)} characters; many clients cut after {READABLE}. "
        "read_graph also takes limit, the number of entities, and after, the name of the last one you "
        "have; search_nodes and open_nodes give parts of the graph."
    )
