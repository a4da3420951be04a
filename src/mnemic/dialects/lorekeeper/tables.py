"""What Lorekeeper keeps: memories and links, of a database or an export, and what it learnt from sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from mnemic.core.reflections import EVERYTHING, KIND, SESSION, TARGET_TYPE
from mnemic.dialects.lorekeeper.export_file import REFLECTION_TITLE, REFLECTS_ON
from mnemic.errors import Invalid
from mnemic.model.memory import title_of
from mnemic.transfer.foreign_memories import ForeignContent, ForeignMemory

Row = Mapping[str, Any]
SHARED = "shared"
"""The namespace of what names none."""
HIGHEST = 10.0
UNSAID = (None, "unknown")
PARTS = {
    "What was done": ("what_was_done",),
    "Decisions": ("decisions",),
    "Lessons learnt": ("lessons_learnt",),
    "Good patterns": ("good_patterns",),
    "User profile updates": ("user_profile", "user_profile_updates"),
    "Factual discoveries": ("discoveries", "factual_discoveries"),
    "Transcript": ("transcript",),
}
"""The parts of a thought about a session, and the columns that hold them."""


def content_of(tables: Mapping[str, Sequence[Row]]) -> ForeignContent:
    """The rows of its tables as what they mean."""
    content = ForeignContent()
    content.memories += map(_memory, tables["memories"])
    content.links += map(_link, tables["memory_links"])
    content.memories += _thoughts(tables.get("sessions", ()), tables.get("reflections", ()))
    return content


def tables_of(content: Any, name: str) -> dict[str, Sequence[Row]]:
    """The tables in an export of its dashboard, or Invalid."""
    match content:
        case {"memories": list(memories), "links": list(links)}:
            if all(map(_is_memory, memories)) and all(map(_is_link, links)):
                return {"memories": memories, "memory_links": links}
    raise Invalid(
        f"{name} is no export of Lorekeeper: its memories and links are not as it writes them.", "file"
    )


def _is_memory(row: Any) -> bool:
    # The documents of ai-memory look much the same, but have tiers.
    return isinstance(row, dict) and "id" in row and "title" in row and "tier" not in row


def _is_link(row: Any) -> bool:
    return isinstance(row, dict) and "source_memory_id" in row


def _memory(row: Row) -> ForeignMemory:
    content = row.get("content") or ""
    given = row.get("source_type")
    entry = {
        "id": row["id"],
        "title": row["title"],
        "namespace": row.get("namespace") or SHARED,
        "content": content,
        "summary": row.get("description"),
        "tier": "long",
        "quality": _bounded(row.get("score")),
        "rating": row.get("confidence"),
        "rating_count": row.get("confidence_count") or 0,
        "access_count": row.get("usage_count") or 0,
        "last_accessed_at": row.get("last_used"),
        "created_at": row.get("created_at"),
        "updated_at": row.get("updated_at"),
        "metadata": {} if given in UNSAID else {"source_type": given},
    }
    if not content:
        entry["statements"] = []
    if row.get("soft_deleted"):
        entry["forgotten_at"] = row.get("updated_at") or row.get("created_at")
    return ForeignMemory(key=str(row["id"]), entry=entry, label=str(row["title"]))


def _bounded(score: Any) -> Any:
    return min(HIGHEST, max(0.0, score)) if isinstance(score, (int, float)) else score


def _link(row: Row) -> dict[str, Any]:
    return {
        "source_id": row.get("source_memory_id"),
        "target_id": row.get("target_memory_id"),
        "relation": row.get("relation_type"),
        "reason": row.get("reason"),
        "created_at": row.get("created_at"),
        "updated_at": row.get("updated_at"),
        "quality": _bounded(row.get("score")),
        "rating": row.get("confidence"),
        "rating_count": row.get("confidence_count") or 0,
    }


def _thoughts(sessions: Sequence[Row], reflections: Sequence[Row]) -> Iterator[ForeignMemory]:
    """A thought about each session, and those that are about none."""
    known = {row["id"]: row for row in reflections}
    for row in sessions:
        yield _about_session(row, known.get(row.get("reflection_id"), {}))
    used = {row.get("reflection_id") for row in sessions}
    for row in reflections:
        if row["id"] not in used:
            yield _about_all(row)


def _about_session(row: Row, reflection: Row) -> ForeignMemory:
    session = str(row["session_id"])
    metadata = {
        TARGET_TYPE: SESSION,
        REFLECTS_ON: session,
        **_chosen(row, "session_date", "topic", "task_type"),
    }
    entry = {
        **_entry(row, reflection, metadata),
        "title": REFLECTION_TITLE.format(session),
        "session": session,
        "created_at": row["reviewed_at"],
    }
    return _thought(entry, f"{SESSION} {session}", reflection)


def _about_all(row: Row) -> ForeignMemory:
    entry = _entry({}, row, {TARGET_TYPE: EVERYTHING})
    entry |= {"title": title_of(entry["content"]), "created_at": row["created_at"]}
    return _thought(entry, f"{KIND} {row['id']}", row)


def _chosen(row: Row, *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names if row.get(name) is not None}


def _entry(row: Row, reflection: Row, metadata: dict[str, Any]) -> dict[str, Any]:
    texts = [reflection.get("summary") or row.get("topic") or "No summary"]
    for name, columns in PARTS.items():
        value = next((at[column] for column in columns for at in (row, reflection) if at.get(column)), None)
        if value:
            texts.append(f"{name}:\n{value}")
    return {
        "kind": KIND,
        "namespace": SHARED,
        "tier": "long",
        "content": "\n".join(texts),
        "statements": texts,
        "metadata": metadata,
    }


def _thought(entry: Row, key: str, reflection: Row) -> ForeignMemory:
    about = tuple(_ids(reflection.get("memory_ids")))
    return ForeignMemory(key=key, entry=entry, label=key, identity=f"lorekeeper {key}", about=about)


def _ids(listed: Any) -> list[str]:
    """The ids in a JSON array that was kept as a text."""
    try:
        found = orjson.loads(listed or b"[]")
    except (orjson.JSONDecodeError, TypeError):
        return []
    return [str(one) for one in found] if isinstance(found, list) else []
