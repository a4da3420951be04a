"""`mnemic ai-memory mine`: conversations that Claude, ChatGPT or Slack exported, as memories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.console import output
from mnemic.console.progress import progress
from mnemic.console.run import Run, Verb, pass_run

if TYPE_CHECKING:
    from mnemic.transfer.conversations import Mined, Planned

FORMATS = ("claude", "chatgpt", "slack")
TIERS = ("short", "mid", "long")


@click.command(cls=Verb)
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option(
    "-f", "--format", "form", type=click.Choice(FORMATS), required=True, help="Which program exported it."
)
@click.option("-n", "--namespace", metavar="NAME", help="Namespace. [default: FORMAT-export]")
@click.option(
    "-t", "--tier", type=click.Choice(TIERS), default="mid", show_default=True, help="Tier of the memories."
)
@click.option(
    "--min-messages",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Fewest messages of a conversation.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be imported without doing it.")
@pass_run
def mine(run: Run, /, path: Path, form: str, namespace: str | None, tier: str, **given: Any) -> int:
    """Import the conversations of an export: a file, a folder or a zip.

    Each becomes one memory. What was imported before is known by its id and left as it is.
    """
    from mnemic.dialects.ai_memory import validation
    from mnemic.transfer import conversation_files, conversations, downloaded_export

    home = validation.namespace(namespace or run.flags.get("namespace") or f"{form}-export")
    with downloaded_export.opened(path) as files:
        found = list(conversation_files.read(conversation_files.ExportForm(form), files))
    with run.open() as app, progress("Mining") as advance:
        done = conversations.mine(
            app.ctx,
            found,
            source=f"mine-{form}",
            namespace=home,
            tier=validation.tier(tier),
            progress=advance,
            **given,
        )
    facts = {"namespace": home, "tier": tier}
    (_propose if given["dry_run"] else _report)(run, done, facts)
    output.tell_errors(run, done.errors)
    return 1 if done.errors and not done.planned and not done.skipped else 0


def _report(run: Run, done: Mined, facts: dict[str, Any]) -> None:
    counted = f"Imported {done.imported:,} of {done.total:,} conversations into {facts['namespace']}"
    skipped = f"; {done.skipped:,} were too short or known" if done.skipped else ""
    output.tell(run, {**_numbers(done), **facts}, f"{counted}{skipped}.")


def _propose(run: Run, done: Mined, facts: dict[str, Any]) -> None:
    more = {
        "dry_run": True,
        "filtered": len(done.planned),
        "would_import": len(done.planned),
        "memories": [_shown(plan) for plan in done.planned],
    }
    rows = [f"  {plan.memory.title} ({plan.messages:,} messages)" for plan in done.planned]
    sentence = f"Would import {len(done.planned):,} of {done.total:,} conversations into {facts['namespace']}"
    output.tell(run, {**_numbers(done), **facts, **more}, f"{sentence}{':' if rows else '.'}", *rows)


def _numbers(done: Mined) -> dict[str, Any]:
    return {
        "imported": done.imported,
        "skipped": done.skipped,
        "errors": len(done.errors),
        "problems": list(done.errors),
        "total_conversations": done.total,
    }


def _shown(plan: Planned) -> dict[str, Any]:
    memory = plan.memory
    length = len(memory.content.encode())
    return {
        "title": memory.title,
        "content_length": length,
        "messages": plan.messages,
        "source": memory.source,
    }
