"""The house vocabulary's replies as people read them, one function a kind of reply."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mnemic.model.journal import Subject
from mnemic.model.values import Moment, iso
from mnemic.surfaces.cli.text import (
    INDENT,
    age,
    bad,
    bar,
    bold,
    count,
    doubtful,
    excerpt,
    faint,
    good,
    name,
    paragraphs,
    plain,
    safe,
    table,
    width,
)

if TYPE_CHECKING:
    from mnemic.dialects.mnemic.changing import ChangeShape, HistoryReply, UndoReply
    from mnemic.dialects.mnemic.finding import OpenReply, VerifyReply
    from mnemic.dialects.mnemic.linking import ExploreReply
    from mnemic.dialects.mnemic.remembering import RememberReply, RestoreReply, ReviseReply
    from mnemic.dialects.mnemic.shapes import LinkShape, MemoryShape

UNTOLD = frozenset({"uid", "created_at", "updated_at", "state_at"})
"""Fields whose changes say nothing that the change's own line does not."""
MOMENTS = frozenset({"expires_at", "valid_from", "valid_to"})


def now() -> Moment:
    """The present moment, for ages."""
    return time.time_ns() // 1000


def remembered(reply: RememberReply) -> Iterator[str]:
    """What was stored, what it resembles, what was refused."""
    for kept in reply.stored:
        where = faint(f"in {safe(kept.namespace)}")
        yield f"{good('Remembered')} {number(kept.id)} {bold(safe(kept.title))} {where}"
        for twin in kept.similar or ():
            likeness = faint(f"{twin.similarity:.2f}")
            yield f"{INDENT}{doubtful('like')} {number(twin.id)} {safe(twin.title)} {likeness}"
    for refusal in reply.refused or ():
        yield f"{bad('Not stored')}: {safe(refusal.reason)} {faint('see')} {number(refusal.id)}"


def number(memory_id: int) -> str:
    """A memory's number as every view shows it."""
    return name(str(memory_id))


def origin(memory: MemoryShape) -> str:
    """Number, namespace, kind, tags and age in one line."""
    parts = [
        memory.namespace,
        *([memory.kind] if memory.kind != "note" else []),
        *([memory.state] if memory.state else []),
    ]
    if memory.tags:
        parts.append(", ".join(memory.tags))
    parts.append(age(memory.created_at, now()))
    return number(memory.id) + faint(" · " + safe(" · ".join(parts)))


def opened(reply: OpenReply) -> Iterator[str]:
    """Memories whole, with their links."""
    for position, memory in enumerate(reply.memories):
        if position:
            yield ""
        yield from whole(memory)


def whole(memory: MemoryShape) -> Iterator[str]:
    """One memory: title, body, its fields, its links."""
    yield bold(safe(memory.title))
    yield origin(memory)
    yield ""
    yield from paragraphs(memory.content, width())
    yield ""
    yield from table([[faint(label), value] for label, value in particulars(memory)])
    links = getattr(memory, "links", None)
    if links:
        yield ""
        yield from (link_from(memory.id, link) for link in links)


def particulars(memory: MemoryShape) -> Iterator[tuple[str, str]]:
    """The fields of a memory that its heading leaves out, by name."""
    yield "uid", memory.uid
    if memory.summary:
        yield "summary", " ".join(excerpt(memory.summary, 2, 200))
    yield "tier", f"{memory.tier}, priority {memory.priority}, confidence {memory.confidence:g}"
    if memory.source:
        yield "source", safe(memory.source)
    yield "created", stamp(memory.created_at)
    if memory.updated_at != memory.created_at:
        yield "updated", stamp(memory.updated_at)
    if memory.expires_at:
        yield "expires", stamp(memory.expires_at)
    if memory.access_count:
        yield "recalled", count(memory.access_count, "time")
    if memory.state:
        yield "state", safe(": ".join(part for part in (str(memory.state), memory.state_reason) if part))
    if memory.metadata:
        yield "metadata", safe(str(dict(memory.metadata)))


def stamp(moment: Moment) -> str:
    """A moment as a date and an age."""
    return f"{iso(moment)[:16].replace('T', ' ')} UTC {faint(age(moment, now()))}"


def link_from(memory_id: int, link: LinkShape) -> str:
    """*link* as seen from one of its ends."""
    outward = link.source == memory_id
    arrow, other = ("→", link.target) if outward else ("←", link.source)
    return f"{arrow} {link_type(link)} {number(other)}{remarks(link)}"


def link_type(link: LinkShape) -> str:
    """The type of a link, faint if it has ended."""
    return faint(safe(link.type) + " (ended)") if link.ended_at else safe(link.type)


def remarks(link: LinkShape) -> str:
    """Weight and reason of a link, where they say something."""
    parts = [f"weight {link.weight:g}"] if link.weight != 1 else []
    parts += [safe(link.reason)] if link.reason else []
    return faint(f" ({', '.join(parts)})") if parts else ""


def revised(reply: ReviseReply) -> Iterator[str]:
    """The memory as it now stands."""
    if reply.superseded:
        yield f"{good('Superseded')} {number(reply.superseded)} by {number(reply.memory.id)}"
        yield ""
    yield from whole(reply.memory)


def restored(reply: RestoreReply) -> Iterator[str]:
    """The memories that are back."""
    for memory in reply.memories:
        yield f"{good('Restored')} {number(memory.id)} {bold(safe(memory.title))}"


def explored(reply: ExploreReply) -> Iterator[str]:
    """The memories reached, indented by distance, then the links between them."""
    if not reply.memories:
        yield "No path leads there."
    for memory in reply.memories:
        yield f"{'  ' * memory.distance}{number(memory.id)} {bold(safe(memory.title))}"
    if reply.links:
        yield ""
    for link in reply.links:
        yield f"{number(link.source)} → {link_type(link)} → {number(link.target)}{remarks(link)}"


def verified(reply: VerifyReply) -> Iterator[str]:
    """The verdict, the evidence, and what nothing backs."""
    colours: dict[str, Callable[[str], str]] = {"verified": good, "partial": doubtful}
    yield f"{colours.get(reply.status, bad)(reply.status)} {faint(f'confidence {reply.confidence:.2f}')}"
    for item in reply.evidence:
        outdated = doubtful(" outdated") if item.outdated else ""
        yield f"{INDENT}{bar(item.support)} {number(item.id)} {safe(item.title)}{outdated}"
    if reply.missing:
        yield f"{INDENT}not backed: {safe(', '.join(reply.missing))}"


def told(reply: HistoryReply) -> Iterator[str]:
    """The changes, newest first, with the fields before and after."""
    if not reply.changes:
        yield "No changes."
    for change in reply.changes:
        yield from one_change(change)


def one_change(change: ChangeShape) -> Iterator[str]:
    """One change in the manner of a diff."""
    what = f"{change.subject} {number(change.id)}"
    when = faint(f"{age(change.at, now())} by {safe(change.actor)}")
    yield f"{bold(f'{change.change}')} {change.operation} {what} {when}"
    before, after = change.before or {}, change.after or {}
    if change.subject is Subject.EDGE and change.before is None and after:
        yield INDENT + good(f"+ {born_link(after)}")
        return
    for field in dict.fromkeys([*before, *after]):
        if field not in UNTOLD:
            yield from difference(field, before.get(field), after.get(field))


def born_link(after: Mapping[str, object]) -> str:
    """A new link in one line."""
    reason = f" ({safe(str(after['reason']))})" if after.get("reason") else ""
    return f"{after.get('source_id')} → {safe(str(after.get('type')))} → {after.get('target_id')}{reason}"


def difference(field: str, before: object, after: object) -> Iterator[str]:
    """One field as it was and as it became."""
    for mark, colour, value in (("-", bad, before), ("+", good, after)):
        if value not in (None, "", [], {}, ()):
            said = iso(value) if isinstance(value, int) and field in MOMENTS else plain(value)
            for line in excerpt(f"{field}: {said}", 3, width() - 6):
                yield INDENT + colour(f"{mark} {line}")


def undone(reply: UndoReply) -> Iterator[str]:
    """The changes taken back."""
    told = "Would take back" if reply.dry_run else "Took back"
    numbers = f": {', '.join(map(str, reply.undone[:20]))}" if reply.undone else ""
    yield f"{told} {count(reply.count, 'change')}{numbers}{' …' if len(reply.undone) > 20 else ''}"


# By name: to import them all would load the parts of the vocabulary that are not needed.
VIEWS: dict[str, Callable[[Any], Iterator[str]]] = {
    "ExploreReply": explored,
    "HistoryReply": told,
    "OpenReply": opened,
    "RememberReply": remembered,
    "RestoreReply": restored,
    "ReviseReply": revised,
    "UndoReply": undone,
    "VerifyReply": verified,
}
