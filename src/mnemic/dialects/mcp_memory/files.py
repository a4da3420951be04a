"""Files of mcp-memory for import and export: its database, and the reference server's JSON lines."""

from __future__ import annotations

from mnemic.core.context import Context
from mnemic.dialects.mcp_memory import database, tables
from mnemic.dialects.mcp_memory.dialect import GENERIC
from mnemic.transfer.foreign_memories import content_source
from mnemic.transfer.graph_file import read_lines, write_lines
from mnemic.transfer.sources import graph_source, is_database, text_of
from mnemic.transfer.system_files import ExportFile, ImportSource, RecordSource, SystemFiles
from mnemic.transfer.targets import export_graph

SYSTEM = "mcp-memory"


def read(ctx: Context, source: ImportSource) -> RecordSource:
    """The records of its database, or of a file of JSON lines."""
    if is_database(source.path):
        return content_source(ctx, tables.content_of(database.read(source.path)))
    records = list(read_lines(text_of(source, SYSTEM)))
    return graph_source(ctx, source, records, SYSTEM, may_dangle=False, kind=GENERIC)


def write(ctx: Context) -> ExportFile:
    """The store as JSON lines, without links to names that are no entities."""
    return export_graph(ctx, write_lines, may_dangle=False)


FILES = SystemFiles(read=read, write=write, database_marks=database.MARKS)
