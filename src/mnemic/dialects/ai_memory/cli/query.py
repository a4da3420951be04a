"""`mnemic ai-memory recall`, `search`, `list`, `get`, `stats` and `namespaces`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from mnemic.console import output
from mnemic.console.run import Run, Verb, pass_run
from mnemic.core.context import Context, wall_clock
from mnemic.core.recall import Recollection
from mnemic.dialects.ai_memory import recall as rules
from mnemic.dialects.ai_memory.cli import options, views
from mnemic.dialects.ai_memory.cli.entries import entry, hit_entry, one
from mnemic.dialects.ai_memory.cli.options import (
    WORDS,
    at_most,
    id_argument,
    in_namespace,
    joined_words,
    narrowed,
)
from mnemic.dialects.ai_memory.link_list import links_and_ends
from mnemic.model.enums import Features
from mnemic.model.filter import Filter, Query
from mnemic.model.time import Moment
from mnemic.transfer.document_entry import link_entry

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
@pass_run
def recall(run: Run, /, context: tuple[str, ...], tier: str | None, **given: Any) -> None:
    """Recall memories relevant to a context, best first.

    \b
    Example:
      mnemic ai-memory recall "auth tokens" --namespace my-app --tags auth --since 2026-01-01
    """
    text, now = joined_words(context, "context"), wall_clock()
    wanted = narrowed(given, now)
    with run.open(reads=True, tier=tier) as app:
        narrow = _within(app.ctx, wanted, given["namespace"], now)
        query = Query(text=text, limit=given["limit"], now=now, filter=narrow)
        found = rules.tiered(app.ctx, query)
    show_recalled(run, found, now)


def show_recalled(run: Run, found: Recollection, now: Moment) -> None:
    """Show what was recalled."""
    facts: dict[str, Any] = {
        "memories": [hit_entry(hit) for hit in found.hits],
        "count": len(found.hits),
        "mode": found.mode,
    }
    if found.pending:
        facts["pending"] = found.pending
    output.present(run, facts, views.recalled(found, now))


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
@pass_run
def search(run: Run, /, query: tuple[str, ...], **given: Any) -> None:
    """Search memories that contain all of these words, best first."""
    text, now = joined_words(query, "query"), wall_clock()
    wanted = narrowed(given, now)
    with run.open(reads=True) as app:
        narrow = _within(app.ctx, wanted, given["namespace"], now)
        show_searched(run, app.ctx, Query(text=text, limit=given["limit"], now=now, filter=narrow))


def show_searched(run: Run, ctx: Context, query: Query) -> None:
    """Search and print the results."""
    hits = rules.search(ctx, query)
    facts = {"results": [hit_entry(hit) for hit in hits], "count": len(hits), "query": query.text}
    output.present(run, facts, views.searched(hits, query.now))


@click.command("list", cls=Verb)
@in_namespace
@options.of_tier
@at_most(SEARCHED)
@options.offset
@options.since
@options.until
@options.with_tags
@pass_run
def list_(run: Run, /, limit: int, offset: int, **given: Any) -> None:
    """List memories by priority, then by last update."""
    now = wall_clock()
    wanted = narrowed(given, now)
    with run.open(reads=True) as app:
        show_listed(run, app.ctx, _within(app.ctx, wanted, given["namespace"], now), limit, offset)


def show_listed(run: Run, ctx: Context, wanted: Filter, limit: int, offset: int = 0) -> None:
    """List what passes *wanted*."""
    found = rules.listing(ctx, wanted, limit=limit, offset=offset)
    facts = {"memories": [entry(memory) for memory in found], "count": len(found)}
    output.present(run, facts, views.listed(found, ctx.now()))


@click.command(cls=Verb)
@id_argument
@pass_run
def get(run: Run, id: str) -> None:
    """Show a memory and its links."""
    with run.open(reads=True) as app:
        show_memory(run, app.ctx, id)


def show_memory(run: Run, ctx: Context, id: str) -> None:
    """Show one memory whole."""
    memory = one(ctx, id)
    edges, ends = links_and_ends(ctx, memory)
    facts = {"memory": entry(memory), "links": [link_entry(edge, ends) for edge in edges]}
    output.present(run, facts, views.whole(memory, edges, ends, ctx.now()))


@click.command(cls=Verb)
@pass_run
def stats(run: Run) -> None:
    """Show statistics: totals, tiers, namespaces, links, size."""
    with run.open(reads=True) as app:
        show_stats(run, app.ctx)


def show_stats(run: Run, ctx: Context) -> None:
    """Show the statistics of the whole store."""
    from mnemic.core.stats import overview

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
    output.present(run, facts, views.counted(seen))


def _counted(by_namespace: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"namespace": name, "count": count} for name, count in by_namespace.items()]


@click.command(cls=Verb)
@pass_run
def namespaces(run: Run) -> None:
    """List namespaces with their memory counts."""
    with run.open(reads=True) as app:
        show_namespaces(run, app.ctx)


def show_namespaces(run: Run, ctx: Context) -> None:
    """Show the namespaces."""
    from mnemic.core.stats import overview

    found = overview(ctx).by_namespace
    output.present(run, {"namespaces": _counted(found)}, views.spaces(found))
