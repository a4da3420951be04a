"""Which database a command line means, and where the daemon of a database listens.

Imports the standard library alone, so it does not read the settings as `mnemic.settings` does. A wrong guess does no
harm: the daemon compares the database with its own and refuses, and the command runs in its own process.
"""

from __future__ import annotations

import os
import stat
import sys

from mnemic.dialects import DIALECTS, EVERY, declared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

DATABASE = "mnemic.db"
PER_COMMAND = ("--db", "--namespace")
"""Options of every command that take a value."""


class Address:
    """Where the daemon of a database listens: the socket, and the lock that is held while it lives."""

    __slots__ = ("database", "lock", "socket")

    def __init__(self, database: str, folder: str):
        name = f"{folder}/{_digest(database)}"
        self.database = database
        self.socket = f"{name}.sock"
        self.lock = f"{name}.lock"


def address_of(database: str) -> Address | None:
    """Where the daemon of the file *database* listens; None if there is no private folder for its socket."""
    folder = runtime_folder()
    return Address(os.path.realpath(database), folder) if folder else None


def _digest(text: str) -> str:
    """FNV-1a in 16 hex digits. It only names a file: the daemon that answers there is asked for its database."""
    number = 0xCBF29CE484222325
    for byte in os.fsencode(text):
        number = (number ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{number:016x}"


def runtime_folder() -> str | None:
    """The folder of our sockets, 0700 and ours; None if it cannot be made.

    Its name does not depend on the environment, of which MCP clients pass on next to nothing, and is short: the path of
    a socket may have 103 bytes on some systems.
    """
    if os.name != "posix":
        return None
    user = os.getuid()
    own = f"/run/user/{user}"
    folder = f"{own}/mnemic" if _is_ours(own) else f"/tmp/mnemic-{user}"
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    except OSError:
        return None
    return folder if _is_ours(folder) else None


def _is_ours(folder: str) -> bool:
    """Whether *folder* is a real folder that is ours and closed to others."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def database_of(words: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The path of the database that a command line with these *words* means; None if it is no file."""
    named = (
        option(words, "--db")
        or environment.get("MNEMIC_DB")
        or _of_dialect(words, environment)
        or environment.get("AI_MEMORY_DB")
        or configured(environment).get("db")
        or os.path.join(data_folder(environment), DATABASE)
    )
    return os.path.abspath(os.path.expanduser(str(named))) if "://" not in str(named) else None


def _of_dialect(words: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The database that a variable of the dialect to be served names."""
    variables = (str(declared(name, "DATABASE_FOLDER") or "") for name in served(words))
    folder = next((environment[name] for name in variables if environment.get(name)), None)
    return os.path.join(folder, DATABASE) if folder else None


def holds_relative_path(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a variable of the dialect to be served is a relative path: a daemon has another working folder."""
    lists = (declared(name, "PATH_VARIABLES") for name in served(words))
    names = (name for variables in lists if isinstance(variables, tuple) for name in variables)
    return not all(environment.get(name, "/").startswith(("/", "~")) for name in names)


def served(words: Sequence[str]) -> Sequence[str]:
    """The dialects that a command line names with `--dialect`; none is the native one."""
    named = option(words, "--dialect")
    return DIALECTS if named == EVERY else (named,) if named in DIALECTS else ()


def option(words: Sequence[str], name: str) -> str | None:
    """The value of the option *name*, the last if it is given twice."""
    found = None
    for position, word in enumerate(words):
        if word == "--":
            break
        if word == name and position + 1 < len(words):
            found = words[position + 1]
        elif word.startswith(f"{name}="):
            found = word[len(name) + 1 :]
    return found


def verb_of(words: Sequence[str]) -> str | None:
    """The command among *words*; None if there is another option before it than every command has."""
    rest = iter(words)
    for word in rest:
        if word in PER_COMMAND:
            next(rest, None)
        elif word != "--json" and not word.startswith(tuple(f"{name}=" for name in PER_COMMAND)):
            return None if word.startswith("-") else word
    return None


def configured(environment: Mapping[str, str]) -> dict[str, Any]:
    """What our configuration file says of the database and the daemon; nothing if it is not there or not readable."""
    path = environment.get("MNEMIC_CONFIG") or os.path.join(config_folder(environment), "config.toml")
    try:
        with open(path, "rb") as file:
            text = file.read()
        if b"db" not in text and b"daemon" not in text:
            return {}
        import tomllib

        return tomllib.loads(text.decode("utf-8-sig"))
    except (OSError, ValueError):
        return {}


def data_folder(environment: Mapping[str, str]) -> str:
    """Where the user's memories live, as `mnemic.settings` has it."""
    return _user_folder(environment, "XDG_DATA_HOME", ".local/share")


def config_folder(environment: Mapping[str, str]) -> str:
    """Where the user's settings live, as `mnemic.settings` has it."""
    return _user_folder(environment, "XDG_CONFIG_HOME", ".config")


def _user_folder(environment: Mapping[str, str], variable: str, usual: str) -> str:
    chosen = environment.get(variable, "").strip()
    home = environment.get("HOME") or os.path.expanduser("~")
    if sys.platform == "darwin":
        usual = "Library/Application Support"
    return os.path.join(chosen or os.path.join(home, usual), "mnemic")
