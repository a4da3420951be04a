"""A call of every tool that only reads, by dialect. `{uid}` and `{id}` stand for those of a memory called Heron."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mnemic.model.memory import Memory

READS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "mnemic": {
        "recall": {"query": "heron"},
        "open": {"ids": ["Heron"]},
        "verify": {"claim": "the heron stands in the pond"},
        "stats": {},
        "explore": {"id": "Heron"},
        "history": {},
    },
    "anthropic": {"read_graph": {}, "search_nodes": {"query": "heron"}, "open_nodes": {"names": ["Heron"]}},
    "simple-memory": {
        "read_graph": {},
        "search_nodes": {"query": "heron"},
        "open_nodes": {"names": ["Heron"]},
    },
    "mcp-memory": {
        "search_nodes": {"query": "heron"},
        "open_nodes": {"names": ["Heron"]},
        "search_semantic": {"query": "heron"},
        "analyze_entity_split": {"entity_name": "Heron"},
        "propose_entity_split": {"entity_name": "Heron"},
        "find_split_candidates": {},
        "find_duplicate_observations": {"entity_name": "Heron"},
        "consolidation_report": {},
        "search_reflections": {"query": "heron"},
    },
    "ai-memory": {
        "memory_recall": {"context": "heron"},
        "memory_search": {"query": "heron"},
        "memory_list": {},
        "memory_get": {"id": "{uid}"},
        "memory_stats": {},
        "memory_get_links": {"id": "{uid}"},
        "memory_capabilities": {},
        "memory_archive_list": {},
        "memory_archive_stats": {},
        "memory_session_start": {},
        "memory_namespace_get_standard": {"namespace": "global"},
    },
    "lorekeeper": {
        "lore_search": {"query": "heron"},
        "lore_recommend_links": {"lore_id": "{uid}"},
        "lore_processed_sessions": {},
    },
    "agentic-memory": {
        "memory_query": {},
        "memory_similar": {"query_text": "heron"},
        "memory_traverse": {"start_id": "{id}"},
        "memory_context": {"node_id": "{id}"},
        "memory_resolve": {"node_id": "{id}"},
        "memory_causal": {"node_id": "{id}"},
        "memory_temporal": {
            "range_a": {"type": "session", "session_id": 1},
            "range_b": {"type": "session", "session_id": 2},
        },
        "memory_quality": {},
        "memory_stats": {},
        "memory_ground": {"claim": "the heron stands in the pond"},
        "memory_evidence": {"query": "heron"},
        "memory_suggest": {"query": "heron"},
        "memory_session_resume": {},
    },
}
NEED_MORE = {"memory_expand_query", "memory_detect_contradiction"}
"""They ask a language model."""


def arguments_of(name: str, tool: str, heron: Memory) -> dict[str, Any]:
    """The arguments of a call, about *heron*."""
    told = {"{uid}": heron.uid, "{id}": heron.id}
    return {key: told.get(str(value), value) for key, value in READS[name][tool].items()}
