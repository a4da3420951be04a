"""Files of Simple Memory for import and export: one JSON object with entities and relations."""

from __future__ import annotations

from dataclasses import replace

from mnemic.core.context import Context
from mnemic.errors import Invalid
from mnemic.transfer.document_entry import loaded
from mnemic.transfer.graph_file import read_document_or_lines, write_document
from mnemic.transfer.sources import graph_source, text_of
from mnemic.transfer.system_files import ExportFile, ImportSource, RecordSource, SystemFiles
from mnemic.transfer.targets import export_graph

SYSTEM = "Simple Memory"
FILE = "memory.json"


def read(ctx: Context, source: ImportSource) -> RecordSource:
    """The records of its file, or of the folder that holds it."""
    if source.path.is_dir():
        source = replace(source, path=source.path / FILE)
    text = text_of(source, SYSTEM)
    records = list(read_document_or_lines(text)) if text.strip() else []
    if text.strip() and not records and "entities" not in loaded(text.encode()):
        raise Invalid(f"{source.name} is no file of Simple Memory: it has no entities.", "file")
    return graph_source(ctx, source, records, SYSTEM, may_dangle=True, may_repeat=True)


def write(ctx: Context) -> ExportFile:
    """The store as one JSON object."""
    return export_graph(ctx, write_document, may_dangle=True)


FILES = SystemFiles(read=read, write=write)
