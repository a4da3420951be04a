"""`mnemic ai-memory recall`, `search`, `list`, `get`, `stats` and `namespaces`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from mnemic.core import recall as recalling
from mnemic.core.context import Context, wall_clock
from mnemic.dialects.ai_memory.cli import options, views
from mnemic.dialects.ai_memory.cli.entries import entry, hit_entry, one
from mnemic.dialects.ai_memory.cli.options import WORDS, at_most, id_argument, in_namespace, narrowed, spoken
from mnemic.dialects.ai_memory.links import links_and_ends
from mnemic.formats.document import link_entry
from mnemic.model.search import Filter, Query
from mnemic.model.values import Features, Moment
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.session import Session, Verb, pass_session

RECALLED = 10
SEARCHED = 20

_context = click.argument("context", nargs=-1, required=True, type=WORDS, metavar="CONTEXT...")
_query = click.argument("query", nargs=-1, required=True, type=WORDS, metavar="WORDS...")


@click.command(cls=Verb)
@_context
@in_namespace
@at_most(RECALLED, 1_000)
@options.with_tags
@options.since
@options.until
@click.option(
    "-T",
    "--tier",
    type=click.Choice([tier.value for tier in Features]),
    help="The feature tier to rank with; keyword needs no model. [default: semantic]",
)
@pass_session
def recall(session: Session, /, context: tuple[str, ...], tier: str | None, **given: Any) -> None:
    """Recall memories relevant to a context, best first.

    \b
    Example:
      mnemic ai-memory recall "auth tokens" --namespace my-app --tags auth --since 2026-01-01
    """
    text, now = spoken(context, "context"), wall_clock()
    wanted = narrowed(given, now)
    with session.open(reads=True, tier=tier) as app:
        narrow = _within(app.ctx, wanted, given["namespace"], now)
        query = Query(text=text, limit=given["limit"], now=now, filter=narrow)
        found = recalling.tiered(app.ctx, query)
    tell_recalled(session, found, now)


def tell_recalled(session: Session, found: recalling.Recollection, now: Moment) -> None:
    """Show what was recalled."""
    facts: dict[str, Any] = {
        "memories": [hit_entry(hit) for hit in found.hits],
        "count": len(found.hits),
        "mode": found.mode,
    }
    if found.pending:
        facts["pending"] = found.pending
    output.present(session, facts, views.recalled(found, now))


def _within(ctx: Context, wanted: Filter, namespace: str | None, now: Moment) -> Filter:
    """*wanted* within *namespace*, else the caller's scope, without expired memories."""
    return replace(wanted, namespaces=ctx.scope(namespace), alive_at=now)


@click.command(cls=Verb)
@_query
@in_namespace
@options.of_tier
@at_most(SEARCHED)
@options.since
@options.until
@options.with_tags
@pass_session
def search(session: Session, /, query: tuple[str, ...], **given: Any) -> None:
    """Search memories that contain all of these words, best first."""
    text, now = spoken(query, "query"), wall_clock()
    wanted = narrowed(given, now)
    with session.open(reads=True) as app:
        narrow = _within(app.ctx, wanted, given["namespace"], now)
        tell_searched(session, app.ctx, Query(text=text, limit=given["limit"], now=now, filter=narrow))


def tell_searched(session: Session, ctx: Context, query: Query) -> None:
    """Search and show what is found."""
    hits = recalling.search(ctx, query)
    facts = {"results": [hit_entry(hit) for hit in hits], "count": len(hits), "query": query.text}
    output.present(session, facts, views.searched(hits, query.now))


@click.command("list", cls=Verb)
@in_namespace
@options.of_tier
@at_most(SEARCHED)
@options.offset
@options.since
@options.until
@options.with_tags
@pass_session
def list_(session: Session, /, limit: int, offset: int, **given: Any) -> None:
    """List memories by priority, then by last update."""
    now = wall_clock()
    wanted = narrowed(given, now)
    with session.open(reads=True) as app:
        tell_listed(session, app.ctx, _within(app.ctx, wanted, given["namespace"], now), limit, offset)


def tell_listed(session: Session, ctx: Context, wanted: Filter, limit: int, offset: int = 0) -> None:
    """List what passes *wanted*."""
    found = recalling.listing(ctx, wanted, limit=limit, offset=offset)
    facts = {"memories": [entry(memory) for memory in found], "count": len(found)}
    output.present(session, facts, views.listed(found, ctx.now()))


@click.command(cls=Verb)
@id_argument
@pass_session
def get(session: Session, id: str) -> None:
    """Show a memory and its links."""
    with session.open(reads=True) as app:
        tell_memory(session, app.ctx, id)


def tell_memory(session: Session, ctx: Context, id: str) -> None:
    """Show one memory whole."""
    memory = one(ctx, id)
    edges, ends = links_and_ends(ctx, memory)
    facts = {"memory": entry(memory), "links": [link_entry(edge, ends) for edge in edges]}
    output.present(session, facts, views.whole(memory, edges, ends, ctx.now()))


@click.command(cls=Verb)
@pass_session
def stats(session: Session) -> None:
    """Show statistics: totals, tiers, namespaces, links, size."""
    with session.open(reads=True) as app:
        tell_stats(session, app.ctx)


def tell_stats(session: Session, ctx: Context) -> None:
    """Show the statistics of the whole store."""
    from mnemic.core.overview import overview

    seen = overview(ctx)
    facts = {
        "total": seen.total,
        "by_tier": [{"tier": tier, "count": count} for tier, count in seen.by_tier.items()],
        "by_namespace": _counted(seen.by_namespace),
        "by_kind": dict(seen.by_kind),
        "by_state": dict(seen.by_state),
        "expiring_soon": seen.expiring_soon,
        "links_count": seen.links,
        "pending_vectors": seen.pending,
        **({"model": seen.model} if seen.model else {}),
        "changes": seen.changes,
        "db_size_bytes": seen.size_bytes,
    }
    output.present(session, facts, views.counted(seen))


def _counted(by_namespace: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"namespace": name, "count": count} for name, count in by_namespace.items()]


@click.command(cls=Verb)
@pass_session
def namespaces(session: Session) -> None:
    """List namespaces with their memory counts."""
    with session.open(reads=True) as app:
        tell_namespaces(session, app.ctx)


def tell_namespaces(session: Session, ctx: Context) -> None:
    """Show the namespaces."""
    from mnemic.core.overview import overview

    found = overview(ctx).by_namespace
    output.present(session, {"namespaces": _counted(found)}, views.spaces(found))
