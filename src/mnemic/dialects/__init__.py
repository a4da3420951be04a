"""The dialects by name. Naming them loads none of them, so that `mnemic --help` stays light.

The folder of a dialect declares in its `__init__.py`, which imports nothing, what must be known before it is loaded:
`PARTS` (modules with operations) and, where it has them, `COMMAND_LINE`, `PATH_VARIABLES` and `DATABASE_FOLDER`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mnemic.dialects.framework import Dialect

NATIVE = "mnemic"
"""Our own dialect, whose operations are the commands of the command line."""
EVERY = "all"
"""All dialects served as one; it declares no tools of its own and is not in `DIALECTS`."""
DIALECTS = (
    NATIVE,
    "anthropic",
    "simple-memory",
    "mcp-memory",
    "ai-memory",
    "lorekeeper",
    "agentic-memory",
)
_PACKAGES = {NATIVE: "native"}


def module_name(dialect: str) -> str:
    """The package of *dialect* within this one."""
    return _PACKAGES.get(dialect, dialect.replace("-", "_"))


def declared(dialect: str, name: str) -> object:
    """The constant *name* that the folder of *dialect* declares, or None. Loads nothing else of it."""
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{module_name(dialect)}"), name, None)


def load(dialect: str, part: str | None = None) -> Dialect:
    """The dialect of this name with its operations, or only those of one *part* if that is one of its parts."""
    from importlib import import_module

    home = f"{__name__}.{module_name(dialect)}"
    parts = import_module(home).PARTS
    for module in (part,) if part in parts else parts:
        import_module(f"{home}.{module}")
    found: Dialect = getattr(import_module(f"{home}.dialect"), dialect.replace("-", "_").upper())
    return found


def command_lines() -> dict[str, tuple[str, str]]:
    """The dialects that have a command line of their own: where its group is, and its one-line help."""
    found = {name: declared(name, "COMMAND_LINE") for name in DIALECTS}
    return {name: place for name, place in found.items() if isinstance(place, tuple)}
