"""ai-memory's answers on a terminal: memories, lists and counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mnemic.console.terminal import (
    INDENT,
    age,
    bad,
    bar,
    bold,
    columns_of,
    count,
    doubtful,
    excerpt,
    faint,
    good,
    name,
    paragraphs,
    safe,
    size,
    spread,
    stamp,
    table,
    width,
)
from mnemic.model.enums import Tier
from mnemic.model.filter import Hit
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.model.time import Moment

if TYPE_CHECKING:
    from mnemic.core.recall import Recollection
    from mnemic.core.stats import Overview

COLOURS = {Tier.SHORT: bad, Tier.MID: doubtful, Tier.LONG: good}
SHORT_ID = 8


def tier_label(tier: Tier) -> str:
    """A tier in its colour: short red, mid yellow, long green."""
    return COLOURS[tier](str(tier))


def priority_bar(priority: int) -> str:
    """A bar of ten cells, green from 8, yellow from 5, else red."""
    colour = good if priority >= 8 else doubtful if priority >= 5 else bad
    return colour(bar(priority / 10))


def short(memory: Memory) -> str:
    """The number of a memory and the beginning of its id; either will do to name it."""
    return f"{name(str(memory.id))} {faint(memory.uid[:SHORT_ID])}"


def origin(memory: Memory, now: Moment) -> str:
    """Number, id, tier and priority, namespace, kind, tags and age in one line."""
    parts = [
        memory.namespace,
        *([memory.kind] if memory.kind != "note" else []),
        *([", ".join(memory.tags)] if memory.tags else []),
        age(memory.created_at, now),
    ]
    standing = f"{tier_label(memory.tier)} {priority_bar(memory.priority)}"
    return f"{short(memory)} {standing} {faint(safe(' · '.join(parts)))}"


def recalled(found: Recollection, now: Moment) -> Iterator[str]:
    """The hits, best first, each with a bar for its score."""
    best = max((hit.score for hit in found.hits), default=0.0)
    for rank, hit in enumerate(found.hits, 1):
        yield from one_hit(rank, hit, max(best, 1.0), now)
        yield ""
    yield faint(f"{len(found.hits):,} memory(ies) recalled [{found.mode}]")
    if found.pending:
        waiting = count(found.pending, "memory has", "memories have")
        yield doubtful(f"{waiting} no vectors yet, so only words are searched.")


def one_hit(rank: int, hit: Hit, full: float, now: Moment) -> Iterator[str]:
    """One hit: title and score, an excerpt unless the title says it all, and where it comes from."""
    title = "".join(excerpt(hit.memory.title, 1, width() - 26))
    score = f"{bar(hit.score / full)} {hit.score:.2f}"
    gap = " " * max(2, width() - columns_of(title) - len(score) - 4)
    yield f"{faint(f'{rank:2}.')} {bold(title)}{gap}{good(score)}"
    yield from below(hit.memory, now)


def below(memory: Memory, now: Moment) -> Iterator[str]:
    """Lines below a title: an excerpt unless the title says it all, and the origin."""
    if not says_the_same(memory.title, memory.content):
        yield from (INDENT + line for line in excerpt(memory.content, 3, width() - 6))
    yield INDENT + origin(memory, now)


def says_the_same(title: str, content: str) -> bool:
    """True when *content* is no more than *title*, give or take the full stop."""
    return " ".join(content.split()).rstrip(".") == " ".join(title.split()).rstrip(".")


def searched(hits: Sequence[Hit], now: Moment) -> Iterator[str]:
    """What was found, best first."""
    return rows([hit.memory for hit in hits], now, "found")


def listed(memories: Sequence[Memory], now: Moment) -> Iterator[str]:
    """A list of memories."""
    return rows(memories, now, "listed")


def rows(memories: Sequence[Memory], now: Moment, heading: str) -> Iterator[str]:
    """Memories, each with an excerpt and where it comes from, and how many there are."""
    for memory in memories:
        yield bold("".join(excerpt(memory.title, 1, width() - 2)))
        yield from below(memory, now)
        yield ""
    yield faint(f"{len(memories):,} memory(ies) {heading}")


def archived(memories: Sequence[Memory], now: Moment) -> Iterator[str]:
    """Archived memories with time and reason."""
    for memory in memories:
        when = age(memory.state_at, now) if memory.state_at is not None else ""
        why = faint(safe(f"{when} {memory.state_reason or ''}".strip()))
        yield f"{short(memory)} {bold(''.join(excerpt(memory.title, 1, width() - 40)))} {why}"
    yield faint(f"{len(memories):,} memory(ies) in the archive")


def whole(memory: Memory, edges: Sequence[Edge], ends: Mapping[int, Memory], now: Moment) -> Iterator[str]:
    """One memory: title, body, its fields, its links."""
    yield bold(safe(memory.title))
    yield origin(memory, now)
    yield ""
    yield from paragraphs(memory.content, width())
    yield ""
    yield from table([[faint(label), value] for label, value in particulars(memory, now)])
    if edges:
        yield ""
    for edge in edges:
        outward = edge.source_id == memory.id
        other = ends[edge.target_id if outward else edge.source_id]
        arrow = "→" if outward else "←"
        yield f"{arrow} {safe(edge.type)} {short(other)} {safe(other.title)}{remarks(edge)}"


def particulars(memory: Memory, now: Moment) -> Iterator[tuple[str, str]]:
    """The fields of a memory that its heading leaves out, by name."""
    yield "id", name(memory.uid)
    if memory.summary:
        yield "summary", " ".join(excerpt(memory.summary, 2, 200))
    yield "priority", f"{memory.priority}, confidence {memory.confidence:g}"
    if memory.source:
        yield "source", safe(memory.source)
    yield "created", stamp(memory.created_at, now)
    if memory.updated_at != memory.created_at:
        yield "updated", stamp(memory.updated_at, now)
    if memory.expires_at is not None:
        yield "expires", stamp(memory.expires_at, now)
    if memory.access_count:
        yield "recalled", count(memory.access_count, "time")
    if memory.metadata:
        yield "metadata", safe(str(dict(memory.metadata)))


def remarks(edge: Edge) -> str:
    """Weight and reason of a link, where they say something."""
    parts = [f"weight {edge.weight:g}"] if edge.weight != 1 else []
    parts += [safe(edge.reason)] if edge.reason else []
    return faint(f" ({', '.join(parts)})") if parts else ""


def counted(seen: Overview) -> Iterator[str]:
    """The store in numbers, as a small table."""
    lines = [
        ("memories", f"{seen.total:,}"),
        ("by namespace", spread(seen.by_namespace)),
        ("by tier", spread(seen.by_tier)),
        ("by kind", spread(seen.by_kind)),
        ("by state", spread(seen.by_state)),
        ("links", f"{seen.links:,}"),
        ("expiring soon", f"{seen.expiring_soon:,}"),
        ("changes", f"{seen.changes:,}"),
        ("model", seen.model or "none"),
        ("without vectors", f"{seen.pending:,}"),
        ("size", size(seen.size_bytes)),
    ]
    yield from table([[faint(label), value] for label, value in lines if value])


def spaces(counts: Mapping[str, int]) -> Iterator[str]:
    """Namespaces, the largest first, and how many memories each has."""
    largest = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    if largest:
        yield from table([[name(safe(space)), f"{number:,}"] for space, number in largest])
    else:
        yield "There are no namespaces yet."
