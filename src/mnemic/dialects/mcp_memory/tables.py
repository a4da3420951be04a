"""What a database of mcp-memory says: entities with their observations and uses, relations and reflections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mnemic.core.reflections import ENTITY, KIND, RELATION, TARGET_TYPE
from mnemic.dialects.mcp_memory.observations import KINDS, SUPERSEDED, USUAL_KIND
from mnemic.errors import Invalid
from mnemic.model.memory import title_of
from mnemic.model.time import parse_moment
from mnemic.transfer.foreign_memories import ORIGINAL_TARGET, ForeignContent, ForeignMemory

Row = Mapping[str, Any]
USUAL_STATUS = "activo"


def content_of(tables: Mapping[str, Sequence[Row]]) -> ForeignContent:
    """The rows of its tables as what they mean."""
    content = ForeignContent()
    observations = _grouped(tables["observations"], "entity_id")
    used = {row["entity_id"]: row for row in tables["entity_access"]}
    days = Counter(row["entity_id"] for row in tables["entity_access_log"])
    for row in tables["entities"]:
        texts = observations.get(row["id"], [])
        content.memories.append(_entity(row, texts, used.get(row["id"], {}), days[row["id"]]))
    content.links += map(_relation, tables["relations"])
    content.memories += map(_reflection, tables["reflections"])
    content.together += _together(tables["co_occurrences"])
    return content


def _grouped(rows: Iterable[Row], name: str) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[name], []).append(row)
    return groups


def _stands(row: Row) -> bool:
    return row.get("superseded_at") is None


def _entity(row: Row, observations: Sequence[Row], used: Row, days: int) -> ForeignMemory:
    texts = list(dict.fromkeys(one["content"] for one in observations if _stands(one)))
    entry = {
        "title": row["name"],
        "kind": row["entity_type"],
        "content": "\n".join(map(str, texts)),
        "statements": texts,
        "tier": "long",
        "metadata": _metadata(row, observations, texts),
        "created_at": row["created_at"],
        # Adding an observation there does not touch the entity's own time.
        "updated_at": max(map(str, [row["updated_at"], *(one["created_at"] for one in observations)])),
        "access_count": used.get("access_count", 0),
        "last_accessed_at": used.get("last_access"),
        "days_used": days,
    }
    return ForeignMemory(key=_key(ENTITY, row["id"]), entry=entry, label=str(row["name"]), adds=True)


def _key(kind: str, number: Any) -> str:
    return f"{kind} {number}"


def _metadata(row: Row, said: Sequence[Row], standing: Sequence[str]) -> dict[str, Any]:
    """The status of an entity, the kinds of its observations and those that others took the place of."""
    status = row.get("status") or USUAL_STATUS
    kinds = {one["content"]: one.get("kind") or USUAL_KIND for one in said}
    noted = {
        "status": "" if status == USUAL_STATUS else status,
        KINDS: {text: kind for text, kind in kinds.items() if kind != USUAL_KIND},
        SUPERSEDED: [text for text in kinds if text not in standing],
    }
    return {name: value for name, value in noted.items() if value}


def _relation(row: Row) -> dict[str, Any]:
    return {
        "key": _key(RELATION, row["id"]),
        "source_id": _key(ENTITY, row["from_entity"]),
        "target_id": _key(ENTITY, row["to_entity"]),
        "relation": row["relation_type"],
        "reason": row.get("context"),
        "created_at": row["created_at"],
        "valid_to": None if row.get("active", 1) else row.get("ended_at") or row["created_at"],
    }


def _reflection(row: Row) -> ForeignMemory:
    facts = {
        TARGET_TYPE: row["target_type"],
        ORIGINAL_TARGET: row["target_id"],
        "author": row["author"],
        "mood": row["mood"],
    }
    text = str(row["content"])
    entry = {
        "title": title_of(text) if text.strip() else "",
        "kind": KIND,
        "content": text,
        "tier": "long",
        "source": row["author"],
        "metadata": {name: value for name, value in facts.items() if value is not None},
        "created_at": row["created_at"],
    }
    target = _key(row["target_type"], row["target_id"])
    return ForeignMemory(
        key=_key(KIND, row["id"]),
        entry=entry,
        label=_key(KIND, row["id"]),
        identity=f"mcp-memory {KIND} {row['created_at']} {target} {text}",
        target=target,
        about=(target,) if row["target_type"] == ENTITY else (),
    )


def _together(rows: Iterable[Row]) -> Iterator[tuple[str, str, int, int]]:
    for row in rows:
        try:
            last = parse_moment(str(row["last_co"]), "last_co", 0)
        except Invalid:
            continue  # that they were answered together is nothing without knowing when
        ends = _key(ENTITY, row["entity_a_id"]), _key(ENTITY, row["entity_b_id"])
        yield (*ends, int(row["co_count"]), last)
