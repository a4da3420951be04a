"""`mnemic ai-memory store`, `update`, `promote` and `delete`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from mnemic.console import output
from mnemic.console.run import ACTOR, Run, Verb, pass_run
from mnemic.console.terminal import INDENT, doubtful, good, name, safe
from mnemic.core import memories, upsert
from mnemic.core.context import GLOBAL, Context, wall_clock
from mnemic.core.upsert import Stored
from mnemic.dialects.ai_memory import validation
from mnemic.dialects.ai_memory.cli import options
from mnemic.dialects.ai_memory.cli.entries import entry, one
from mnemic.dialects.ai_memory.cli.options import WORDS, id_argument
from mnemic.dialects.ai_memory.cli.views import short, tier_label

DELETED = "delete"
"""The reason the store gives for a memory that was deleted by its id."""

_tags = click.option(
    "--tags", multiple=True, type=WORDS, metavar="TAG,...", help="Tags, separated by commas."
)
_priority = click.option("-p", "--priority", type=int, metavar="N", help="Priority, 1 to 10. [default: 5]")
_confidence = click.option("--confidence", type=float, metavar="X", help="Confidence, 0 to 1. [default: 1]")
_metadata = click.option("--metadata", type=WORDS, metavar="JSON", help="Metadata, as a JSON object.")


@click.command(cls=Verb)
@click.option("-T", "--title", type=WORDS, required=True, help="Title.")
@click.option("-c", "--content", type=WORDS, required=True, help="Content; - reads standard input.")
@click.option("-t", "--tier", type=options.TIER, help="Tier, which sets how long it lives. [default: mid]")
@click.option(
    "-n", "--namespace", type=WORDS, metavar="NAME", help="Namespace. [default: the project's name]"
)
@_tags
@_priority
@_confidence
@click.option("-S", "--source", type=options.OneOf(validation.SOURCES), help="Source. [default: cli]")
@click.option("--expires-at", type=WORDS, metavar="TIME", help="When it expires, as 2026-04-15T00:00:00Z.")
@click.option("--ttl-secs", type=int, metavar="N", help="Seconds until it expires; overrides the tier.")
@_metadata
@pass_run
def store(run: Run, /, **given: Any) -> None:
    """Store a memory, or update the one with the same title in the namespace.

    Without --namespace it is the last part of the git remote `origin`, else the folder's name.

    \b
    Examples:
      mnemic ai-memory store -T "Deploy day" -c "We deploy on Fridays." --tags deploy --tier long
      git log -1 | mnemic ai-memory store -T "Last commit" -c - --ttl-secs 3600
    """
    if given["namespace"] is None and not run.settings().namespace:
        given["namespace"] = _namespace_here()
    note = validation.note(_fields(given), wall_clock(), default_source=ACTOR)
    with run.open() as app:
        kept = upsert.store(app.ctx, note)
    output.present(run, _stored_facts(kept), _stored(kept))


def _namespace_here() -> str:
    """The namespace of the working folder: its repository, else its name, else `global`."""
    from mnemic.project import cleaned, namespace_of

    try:
        folder = Path.cwd()
    except OSError:  # it was deleted
        return GLOBAL
    # ai-memory makes no exception for a home folder that is kept in git.
    return namespace_of(folder, Path(folder.anchor)) or cleaned(folder.name) or GLOBAL


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    """The fields as the rules of ai-memory take them."""
    tags = options.several(given["tags"])
    metadata = options.json_object(given["metadata"], "metadata")
    return {**given, "tags": tags, "metadata": metadata, "content": options.body(given["content"])}


def _stored_facts(kept: Stored) -> dict[str, Any]:
    facts = entry(kept.memory)
    if kept.is_known:
        facts |= {"duplicate": True, "action": "updated existing memory"}
    if kept.contradictions:
        facts["potential_contradictions"] = [other.uid for other in kept.contradictions]
    return facts


def _stored(kept: Stored) -> Iterator[str]:
    memory = kept.memory
    where = f"(ns={safe(memory.namespace)})"
    yield f"{good('stored:')} {name(memory.uid)} [{tier_label(memory.tier)}] {where}"
    for other in kept.contradictions:
        yield f"{INDENT}{doubtful('may contradict')} {short(other)} {safe(other.title)}"


@click.command(cls=Verb)
@id_argument
@click.option("-T", "--title", type=WORDS, help="New title.")
@click.option("-c", "--content", type=WORDS, help="New content; - reads standard input.")
@click.option("-t", "--tier", type=options.TIER, help="Higher tier; a lower one is ignored.")
@click.option("-n", "--namespace", type=WORDS, metavar="NAME", help="New namespace.")
@_tags
@click.option("-p", "--priority", type=int, metavar="N", help="New priority, 1 to 10.")
@click.option("--confidence", type=float, metavar="X", help="New confidence, 0 to 1.")
@click.option("--expires-at", type=WORDS, metavar="TIME", help='When it expires; "" means never.')
@_metadata
@pass_run
def update(run: Run, /, id: str, **given: Any) -> None:
    """Update fields of a memory; fields that are not given stay."""
    if all(value in (None, ()) for value in given.values()):
        raise click.UsageError("Nothing to change: give --title, --content, --tags or another field.")
    revision = validation.revision(_fields(given), wall_clock())
    with run.open() as app:
        memory = upsert.update(app.ctx, one(app.ctx, id).id, revision)
    shown = entry(memory)
    output.tell(run, {"updated": True, **shown, "memory": shown}, f"{good('updated:')} {name(memory.uid)}")


@click.command(cls=Verb)
@id_argument
@pass_run
def promote(run: Run, id: str) -> None:
    """Promote a memory to long-term and clear its expiry."""
    with run.open() as app:
        memory = memories.promote(app.ctx, one(app.ctx, id).id)
    facts = {"promoted": True, "id": memory.uid, "number": memory.id, "tier": str(memory.tier)}
    output.tell(run, facts, f"{good('promoted to long-term:')} {name(memory.uid)}")


@click.command(cls=Verb)
@id_argument
@pass_run
def delete(run: Run, id: str) -> None:
    """Delete a memory (`mnemic restore` brings it back)."""
    with run.open() as app:
        show_deleted(run, app.ctx, id)


def show_deleted(run: Run, ctx: Context, id: str) -> None:
    """Delete the memory and print a confirmation."""
    memory = one(ctx, id)
    memories.forget(ctx, [memory.id], reason=DELETED)
    facts = {"deleted": True, "id": memory.uid, "number": memory.id}
    output.tell(run, facts, f"{good('deleted:')} {name(memory.uid)}")
