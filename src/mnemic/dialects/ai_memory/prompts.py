"""The two prompts: rules for using the memory unasked, and a card of all tools."""

from __future__ import annotations

from collections.abc import Mapping

from mnemic.dialects.framework import Prompt

_RULES = """\
You have a memory that outlives this conversation. Use it without being asked:

1. Recall first: call memory_recall with the subject before you answer anything that may rest on earlier work.
2. Keep corrections: when the user corrects you, call memory_store with tier "long" and priority 9 at once.
3. Answers come in TOON (toon_compact): the fields are named once, then a row for each memory. \
Pass format "json" only if you need the contents.
4. Choose the tier by how long it matters: short (6 hours) for this session, mid (7 days) for current work, \
long (for ever) for decisions, preferences and facts.
5. A title is stored once per namespace: storing it again brings that memory up to date, so reuse titles.
6. Always pass namespace, such as the project's name, so that projects do not mix.
7. Call memory_capabilities once per session to know which tools work at this tier.
8. Give tags, so that memories can be found by topic as well as by words."""

_CARD = """\
memory workflow

Store and change
- memory_store title, content: keep something; the same title and namespace updates it
- memory_update id, fields: change what is given
- memory_promote id: keep it for ever
- memory_delete id: remove one
- memory_forget namespace | pattern | tier: move all that match into the archive (dry_run counts)

Find
- memory_recall context: anything related, best first; counts as use, which prolongs life
- memory_search query: memories with all of these words
- memory_list namespace, tier: by priority
- memory_get id: one memory with its links
- memory_session_start namespace: what to know at the start of a session

Relate
- memory_link source_id, target_id, relation: related_to, supersedes, contradicts or derived_from
- memory_get_links id: the links of a memory
- memory_consolidate ids, title, summary: replace 2 to 100 memories by one
- memory_detect_contradiction id_a, id_b: do they disagree? (smart tier)

Improve
- memory_expand_query query: more words to search for (smart tier)
- memory_auto_tag id: add tags (smart tier)
- memory_capabilities: what works at this tier

Standards
- memory_namespace_set_standard namespace, id: rules that recall and session start show first ("*" is everywhere)
- memory_namespace_get_standard namespace: the rules that are set
- memory_namespace_clear_standard namespace: take them away

Archive and upkeep
- memory_archive_list: what was forgotten or has expired
- memory_archive_restore id: bring it back for ever
- memory_archive_purge older_than_days: delete it for good
- memory_archive_stats: how much there is
- memory_gc: archive what has expired
- memory_stats: numbers of the whole store"""


def _recall_first(arguments: Mapping[str, str]) -> str:
    namespace = arguments.get("namespace")
    return f"{_RULES}\n\nIn this session pass namespace {namespace!r} to every tool." if namespace else _RULES


PROMPTS = (
    Prompt(
        name="recall-first",
        title="Recall first",
        description="Rules for using the memory without being asked: recall before answering, store corrections.",
        arguments=("namespace",),
        write=_recall_first,
    ),
    Prompt(
        name="memory-workflow",
        title="Memory workflow",
        description="A card that says which of the 26 tools does what.",
        arguments=(),
        write=lambda arguments: _CARD,
    ),
)
