"""`mnemic store`, `update`, `promote` and `delete`: one memory at a time, as ai-memory has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from mnemic.core import memories, storing
from mnemic.core.context import Context, wall_clock
from mnemic.core.storing import Stored
from mnemic.dialects.ai_memory import rules
from mnemic.surfaces.cli import options, output
from mnemic.surfaces.cli.memories import entry, one
from mnemic.surfaces.cli.options import WORDS, id_argument
from mnemic.surfaces.cli.project import namespace_here
from mnemic.surfaces.cli.session import ACTOR, Session, Verb, pass_session
from mnemic.surfaces.cli.text import INDENT, doubtful, good, name, safe
from mnemic.surfaces.cli.views.memories import short, tier_label

DELETED = "delete"
"""The reason the store gives for a memory that was deleted by its id."""

_tags = click.option("--tags", multiple=True, type=WORDS, metavar="TAG,...", help="Its tags.")
_priority = click.option("-p", "--priority", type=int, metavar="N", help="1 to 10. [default: 5]")
_confidence = click.option("--confidence", type=float, metavar="X", help="0 to 1. [default: 1]")
_metadata = click.option("--metadata", type=WORDS, metavar="JSON", help="More about it, as an object.")


@click.command(cls=Verb)
@click.option("-T", "--title", type=WORDS, required=True, help="Its title.")
@click.option("-c", "--content", type=WORDS, required=True, help="What it says; - reads standard input.")
@click.option("-t", "--tier", type=options.TIER, help="How long it lives. [default: mid]")
@click.option("-n", "--namespace", type=WORDS, metavar="NAME", help="Where. [default: the project's name]")
@_tags
@_priority
@_confidence
@click.option("-S", "--source", type=options.OneOf(rules.SOURCES), help="Who says so. [default: cli]")
@click.option("--expires-at", type=WORDS, metavar="TIME", help="When it ends: 2026-04-15T00:00:00Z.")
@click.option("--ttl-secs", type=int, metavar="N", help="How many seconds it lives, whatever its tier.")
@_metadata
@pass_session
def store(session: Session, /, **given: Any) -> None:
    """Keep a memory under a title.

    The memory of that title in the namespace is brought up to date, if there is one. Without --namespace it is
    the last part of the git remote `origin`, else the folder's name.

    \b
    Examples:
      mnemic store -T "Deploy day" -c "We deploy on Fridays." --tags deploy --tier long
      git log -1 | mnemic store -T "Last commit" -c - --ttl-secs 3600
    """
    settings = session.settings()
    if given["namespace"] is None and not settings.namespace:
        given["namespace"] = namespace_here()
    note = rules.note(_fields(given), wall_clock(), default_source=ACTOR)
    with session.open() as app:
        kept = storing.store(app.ctx, note)
    output.present(session, _stored_facts(kept), _stored(kept))


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
@click.option("-T", "--title", type=WORDS, help="A new title.")
@click.option("-c", "--content", type=WORDS, help="What it is to say; - reads standard input.")
@click.option("-t", "--tier", type=options.TIER, help="A higher tier; a lower one is not taken over.")
@click.option("-n", "--namespace", type=WORDS, metavar="NAME", help="Another namespace.")
@_tags
@click.option("-p", "--priority", type=int, metavar="N", help="1 to 10.")
@click.option("--confidence", type=float, metavar="X", help="0 to 1.")
@click.option("--expires-at", type=WORDS, metavar="TIME", help='When it ends; "" takes the end away.')
@_metadata
@pass_session
def update(session: Session, /, id: str, **given: Any) -> None:
    """Change a memory's text or fields; what is not given stays."""
    if all(value in (None, ()) for value in given.values()):
        raise click.UsageError("Nothing to change: give --title, --content, --tags or another field.")
    revision = rules.revision(_fields(given), wall_clock())
    with session.open() as app:
        memory = storing.update(app.ctx, one(app.ctx, id).id, revision)
    shown = entry(memory)
    output.tell(
        session, {"updated": True, **shown, "memory": shown}, f"{good('updated:')} {name(memory.uid)}"
    )


@click.command(cls=Verb)
@id_argument
@pass_session
def promote(session: Session, id: str) -> None:
    """Make a memory long-term: it no longer expires."""
    with session.open() as app:
        memory = memories.promote(app.ctx, one(app.ctx, id).id)
    facts = {"promoted": True, "id": memory.uid, "number": memory.id, "tier": str(memory.tier)}
    output.tell(session, facts, f"{good('promoted to long-term:')} {name(memory.uid)}")


@click.command(cls=Verb)
@id_argument
@pass_session
def delete(session: Session, id: str) -> None:
    """Take a memory out of use; `mnemic restore` brings it back."""
    with session.open() as app:
        tell_deleted(session, app.ctx, id)


def tell_deleted(session: Session, ctx: Context, id: str) -> None:
    """Delete the memory and say so."""
    memory = one(ctx, id)
    memories.forget(ctx, [memory.id], reason=DELETED)
    facts = {"deleted": True, "id": memory.uid, "number": memory.id}
    output.tell(session, facts, f"{good('deleted:')} {name(memory.uid)}")
