"""`mnemic recall`, `search`, `list`, `get`, `stats` and `namespaces`: what is known, by question and by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from mnemic.core import recall as recalling
from mnemic.core.context import Context, wall_clock
from mnemic.dialects.ai_memory import rules
from mnemic.dialects.ai_memory.links import links_and_ends
from mnemic.formats.document import link_entry
from mnemic.model.search import Filter, Query
from mnemic.model.values import Features, Moment
from mnemic.surfaces.cli import options, output
from mnemic.surfaces.cli.memories import entry, hit_entry, one
from mnemic.surfaces.cli.options import WORDS, at_most, id_argument, in_namespace, narrowed, spoken
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.views import memories as views

RECALLED = 10
SEARCHED = 20

_context = click.argument("context", nargs=-1, required=True, type=WORDS, metavar="CONTEXT...")
_query = click.argument("query", nargs=-1, required=True, type=WORDS, metavar="WORDS...")


@click.command(cls=Verb)
@_context
@in_namespace
@at_most(RECALLED, 1_000)
@options.with_tags
@options.of_kinds
@options.since
@options.until
@click.option(
    "-T",
    "--tier",
    type=click.Choice([tier.value for tier in Features]),
    help="Rank as this feature tier of ai-memory does; keyword needs no model. [default: our own ranking]",
)
@options.as_of
@click.option(
    "--budget-tokens", type=click.IntRange(1, 1_000_000), metavar="N", help="What fits into so many."
)
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@pass_session
def recall(session: Session, /, context: tuple[str, ...], tier: str | None, **given: Any) -> None:
    """Find what is known about something, by meaning and by words, best first.

    \b
    Examples:
      mnemic recall when do we deploy
      mnemic recall "auth tokens" --namespace my-app --tags auth --since 2026-01-01
    """
    text = spoken(context, "context")
    now = _moment(given["as_of"])
    wanted = narrowed(given, now)
    with session.open(tier=tier) as app:
        ctx = _at(app.ctx, given["as_of"], now)
        query = Query(
            text=text, limit=given["limit"], now=now, filter=_within(ctx, wanted, given["namespace"], now)
        )
        found = _recollected(ctx, query, tier, given["budget_tokens"])
    tell_recalled(session, found, now, explain=given["explain"])


def _recollected(
    ctx: Context, query: Query, tier: str | None, budget_tokens: int | None
) -> recalling.Recollection:
    """By the house's ranking, or by that of a feature tier if one was named."""
    if tier is None:
        return recalling.recall(ctx, query, budget_tokens=budget_tokens)
    return recalling.within(recalling.tiered(ctx, query), budget_tokens)


def tell_recalled(
    session: Session, found: recalling.Recollection, now: Moment, *, explain: bool = False
) -> None:
    """Show what was recalled."""
    facts: dict[str, Any] = {
        "memories": [hit_entry(hit, explain=explain) for hit in found.hits],
        "count": len(found.hits),
        "mode": found.mode,
    }
    if found.pending:
        facts["pending"] = found.pending
    if found.left_out:
        facts["left_out"] = found.left_out
    output.present(session, facts, views.recalled(found, now, explain=explain))


def _moment(as_of: str | None) -> Moment:
    """The moment that is asked about: now, unless an earlier one is named."""
    now = wall_clock()
    return rules.moment(as_of, "as_of", now) if as_of else now


def _at(ctx: Context, as_of: str | None, moment: Moment) -> Context:
    if not as_of:
        return ctx
    from mnemic.core import history

    return history.as_of(ctx, moment)


def _within(ctx: Context, wanted: Filter, namespace: str | None, now: Moment) -> Filter:
    """*wanted* in that namespace, else where the caller looks, and only what has not expired."""
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
    """Find the memories that hold all of these words."""
    text, now = spoken(query, "query"), wall_clock()
    wanted = narrowed(given, now)
    with session.open() as app:
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
    """List memories by priority, then by their last change."""
    now = wall_clock()
    wanted = narrowed(given, now)
    with session.open() as app:
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
    """Show a memory whole, with its links."""
    with session.open() as app:
        tell_memory(session, app.ctx, id)


def tell_memory(session: Session, ctx: Context, id: str) -> None:
    """Show one memory whole."""
    memory = one(ctx, id)
    edges, ends = links_and_ends(ctx, memory)
    facts = {"memory": entry(memory), "links": [link_entry(edge, ends) for edge in edges]}
    output.present(session, facts, views.whole(memory, edges, ends, ctx.now()))


@click.command(cls=Verb)
@in_namespace
@options.as_of
@pass_session
def stats(session: Session, namespace: str | None, as_of: str | None) -> None:
    """Show the store in numbers."""
    moment = _moment(as_of)
    with session.open() as app:
        tell_stats(session, _at(app.ctx, as_of, moment), namespace)


def tell_stats(session: Session, ctx: Context, namespace: str | None = None) -> None:
    """Show the numbers of one namespace, or of everything."""
    from mnemic.core.overview import overview

    seen = overview(ctx, namespace)
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
    """List the namespaces, and how many memories each has."""
    with session.open() as app:
        tell_namespaces(session, app.ctx)


def tell_namespaces(session: Session, ctx: Context) -> None:
    """Show the namespaces."""
    from mnemic.core.overview import overview

    found = overview(ctx).by_namespace
    output.present(session, {"namespaces": _counted(found)}, views.spaces(found))
