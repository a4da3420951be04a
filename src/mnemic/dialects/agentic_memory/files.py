"""Files of AgenticMemory for import and export: the binary `.amem` file."""

from __future__ import annotations

from mnemic.core.context import Context
from mnemic.dialects.agentic_memory import amem, amem_file
from mnemic.transfer import targets
from mnemic.transfer.system_files import ExportFile, ImportSource, RecordSource, SystemFiles
from mnemic.transfer.targets import living_graph

KEPT = frozenset({"sessions", "confidences", "uses", targets.TIMES, "weights of links", "times of links"})
"""What its file has a place for."""


def read(ctx: Context, source: ImportSource) -> RecordSource:
    """The records of an `.amem` file."""
    return amem.read_amem(ctx, source.path)


def write(ctx: Context) -> ExportFile:
    """An `.amem` file."""
    graph = living_graph(ctx)
    edges = graph.between_memories()
    lost = graph.lost(KEPT, edges)
    lost[targets.TO_ITSELF] = sum(edge.source_id == edge.target_id for edge in edges)
    lost["kinds"] = sum(
        memory.kind not in (*amem_file.EVENT_TYPES, "note") for memory in graph.memories.values()
    )
    known = {*amem_file.LINK_TYPES, *amem.OTHER_NAMES}
    lost[targets.TYPES] = sum(edge.type not in known for edge in edges)
    lost[targets.TO_NAMES] = len(graph.edges) - len(edges)
    data, done = amem.packed(ctx)
    lost[targets.TOO_LONG] = len(done.notes)
    return ExportFile(data, lost)


FILES = SystemFiles(read=read, write=write, is_text=False)
