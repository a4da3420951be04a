"""Import of conversations as memories: one each, or linked pieces of a long one."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from mnemic.core.context import Context
from mnemic.core.expiry import EXPIRED
from mnemic.model.enums import State, Tier
from mnemic.model.filter import Filter
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory, Statement, title_of
from mnemic.model.text_size import cut
from mnemic.model.time import Moment
from mnemic.storage.base import Progress
from mnemic.storage.fingerprint import digest
from mnemic.storage.queries import each_memory
from mnemic.transfer.conversation_files import Broken, Conversation, Found
from mnemic.transfer.file_batch import FilePolicy
from mnemic.transfer.foreign_memories import FAMILY
from mnemic.transfer.importer import Importer
from mnemic.transfer.records import End, GivenFields, LinkKey, LinkRecord, MemoryRecord, Record

CONVERSATION_ID = "conversation_id"
"""Where a memory's metadata says which conversation it was made of."""
CONVERSATION_DIGEST = "conversation_digest"
"""Where it says what stands for the text that was made of it."""
CONVERSATION_PART = "conversation_part"
"""Where it says which piece of a long conversation it is; the first says nothing."""
CONTINUES = "continues"
"""The link from a piece to the one before it."""
TITLE_BYTES = 100
CONTENT_BYTES = 65_535
CONFIDENCE = 0.8
GIVEN = GivenFields(frozenset({"content", "tags", "source", "metadata", "confidence", "tier"}))
"""What an export says of a memory that is known. Its title is the owner's to change."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A conversation that makes a memory, and the memory to be."""

    memory: Memory
    messages: int
    left_out: int = 0
    """How many bytes at its end a memory has no room for."""

    @property
    def cut_off(self) -> str:
        """What of it is left out, in words."""
        whole = len(self.memory.content.encode()) + self.left_out
        return f"{self.memory.title}: the last {self.left_out:,} of {whole:,} bytes, for which a memory has no room"


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
    """The memory made of a conversation, by its uid, and the hash of its text.

    Without a hash, someone has changed or deleted the text since: that is theirs.
    """

    uid: str
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
    """Store one memory for each conversation of at least *min_messages*; what is broken or has no room is reported.

    With *in_pieces* a conversation that is too long for one memory becomes several, each linked to the one before. A
    conversation that was mined before is known by its id: it changes its memories only where it has grown since, and
    nobody has changed or forgotten them.
    """
    known = _known(ctx, source, namespace)
    chosen = [
        talk
        for talk in found
        if isinstance(talk, Conversation) and talk.messages and len(talk.messages) >= min_messages
    ]
    form = _Form(ctx.home(namespace), source, tier, ctx.lives.expiry(tier, None, ctx.now()), ctx.now())
    planned = _planned_in_pieces if in_pieces else _planned
    plans = {
        (_id_of(talk), part): plan for talk in chosen for part, plan in enumerate(planned(talk, form), 1)
    }
    fresh = {
        key: plan
        for key, plan in plans.items()
        if key not in known or known[key].digest not in (None, digest(plan.memory.content))
    }
    merged = _Merged() if dry_run else _merge(ctx, fresh, plans, known, progress)
    broken = [str(item) for item in found if isinstance(item, Broken)]
    changed = {id for id, _ in fresh}
    cut_off = [plan.cut_off for plan in plans.values() if plan.left_out]
    return Mined(
        total=len(found),
        imported=len({id for id, _ in merged.keys}),
        skipped=len(found) - len(broken) - len(changed),
        planned=tuple(fresh.values()),
        errors=(*broken, *cut_off, *merged.errors),
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
            known[key] = _Known(memory.uid, _digest_of(memory))
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


class _Merged(NamedTuple):
    """The pieces that are stored now, and those that could not be."""

    keys: Collection[Key] = ()
    errors: Sequence[str] = ()


def _merge(
    ctx: Context,
    fresh: Mapping[Key, Planned],
    plans: Mapping[Key, Planned],
    known: Mapping[Key, _Known],
    progress: Progress | None,
) -> _Merged:
    """Import new conversations and those that have grown."""
    uids = {key: plan.memory.uid for key, plan in plans.items()}
    uids |= {key: one.uid for key, one in known.items()}
    # What somebody deleted is not among these, so what is gone here has expired or was purged, and comes back.
    importer = Importer(ctx, FilePolicy(revives=True))
    importer.merge(_records(fresh, uids), progress, len(fresh))
    return _Merged([key for key in fresh if uids[key] in importer.numbers], importer.finish().errors)


def _records(fresh: Mapping[Key, Planned], uids: Mapping[Key, str]) -> Iterator[Record]:
    """The memories that are new or have grown, and the link from each piece to the one before it."""
    for key, plan in fresh.items():
        yield MemoryRecord(plan.memory.title, replace(plan.memory, uid=uids[key]), given=GIVEN)
    for (id, part), plan in fresh.items():
        if last := uids.get((id, part - 1)):
            now = plan.memory.updated_at
            ends = End(uids[id, part], name=plan.memory.title), End(last)
            edge = Edge(id=0, source_id=0, target_id=0, type=CONTINUES, created_at=now)
            yield LinkRecord(plan.memory.title, edge, LinkKey(*ends, CONTINUES, now))


@dataclass(frozen=True, slots=True)
class _Form:
    """What all memories made of one export have in common."""

    namespace: str
    source: str
    tier: Tier
    expires_at: Moment | None
    now: Moment


def _planned(talk: Conversation, form: _Form) -> list[Planned]:
    """One memory, with as much of the conversation as it has room for."""
    lines = _lines(talk)
    text = _content(lines)
    left_out = len("\n".join(lines).encode()) - len(text.encode())
    return [Planned(_memory(talk, text, 1, form), len(talk.messages), left_out)]


def _planned_in_pieces(talk: Conversation, form: _Form) -> list[Planned]:
    """The whole conversation, in as many memories as it takes."""
    return [
        Planned(_memory(talk, text, part, form), len(talk.messages))
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


def _memory(talk: Conversation, text: str, part: int, form: _Form) -> Memory:
    id, title = _id_of(talk), _title(talk) or title_of(text)
    which = {} if part == 1 else {CONVERSATION_PART: part}
    return Memory(
        id=0,
        uid=str(uuid.uuid5(FAMILY, f"{form.namespace}\n{form.source}\n{id}\n{part}")),
        namespace=form.namespace,
        title=title if part == 1 else f"{title} (part {part})",
        statements=(Statement(0, text),),
        tags=(form.source,),
        tier=form.tier,
        confidence=CONFIDENCE,
        source=form.source,
        metadata={CONVERSATION_ID: id, CONVERSATION_DIGEST: str(digest(text)), **which},
        created_at=form.now if talk.created_at is None else talk.created_at,
        updated_at=form.now,
        expires_at=form.expires_at,
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
