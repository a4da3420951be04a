"""lore_remember, lore_insert and lore_forget: store, link and delete memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mnemic.core import memories as core
from mnemic.core.context import Context
from mnemic.core.memories import Note
from mnemic.dialects.framework import Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.lorekeeper.dedup import Admitted, NoteLink, StoredNotes, store_notes
from mnemic.dialects.lorekeeper.dialect import LOREKEEPER, LoreError
from mnemic.dialects.lorekeeper.export_file import SPOKEN, memory_entry
from mnemic.dialects.lorekeeper.lookup import by_uid
from mnemic.dialects.lorekeeper.settings import Bearings, bearings
from mnemic.dialects.lorekeeper.types import title_of
from mnemic.dialects.validation import StorableText, invalid
from mnemic.errors import Invalid
from mnemic.model.graph import UNRATED_LINK, Edge
from mnemic.model.limits import MAX_ITEMS, QUALITY, not_itself
from mnemic.model.memory import Memory

THOUGHT_QUALITY = 7.0
REASONS = ("duplicate", "expired", "hallucinated", "outdated", "unspecified")
TITLE_TAKEN = "UNIQUE constraint failed: memories.namespace, memories.title"
Score = Annotated[float, Field(**QUALITY.bounds)]


# -- remembering


class Remember(Shape):
    """A thought."""

    thought: Annotated[StorableText, Field(description="the fact or observation, kept word for word")]


@LOREKEEPER.operation(title="Remember a thought")
def lore_remember(ctx: Context, request: Remember) -> Reply:
    """Keep one thought at once: its title is made from it, and it is linked to its nearest neighbour.

    A thought that is known is not kept again: duplicate is true, and the id is that of the known memory.
    """
    if not request.thought.strip():
        raise LoreError("thought must not be empty")
    at = bearings(ctx)
    note = Note(
        text=request.thought, title=title_of(request.thought), namespace=at.home, quality=THOUGHT_QUALITY
    )
    likely = at.settings.likely and replace(at.settings.likely, quality=UNRATED_LINK)
    one = store_notes(ctx, [note], at.gate, likely=likely).notes[0]
    memory = one.twin.memory if one.twin else one.memory
    assert memory is not None, "only what is forced can be neither new nor known"
    linked = _neighbour(ctx, one)
    return answer(**_kept(memory), linked_to=linked, duplicate=one.twin is not None)


def _kept(memory: Memory) -> dict[str, str]:
    return {"id": memory.uid, "title": memory.title, "namespace": memory.namespace}


def _neighbour(ctx: Context, one: Admitted) -> dict[str, Any] | None:
    if one.linked is None:
        return None
    number, cosine = one.linked
    return {"id": ctx.read().get([number])[0].uid, "score": round(cosine, 4)}


# -- inserting


class GivenMemory(BaseModel):
    """A memory in a request; unknown fields are ignored."""

    model_config = ConfigDict(defer_build=True)

    title: Annotated[StorableText, Field(min_length=1)]
    content: StorableText | None = None
    description: StorableText | None = None
    score: Score | None = None


class GivenLink(BaseModel):
    """A link in a request."""

    model_config = ConfigDict(defer_build=True)

    source_memory_id: StorableText
    target_memory_id: StorableText
    relation_type: StorableText
    reason: StorableText
    score: Score = UNRATED_LINK


class Insert(Shape):
    """What to keep and to link."""

    memories: Annotated[
        list[dict[str, Any]] | None,
        Field(
            max_length=MAX_ITEMS,
            description="each with title, and optionally content, description, score (0 to 10, default 5.0) and links: "
            "[{target_memory_id, relation_type, reason}]",
        ),
    ] = None
    links: Annotated[
        list[dict[str, Any]] | None,
        Field(
            max_length=MAX_ITEMS,
            description="each with source_memory_id, target_memory_id, relation_type and reason",
        ),
    ] = None
    force: Annotated[bool, Field(description="keep what is nearly known, too")] = False


@dataclass(slots=True)
class _Order:
    """A request that has been read: what can be done of it, and what cannot."""

    notes: list[Note] = field(default_factory=list)
    ties: list[NoteLink] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    """Error texts of the links that could not be made."""
    errors: list[dict[str, Any]] = field(default_factory=list)

    def refuse(self, given: str, why: str) -> None:
        self.errors.append({"input": given, "error": why})


@LOREKEEPER.operation(title="Insert memories and links")
def lore_insert(ctx: Context, request: Insert) -> Reply:
    """Keep many memories with titles, scores and links of your choice, and link known ones.

    What is nearly known is not kept: it is in duplicates, with the known memory. Relation types: related_to, used_in,
    used_for, used_by, used_as, contradicts, supersedes, depends_on.
    """
    at = bearings(ctx)
    given, links = request.memories or [], request.links or []
    for place, memory in enumerate(given):
        if "title" not in memory:
            raise LoreError(f"memory at index {place} is missing required field: 'title'")
    known = by_uid(ctx, _mentioned(given, links), at.namespaces)
    order = _ordered(at, given, links, known)
    taken = store_notes(ctx, order.notes, at.gate, force=request.force, ties=order.ties)
    return _inserted(order, taken, known)


def _mentioned(given: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every id that a link of the request mentions."""
    every = [*links, *(link for memory in given for link in _inline(memory))]
    ends = (link.get(end) for link in every for end in ("source_memory_id", "target_memory_id"))
    return list(dict.fromkeys(end for end in ends if isinstance(end, str)))


def _inline(memory: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [link for link in _given_links(memory) if isinstance(link, dict)]


def _given_links(memory: Mapping[str, Any]) -> list[Any]:
    """The links of *memory* as given; anything but a list is reported as one item."""
    found = memory.get("links")
    if found is None:
        return []
    return found if isinstance(found, list) else [str(found)]


def _ordered(
    at: Bearings,
    given: Sequence[Mapping[str, Any]],
    links: Sequence[Mapping[str, Any]],
    known: Mapping[str, Memory],
) -> _Order:
    order = _Order()
    for memory in given:
        title = str(memory["title"])
        try:
            order.notes.append(_note(at, memory))
        except Invalid as error:
            order.refuse(title, str(error))
            continue
        for link in _given_links(memory):
            shown = f"memory '{title}' → link {link}"
            if isinstance(link, dict):
                _tie(order, {"source_memory_id": "", "reason": "", **link}, known, shown, True)
            else:
                order.refuse(shown, "links must be a list of objects")
    for between in links:
        _tie(order, between, known, str(between), False)
    return order


def _note(at: Bearings, memory: Mapping[str, Any]) -> Note:
    try:
        given = GivenMemory.model_validate(memory)
    except ValidationError as error:
        raise invalid(error) from None
    if not given.title.strip():
        raise Invalid("title: must not be blank", "title")
    return Note(
        text=given.content or "",
        name=given.title,
        summary=given.description or None,
        namespace=at.home,
        quality=at.settings.new_memory_default_score if given.score is None else given.score,
    )


def _tie(
    order: _Order, link: Mapping[str, Any], known: Mapping[str, Memory], shown: str, is_inline: bool
) -> None:
    """Add the link that *link* describes to the *order*, or return its error."""
    try:
        given = _checked(link, known, is_inline)
    except Invalid as error:
        order.refuse(shown, str(error))
        return
    order.shown.append(shown)
    order.ties.append(
        NoteLink(
            target=known[given.target_memory_id].id,
            type=given.relation_type,
            reason=given.reason,
            source=None if is_inline else known[given.source_memory_id].id,
            note=len(order.notes) - 1 if is_inline else None,
            quality=given.score,
        )
    )


def _checked(link: Mapping[str, Any], known: Mapping[str, Memory], is_inline: bool) -> GivenLink:
    for name in ("source_memory_id", "target_memory_id", "relation_type", "reason"):
        if link.get(name) is None:
            raise Invalid(f"missing required field: '{name}'", name)
    if link["relation_type"] not in SPOKEN:
        raise Invalid(
            f"invalid relation_type '{link['relation_type']}': must be one of {sorted(SPOKEN)}",
            "relation_type",
        )
    try:
        given = GivenLink.model_validate(link)
    except ValidationError as error:
        raise invalid(error) from None
    if not is_inline and given.source_memory_id not in known:
        raise Invalid(f"link source memory_id '{given.source_memory_id}' not found", "source_memory_id")
    if given.target_memory_id not in known:
        raise Invalid(f"link target memory_id '{given.target_memory_id}' not found", "target_memory_id")
    not_itself(given.source_memory_id, given.target_memory_id, "target_memory_id")
    return given


def _inserted(order: _Order, taken: StoredNotes, known: Mapping[str, Memory]) -> Reply:
    uids = {memory.id: memory.uid for memory in known.values()}
    inserted, duplicates = [], []
    for note, one in zip(order.notes, taken.notes, strict=True):
        if one.memory is not None:
            uids[one.memory.id] = one.memory.uid
            inserted.append(_kept(one.memory))
        elif one.twin is not None:
            similarity = round(one.twin.similarity, 4)
            duplicates.append(
                {
                    "input_title": note.name,
                    "existing_memory": memory_entry(one.twin.memory),
                    "similarity": similarity,
                }
            )
        else:
            order.refuse(note.name or "", TITLE_TAKEN)
    for shown, tie, edge in zip(order.shown, order.ties, taken.edges, strict=True):
        if edge is None:
            is_kept = tie.note is None or taken.notes[tie.note].memory is not None
            why = (
                "what it leads to or from has just been deleted" if is_kept else "the memory was not inserted"
            )
            order.refuse(shown, f"not linked, since {why}")
    links = [_edge_entry(edge, uids) for edge in taken.edges if edge is not None]
    return answer(
        inserted_memories=inserted, inserted_links=links, duplicates=duplicates, errors=order.errors
    )


def _edge_entry(edge: Edge, uids: Mapping[int, str]) -> dict[str, Any]:
    return {
        "id": str(edge.id),
        "source_memory_id": uids[edge.source_id],
        "target_memory_id": uids[edge.target_id],
        "relation_type": edge.type,
    }


# -- forgetting


class LoreForget(Shape):
    """Memories to delete, and why."""

    memory_ids: Annotated[
        list[StorableText], Field(max_length=MAX_ITEMS, description="ids of the memories to forget")
    ]
    reason: Annotated[
        StorableText, Field(description="duplicate, hallucinated, outdated, expired or unspecified")
    ] = "unspecified"


@LOREKEEPER.operation(title="Forget memories", destructive=True, idempotent=True)
def lore_forget(ctx: Context, request: LoreForget) -> Reply:
    """Take wrong or outdated memories out of every search at once. They stay in the store."""
    if not request.memory_ids:
        raise LoreError("memory_ids must not be empty")
    if request.reason not in REASONS:
        raise LoreError(f"Unknown reason {request.reason[:80]!r}. Must be one of: {list(REASONS)}")
    ids = list(dict.fromkeys(request.memory_ids))
    known = by_uid(ctx, ids, bearings(ctx).namespaces, forgotten=True)
    core.forget(ctx, [memory.id for memory in known.values()], reason=request.reason)
    return answer(
        forgotten=[uid for uid in ids if uid in known],
        not_found=[uid for uid in ids if uid not in known],
        errors=[],
    )
