"""Making memories of conversations held elsewhere, one each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.memories import Note
from mnemic.core.storing import put
from mnemic.core.upkeep import EXPIRED, write_after_expiry
from mnemic.formats.conversations import Broken, Conversation, Found
from mnemic.model.memory import Memory
from mnemic.model.search import Filter
from mnemic.model.texts import cut
from mnemic.model.values import Moment, State, Tier
from mnemic.storage.base import Progress, Writer
from mnemic.storage.text import digest

CONVERSATION_ID = "conversation_id"
"""Where a memory's metadata says which conversation it was made of."""
CONVERSATION_DIGEST = "conversation_digest"
"""Where it says what stands for the text that was made of it."""
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
    left_out: int
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


@dataclass(frozen=True, slots=True)
class _Known:
    """The memory that a conversation was made into, and what stands for its text.

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
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Mined:
    """Store one memory for each conversation of at least *min_messages*; what is broken or has no room is told.

    A conversation that was mined before is known by its id: it changes its memory only if it has grown since, and
    nobody has changed or forgotten that.
    """
    broken = [str(item) for item in found if isinstance(item, Broken)]
    known = _known(ctx, source, namespace)
    plans = {
        _id_of(talk): _planned(talk, source, namespace, tier)
        for talk in found
        if isinstance(talk, Conversation) and talk.messages and len(talk.messages) >= min_messages
    }
    fresh = {
        number: plan
        for number, plan in plans.items()
        if number not in known or known[number].digest not in (None, digest(plan.note.text))
    }
    if not dry_run:
        _store(ctx, fresh, known, progress)
    skipped = len(found) - len(broken) - len(fresh)
    cut_off = [plan.cut_off for plan in plans.values() if plan.left_out]
    return Mined(
        total=len(found),
        imported=0 if dry_run else len(fresh),
        skipped=skipped,
        planned=tuple(fresh.values()),
        errors=(*broken, *cut_off),
    )


def _known(ctx: Context, source: str, namespace: str) -> dict[object, _Known]:
    """The memories that were mined before, by their conversations' ids, without those whose time is over."""
    reader, after = ctx.store.read(), 0
    wanted = Filter(namespaces=(ctx.home(namespace),), states=frozenset(State))
    known: dict[object, _Known] = {}
    while page := reader.page(wanted, after=after, limit=BATCH):
        for memory in page:
            number = memory.metadata.get(CONVERSATION_ID)
            if memory.source != source or _is_over(memory, ctx.now()):
                continue
            if number not in known or memory.state is State.LIVING:
                known[number] = _Known(memory.id, _digest_of(memory))
        after = page[-1].id
    return known


def _is_over(memory: Memory, now: Moment) -> bool:
    if memory.state is State.LIVING:
        return memory.has_expired(now)
    return memory.state_reason == EXPIRED


def _digest_of(memory: Memory) -> int | None:
    """What stands for its text, if that is the text that was mined."""
    present = digest(memory.content)
    mined = memory.metadata.get(CONVERSATION_DIGEST, str(present))
    return present if memory.state is State.LIVING and mined == str(present) else None


def _store(
    ctx: Context, fresh: Mapping[str, Planned], known: Mapping[object, _Known], progress: Progress | None
) -> None:
    """Store what is new or has grown, in batches."""
    done = 0
    for batch in batches(list(fresh), BATCH):
        with write_after_expiry(ctx, "mine") as tx:
            for number in batch:
                before = tx.memory(known[number].memory_id) if number in known else None
                put(tx, ctx, _titled(tx, ctx, fresh[number].note, before))
        ctx.wake()
        done += len(batch)
        if progress:
            progress(done, len(fresh))


def _titled(tx: Writer, ctx: Context, note: Note, before: Memory | None) -> Note:
    """*note* under the title of the memory it brings up to date, else under one that is free."""
    if before is None or before.state is not State.LIVING:
        return replace(note, title=tx.unused_title(ctx.home(note.namespace), note.title or ""))
    return replace(
        note,
        title=before.title,
        tags=(*before.tags, *note.tags),
        metadata={**before.metadata, **note.metadata},
    )


def _planned(talk: Conversation, source: str, namespace: str, tier: Tier) -> Planned:
    lines = [f"[{message.role}]: {message.text}" for message in talk.messages]
    text = _content(lines)
    left_out = len("\n".join(lines).encode()) - len(text.encode())
    return Planned(_note(talk, text, source, namespace, tier), len(talk.messages), left_out)


def _note(talk: Conversation, text: str, source: str, namespace: str, tier: Tier) -> Note:
    return Note(
        title=_title(talk),
        text=text,
        tags=(source,),
        namespace=namespace,
        tier=tier,
        confidence=CONFIDENCE,
        priority=PRIORITY,
        source=source,
        metadata={CONVERSATION_ID: _id_of(talk), CONVERSATION_DIGEST: str(digest(text))},
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
