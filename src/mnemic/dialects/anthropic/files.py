"""Files of the reference memory server for import and export: entities and relations as JSON lines."""

from __future__ import annotations

from mnemic.core.context import Context
from mnemic.transfer.graph_file import read_lines, write_lines
from mnemic.transfer.sources import graph_source, text_of
from mnemic.transfer.system_files import ExportFile, ImportSource, RecordSource, SystemFiles
from mnemic.transfer.targets import export_graph

SYSTEM = "the reference server"


def read(ctx: Context, source: ImportSource) -> RecordSource:
    """The records of a file of JSON lines."""
    return graph_source(ctx, source, list(read_lines(text_of(source, SYSTEM))), SYSTEM, may_dangle=True)


def write(ctx: Context) -> ExportFile:
    """The store as JSON lines."""
    return export_graph(ctx, write_lines, may_dangle=True)


FILES = SystemFiles(read=read, write=write)
