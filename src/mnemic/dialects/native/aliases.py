"""Names that models guess for tools and arguments, from other memory servers and their own habits."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

TOOLS: Mapping[str, str] = {
    wrong: right
    for right, guesses in {
        "recall": "search query find lookup retrieve get_context search_memory search_memories search_nodes",
        "remember": "store save add create note write add_memory store_memory save_memory create_entities",
        "open": "get read show fetch get_memory open_nodes",
        "revise": "update edit change correct supersede update_memory",
        "forget": "delete remove archive delete_memory",
        "restore": "undelete unarchive recover",
        "link": "relate connect create_relations add_relation",
        "verify": "check ground validate fact_check",
        "session": "start_session end_session resume log",
        "stats": "status info health namespaces",
        "explore": "graph neighbors path related traverse",
        "history": "log changes versions timeline",
        "tidy": "consolidate deduplicate merge cleanup gc",
    }.items()
    for wrong in guesses.split()
}
"""Names that other systems use; the first entry for a name wins."""

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    wrong: tuple(right.split())
    for guesses, right in (
        ("content body message observation value data new_text correction description", "text"),
        ("memory note fact statement assertion", "claim text items"),
        ("memories facts notes observations entries contents", "items"),
        ("q search search_query question prompt keywords keyword topic_query", "query claim pattern"),
        ("text query", "query claim pattern text"),
        ("claim", "query text"),
        ("pattern regex contains", "query pattern"),
        ("top_k topk k n num num_results max_results max count size page_size", "limit"),
        ("memory_id memoryid memory_ids id uid uuid key name title names", "ids id source title"),
        ("ids", "id source"),
        ("tag label labels", "tags"),
        ("category type memory_type entity_type entitytype kind node_type event_type", "kind kinds type"),
        ("project scope workspace collection repo repository user_id group bucket", "namespace"),
        ("importance weight salience", "priority weight"),
        ("min_score threshold score relevance min_similarity", "min_relevance"),
        (
            "date timestamp when created_at event_date event_time valid_from happened_at",
            "occurred_at since as_of",
        ),
        ("expires expires_in expires_at expiry ttl_seconds ttl_secs lifetime", "ttl"),
        ("after start start_date from_date date_from newer_than", "since"),
        ("before end_date to_date date_to older_than", "until"),
        ("at at_time time point_in_time", "as_of occurred_at"),
        ("replace replaces supersedes superseded", "supersede"),
        ("from from_id source_id src", "source id"),
        ("to to_id target_id dst other other_id", "target to into"),
        ("relation relationship relation_type relationtype rel link_type predicate", "type types"),
        ("context window neighbors neighbours surrounding", "around"),
        ("verbose format full level include_metadata", "detail"),
        ("max_tokens token_budget tokens budget token_limit", "budget_tokens"),
        ("overwrite allow_duplicates allow_duplicate skip_dedup", "force"),
        ("permanent hard hard_delete", "purge"),
        ("preview dry simulate", "dry_run"),
        ("command operation mode op step", "action"),
        ("user_message human", "user"),
        ("agent_response assistant response reply", "agent"),
        ("session_id", "id session"),
    )
    for wrong in guesses.split()
}


def meant_argument(name: str, known: Collection[str]) -> str | None:
    """The argument of *known* that somebody who wrote *name* most likely meant."""
    plain = _plain(name)
    if plain in known and plain != name:
        return plain
    meant = next((right for right in ARGUMENTS.get(plain, ()) if right in known), None)
    return meant or _closest(plain, known)


def meant_tool(name: str, known: Collection[str]) -> str | None:
    """The tool of *known* that somebody who called *name* most likely meant."""
    plain = _plain(name)
    for prefix in ("mnemic_", "memory_"):
        plain = plain.removeprefix(prefix)
    meant = plain if plain in known else TOOLS.get(plain)
    return meant if meant in known else _closest(plain, known)


def _plain(name: str) -> str:
    """*name* in snake case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-\s.]+", "_", name[:80]).lower()


def _closest(name: str, known: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=0.7)), None)
