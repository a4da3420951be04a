"""Files of Lorekeeper for import and export: its database, and the export of its dashboard."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mnemic.core.context import Context
from mnemic.dialects.lorekeeper import database, export_file, tables
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory, Statement
from mnemic.transfer import targets
from mnemic.transfer.document_entry import loaded
from mnemic.transfer.foreign_memories import content_source
from mnemic.transfer.sources import is_database
from mnemic.transfer.system_files import ExportFile, ImportSource, RecordSource, SystemFiles
from mnemic.transfer.targets import dumped, living_graph

KEPT = frozenset(
    {"namespaces", "summaries", "ratings", "uses", targets.TIMES}
    | {"reasons of links", "ratings of links", "times of links"}
)
"""What its export has a place for."""


def read(ctx: Context, source: ImportSource) -> RecordSource:
    """The records of a database, the folder that holds it, or an export."""
    path = source.path
    if path.is_dir() or is_database(path):
        rows = database.read(path)
    else:
        rows = tables.tables_of(loaded(path.read_bytes()), source.name)
    return content_source(ctx, tables.content_of(rows))


def write(ctx: Context) -> ExportFile:
    """The export of its dashboard."""
    graph = living_graph(ctx)
    edges = _once(graph.between_memories())
    lost = graph.lost(KEPT, edges)
    lost[targets.TO_NAMES] = len(graph.edges) - len(graph.between_memories())
    lost[targets.TYPES] = sum(edge.type not in export_file.RELATIONS for edge in edges)
    memories = map(_with_text, graph.memories.values())
    return ExportFile(dumped(export_file.document(memories, edges, ctx.now())), lost)


def _once(edges: Iterable[Edge]) -> list[Edge]:
    """Each link once: a database of Lorekeeper holds no two with the same ends and type."""
    return list({(edge.source_id, edge.target_id, edge.type): edge for edge in edges}.values())


def _with_text(memory: Memory) -> Memory:
    """*memory*, with its title as its text if it has no text."""
    return memory if memory.content.strip() else replace(memory, statements=(Statement(0, memory.title),))


FILES = SystemFiles(read=read, write=write, database_marks=database.MARKS)
