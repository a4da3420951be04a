"""Bringing memories over from other systems, each by its own reader: nothing is guessed, nothing passed over unsaid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mnemic.core.context import Context
from mnemic.core.entities import take_in
from mnemic.core.files import SQLITE
from mnemic.core.moving import carrying, from_lorekeeper, from_markdown, from_mcp_memory, mining
from mnemic.core.moving.arrivals import Imported
from mnemic.core.moving.cargo import unload
from mnemic.core.moving.documents import import_json
from mnemic.errors import Invalid
from mnemic.formats import conversations, exports
from mnemic.formats.conversations import Conversation
from mnemic.formats.document import loaded
from mnemic.formats.graphs import Flaw, Record, read_document_or_lines, read_lines
from mnemic.storage.base import Progress
from mnemic.storage.files import HELD

GENERIC = "Generic"
"""The type of an entity of mcp-memory that names none."""
SIMPLE_FILE = "memory.json"
MIN_MESSAGES = 3


@dataclass(frozen=True, slots=True)
class Delivery:
    """What is to be brought: where it lies, who reads it if it is a database, and who hears how far it has come."""

    path: Path
    tables: Callable[[Path], Mapping[str, Any]]
    progress: Progress | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.path.name


def bring(ctx: Context, system: str, delivery: Delivery) -> Imported:
    """Take in what *system* keeps at a path; a second time changes nothing. Invalid if it is something else."""
    if HELD.holds(delivery.path):
        raise Invalid(f"{delivery.name} is the database that memories would come to.", "file")
    try:
        return READERS[system](ctx, delivery)
    except OSError as error:
        name = Path(error.filename).name if isinstance(error.filename, str) else delivery.name
        raise Invalid(f"{name} cannot be read: {error.strerror}", "file") from None


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _text(delivery: Delivery, system: str) -> str:
    """The text of a file, as the mirrors of graphs read it."""
    if _is_database(delivery.path):
        raise Invalid(f"{delivery.name} is a database; {system} keeps a text file.", "file")
    return delivery.path.read_bytes().decode("utf-8-sig", errors="surrogateescape")


# -- graphs


def _anthropic(ctx: Context, delivery: Delivery) -> Imported:
    records = list(read_lines(_text(delivery, "the reference server")))
    return _graph(ctx, delivery, records, "the reference server", may_dangle=True)


def _simple_memory(ctx: Context, delivery: Delivery) -> Imported:
    file = delivery.path / SIMPLE_FILE if delivery.path.is_dir() else delivery.path
    delivery = Delivery(file, delivery.tables, delivery.progress)
    text = _text(delivery, "Simple Memory")
    records = list(read_document_or_lines(text)) if text.strip() else []
    if text.strip() and not records and "entities" not in loaded(text.encode()):
        raise Invalid(f"{delivery.name} is no file of Simple Memory: it has no entities.", "file")
    return _graph(ctx, delivery, records, "Simple Memory", may_dangle=True, may_repeat=True)


def _mcp_memory(ctx: Context, delivery: Delivery) -> Imported:
    if _is_database(delivery.path):
        cargo = from_mcp_memory.cargo_of(delivery.tables(delivery.path))
        return unload(ctx, cargo, delivery.progress)
    records = list(read_lines(_text(delivery, "mcp-memory")))
    return _graph(ctx, delivery, records, "mcp-memory", may_dangle=False)


def _graph(
    ctx: Context,
    delivery: Delivery,
    records: list[Record],
    system: str,
    *,
    may_dangle: bool,
    may_repeat: bool = False,
) -> Imported:
    """Add entities and relations to what is known. *may_dangle* is False where an end must be an entity."""
    if records and all(isinstance(record, Flaw) for record in records):
        told = next(record for record in records if isinstance(record, Flaw))
        raise Invalid(
            f"{delivery.name} is damaged, or no file of {system}: {told.where} is {told.what}.", "file"
        )
    kind = "" if may_dangle else GENERIC
    taken = take_in(
        ctx,
        records,
        may_dangle=may_dangle,
        may_repeat=may_repeat,
        kind=kind,
        progress=delivery.progress,
    )
    done = Imported(errors=[f"{flaw.where}: {flaw.what}" for flaw in taken.flaws])
    for memory in taken.news:
        done.count(memory.title, is_news=True)
    done.skipped = len({memory.id for memory in taken.made}) - done.imported
    for one in taken.related:
        done.links += one.edge is not None and not one.is_known
        if one.missing:
            source, target, type = one.triple
            done.errors.append(f"{source} {type} {target}: no entity is called {' or '.join(one.missing)}")
    return done


# -- memories


def _ai_memory(ctx: Context, delivery: Delivery) -> Imported:
    if _is_database(delivery.path):
        content: Any = delivery.tables(delivery.path)
    else:
        content = loaded(delivery.path.read_bytes())
    match content:
        case {"memories": [{"usage_count": _}, *_]}:
            raise Invalid(
                f"{delivery.name} is no export of ai-memory: its memories are Lorekeeper's.", "file"
            )
    return import_json(ctx, content, progress=delivery.progress, keeps_forgotten=True)


def _lorekeeper(ctx: Context, delivery: Delivery) -> Imported:
    path = delivery.path
    if path.is_dir() or _is_database(path):
        tables = delivery.tables(path)
    else:
        tables = from_lorekeeper.tables_of(loaded(path.read_bytes()), delivery.name)
    return unload(ctx, from_lorekeeper.cargo_of(tables), delivery.progress)


def _agentic_memory(ctx: Context, delivery: Delivery) -> Imported:
    carried = carrying.read_amem(ctx, delivery.path, progress=delivery.progress)
    return Imported(carried.memories, carried.skipped, carried.notes, carried.links, carried.titles)


def _markdown(ctx: Context, delivery: Delivery) -> Imported:
    home = None if ctx.namespace is None else ctx.home()
    return unload(ctx, from_markdown.cargo_of(delivery.path, home), delivery.progress)


# -- conversations


def _conversations(ctx: Context, delivery: Delivery, form: conversations.Form) -> Imported:
    """What `mnemic mine` would do; what is too short is told."""
    with exports.opened(delivery.path) as files:
        found = list(conversations.read(form, files))
    mined = mining.mine(
        ctx,
        found,
        source=f"mine-{form}",
        namespace=ctx.namespace or f"{form}-export",
        min_messages=MIN_MESSAGES,
        progress=delivery.progress,
    )
    if found and not any(isinstance(talk, Conversation) and talk.messages for talk in found):
        why = mined.errors[0] if mined.errors else "nobody says anything in it"
        raise Invalid(f"{delivery.name} is damaged, or no export of {form}: {why}.", "file")
    short = list(_short(found))
    done = Imported(skipped=mined.skipped - len(short), errors=[*mined.errors, *short])
    for plan in mined.planned:
        done.count(plan.note.title or "", is_news=True)
    return done


def _short(found: list[conversations.Found]) -> Iterator[str]:
    for talk in found:
        if isinstance(talk, Conversation) and len(talk.messages) < MIN_MESSAGES:
            way = "; `mnemic mine --min-messages 1` takes it" if talk.messages else ""
            yield f"{talk.title or talk.id}: has only {len(talk.messages)} messages{way}"


READERS: Mapping[str, Callable[[Context, Delivery], Imported]] = {
    "anthropic": _anthropic,
    "simple-memory": _simple_memory,
    "mcp-memory": _mcp_memory,
    "ai-memory": _ai_memory,
    "lorekeeper": _lorekeeper,
    "agentic-memory": _agentic_memory,
    "markdown": _markdown,
    **{form.value: partial(_conversations, form=form) for form in conversations.Form},
}
"""Who reads what each system keeps."""
