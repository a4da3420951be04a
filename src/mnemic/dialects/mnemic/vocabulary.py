"""The house dialect itself: its name, what it tells an agent, its prompts and resources."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from mnemic.core import memories
from mnemic.core.context import Context
from mnemic.dialects.mnemic.shapes import shown
from mnemic.dialects.operation import Dialect, Prompt, Resource, as_json

INSTRUCTIONS = """\
Mnemic is your long-term memory. Recall before you answer anything that may rest on earlier work, \
preferences or decisions; an empty answer means nothing relevant is known, unless `left_out` counts what \
went beyond your budget. Remember what will matter later: decisions with their reason, facts, corrections, \
preferences; one thing a memory. When something known turns out wrong, revise it (supersede keeps the old \
one in view) instead of remembering its opposite. \
Nothing is lost: forget can be restored, and undo takes back any change."""


def _recall_first(arguments: Mapping[str, str]) -> str:
    where = f" Pass namespace {arguments['namespace']!r} in every call." if arguments.get("namespace") else ""
    return (
        "Before you answer, call `recall` with the subject of my question and use what it returns. "
        "If it returns nothing, say that nothing is known yet. When I tell you something that will matter "
        "in a later conversation, call `remember` with one clear sentence a fact." + where
    )


def _namespaces(ctx: Context, argument: str, typed: str) -> list[str]:
    from mnemic.core.overview import overview

    return [name for name in overview(ctx, None).by_namespace if name.startswith(typed)]


def _wrap_up(arguments: Mapping[str, str]) -> str:
    about = f" about {arguments['topic']}" if arguments.get("topic") else ""
    return (
        f"Look back over our conversation{about}. For each decision, fact, preference or correction that will "
        "matter later, call `recall` to see whether it is known, then `remember` what is new and `revise` what "
        "has changed. Finish with a list of what you kept."
    )


def _read_memory(ctx: Context, parts: Mapping[str, str]) -> str:
    return orjson.dumps(as_json(shown(memories.find(ctx, parts["id"]))), option=orjson.OPT_INDENT_2).decode()


MNEMIC = Dialect(
    name="mnemic",
    title="Mnemic",
    instructions=INSTRUCTIONS,
    prompts=(
        Prompt(
            name="recall-first",
            title="Answer from memory",
            description="Recall before answering, remember what matters.",
            arguments=("namespace",),
            write=_recall_first,
            suggest=_namespaces,
        ),
        Prompt(
            name="wrap-up",
            title="Keep what we learnt",
            description="Review the conversation and store what will matter later.",
            arguments=("topic",),
            write=_wrap_up,
        ),
    ),
    resources=(
        Resource(
            template="mnemic://memory/{id}",
            name="memory",
            title="One memory",
            description="A memory by id, uid or title.",
            mime="application/json",
            read=_read_memory,
        ),
    ),
)
