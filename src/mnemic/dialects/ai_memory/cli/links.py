"""`mnemic ai-memory link`, `resolve`, `consolidate` and `auto-consolidate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from mnemic.console import output
from mnemic.console.input_values import split
from mnemic.console.progress import progress
from mnemic.console.run import Run, Verb, pass_run
from mnemic.console.terminal import INDENT, count, doubtful, faint, good, name, safe
from mnemic.core import graph
from mnemic.core.context import Context
from mnemic.core.maintenance import consolidate as consolidation
from mnemic.core.maintenance.consolidate import ConsolidationGroup
from mnemic.dialects.ai_memory import validation
from mnemic.dialects.ai_memory.cli import options
from mnemic.dialects.ai_memory.cli.entries import one
from mnemic.dialects.ai_memory.cli.options import WORDS
from mnemic.dialects.ai_memory.cli.views import short
from mnemic.errors import Invalid
from mnemic.model.memory import Memory

RELATED = validation.RELATIONS[0]
PREVIEWED = 200
"""Characters shown of a generated summary."""


@click.command(cls=Verb)
@click.argument("source", type=WORDS, metavar="SOURCE_ID")
@click.argument("target", type=WORDS, metavar="TARGET_ID")
@click.option(
    "-r",
    "--relation",
    type=options.OneOf(validation.RELATIONS),
    default=RELATED,
    show_default=True,
    help="How the source relates to the target.",
)
@pass_run
def link(run: Run, source: str, target: str, relation: str) -> None:
    """Link two memories.

    \b
    Example:
      mnemic ai-memory link 3f2a9c1d 7b1c2d3e --relation supersedes
    """
    kind = validation.relation(relation)
    with run.open() as app:
        start, goal = one(app.ctx, source), one(app.ctx, target)
        graph.link(app.ctx, start.id, goal.id, kind)
    facts = {"linked": True, "source_id": start.uid, "target_id": goal.uid, "relation": kind}
    output.tell(run, facts, f"{good('linked:')} {name(start.uid)} --[{kind}]--> {name(goal.uid)}")


@click.command(cls=Verb)
@click.argument("winner", type=WORDS)
@click.argument("loser", type=WORDS)
@pass_run
def resolve(run: Run, winner: str, loser: str) -> None:
    """Resolve a contradiction: WINNER supersedes LOSER, which gets priority 1 and confidence 0.1."""
    with run.open() as app:
        kept, lost = one(app.ctx, winner), one(app.ctx, loser)
        consolidation.resolve(app.ctx, kept.id, lost.id)
    facts = {"resolved": True, "winner": kept.uid, "loser": lost.uid}
    output.tell(run, facts, f"{good('resolved:')} {name(kept.uid)} supersedes {name(lost.uid)}")


@click.command(cls=Verb)
@click.argument("ids", type=WORDS, metavar="ID,ID,...")
@click.option("-T", "--title", type=WORDS, required=True, help="Title of the new memory.")
@click.option(
    "-s",
    "--summary",
    type=WORDS,
    help="Content of the new memory. [default at the smart tier: written by a model]",
)
@click.option(
    "-n", "--namespace", type=WORDS, metavar="NAME", help="Its namespace. [default: that of the first]"
)
@pass_run
def consolidate(run: Run, ids: str, title: str, summary: str | None, namespace: str | None) -> None:
    """Consolidate several memories into one long-term memory that replaces them."""
    wanted = validation.consolidated(split(ids))
    validation.title(title)
    text = None if summary is None else validation.content(summary, "summary")
    space = None if namespace is None else validation.namespace(namespace)
    with run.open() as app:
        parts = _distinct(app.ctx, wanted)
        text = text or _summarised(app.ctx, parts)
        made = consolidation.consolidate(
            app.ctx,
            [part.id for part in parts],
            title=title,
            text=text,
            namespace=space or app.ctx.namespace or parts[0].namespace,
        )
    facts = {"id": made.uid, "number": made.id, "consolidated": len(parts)}
    if summary is None:
        facts |= {"auto_summary": True, "summary_preview": text[:PREVIEWED]}
    sentence = f"{good('consolidated')} {count(len(parts), 'memory', 'memories')} into: {name(made.uid)}"
    output.tell(run, facts, sentence)


def _distinct(ctx: Context, ids: Sequence[str]) -> list[Memory]:
    """The memories that are meant, each once, whichever way it is named."""
    parts = {memory.id: memory for memory in (one(ctx, id) for id in ids)}
    validation.consolidated([memory.uid for memory in parts.values()])
    return list(parts.values())


def _summarised(ctx: Context, parts: Sequence[Memory]) -> str:
    if not ctx.features.has_language:
        raise Invalid("summary is required (or use smart/autonomous tier for auto-summarization)", "summary")
    from mnemic.dialects.ai_memory import llm_tasks as tasks

    return tasks.summarise(ctx, parts)


@click.command("auto-consolidate", cls=Verb)
@options.in_namespace
@click.option("--short-only", is_flag=True, help="Only short-term memories.")
@click.option(
    "--min-count",
    type=click.IntRange(min=2),
    default=3,
    show_default=True,
    metavar="N",
    help="Smallest group to consolidate.",
)
@options.dry_run
@pass_run
def auto_consolidate(
    run: Run, namespace: str | None, short_only: bool, min_count: int, dry_run: bool
) -> None:
    """Consolidate each group of memories of a namespace that share their first tag, or have none."""
    with run.open() as app:
        space = namespace or app.ctx.namespace
        found = consolidation.groups(
            app.ctx, space, short_only=short_only, min_count=min_count, untagged=True
        )
        done = 0
        if not dry_run:
            with progress("Consolidating") as advance:
                done = consolidation.consolidate_groups(app.ctx, found, advance)
    facts = {"consolidated": done, "groups": [_group_entry(group) for group in found]}
    output.present(run, {**facts, "dry_run": True} if dry_run else facts, _grouped(found, dry_run))


def _group_entry(group: ConsolidationGroup) -> dict[str, Any]:
    return {
        "namespace": group.namespace,
        "tag": group.tag,
        "count": len(group.memories),
        "titles": [memory.title for memory in group.memories],
    }


def _grouped(found: Sequence[ConsolidationGroup], dry_run: bool) -> Iterator[str]:
    if not found:
        yield "Nothing to consolidate."
    for group in found:
        verb = doubtful("would consolidate") if dry_run else good("consolidated")
        what = count(len(group.memories), "memory", "memories")
        yield f"{verb} {what} of {safe(group.namespace)} {faint(safe(group.tag) or 'without a tag')}"
        for memory in group.memories:
            yield f"{INDENT}{short(memory)} {safe(memory.title)}"
