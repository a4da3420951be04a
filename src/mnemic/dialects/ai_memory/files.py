"""Files of ai-memory for import and export: its database, and the JSON document that it exports and imports."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from mnemic.core.context import GLOBAL, Context
from mnemic.dialects.ai_memory import database
from mnemic.dialects.ai_memory.validation import SOURCES
from mnemic.errors import Invalid
from mnemic.model.text_size import cut
from mnemic.transfer import targets
from mnemic.transfer.document import document_source, export_json
from mnemic.transfer.document_entry import CONTROL, RELATIONS, loaded
from mnemic.transfer.sources import is_database
from mnemic.transfer.system_files import ExportFile, ImportSource, RecordSource, SystemFiles
from mnemic.transfer.targets import dumped, living_graph

KEPT = frozenset(
    {"namespaces", "tags", "priorities", "confidences", "lifetimes", targets.SOURCES, "metadata", "uses"}
    | {targets.TIMES, "times of links"}
)
"""What its document has a place for."""
# ai-memory refuses what is larger, or named or related otherwise.
LONGEST_TITLE, LONGEST_CONTENT, MOST_TAGS, LONGEST_NAME = 512, 65_536, 50, 128
IMPORTED = "import"
RELATED = "related_to"
_UNNAMEABLE = re.compile(r"[\s/\\\x00-\x1f\x7f]+")


def read(ctx: Context, source: ImportSource) -> RecordSource:
    """The records of a database or an export of ai-memory."""
    if is_database(source.path):
        content: Any = database.read(source.path)
    else:
        content = loaded(source.path.read_bytes())
    match content:
        case {"memories": [{"usage_count": _}, *_]}:
            raise Invalid(f"{source.name} is no export of ai-memory: its memories are Lorekeeper's.", "file")
    return document_source(ctx, content)


def write(ctx: Context) -> ExportFile:
    """Our JSON document. Fields that ai-memory does not know have names that it ignores."""
    graph = living_graph(ctx)
    lost = graph.lost(KEPT, graph.between_memories())
    lost[targets.TO_NAMES] = len(graph.edges) - len(graph.between_memories())
    lost[targets.SOURCES] = sum(
        (memory.source or IMPORTED) not in SOURCES for memory in graph.memories.values()
    )
    content = export_json(ctx)
    for entry in content["memories"]:
        _fit(entry, lost)
    links = [link for link in content["links"] if link["source_id"] != link["target_id"]]
    lost[targets.TO_ITSELF] = len(content["links"]) - len(links)
    for link in links:
        if link["relation"] not in RELATIONS:
            lost[targets.TYPES] += 1
            link["relation"] = RELATED
    return ExportFile(dumped({**content, "links": links}), lost)


def _fit(entry: dict[str, Any], lost: Counter[str]) -> None:
    """Change *entry* to what ai-memory accepts: no text empty or too long, a namespace of one word."""
    before = (entry["title"], entry["content"], entry["namespace"], entry["tags"])
    title = cut(CONTROL.sub("", entry["title"]), LONGEST_TITLE)
    content = cut(CONTROL.sub("", entry["content"]), LONGEST_CONTENT)
    plain = (CONTROL.sub("", tag) for tag in entry["tags"])
    tags = [cut(tag, LONGEST_NAME) for tag in plain if tag.strip()][:MOST_TAGS]
    namespace = cut(_UNNAMEABLE.sub("-", entry["namespace"]), LONGEST_NAME)
    entry |= {"title": title, "content": content if content.strip() else title}
    entry |= {"namespace": namespace or GLOBAL, "tags": tags}
    if entry["source"] not in SOURCES:
        entry["source"] = IMPORTED
    if content != before[1] or title != before[0] or tags != before[3]:
        lost[targets.TOO_LONG] += 1
    if namespace != before[2]:
        lost["namespaces"] += 1


FILES = SystemFiles(read=read, write=write, database_marks=database.MARKS)
