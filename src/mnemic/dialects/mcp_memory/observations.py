"""Kinds of observations and superseded ones, which the released server's `add_observations` and `open_nodes` know.

Both are kept in the metadata of the entity: an observation itself is a plain text in every dialect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemic.core import entities as core
from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.dialects.mcp_memory.dialect import McpMemoryError, not_found
from mnemic.model.memory import Memory, MemoryPatch
from mnemic.storage.base import Writer

KINDS, SUPERSEDED = "observation_kinds", "superseded_observations"
USUAL_KIND = "generic"
METADATA_KIND = "metadata"


def observe(
    ctx: Context, name: str, texts: Sequence[str], kind: str, supersedes: int | None
) -> tuple[Memory, list[str]]:
    """Add *texts* of this *kind* to an entity and end the observation *supersedes*: the entity, and what was added."""

    def work(tx: Writer) -> tuple[list[str], Memory]:
        known = core.entity(tx, ctx, name)
        if known is None:
            raise not_found(name)
        gone = _superseded(known, supersedes)
        left = [text for text in known.texts if text not in gone]
        fresh = [text for text in dict.fromkeys(texts) if text not in left]
        metadata = _noted(known, fresh, kind, gone)
        changed = tx.update(known, MemoryPatch(texts=(*left, *fresh), metadata=metadata))
        return fresh, changed

    fresh, changed = change_after_expiry(ctx, "add_observations", work, namespaces=ctx.usual)
    ctx.wake()
    return changed, fresh


def _superseded(memory: Memory, number: int | None) -> list[str]:
    if number is None:
        return []
    texts = [statement.text for statement in memory.statements if statement.id == number]
    if not texts:
        raise McpMemoryError(f"Observation with id={number} not found in {memory.title}")
    return texts


def _noted(memory: Memory, fresh: Sequence[str], kind: str, gone: Sequence[str]) -> dict[str, Any]:
    """The metadata of *memory* with the kind of what was added and the texts that were superseded."""
    metadata = dict(memory.metadata)
    if kind != USUAL_KIND and fresh:
        metadata[KINDS] = {**_kinds(memory), **dict.fromkeys(fresh, kind)}
    if gone:
        metadata[SUPERSEDED] = list(dict.fromkeys([*superseded(memory), *gone]))
    return metadata


def _kinds(memory: Memory) -> dict[str, str]:
    kept = memory.metadata.get(KINDS)
    return dict(kept) if isinstance(kept, dict) else {}


def superseded(memory: Memory) -> list[str]:
    """The observations of an entity that others took the place of."""
    kept = memory.metadata.get(SUPERSEDED)
    return [text for text in kept if isinstance(text, str)] if isinstance(kept, list) else []


def of_kinds(
    memory: Memory, kinds: Sequence[str] | None, *, include_superseded: bool
) -> tuple[list[str], list[int]]:
    """The observations of these *kinds* (None: all), and the ids of those that stand."""
    known = _kinds(memory)

    def is_wanted(text: str) -> bool:
        return kinds is None or known.get(text, USUAL_KIND) in kinds

    standing = [statement for statement in memory.statements if is_wanted(statement.text)]
    former = [text for text in superseded(memory) if is_wanted(text)] if include_superseded else []
    return [*(one.text for one in standing), *former], [one.id for one in standing]


def is_mostly_metadata(memory: Memory) -> bool:
    """Whether more than half of the observations are of the kind `metadata`, which counts less in a search."""
    known = _kinds(memory)
    noted = sum(known.get(text) == METADATA_KIND for text in memory.texts)
    return 2 * noted > len(memory.texts)
