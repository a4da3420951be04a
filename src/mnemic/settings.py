"""The settings, read once at start: flags, then MNEMIC_* variables, then config.toml, then defaults."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from mnemic.errors import Invalid

CONFIG_FILE = "config.toml"


def data_folder() -> Path:
    """Where this user's memories live."""
    from platformdirs import user_data_path

    return user_data_path("mnemic", appauthor=False)


def config_folder() -> Path:
    """Where this user's settings live."""
    from platformdirs import user_config_path

    return user_config_path("mnemic", appauthor=False)


def _help(default: Any, text: str, choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"help": text, "choices": choices})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set, with its default."""

    db: str = _help(
        "", "a SQLite file or a postgresql:// address; default: mnemic.db in the user's data folder"
    )
    namespace: str = _help(
        "",
        "write to this namespace, read it and global; auto: named after the git repository of the working"
        " folder; *: read all, write to global; default: auto for the native tools and commands, else *",
    )
    tools: str = _help("core", "native MCP tools offered: core or all", ("core", "all"))
    tool_prefix: str = _help("", "put before the name of every MCP tool, as in mnemic_")
    structured: bool = _help(False, "send native MCP answers as structured content too")
    timezone: str = _help(
        "local", "time zone of times given without one, as Europe/Berlin; local: of the system"
    )
    embedder: str = _help("local", "local, openai, ollama or none", ("local", "openai", "ollama", "none"))
    embed_url: str = _help("", "address of the embedding server (openai, ollama)")
    embed_model: str = _help("", "name of the model there")
    embed_key: str = _help("", "key for the embedding server")
    host: str = _help("127.0.0.1", "address the daemon binds to")
    port: int = _help(9077, "port of the daemon")
    token: str = _help("", "one token that may do everything; required unless host is loopback")
    daemon: str = _help(
        "mcp",
        "who uses the local daemon: mcp starts it; always: commands start it too; never: nobody",
        ("mcp", "always", "never"),
    )
    daemon_idle_secs: int = _help(900, "the local daemon ends so many seconds after its last client")
    oauth_issuer: str = _help("", "authorization server whose JWTs `mnemic serve` accepts (OAuth 2.1)")
    oauth_resource: str = _help("", "public address of this daemon, the audience of these JWTs")
    oauth_namespaces_claim: str = _help(
        "mnemic_namespaces", "claim with the namespaces that a JWT grants; * in it is all of them"
    )
    log_format: str = _help("text", "log of `mnemic serve` on standard error: text or json (a line each)")
    log_requests: bool = _help(False, "log a line for each request, without its contents")
    otlp_endpoint: str = _help("", "address of an OpenTelemetry collector (OTLP over HTTP) for traces")
    index_mb: int = _help(
        128,
        "PostgreSQL: most megabytes of the index in memory; a larger store is searched by the server; 0: always",
    )
    fast_writes: bool = _help(False, "acknowledge before the disk has it (synchronous=NORMAL)")
    allow_path: tuple[str, ...] = _help((), "more folders that tools may read files from")
    tier: str = _help(
        "semantic",
        "features: keyword, semantic, smart or autonomous",
        ("keyword", "semantic", "smart", "autonomous"),
    )
    ollama_url: str = _help("http://localhost:11434", "address of Ollama, for the smart and autonomous tiers")
    llm: str = _help(
        "ollama",
        "server of the language model: ollama, or openai for any OpenAI-compatible one",
        ("ollama", "openai"),
    )
    llm_url: str = _help("", "address of the OpenAI-compatible server, as https://HOST/v1")
    llm_key: str = _help("", "key for that server")
    llm_model: str = _help(
        "", "the language model there; default with Ollama: gemma4:e2b, at autonomous gemma4:e4b"
    )
    capture: bool = _help(True, "keep turns and lasting statements of conversations that hooks tell of")
    capture_exclude: tuple[str, ...] = _help(
        (), "folders and projects in which hooks do nothing, as ~/private or secret-*"
    )
    mirror: tuple[str, ...] = _help(
        (),
        "folders of notes that a running daemon keeps equal to a namespace, as ~/Vault=notes; =* is all of them",
    )
    brief_tokens: int = _help(1_000, "most tokens that a hook adds when a session starts")
    prompt_tokens: int = _help(600, "most tokens that a hook adds to a prompt")
    short_ttl_secs: int = _help(6 * 3600, "life of a short memory in seconds; 0: no end")
    mid_ttl_secs: int = _help(7 * 86400, "life of a mid memory in seconds; 0: no end")
    long_ttl_secs: int = _help(0, "life of a long memory in seconds; 0: no end")
    short_extend_secs: int = _help(3600, "a short memory that is recalled lives at least so much longer")
    mid_extend_secs: int = _help(86400, "a mid memory that is recalled lives at least so much longer")
    archive_on_gc: bool = _help(True, "archive what has expired; else it counts as forgotten")
    archive_max_days: int = _help(0, "delete from the archive after so many days; 0: never")
    recall_log_days: int = _help(
        90, "keep for so many days who recalled what, for analytics and sessions; 0: keep no log"
    )

    @property
    def database(self) -> str:
        """The database to open, with the default filled in."""
        return self.db or str(data_folder() / "mnemic.db")

    @property
    def shown_database(self) -> str:
        """The database as it may be shown: without the password of a server's address."""
        hidden = re.sub(r"(://[^:/@]*):[^@/]*@", r"\1@", self.database)
        return re.sub(r"([?&]password=)[^&]*", r"\1…", hidden)

    def for_project(self) -> Settings:
        """These settings as the native tools and commands take them: in the project's namespace, unless one is set."""
        return self if self.namespace else replace(self, namespace="auto")


ALIASES: Mapping[str, tuple[str, ...]] = {"db": ("AI_MEMORY_DB",), "ollama_url": ("OLLAMA_HOST",)}
"""Variables of other programs that mean one of our settings. Our own variable counts first."""
SECRETS = frozenset({"token", "embed_key", "llm_key"})
"""Settings that are never shown."""
KEYS: Mapping[str, tuple[str, ...]] = {"token": ("api_key",), "embedder": ("embedding_model",)}
"""Other names that a setting may have in a file."""
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "embedder": {"mini_lm_l6_v2": "local", "nomic_embed_v15": "ollama"}
}
"""Values of ai-memory that mean one of ours: the model that ships with us, and the one its Ollama serves."""


def load(
    flags: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    warn: Callable[[str], None] | None = None,
) -> Settings:
    """The settings in force. *flags* that are None were not given; *warn* is called with keys that are no setting."""
    environment = os.environ if environment is None else environment
    files = [(path, read_file(path)) for path in config_files(environment)]
    if warn is not None:
        for sentence in (
            f"{path.name}: {unknown(key)}" for path, held in files for key in unknown_keys(path, held)
        ):
            warn(sentence)
    chosen: dict[str, Any] = {}
    for item in fields(Settings):
        value, _ = found(item.name, flags, environment, files)
        if value is not None:
            chosen[item.name] = _typed(item.name, value, item.default)
    return Settings(**chosen)


def found(
    name: str,
    flags: Mapping[str, Any],
    environment: Mapping[str, str],
    files: Sequence[tuple[Path, Mapping[str, Any]]],
) -> tuple[Any, str]:
    """What the setting *name* is set to, and where; (None, "default") if nowhere."""
    if flags.get(name) not in (None, ""):
        return flags[name], f"--{name.replace('_', '-')}"
    for variable in (f"MNEMIC_{name.upper()}", *ALIASES.get(name, ())):
        if environment.get(variable):
            return environment[variable], variable
    for path, held in files:
        for key in (name, *KEYS.get(name, ())):
            if held.get(key) not in (None, ""):
                return held[key], str(path)
    return None, "default"


@dataclass(frozen=True, slots=True)
class MirroredFolder:
    """A folder of notes that is kept equal to a namespace, or to all of them."""

    folder: Path
    namespace: str | None

    def __str__(self) -> str:
        return f"{self.folder}={self.namespace or ALL}"


ALL = "*"


def mirrored_folders(database: str, environment: Mapping[str, str]) -> list[MirroredFolder]:
    """The folders of the setting `mirror`, if *database* is the one that was set where they were.

    A flag or variable for another database must not pour that into the same notes.
    """
    if not environment.get("MNEMIC_MIRROR"):
        variables = ("MNEMIC_DB", *ALIASES["db"])
        environment = {name: value for name, value in environment.items() if name not in variables}
    held = load({}, environment)
    is_it = _real(held.database) == _real(database)
    return [_mirrored_folder(entry) for entry in held.mirror] if is_it else []


def _mirrored_folder(entry: str) -> MirroredFolder:
    folder, _, namespace = entry.rpartition("=")
    if not folder or not namespace:
        raise Invalid(f"mirror: must be FOLDER=NAMESPACE, not {entry!r}", "mirror")
    return MirroredFolder(Path(folder).expanduser(), None if namespace == ALL else namespace)


def _real(database: str) -> str:
    return database if "://" in database else os.path.realpath(Path(database).expanduser())


def config_files(environment: Mapping[str, str]) -> list[Path]:
    """The files that settings are read from: the one that was named, else ours and then ai-memory's."""
    if environment.get("MNEMIC_CONFIG"):
        return [Path(environment["MNEMIC_CONFIG"])]
    ours = config_folder() / CONFIG_FILE
    if environment.get("AI_MEMORY_NO_CONFIG"):
        return [ours]
    base = environment.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return [ours, Path(base) / "ai-memory" / CONFIG_FILE]


def read_file(path: Path) -> Mapping[str, Any]:
    """What *path* sets, its `[ttl]` included; nothing if it is not there.

    ai-memory's own file may name its database, which is not ours to open: `mnemic import --from ai-memory` reads it.
    """
    try:
        text = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    import tomllib

    try:
        held = tomllib.loads(text.decode("utf-8-sig"))
    except ValueError as error:
        raise Invalid(f"{path.name}: not valid TOML: {error}", "config") from None
    lives = held.pop("ttl", {})
    if path.parent.name == "ai-memory":
        held.pop("db", None)
    return {**held, **(lives if isinstance(lives, dict) else {})}


def unknown_keys(path: Path, held: Mapping[str, Any]) -> list[str]:
    """The keys in *held* that are no setting. ai-memory's own file may hold more than concerns us."""
    known = {item.name for item in fields(Settings)}.union(*KEYS.values())
    return [] if path.parent.name == "ai-memory" else [key for key in held if key not in known]


def unknown(key: str) -> str:
    """A sentence that says that *key* is no setting, and which one may be meant."""
    from difflib import get_close_matches

    near = get_close_matches(key.lower().replace("-", "_"), [item.name for item in fields(Settings)], 1)
    return f"no setting is called {key[:60]}." + (f" Did you mean {near[0]}?" if near else "")


def value_of(name: str, given: Sequence[str]) -> Any:
    """The value of the setting *name* that a person wrote as these words, as a file keeps it; Invalid if it is none."""
    item = next((one for one in fields(Settings) if one.name == name), None)
    if item is None:
        raise Invalid(unknown(name), "key")
    if isinstance(item.default, tuple):
        return list(given)
    word = given[0] if len(given) == 1 else None
    choices = ("true", "false") if isinstance(item.default, bool) else item.metadata["choices"]
    if word is None or (choices and word.lower() not in choices):
        wanted = f"one of {', '.join(choices)}" if choices else "one value"
        raise Invalid(f"{name}: must be {wanted}", name)
    return _typed(name, word.lower() if choices else word, item.default)


def _typed(name: str, value: Any, default: Any) -> Any:
    """*value* in the type of *default*; variables come as text, a list of folders separated as in PATH."""
    if isinstance(default, bool):
        if isinstance(value, str):
            return value.lower() in ("1", "true", "yes", "on")
        return bool(value)
    if isinstance(default, int):
        try:
            return int(value)
        except (TypeError, ValueError):
            raise Invalid(f"{name}: not a whole number: {value!r}", name) from None
    if isinstance(default, tuple):
        return tuple(value.split(os.pathsep)) if isinstance(value, str) else tuple(map(str, value))
    if not isinstance(value, str):
        raise Invalid(f"{name}: must be a text", name)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Invalid(f"{name}: is not UTF-8 text", name) from None
    return _token(value) if name == "token" else MEANINGS.get(name, {}).get(value, value)


def _token(value: str) -> str:
    """A token without the line break of the file it was read from. A blank one would protect nothing."""
    if not value.strip():
        raise Invalid("token: is blank", "token")
    return value.strip()
