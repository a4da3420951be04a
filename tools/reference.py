"""Write the reference pages in docs/reference from the declarations of the dialects and settings.

python tools/reference.py          write them
python tools/reference.py --check  exit 1 if one is not up to date
"""

from __future__ import annotations

import json
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from mnemic.app import DIALECTS, EVERY, dialect
from mnemic.dialects.combined.dialect import shared_tools
from mnemic.dialects.framework import Dialect, Operation, whole_body
from mnemic.dialects.json_schema import input_schema
from mnemic.settings import ALIASES, Settings

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
SETTINGS = """# Settings

<!-- made by tools/reference.py from the declarations: change those -->

A setting comes from the first of these that has it: a flag of the command, an environment variable, `config.toml`, the
default. `mnemic config` shows the values in force, where each comes from, and which file is read. `MNEMIC_CONFIG` names
another file. A list of folders is separated by `:` in a variable (`;` on Windows), and is an array in the file.

```toml
# config.toml
timezone = "Europe/Berlin"
allow_path = ["/srv/notes"]

[ttl]
short_ttl_secs = 43200
```
"""


def page(spoken: Dialect) -> str:
    """The reference page of one dialect."""
    parts = [
        f"# {spoken.title}",
        f"<!-- made by tools/reference.py from the declarations: change those -->\n\n{spoken.instructions}",
        contents(spoken),
        *(section(spoken, operation) for operation in spoken.operations.values()),
        *(section(spoken, operation) for operation in spoken.commands.values()),
        endpoints(spoken),
        prompts(spoken),
        resources(spoken),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def contents(spoken: Dialect) -> str:
    """The list of operations with a line each."""
    rows = [
        f"| [`{operation.name}`](#{operation.name}) | {operation.description.splitlines()[0]} |"
        for operation in (*spoken.operations.values(), *spoken.commands.values())
    ]
    return "\n".join(["| operation | what it does |", "|---|---|", *rows])


def section(spoken: Dialect, operation: Operation) -> str:
    """One operation: what it does, its arguments, examples, how to reach it."""
    parts = [
        f"## {operation.name}",
        operation.description,
        table("argument", input_schema(operation.request)),
        *(example(operation, shown.purpose, dict(shown.arguments)) for shown in operation.examples),
        reached(spoken, operation),
    ]
    return "\n\n".join(part for part in parts if part)


def table(heading: str, schema: dict[str, Any]) -> str:
    """The properties of a schema as a table."""
    properties: dict[str, Any] = schema.get("properties", {})
    if not properties:
        return ""
    required = set(schema.get("required", ()))
    rows = [
        f"| `{name}`{' *' if name in required else ''} | {kind(part)} | {part.get('description', '')} |"
        for name, part in properties.items()
    ]
    return "\n".join([f"| {heading} | type | |", "|---|---|---|", *rows])


def kind(part: dict[str, Any]) -> str:
    """The type of a property in words."""
    if "enum" in part:
        text = " or ".join(f"`{choice}`" for choice in part["enum"])
    elif part.get("type") == "array":
        text = f"list of {kind(part['items'])}" if part.get("items") else "list"
    elif "anyOf" in part:
        text = " or ".join(kind(choice) for choice in part["anyOf"])
    else:
        types = part.get("type", "any")
        text = " or ".join(types) if isinstance(types, list) else str(types)
    if "default" in part:
        text += f" (`{json.dumps(part['default'])}`)"
    return text


def example(operation: Operation, purpose: str, arguments: dict[str, Any]) -> str:
    """One call."""
    heading = f"*{purpose[0].upper()}{purpose[1:]}*\n\n" if purpose else ""
    return f"{heading}```json\n{json.dumps(arguments, ensure_ascii=False)}\n```"


def reached(spoken: Dialect, operation: Operation) -> str:
    """The ways to call the operation."""
    tool = [f"MCP tool `{operation.name}`"] if operation.name in spoken.operations else []
    ways = [*tool, f"`POST /api/v1/tools/{spoken.name}/{operation.name}`"]
    if operation.cli:
        ways.append(f"`mnemic {operation.cli}`")
    return "Reached as " + ", ".join(ways) + "."


def endpoints(spoken: Dialect) -> str:
    """The addresses that are no tools, with their arguments."""
    rows = [
        f"| `{route}` | {operation.description.splitlines()[0]} | {arguments(operation)} |"
        for operation in spoken.endpoints.values()
        for route in operation.http
    ]
    if not rows:
        return ""
    about = (
        "Below `/api/v1`. Arguments come in the path, the body or the query; what is not known is ignored."
    )
    return "\n".join(
        ["## Endpoints\n", f"{about}\n", "| address | what it does | arguments |", "|---|---|---|", *rows]
    )


def arguments(operation: Operation) -> str:
    """The names of the arguments, or that the body is a list of them."""
    if whole_body(operation.request):
        return "the body is a list"
    return ", ".join(f"`{name}`" for name in input_schema(operation.request)["properties"])


def prompts(spoken: Dialect) -> str:
    """The prompts of a dialect."""
    rows = [f"| `{prompt.name}` | {prompt.description} |" for prompt in spoken.prompts]
    return "\n".join(["## Prompts\n", "| prompt | |", "|---|---|", *rows]) if rows else ""


def resources(spoken: Dialect) -> str:
    """The resources of a dialect."""
    rows = [f"| `{resource.template}` | {resource.description} |" for resource in spoken.resources]
    return "\n".join(["## Resources\n", "| address | |", "|---|---|", *rows]) if rows else ""


def settings_page() -> str:
    """The page of all settings."""
    rows = [
        f"| `{item.name}` | {variables(item.name)} | {default(item.default)} | {item.metadata['help']} |"
        for item in fields(Settings)
    ]
    return "\n".join([SETTINGS, "| key | variable | default | |", "|---|---|---|---|", *rows]) + "\n"


def variables(name: str) -> str:
    """The environment variables that set *name*."""
    return ", ".join(f"`{variable}`" for variable in (f"MNEMIC_{name.upper()}", *ALIASES.get(name, ())))


def default(value: Any) -> str:
    """A default as it stands in the file."""
    return "" if value in ("", (), MISSING) else f"`{json.dumps(value)}`"


def main() -> int:
    """Write every page, or say which are old. That of the view of all has only what it adds."""
    spoken = {name: dialect(name) for name in DIALECTS} | {EVERY: shared_tools()}
    pages = {FOLDER / f"{name}.md": page(one) for name, one in spoken.items()}
    pages[FOLDER / "settings.md"] = settings_page()
    if "--check" in sys.argv[1:]:
        old = [path.name for path, text in pages.items() if not path.exists() or path.read_text() != text]
        print("\n".join(f"not up to date: {name}" for name in old) or "up to date")
        return 1 if old else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, text in pages.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
