"""The composition root: the only place that names concrete classes. Opens what the settings ask for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mnemic.core.context import EVERYWHERE, Context
from mnemic.dialects import DIALECTS, EVERY, NATIVE, load, module_name
from mnemic.errors import ForeignFile, Invalid, MnemicError, NotFound, StoreUnusable, Unavailable
from mnemic.model.enums import Features
from mnemic.model.retention import Lives
from mnemic.model.time import DAY, SECOND, YEAR, Moment
from mnemic.model.time_phrases import zone_named
from mnemic.project import AUTO, current_namespace
from mnemic.settings import Settings, data_folder

__all__ = [
    "DIALECTS",
    "EVERY",
    "NATIVE",
    "App",
    "dialect",
    "export_to",
    "import_from",
    "open_app",
]

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from mnemic.dialects.framework import Dialect
    from mnemic.embedding.base import Embedder
    from mnemic.llm_client.base import LanguageModel
    from mnemic.storage.base import Progress, Store
    from mnemic.storage.engines import Engines
    from mnemic.storage.tables import RowTarget
    from mnemic.transfer.import_report import Report
    from mnemic.transfer.system_files import ExportFile, SystemFiles

SYSTEMS = tuple(name for name in DIALECTS if name != NATIVE)
"""The memory systems whose files are read and written."""
SOURCES = (*SYSTEMS, "claude", "chatgpt", "slack", "markdown", "claude-code")
"""Systems and formats that can be imported."""
SERVERS = ("postgresql://", "postgres://")
"""How the address of a PostgreSQL database begins."""
LONGEST_LIFE = 10 * YEAR
LANGUAGE_MODELS = {Features.SMART: "gemma4:e2b", Features.AUTONOMOUS: "gemma4:e4b"}


def dialect(name: str, part: str | None = None) -> Dialect:
    """The dialect called *name*, or NotFound. With only one *part* of a large one loaded, if that will do."""
    if name in DIALECTS:
        return load(name, part)
    if name == EVERY:
        from mnemic.dialects.combined.dialect import every

        return every([dialect(each) for each in DIALECTS])
    raise NotFound(f"Unknown dialect: {name[:40]}. There are: {', '.join((*DIALECTS, EVERY))}")


@dataclass(slots=True)
class App:
    """An open store and everything that works on it. Use it in a `with` block."""

    settings: Settings
    ctx: Context

    def __enter__(self) -> App:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, what dialects keep open, and connections to model servers."""
        if self.ctx.deferred.are_waiting.is_set():
            from mnemic.core.retention import settle

            settle(self.ctx)
        self.ctx.resources.close()
        self.ctx.store.close()
        for model in (self.ctx.embedder, self.ctx.language):
            if model is not None:
                model.close()


def open_app(settings: Settings, *, actor: str = "mnemic") -> App:
    """Open the store the settings name, creating it if it is not there."""
    embedder = open_embedder(settings)
    store = open_store(settings, embedder)
    try:
        return App(settings, context(settings, store, embedder, os.environ, Path.cwd(), actor=actor))
    except MnemicError:  # a setting that is only read there
        store.close()
        raise


def context(
    settings: Settings,
    store: Store,
    embedder: Embedder | None,
    environment: Mapping[str, str],
    folder: Path,
    *,
    actor: str,
) -> Context:
    """The context of a caller with this *environment* who works in *folder*."""
    return Context(
        store=store,
        engines=engines(),
        embedder=embedder,
        actor=actor,
        namespace=connected_namespace(settings, folder),
        folder=folder,
        roots=allowed_folders(settings, folder),
        lives=lives(settings),
        features=features(settings),
        language=open_language(settings),
        zone=zone_named(settings.timezone),
        variables=environment,
    )


def connected_namespace(settings: Settings, folder: Path) -> str | None:
    """The namespace that a connection from *folder* writes to by default and reads beside `global`; None reads all."""
    if settings.namespace == AUTO:
        return current_namespace(folder)
    return None if settings.namespace == EVERYWHERE else settings.namespace or None


def engines() -> Engines:
    """The engines that open, back up and check databases."""
    from mnemic.index.index import open_index
    from mnemic.storage.sqlite.engine import SqliteEngines

    return SqliteEngines(open_index)


def open_store(settings: Settings, embedder: Embedder | None = None) -> Store:
    """The store at the database the settings name, which compares the vectors of *embedder*."""
    store = _opened_store(settings)
    if embedder is not None:
        store.use_models(*(model.name for model in embedder.models))
    return store


def _opened_store(settings: Settings) -> Store:
    if "://" in settings.database:
        return _server_store(settings)
    path = Path(settings.database).expanduser()
    if path == Path(":memory:"):  # so SQLite calls a database of its own for each connection
        raise Invalid("db: there is no database in memory; name a file", "db")
    try:
        return open_sqlite(path, durable=not settings.fast_writes)
    except ForeignFile as error:
        raise _with_advice(error, path) from None


def _server_store(settings: Settings) -> Store:
    """The store in a PostgreSQL database."""
    _must_be_server(settings.database)
    from mnemic.index.index import open_index
    from mnemic.storage.postgres.store import PostgresStore

    return PostgresStore(
        settings.database,
        open_index,
        durable=not settings.fast_writes,
        index_bytes=settings.index_mb * 1_000_000,
    )


def _must_be_server(address: str) -> None:
    """Invalid if *address* is not that of a PostgreSQL database, Unavailable if there is no driver."""
    if not address.startswith(SERVERS):
        raise Invalid("db: must be a file or a postgresql:// address", "db")
    if find_spec("psycopg") is None:
        raise Unavailable("PostgreSQL needs a driver that is not installed: pip install 'mnemic[postgres]'")


def server_name(address: str) -> str:
    """The server and the database at *address*, without a password."""
    _must_be_server(address)
    from mnemic.storage.postgres.connection import address_name

    return address_name(address)


def copy_target(place: str) -> AbstractContextManager[RowTarget]:
    """The database at *place*, a file or the address of a server, to copy a store into."""
    if "://" not in place:
        from mnemic.storage.sqlite.table_rows import SqliteCopy

        return SqliteCopy(Path(place).expanduser())
    _must_be_server(place)
    from mnemic.storage.postgres.table_rows import PostgresCopy

    return PostgresCopy(place)


def open_sqlite(path: Path, *, durable: bool = True) -> Store:
    """The SQLite store at *path*, made if it is not there, with the index in memory in front of it."""
    from mnemic.index.index import open_index
    from mnemic.storage.sqlite.store import SqliteStore

    return SqliteStore(path, open_index, durable=durable)


def _with_advice(error: ForeignFile, path: Path) -> StoreUnusable:
    """*error*, or how to import the file if another memory system wrote it."""
    from mnemic.storage.sqlite.foreign import is_one

    for system in SYSTEMS:
        marks = files_of(system).database_marks
        if marks and is_one(path, marks):
            return StoreUnusable(
                f"{path.name} is a database of {system}. It was not changed. Choose another file with --db and import "
                f"its memories with `mnemic import --from {system} {path.name}`."
            )
    return error


def files_of(system: str) -> SystemFiles:
    """How the files of one of SYSTEMS are read and written."""
    found: SystemFiles = import_module(f"mnemic.dialects.{module_name(system)}.files").FILES
    return found


def import_from(ctx: Context, system: str, path: Path, progress: Progress | None = None) -> Report:
    """Import what one of SOURCES keeps at *path*, which is only read."""
    from mnemic.transfer.sources import READERS, import_with, reading
    from mnemic.transfer.system_files import ImportSource

    read = reading(files_of(system)) if system in SYSTEMS else READERS[system]
    return import_with(read, ctx, ImportSource(path, progress))


def export_to(ctx: Context, system: str) -> ExportFile:
    """Every living memory as a file of one of SYSTEMS."""
    from mnemic.transfer.targets import export_with

    return export_with(files_of(system).write, ctx)


def features(settings: Settings) -> Features:
    """The feature tier the settings name."""
    try:
        return Features(settings.tier)
    except ValueError:
        known = ", ".join(Features)
        raise Invalid(f"tier: must be one of {known}, not {settings.tier!r}", "tier") from None


def lives(settings: Settings) -> Lives:
    """How long memories live, from lengths given in seconds."""
    return Lives(
        short=_life(settings.short_ttl_secs),
        mid=_life(settings.mid_ttl_secs),
        long=_life(settings.long_ttl_secs),
        short_extension=max(0, settings.short_extend_secs) * SECOND,
        mid_extension=max(0, settings.mid_extend_secs) * SECOND,
        archives=settings.archive_on_gc,
        archive_days=settings.archive_max_days if settings.archive_max_days > 0 else None,
        recall_log=min(settings.recall_log_days * DAY, LONGEST_LIFE)
        if settings.recall_log_days > 0
        else None,
    )


def _life(seconds: int) -> Moment | None:
    return min(seconds * SECOND, LONGEST_LIFE) if seconds > 0 else None


def open_language(settings: Settings) -> LanguageModel | None:
    """The language model of the smart and autonomous tiers, reached when it is first asked."""
    chosen = features(settings)
    if not chosen.has_language:
        return None
    match settings.llm:
        case "ollama":
            from mnemic.llm_client.ollama import Ollama

            return Ollama(settings.ollama_url, settings.llm_model or LANGUAGE_MODELS[chosen])
        case "openai":
            from mnemic.llm_client.openai import OpenAICompatible

            if not settings.llm_url or not settings.llm_model:
                raise Invalid("llm_url, llm_model: needed for an OpenAI-compatible model", "llm_url")
            return OpenAICompatible(settings.llm_url, settings.llm_model, key=settings.llm_key or None)
    raise Invalid(f"llm: must be ollama or openai, not {settings.llm!r}", "llm")


def open_embedder(settings: Settings) -> Embedder | None:
    """The embedder the settings name; a local model is loaded when it is first needed."""
    if features(settings) is Features.KEYWORD:
        return None
    match settings.embedder:
        case "none":
            return None
        case "local":
            from mnemic.embedding.router import LanguageRouter

            return LanguageRouter()
        case "ollama":
            from mnemic.embedding.remote import OllamaEmbedder
            from mnemic.llm_client.ollama import normalised

            where = normalised(settings.embed_url or settings.ollama_url)
            return OllamaEmbedder(where, settings.embed_model or "nomic-embed-text")
        case "openai":
            from mnemic.embedding.remote import OpenAIEmbedder

            if not settings.embed_url or not settings.embed_model:
                raise Invalid("embed_url, embed_model: needed for the openai embedder", "embed_url")
            return OpenAIEmbedder(settings.embed_url, settings.embed_model, key=settings.embed_key or None)
    raise Invalid(f"embedder: must be local, openai, ollama or none, not {settings.embedder!r}", "embedder")


def allowed_folders(settings: Settings, folder: Path) -> tuple[Path, ...]:
    """The folders below which a tool of a caller in *folder* may read files."""
    chosen = [data_folder(), folder, *(folder / Path(path).expanduser() for path in settings.allow_path)]
    return tuple(path.resolve() for path in chosen)
