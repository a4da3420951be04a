"""The composition root: the only place that names concrete classes. Opens what the settings ask for."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnemic.core.context import EVERYWHERE, Context
from mnemic.dialects import COMMAND_LINES, DIALECTS, EVERY, NATIVE
from mnemic.errors import Invalid, NotFound
from mnemic.model.lives import Lives
from mnemic.model.time import zone_named
from mnemic.model.values import SECOND, YEAR, Features, Moment
from mnemic.project import AUTO, current_namespace
from mnemic.settings import Settings, data_folder

__all__ = ["COMMAND_LINES", "DIALECTS", "EVERY", "NATIVE", "App", "bring", "dialect", "open_app"]

if TYPE_CHECKING:
    from mnemic.core.moving.arrivals import Imported
    from mnemic.dialects.operation import Dialect
    from mnemic.embedding.base import Embedder
    from mnemic.language.base import LanguageModel
    from mnemic.storage.base import Progress, Store

VARIABLES = ("LORE_", "AMEM_")
"""How the variables begin by which vocabularies are tuned."""
SYSTEMS = ("anthropic", "simple-memory", "mcp-memory", "ai-memory", "lorekeeper", "agentic-memory")
"""The memory systems whose files are read and written."""
SOURCES = (*SYSTEMS, "claude", "chatgpt", "slack", "markdown")
"""Where memories can be brought from."""
FOREIGN = {
    "ai-memory": "mnemic.storage.sqlite.ai_memory",
    "lorekeeper": "mnemic.storage.sqlite.lorekeeper",
    "mcp-memory": "mnemic.storage.sqlite.mcp_memory",
}
"""Who reads the databases of other memory systems."""
LONGEST_LIFE = 10 * YEAR
LANGUAGE_MODELS = {Features.SMART: "gemma4:e2b", Features.AUTONOMOUS: "gemma4:e4b"}


def dialect(name: str, part: str | None = None) -> Dialect:
    """The vocabulary called *name*, or NotFound. With only one *part* of a large one loaded, if that will do."""
    if name in DIALECTS:
        home = f"mnemic.dialects.{name.replace('-', '_')}"
        parts = getattr(import_module(home), "PARTS", ())
        for module in (part,) if part in parts else parts:
            import_module(f"{home}.{module}")
        spoken: Dialect = getattr(
            import_module(f"{home}.vocabulary" if parts else home), name.replace("-", "_").upper()
        )
        return spoken
    if name == EVERY:
        from mnemic.dialects.every.vocabulary import every

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
        """Let go of the store, of those that workspaces looked into, and of the servers that were asked."""
        if self.ctx.deferred.are_waiting.is_set():
            from mnemic.core.lifecycle import settle

            settle(self.ctx)
        self.ctx.shelf.clear()
        self.ctx.store.close()
        for model in (self.ctx.embedder, self.ctx.language):
            if model is not None:
                model.close()


def open_app(settings: Settings, *, actor: str = "mnemic") -> App:
    """Open the store the settings name, creating it if it is not there."""
    ctx = Context(
        store=open_store(settings),
        embedder=open_embedder(settings),
        actor=actor,
        namespace=connected_namespace(settings),
        roots=allowed_folders(settings),
        lives=lives(settings),
        features=features(settings),
        language=open_language(settings),
        zone=zone_named(settings.timezone),
        variables={name: value for name, value in os.environ.items() if name.startswith(VARIABLES)},
    )
    if ctx.embedder is not None:
        ctx.store.use_models(*(model.name for model in ctx.embedder.models))
    return App(settings, ctx)


def connected_namespace(settings: Settings) -> str | None:
    """The namespace a connection writes to by default and reads beside `global`; None reads all."""
    if settings.namespace == AUTO:
        return current_namespace()
    return None if settings.namespace == EVERYWHERE else settings.namespace or None


def open_store(settings: Settings) -> Store:
    """The store at the database the settings name."""
    if "://" in settings.database:
        raise Invalid("db: only SQLite files can be opened by this version", "db")
    path = Path(settings.database).expanduser()
    if path == Path(":memory:"):  # so SQLite calls a database of its own for each connection
        raise Invalid("db: there is no database in memory; name a file", "db")
    from mnemic.storage.sqlite.store import SqliteStore

    return SqliteStore(path, durable=not settings.fast_writes)


def bring(ctx: Context, system: str, path: Path, progress: Progress | None = None) -> Imported:
    """Take in what one of SOURCES keeps at *path*, which is only read."""
    from mnemic.core.moving import bringing

    def tables(file: Path) -> dict[str, Any]:
        reader: Callable[[Path], dict[str, Any]] = import_module(FOREIGN[system]).read
        return reader(file)

    return bringing.bring(ctx, system, bringing.Delivery(path, tables, progress))


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
    )


def _life(seconds: int) -> Moment | None:
    return min(seconds * SECOND, LONGEST_LIFE) if seconds > 0 else None


def open_language(settings: Settings) -> LanguageModel | None:
    """The language model of the smart and autonomous tiers, reached when it is first asked."""
    chosen = features(settings)
    if not chosen.has_language:
        return None
    from mnemic.language.ollama import Ollama

    return Ollama(settings.ollama_url, settings.llm_model or LANGUAGE_MODELS[chosen])


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
            from mnemic.language.ollama import normalised

            where = normalised(settings.embed_url or settings.ollama_url)
            return OllamaEmbedder(where, settings.embed_model or "nomic-embed-text")
        case "openai":
            from mnemic.embedding.remote import OpenAIEmbedder

            if not settings.embed_url or not settings.embed_model:
                raise Invalid("embed_url, embed_model: needed for the openai embedder", "embed_url")
            return OpenAIEmbedder(settings.embed_url, settings.embed_model, key=settings.embed_key or None)
    raise Invalid(f"embedder: must be local, openai, ollama or none, not {settings.embedder!r}", "embedder")


def allowed_folders(settings: Settings) -> tuple[Path, ...]:
    """The folders below which a tool may read files."""
    chosen = [data_folder(), Path.cwd(), *(Path(path).expanduser() for path in settings.allow_path)]
    return tuple(path.resolve() for path in chosen)
