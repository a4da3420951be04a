"""Memories, links and hits as this dialect shows them, and its titles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemic.dialects.lorekeeper.export_file import link_entry, memory_entry
from mnemic.dialects.lorekeeper.lookup import LoreLink
from mnemic.model.filter import Hit

TITLE_LENGTH = 80
LONGEST_TITLE = 120
UNSCORED = {"semantic": 0.0, "keyword": 0.0, "decay": 1.0}
"""The terms of a memory that was fetched and not searched for."""


def hit_entry(hit: Hit, links: Sequence[LoreLink] | None) -> dict[str, Any]:
    """A memory that was found, how relevant it is, and its links where they are asked for."""
    relevance = {
        "combined_score": hit.score,
        "semantic_score": hit.terms["semantic"],
        "keyword_score": hit.terms["keyword"],
        "decay_factor": hit.terms["decay"],
    }
    shown = (
        {}
        if links is None
        else {"links": [link_entry(link.edge, str(link.edge.id), link.source, link.target) for link in links]}
    )
    return {"memory": memory_entry(hit.memory), "relevance": relevance, **shown}


def title_entry(hit: Hit) -> dict[str, Any]:
    """A memory that was found, in short."""
    return {"id": hit.memory.uid, "title": hit.memory.title, "score": round(hit.score, 4)}


def title_of(thought: str) -> str:
    """A title made from a thought: up to the last sentence end of the first 80 characters, else whole words."""
    whole = thought.strip()
    if len(whole) <= TITLE_LENGTH:
        return whole
    head = whole[:TITLE_LENGTH]
    for mark in ".!?":
        # Within a number or the name of a file it ends nothing.
        ends = [place for place, char in enumerate(head) if char == mark and whole[place + 1].isspace()]
        if ends and ends[-1] > TITLE_LENGTH // 2:
            return head[: ends[-1] + 1]
    if (space := head.rfind(" ")) > 0:
        return head[:space].strip()
    space = whole.find(" ", TITLE_LENGTH, LONGEST_TITLE)
    return whole[: space if space > 0 else LONGEST_TITLE].strip()
