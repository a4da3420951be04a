"""Import of conversations as memories: one each, or linked pieces of a long one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.expiry import EXPIRED, change_after_expiry
from mnemic.core.memories import Note, keep
from mnemic.core.upsert import refresh
from mnemic.model.enums import State, Tier
from mnemic.model.filter import Filter
from mnemic.model.graph import EdgeDraft
from mnemic.model.memory import Memory
from mnemic.model.text import cut
from mnemic.model.time import Moment
from mnemic.storage.base import Progress, Writer
from mnemic.storage.fingerprint import digest
from mnemic.storage.queries import each_memory, edge_between, memory_numbered
from mnemic.transfer.conversation_export import Broken, Conversation, Found

CONVERSATION_ID = "conversation_id"
"""Where a memory's metadata says which conversation it was made of."""
CONVERSATION_DIGEST = "conversation_digest"
"""Where it says what stands for the text that was made of it."""
CONVERSATION_PART = "conversation_part"
"""Where it says which piece of a long conversation it is; the first says nothing."""
CONTINUES = "continues"
"""The link from a piece to the one before it."""
BATCH = 100
TITLE_BYTES = 100
CONTENT_BYTES = 65_535
CONFIDENCE = 0.8
PRIORITY = 5


@dataclass(frozen=True, slots=True)
class Planned:
    """A conversation that makes a memory, and the memory to be."""

    note: Note
    messages: int
    left_out: int = 0
    """How many bytes at its end a memory has no room for."""

    @property
    def cut_off(self) -> str:
        """What of it is left out, in words."""
        whole = len(self.note.text.encode()) + self.left_out
        return f"{self.note.title}: the last {self.left_out:,} of {whole:,} bytes, for which a memory has no room"


@dataclass(frozen=True, slots=True)
class Mined:
    """What became of the conversations. Those skipped were too short, or are known as they are."""

    total: int
    imported: int
    skipped: int
    planned: tuple[Planned, ...]
    errors: tuple[str, ...]
    attachments: int = 0
    """How many attached files of those planned were left behind."""


Key = tuple[str, int]
"""The id of a conversation, and which piece of it."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The memory made of a conversation, and the hash of its text.

    None stands for a text that someone has changed or let go since: that is theirs.
    """

    memory_id: int
    digest: int | None


def mine(
    ctx: Context,
    found: Sequence[Found],
    *,
    source: str,
    namespace: str,
    tier: Tier = Tier.MID,
    min_messages: int = 3,
    in_pieces: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Mined:
    """Store one memory for each conversation of at least *min_messages*; what is broken or has no room is told.

    With *in_pieces* a conversation that is too long for one memory becomes several, each linked to the one before. A
    conversation that was mined before is known by its id: it changes its memories only where it has grown since, and
    nobody has changed or forgotten them.
    """
    broken = [str(item) for item in found if isinstance(item, Broken)]
    known = _known(ctx, source, namespace)
    chosen = [
        talk
        for talk in found
        if isinstance(talk, Conversation) and talk.messages and len(talk.messages) >= min_messages
    ]
    planned = _planned_in_pieces if in_pieces else _planned
    plans = {
        (_id_of(talk), part): plan
        for talk in chosen
        for part, plan in enumerate(planned(talk, source, namespace, tier), 1)
    }
    fresh = {
        key: plan
        for key, plan in plans.items()
        if key not in known or known[key].digest not in (None, digest(plan.note.text))
    }
    if not dry_run:
        _store(ctx, fresh, known, progress)
    changed = {id for id, _ in fresh}
    cut_off = [plan.cut_off for plan in plans.values() if plan.left_out]
    return Mined(
        total=len(found),
        imported=0 if dry_run else len(changed),
        skipped=len(found) - len(broken) - len(changed),
        planned=tuple(fresh.values()),
        errors=(*broken, *cut_off),
        attachments=sum(talk.attachments for talk in chosen if _id_of(talk) in changed),
    )


def _known(ctx: Context, source: str, namespace: str) -> dict[Key, _Known]:
    """The memories that were mined before, by conversation and piece, without those whose time is over."""
    wanted = Filter(namespaces=(ctx.home(namespace),), states=frozenset(State))
    known: dict[Key, _Known] = {}
    for memory in each_memory(ctx.read(), wanted):
        if memory.source != source or _is_over(memory, ctx.now()):
            continue
        part = memory.metadata.get(CONVERSATION_PART)
        key = str(memory.metadata.get(CONVERSATION_ID)), part if isinstance(part, int) else 1
        if key not in known or memory.state is State.LIVING:
            known[key] = _Known(memory.id, _digest_of(memory))
    return known


def _is_over(memory: Memory, now: Moment) -> bool:
    if memory.state is State.LIVING:
        return memory.has_expired(now)
    return memory.state_reason == EXPIRED


def _digest_of(memory: Memory) -> int | None:
    """The hash of its text, if that is the text that was mined."""
    present = digest(memory.content)
    mined = memory.metadata.get(CONVERSATION_DIGEST, str(present))
    return present if memory.state is State.LIVING and mined == str(present) else None


def _store(
    ctx: Context, fresh: Mapping[Key, Planned], known: Mapping[Key, _Known], progress: Progress | None
) -> None:
    """Store new and grown conversations, in batches."""
    numbers = {key: one.memory_id for key, one in known.items()}
    done = 0
    for batch in batches(list(fresh), BATCH):
        numbers |= change_after_expiry(ctx, "mine", partial(_store_batch, ctx, fresh, numbers, batch))
        ctx.wake()
        done += len(batch)
        if progress:
            progress(done, len(fresh))


def _store_batch(
    ctx: Context, fresh: Mapping[Key, Planned], known: Mapping[Key, int], batch: Sequence[Key], tx: Writer
) -> dict[Key, int]:
    """Store some pieces, each linked to the one before it: their numbers."""
    numbers: dict[Key, int] = {}
    for key in batch:
        before = memory_numbered(tx, known[key]) if key in known else None
        numbers[key] = _put(tx, ctx, fresh[key].note, before).id
        id, part = key
        last = {**known, **numbers}.get((id, part - 1))
        if last and edge_between(tx, numbers[key], last, CONTINUES) is None:
            tx.insert_edge(EdgeDraft(numbers[key], last, CONTINUES))
    return numbers


def _put(tx: Writer, ctx: Context, note: Note, before: Memory | None) -> Memory:
    """The memory of a conversation: a new one, or *before* with what came since."""
    if before is None or before.state is not State.LIVING:
        return keep(tx, ctx, note)
    tags, metadata = (*before.tags, *note.tags), {**before.metadata, **note.metadata}
    return refresh(tx, ctx, before, replace(note, tags=tags, metadata=metadata))


def _planned(talk: Conversation, source: str, namespace: str, tier: Tier) -> list[Planned]:
    """One memory, with as much of the conversation as it has room for."""
    lines = _lines(talk)
    text = _content(lines)
    left_out = len("\n".join(lines).encode()) - len(text.encode())
    return [Planned(_note(talk, text, 1, source, namespace, tier), len(talk.messages), left_out)]


def _planned_in_pieces(talk: Conversation, source: str, namespace: str, tier: Tier) -> list[Planned]:
    """The whole conversation, in as many memories as it takes."""
    return [
        Planned(_note(talk, text, part, source, namespace, tier), len(talk.messages))
        for part, text in enumerate(_pieces(_lines(talk)), 1)
    ]


def _lines(talk: Conversation) -> list[str]:
    return [f"[{message.role}]: {message.text}" for message in talk.messages]


def _pieces(lines: Iterable[str]) -> Iterator[str]:
    """Texts that hold all of *lines*, cut between messages where that is possible."""
    piece: list[str] = []
    room = CONTENT_BYTES
    for stretch in chain.from_iterable(map(_fitting, lines)):
        size = len(stretch.encode()) + 1
        if piece and size > room:
            yield "\n".join(piece)
            piece, room = [], CONTENT_BYTES
        piece.append(stretch)
        room -= size
    yield "\n".join(piece)


def _fitting(line: str) -> Iterator[str]:
    """*line* in stretches that each fit into a memory."""
    while len(line.encode()) >= CONTENT_BYTES:
        head = cut(line, CONTENT_BYTES - 1)
        yield head
        line = line[len(head) :]
    yield line


def _note(talk: Conversation, text: str, part: int, source: str, namespace: str, tier: Tier) -> Note:
    which = {} if part == 1 else {CONVERSATION_PART: part}
    return Note(
        title=_title(talk) if part == 1 else f"{_title(talk)} (part {part})",
        text=text,
        tags=(source,),
        namespace=namespace,
        tier=tier,
        confidence=CONFIDENCE,
        priority=PRIORITY,
        source=source,
        metadata={CONVERSATION_ID: _id_of(talk), CONVERSATION_DIGEST: str(digest(text)), **which},
        created_at=talk.created_at,
    )


def _title(talk: Conversation) -> str:
    """What it is called, else what the user said first."""
    first = next((message for message in talk.messages if message.role == "user"), talk.messages[0])
    return cut(talk.title or " ".join(first.text.split()), TITLE_BYTES).strip()


def _content(lines: Sequence[str]) -> str:
    """As many whole lines as there is room for, and some of the first in any case."""
    fitting: list[str] = []
    room = CONTENT_BYTES
    for line in lines:
        room -= len(line.encode()) + 1
        if room < -1:
            break
        fitting.append(line)
    return "\n".join(fitting) or cut(lines[0], CONTENT_BYTES)


def _id_of(talk: Conversation) -> str:
    """Its id; for one that has none: when it began, and with what."""
    return talk.id or f"{talk.created_at or 0}-{digest(talk.messages[0].text):x}"
