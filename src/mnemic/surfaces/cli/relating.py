"""`mnemic link`, `resolve`, `consolidate` and `auto-consolidate`: memories and what they are to each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from mnemic.core import graph, suggesting
from mnemic.core.context import Context
from mnemic.core.suggesting import Suggestion
from mnemic.core.tidying import condensing
from mnemic.core.tidying.condensing import Group
from mnemic.dialects.ai_memory import rules
from mnemic.errors import Invalid
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.model.values import iso
from mnemic.surfaces.cli import options, output
from mnemic.surfaces.cli.memories import one, one_called
from mnemic.surfaces.cli.options import WORDS
from mnemic.surfaces.cli.progress import progress
from mnemic.surfaces.cli.reading import split
from mnemic.surfaces.cli.session import Session, Verb, pass_session
from mnemic.surfaces.cli.text import INDENT, count, doubtful, faint, good, name, safe
from mnemic.surfaces.cli.views.memories import remarks, short

RELATED = rules.RELATIONS[0]
PREVIEWED = 200
"""So many characters of a summary that a model wrote are shown."""


@click.command(cls=Verb)
@click.argument("source", type=WORDS)
@click.argument("target", type=WORDS, required=False)
@click.option(
    "-r",
    "--relation",
    type=options.OneOf(rules.RELATIONS),
    help=f"How they are related. [default: {RELATED}]",
)
@click.option("--type", "kind", type=WORDS, metavar="NAME", help="A relation of another name.")
@click.option("--weight", type=click.FloatRange(0, 1), default=1.0, metavar="X", help="0 to 1. [default: 1]")
@click.option("--reason", type=WORDS, help="Why.")
@click.option("--end", is_flag=True, help="End the link instead.")
@click.option(
    "--suggest", is_flag=True, help="Show which memories SOURCE could be linked to, and link nothing."
)
@options.at_most(10)
@pass_session
def link(session: Session, /, source: str, target: str | None, end: bool, **given: Any) -> None:
    """Relate SOURCE to TARGET, change that link's weight or reason, or end it; or suggest what to link.

    \b
    Examples:
      mnemic link 3f2a9c1d 12 --relation supersedes
      mnemic link 12 7 --type depends_on --reason "CI runs first"
      mnemic link 12 --suggest
    """
    if (target is None) != given["suggest"]:
        raise click.UsageError("Give TARGET or --suggest.")
    if target is None:
        _suggest(session, source, given["limit"])
        return
    kind = _kind(given["relation"], given["kind"])
    with session.open() as app:
        ctx = app.ctx
        start, goal = one_called(ctx, source), one_called(ctx, target)
        if start.id == goal.id:
            raise Invalid("cannot link a memory to itself", "target")
        if end:
            edge = graph.end_link(ctx, start.id, goal.id, kind)
        else:
            edge = graph.link(ctx, start.id, goal.id, kind, given["weight"], given["reason"])
    output.present(session, _link_facts(edge, start, goal), _linked(edge, start, goal))


def _suggest(session: Session, source: str, limit: int) -> None:
    with session.open() as app:
        start = one_called(app.ctx, source)
        found = suggesting.suggest(app.ctx, start.id, namespaces=app.ctx.scope(), limit=limit)
    facts = {
        "source_id": start.uid,
        "suggestions": [_suggestion_entry(suggestion) for suggestion in found],
        "count": len(found),
    }
    output.present(session, facts, _suggested(found))


def _suggestion_entry(suggestion: Suggestion) -> dict[str, Any]:
    memory = suggestion.memory
    return {
        "id": memory.uid,
        "number": memory.id,
        "title": memory.title,
        "score": round(suggestion.weighted, 4),
        "terms": {part: round(value, 4) for part, value in suggestion.terms.items()},
    }


def _suggested(found: Sequence[Suggestion]) -> Iterator[str]:
    if not found:
        yield "Nothing to link it to."
    for suggestion in found:
        memory = suggestion.memory
        yield f"{suggestion.weighted:.2f} {short(memory)} {safe(memory.title)}"


def _kind(relation: str | None, kind: str | None) -> str:
    """The type of the link: one of the four, or any other if it is called by --type."""
    if kind is None:
        return rules.relation(RELATED if relation is None else relation)
    if relation is not None:
        raise click.UsageError("Give --relation or --type, not both.")
    if not kind.strip() or len(kind) > rules.MAX_TAG:
        raise Invalid(f"--type: must have 1 to {rules.MAX_TAG} characters", "type")
    return kind.strip()


def _link_facts(edge: Edge, start: Memory, goal: Memory) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": edge.id,
        "source": edge.source_id,
        "target": edge.target_id,
        "type": edge.type,
        "weight": edge.weight,
        "reason": edge.reason,
        "created_at": iso(edge.created_at),
        "ended_at": None if edge.valid_to is None else iso(edge.valid_to),
    }
    return {
        "linked": edge.is_current,
        "source_id": start.uid,
        "target_id": goal.uid,
        "relation": edge.type,
        "link": {name: value for name, value in told.items() if value is not None},
    }


def _linked(edge: Edge, start: Memory, goal: Memory) -> Iterator[str]:
    told = good("Linked") if edge.is_current else doubtful("Ended")
    yield f"{told} {short(start)} → {safe(edge.type)} → {short(goal)}{remarks(edge)}"


@click.command(cls=Verb)
@click.argument("winner", type=WORDS)
@click.argument("loser", type=WORDS)
@pass_session
def resolve(session: Session, winner: str, loser: str) -> None:
    """Settle a contradiction: WINNER supersedes LOSER, which falls to priority 1 and confidence 0.1."""
    with session.open() as app:
        kept, lost = one(app.ctx, winner), one(app.ctx, loser)
        if kept.id == lost.id:
            raise Invalid("cannot link a memory to itself", "loser")
        condensing.resolve(app.ctx, kept.id, lost.id)
    facts = {"resolved": True, "winner": kept.uid, "loser": lost.uid}
    output.tell(session, facts, f"{good('resolved:')} {name(kept.uid)} supersedes {name(lost.uid)}")


@click.command(cls=Verb)
@click.argument("ids", type=WORDS, metavar="ID,ID,...")
@click.option("-T", "--title", type=WORDS, required=True, help="The title of the new memory.")
@click.option(
    "-s", "--summary", type=WORDS, help="What it says. [default: at the smart tier, a model's summary]"
)
@click.option("-n", "--namespace", type=WORDS, metavar="NAME", help="Where. [default: where the first is]")
@pass_session
def consolidate(session: Session, ids: str, title: str, summary: str | None, namespace: str | None) -> None:
    """Make one long-term memory of several, which it then replaces."""
    wanted = rules.consolidated(split(ids))
    rules.title(title)
    text = None if summary is None else rules.content(summary, "summary")
    space = None if namespace is None else rules.namespace(namespace)
    with session.open() as app:
        parts = _distinct(app.ctx, wanted)
        text = text or _summarised(app.ctx, parts)
        made = condensing.consolidate(
            app.ctx,
            [part.id for part in parts],
            title=title,
            text=text,
            namespace=space or app.ctx.namespace or parts[0].namespace,
        )
    facts = {"id": made.uid, "number": made.id, "consolidated": len(parts)}
    if summary is None:
        facts |= {"auto_summary": True, "summary_preview": text[:PREVIEWED]}
    told = f"{good('consolidated')} {count(len(parts), 'memory', 'memories')} into: {name(made.uid)}"
    output.tell(session, facts, told)


def _distinct(ctx: Context, ids: Sequence[str]) -> list[Memory]:
    """The memories that are meant, each once, whichever way it is named."""
    parts = {memory.id: memory for memory in (one(ctx, id) for id in ids)}
    rules.consolidated([memory.uid for memory in parts.values()])
    return list(parts.values())


def _summarised(ctx: Context, parts: Sequence[Memory]) -> str:
    if not ctx.features.has_language:
        raise Invalid("summary is required (or use smart/autonomous tier for auto-summarization)", "summary")
    from mnemic.core import assisting

    return assisting.summarise(ctx, parts).text


@click.command("auto-consolidate", cls=Verb)
@options.in_namespace
@click.option("--short-only", is_flag=True, help="Only memories of the tier short.")
@click.option(
    "--min-count",
    type=click.IntRange(min=2),
    default=3,
    show_default=True,
    metavar="N",
    help="Only groups of so many or more.",
)
@options.dry_run
@pass_session
def auto_consolidate(
    session: Session, namespace: str | None, short_only: bool, min_count: int, dry_run: bool
) -> None:
    """Make one long-term memory of each group of a namespace that shares its first tag."""
    with session.open() as app:
        space = namespace or app.ctx.namespace
        found = condensing.groups(app.ctx, space, short_only=short_only, min_count=min_count)
        done = 0
        if not dry_run:
            with progress("Consolidating") as told:
                done = condensing.consolidate_groups(app.ctx, found, told)
    facts = {"consolidated": done, "groups": [_group_entry(group) for group in found]}
    output.present(session, {**facts, "dry_run": True} if dry_run else facts, _grouped(found, dry_run))


def _group_entry(group: Group) -> dict[str, Any]:
    return {
        "namespace": group.namespace,
        "tag": group.tag,
        "count": len(group.memories),
        "titles": [memory.title for memory in group.memories],
    }


def _grouped(found: Sequence[Group], dry_run: bool) -> Iterator[str]:
    if not found:
        yield "Nothing to consolidate."
    for group in found:
        told = doubtful("would consolidate") if dry_run else good("consolidated")
        what = count(len(group.memories), "memory", "memories")
        yield f"{told} {what} of {safe(group.namespace)} {faint(safe(group.tag) or 'without a tag')}"
        for memory in group.memories:
            yield f"{INDENT}{short(memory)} {safe(memory.title)}"
