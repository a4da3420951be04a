"""Import from other systems: what their readers share, and the readers of formats that belong to no dialect."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path

from mnemic.core.allowed_files import SQLITE
from mnemic.core.context import Context
from mnemic.errors import Invalid
from mnemic.model.enums import Tier
from mnemic.model.graph import Sketch, Triple
from mnemic.storage.files import HELD
from mnemic.transfer import claude_code, conversation_files, conversations, downloaded_export, markdown
from mnemic.transfer.conversation_files import Conversation
from mnemic.transfer.file_batch import FilePolicy
from mnemic.transfer.foreign_memories import content_source
from mnemic.transfer.graph_batch import GraphPolicy, graph_records
from mnemic.transfer.graph_file import Flaw, GraphRecord
from mnemic.transfer.import_report import Report
from mnemic.transfer.importer import Importer
from mnemic.transfer.records import FlawRecord
from mnemic.transfer.system_files import ImportSource, RecordSource, SystemFiles

MIN_MESSAGES = 3

Import = Callable[[Context, ImportSource], Report]


def reading(files: SystemFiles) -> Import:
    """The import of a system's files."""
    return lambda ctx, source: import_records(ctx, files.read(ctx, source), source)


def import_with(read: Import, ctx: Context, source: ImportSource) -> Report:
    """Import *source*; a second time changes nothing. Invalid if it is something else."""
    if HELD.holds(source.path):
        raise Invalid(f"{source.name} is the database that memories would come to.", "file")
    try:
        return read(ctx, source)
    except OSError as error:
        name = Path(error.filename).name if isinstance(error.filename, str) else source.name
        raise Invalid(f"{name} cannot be read: {error.strerror}", "file") from None


def import_records(ctx: Context, found: RecordSource, source: ImportSource) -> Report:
    """Import what a reader found in *source*."""
    importer = Importer(ctx, found.policy or FilePolicy())
    importer.merge(found.records, source.progress, found.total)
    return importer.finish()


def is_database(path: Path) -> bool:
    """Whether the file at *path* is a SQLite database."""
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def text_of(source: ImportSource, system: str) -> str:
    """The text of a file, as the mirrors of graphs read it; Invalid if it is a database."""
    if is_database(source.path):
        raise Invalid(f"{source.name} is a database; {system} keeps a text file.", "file")
    return source.path.read_bytes().decode("utf-8-sig", errors="surrogateescape")


# -- graphs


def graph_source(
    ctx: Context,
    source: ImportSource,
    found: list[GraphRecord],
    system: str,
    *,
    may_dangle: bool,
    may_repeat: bool = False,
    kind: str = "",
) -> RecordSource:
    """The entities and relations of a file. *may_dangle* is False where both ends must be entities.

    *kind* is the type of new entities that have none.
    """
    flaws = [one for one in found if isinstance(one, Flaw)]
    if found and len(flaws) == len(found):
        raise Invalid(
            f"{source.name} is damaged, or no file of {system}: {flaws[0].where} is {flaws[0].what}.", "file"
        )
    graph = [one for one in found if isinstance(one, Sketch | Triple)]
    records = graph_records(ctx, graph, may_repeat=may_repeat, kind=kind)
    flawed = (FlawRecord(flaw.where, flaw.what) for flaw in flaws)
    return RecordSource(chain(flawed, records), len(found), GraphPolicy(may_dangle=may_dangle))


# -- formats of no dialect


def _markdown(ctx: Context, source: ImportSource) -> Report:
    return import_records(ctx, content_source(ctx, markdown.content_of(source.path, ctx.home())), source)


def _claude_code(ctx: Context, source: ImportSource) -> Report:
    """Import what Claude Code keeps about a project: its own notes, CLAUDE.md and rules."""
    notes = claude_code.notes(source.path, os.environ)
    root = claude_code.root_of(source.path)
    content = markdown.content_of_files(root, notes, ctx.namespace or root.name)
    return import_records(ctx, content_source(ctx, content), source)


def _conversations(ctx: Context, source: ImportSource, form: conversation_files.ExportForm) -> Report:
    """Import the conversations of an export whole, long ones in linked pieces; short ones are listed as errors."""
    with downloaded_export.opened(source.path) as files:
        found = list(conversation_files.read(form, files))
    mined = conversations.mine(
        ctx,
        found,
        source=f"mine-{form}",
        namespace=ctx.namespace or f"{form}-export",
        min_messages=MIN_MESSAGES,
        tier=Tier.LONG,
        in_pieces=True,
        progress=source.progress,
    )
    if found and not any(isinstance(talk, Conversation) and talk.messages for talk in found):
        why = mined.errors[0] if mined.errors else "nobody says anything in it"
        raise Invalid(f"{source.name} is damaged, or no export of {form}: {why}.", "file")
    short = list(_short(found))
    done = Report(skipped=mined.skipped - len(short), errors=[*mined.errors, *short])
    done.attachments = mined.attachments
    for plan in mined.planned:
        done.count(plan.memory.title, is_news=True)
    return done


def _short(found: list[conversation_files.Found]) -> Iterator[str]:
    for talk in found:
        if isinstance(talk, Conversation) and len(talk.messages) < MIN_MESSAGES:
            yield f"{talk.title or talk.id}: has {len(talk.messages)} messages, fewer than {MIN_MESSAGES}"


READERS: Mapping[str, Import] = {
    **{form.value: partial(_conversations, form=form) for form in conversation_files.ExportForm},
    "markdown": _markdown,
    "claude-code": _claude_code,
}
"""Readers of formats that belong to no dialect, by the name that `mnemic import --from` takes."""
