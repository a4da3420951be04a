"""Keeping, reading, changing and letting go of memories."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import lru_cache

import orjson

from mnemic.core.context import Context
from mnemic.core.hidden import bearers, with_its_keys
from mnemic.core.leaving import brought_back, retire, taken_out
from mnemic.core.lifecycle import touch
from mnemic.core.upkeep import write_after_expiry
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.model.graph import Direction, Edge
from mnemic.model.hidden import is_hidden
from mnemic.model.journal import USE, Subject
from mnemic.model.limits import MAX_PATTERN_WORDS, MAX_QUERY_CHARACTERS
from mnemic.model.memory import Draft, Memory
from mnemic.model.search import Filter
from mnemic.model.values import DAY, Moment, State, Tier
from mnemic.retrieval.similarity import near_duplicates
from mnemic.storage.base import Reader, Writer
from mnemic.storage.tokenizer import words

TITLE_LENGTH = 80
SUPERSEDES = "supersedes"
KNOWN = frozenset({State.LIVING, State.SUPERSEDED})
"""What is still there to be read: a belief that was corrected stays part of the story."""
COMPARED_AT_ONCE = 10
"""A larger batch is checked for equal texts only: whoever stores so many does not read what each resembles."""
PREFIXES_LOOKED_AT = 100
BEYOND = 2**63
"""No memory has so large a number."""
NEVER: Moment = 0
"""As the `expires_at` of a revision: the memory is to have no end."""
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？])", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something to remember, as its author gives it."""

    text: str
    title: str | None = None
    kind: str = "note"
    summary: str | None = None
    tags: tuple[str, ...] = ()
    namespace: str | None = None
    tier: Tier | None = None
    ttl: Moment | None = None
    expires_at: Moment | None = None
    confidence: float = 1.0
    priority: int = 5
    quality: float | None = None
    source: str | None = None
    session: int | str | None = None
    """The number of its session, or the name, under which one begins if there is none."""
    session_id: int | None = None
    """The number of its session where none is given above."""
    metadata: Mapping[str, object] = field(default_factory=dict)
    links: tuple[tuple[int | str, str, float], ...] = ()
    created_at: Moment | None = None
    occurred_at: Moment | None = None
    """When it happened, if not when it is stored: the date that filters and the ranking go by."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that was stored, and the known ones that say nearly the same, with how alike they are."""

    memory: Memory
    similar: tuple[tuple[Memory, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A note that was not stored, because of what is known."""

    index: int
    reason: str
    known: Memory


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the notes."""

    kept: tuple[Kept, ...]
    refused: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """Changes to a memory; None leaves a field as it is."""

    text: str | None = None
    append: str | None = None
    title: str | None = None
    kind: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] | None = None
    namespace: str | None = None
    tier: Tier | None = None
    ttl: Moment | None = None
    expires_at: Moment | None = None
    """When it ends; NEVER takes the end away."""
    confidence: float | None = None
    priority: int | None = None
    metadata: Mapping[str, object] | None = None


def title_of(text: str) -> str:
    """A title made from the first sentence of *text*, at most 80 characters, cut between words if it can be."""
    # Two more than fit: whether a word or a sentence ends where it is cut shows in them.
    line = text.lstrip()[: TITLE_LENGTH + 2].splitlines()[0].rstrip()
    sentence = _SENTENCE.match(line)
    title = sentence[0] if sentence else line
    if len(title) <= TITLE_LENGTH:
        return title
    head, _, _ = title[: TITLE_LENGTH + 1].rpartition(" ")
    return (head if len(head) > TITLE_LENGTH // 2 else title[:TITLE_LENGTH]).rstrip()


def remember(ctx: Context, notes: Sequence[Note], *, force: bool = False) -> Outcome:
    """Keep *notes* in one transaction. A text or title that is taken is refused unless *force*d."""
    kept: list[Kept] = []
    refused: list[Refusal] = []
    with write_after_expiry(ctx, "remember") as tx:
        fresh = tx.unheard([note.text for note in notes]) if len(notes) > 1 else ()
        for index, note in enumerate(notes):
            refusal = None if force else _refusal(tx, ctx, index, note, is_fresh=note.text in fresh)
            if refusal:
                refused.append(refusal)
            else:
                similar = _similar(tx, ctx, note) if len(notes) <= COMPARED_AT_ONCE else ()
                kept.append(Kept(keep(tx, ctx, note), similar))
    if kept:
        ctx.wake()
    return Outcome(tuple(kept), tuple(refused))


def _similar(tx: Writer, ctx: Context, note: Note) -> tuple[tuple[Memory, float], ...]:
    """The known memories that *note* nearly repeats. What had expired before the transaction began has left."""
    return near_duplicates(tx, note.text, _living_in(ctx.home(note.namespace)))


@lru_cache(maxsize=64)  # to make one takes 3 µs of every write
def _living_in(namespace: str) -> Filter:
    return Filter(namespaces=(namespace,))


def _refusal(tx: Writer, ctx: Context, index: int, note: Note, *, is_fresh: bool) -> Refusal | None:
    namespace = ctx.home(note.namespace)
    twin = None if is_fresh else tx.same_text(note.text, (namespace,))
    if twin is not None:
        return Refusal(
            index, "the same text is known; revise it, or force to store it again", tx.memories([twin])[0]
        )
    if note.title:
        for known in bearers(tx, note.title, (namespace,)):
            return Refusal(index, "the title is taken; revise that memory, or choose another", known)
    return None


def keep(tx: Writer, ctx: Context, note: Note) -> Memory:
    """The memory made of *note*, with a number behind its title if that is taken."""
    memory = _added(tx, ctx, draft_of(tx, ctx, note))
    for reference, type, weight in note.links:
        target = locate(tx, ctx, reference)
        if target.id == memory.id:
            raise Invalid("links: a memory cannot be linked to itself", "links")
        must_live(target)
        tx.add_edge(memory.id, target.id, type, weight=weight)
        if type == SUPERSEDES:
            retire(tx, [target.id], None, ctx.now())
    return memory


def draft_of(tx: Writer, ctx: Context, note: Note) -> Draft:
    """The memory that *note* is to become. The session it names begins if there is none."""
    namespace = ctx.home(note.namespace)
    tier = note.tier or tier_for(note.ttl)
    return Draft(
        namespace=namespace,
        title=note.title or title_of(note.text),
        texts=(note.text,),
        kind=note.kind,
        summary=note.summary,
        tags=tuple(dict.fromkeys(note.tags)),
        priority=note.priority,
        confidence=note.confidence,
        quality=note.quality,
        tier=tier,
        source=note.source,
        metadata=faithful(note.metadata),
        session_id=_session(tx, ctx, namespace, note.session) if note.session else note.session_id,
        created_at=note.created_at,
        valid_from=note.occurred_at,
        expires_at=note.expires_at or ctx.lives.expiry(tier, note.ttl, ctx.now()),
    )


def _session(tx: Writer, ctx: Context, namespace: str, session: int | str) -> int:
    """The number of the session meant: digits are its number if there is such a one, else any text is a name.

    One of that name begins if there is none. Invalid for an unknown number.
    """
    is_number = isinstance(session, int) or (session.isascii() and session.isdecimal() and len(session) < 10)
    found = tx.session_numbered(int(session)) if is_number else None
    if found is not None and ctx.may_see(found.namespace):
        return found.id
    if isinstance(session, int):
        raise Invalid(f"session: there is no session {session}", "session")
    return tx.session(namespace, session)


def _added(tx: Writer, ctx: Context, draft: Draft) -> Memory:
    """The memory made of *draft*; if its title is taken, which is rare and so not asked first, with a number behind."""
    try:
        return tx.add(draft, uid=ctx.new_uid())
    except Conflict:
        free = tx.unused_title(draft.namespace, draft.title)
        return tx.add(draft._replace(title=free), uid=ctx.new_uid())


def faithful(metadata: Mapping[str, object]) -> Mapping[str, object]:
    """*metadata*, or Invalid if it would not come back from JSON as it is."""
    if not metadata:
        return metadata
    try:
        same = (
            isinstance(metadata, Mapping) and orjson.loads(orjson.dumps(metadata, default=dict)) == metadata
        )
    except (TypeError, ValueError):
        same = False
    if not same:
        raise Invalid(
            "metadata: must be an object of plain JSON, without NaN, numbers beyond 64 bits, half characters "
            "or more than 250 levels",
            "metadata",
        )
    return metadata


def tier_for(ttl: Moment | None) -> Tier:
    """The tier of a memory of which only the length of life is given."""
    if ttl is None:
        return Tier.LONG
    return Tier.SHORT if ttl <= DAY else Tier.MID


def locate(reader: Reader, ctx: Context, reference: int | str, namespace: str | None = None) -> Memory:
    """The memory meant by a number, uid, beginning of a uid, or title; NotFound or Conflict if unclear.

    A title is looked up in the caller's own namespace first, and among living memories only.
    """
    number = _number(reference)
    found = reader.memory(number) if number is not None else None
    if found is None and isinstance(reference, str):
        found = _by_name(reader, ctx, reference, namespace)
    if found is None or found.state is State.NAMED or not ctx.may_see(found.namespace):
        raise NotFound(f"No memory {str(reference)[:80]!r}")
    return found


def _number(reference: int | str) -> int | None:
    if isinstance(reference, int):
        return reference if 0 < reference < BEYOND else None
    if not isinstance(reference, str):
        raise Invalid(f"reference: must be a number or a text, not {type(reference).__name__}", "reference")
    return int(reference) if reference.isascii() and reference.isdigit() and len(reference) < 19 else None


def titled(reader: Reader, ctx: Context, name: str, namespace: str | None = None) -> Memory | None:
    """The memory in use that is called *name*, looked up in the caller's own namespace first.

    One that is hidden only if there is no other.
    """
    scope = ctx.scope(namespace)
    # Most that are asked for are at home, and to look there alone is as good as free.
    places: tuple[Sequence[str] | None, ...] = ((ctx.home(),), None) if scope is None else (scope,)
    aside: list[Memory] = []
    for place in places:
        for memory in reader.memories(reader.ids_titled(name, place)):
            if is_in_use(ctx, memory):
                if not is_hidden(memory):
                    return memory
                aside.append(memory)
    return aside[0] if aside else None


def _by_name(reader: Reader, ctx: Context, name: str, namespace: str | None) -> Memory | None:
    called = titled(reader, ctx, name, namespace)
    if called:
        return called
    found = reader.memories(reader.ids_with_uid(name, PREFIXES_LOOKED_AT))
    begun = [memory for memory in found if ctx.may_see(memory.namespace)]
    if len(begun) > 1:
        among = f"among them {begun[0].id} and {begun[1].id}"
        raise Conflict(f"{name!r} begins the uid of several memories, {among}")
    return begun[0] if begun else None


def is_in_use(ctx: Context, memory: Memory) -> bool:
    """Whether *memory* is living, its time not over, and the caller may see it."""
    is_alive = memory.state is State.LIVING and not memory.has_expired(ctx.now())
    return is_alive and ctx.may_see(memory.namespace)


def in_use(ctx: Context) -> Filter:
    """The same said to the store, where nobody needs the memories themselves."""
    return Filter(namespaces=ctx.granted, alive_at=ctx.now())


def known(ctx: Context) -> Filter:
    """What a walk along links may pass: the living and what they have superseded, as far as the caller may see."""
    return Filter(namespaces=ctx.granted, states=KNOWN, alive_at=ctx.now())


def find(ctx: Context, reference: int | str, namespace: str | None = None) -> Memory:
    """The memory *reference* means, in whatever state."""
    return locate(ctx.store.read(), ctx, reference, namespace)


def open_all(
    ctx: Context, references: Sequence[int | str], namespace: str | None = None
) -> list[tuple[Memory, list[Edge]]]:
    """The memories meant, in that order, each with the links it has to living ones. Counts as a use."""
    reader = ctx.store.read()
    found = [locate(reader, ctx, reference, namespace) for reference in references]
    opened = [(memory, links_of(reader, ctx, memory)) for memory in found]
    touch(ctx, found)
    return opened


def links_of(reader: Reader, ctx: Context, memory: Memory) -> list[Edge]:
    """The links of *memory* whose other end is living and may be seen."""
    edges = reader.edges([memory.id], Direction.BOTH)
    ends = {edge.target_id if edge.source_id == memory.id else edge.source_id for edge in edges}
    seen = reader.passing(sorted(ends), in_use(ctx))
    return [edge for edge in edges if {edge.source_id, edge.target_id} - {memory.id} <= seen]


def revise(ctx: Context, reference: int | str, revision: Revision) -> Memory:
    """Change a memory's text or fields."""
    with write_after_expiry(ctx, "revise") as tx:
        memory = locate(tx, ctx, reference)
        must_live(memory)
        changed = tx.change(memory, **changes_of(ctx, memory, revision))
    ctx.wake()
    return changed


def changes_of(ctx: Context, memory: Memory, revision: Revision) -> dict[str, object]:
    """The fields of *memory* that *revision* changes."""
    plain = {"title", "kind", "summary", "tags", "confidence", "priority"}
    changes: dict[str, object] = {
        item.name: value
        for item in fields(revision)
        if item.name in plain and (value := getattr(revision, item.name)) is not None
    }
    if revision.metadata is not None:
        changes["metadata"] = with_its_keys(memory, faithful(revision.metadata))
    if revision.text is not None:
        changes["texts"] = (revision.text,)
    if revision.append is not None:
        body = changes.get("texts") or memory.texts
        changes["texts"] = (*body, revision.append)  # type: ignore[misc]
    if revision.namespace is not None:
        changes["namespace"] = ctx.home(revision.namespace)
    if revision.tier is not None or revision.ttl is not None:
        tier = revision.tier or memory.tier
        changes |= {"tier": tier, "expires_at": ctx.lives.expiry(tier, revision.ttl, ctx.now())}
    if revision.expires_at is not None:
        changes["expires_at"] = revision.expires_at or None
    return changes


def must_live(memory: Memory) -> None:
    """Conflict unless *memory* is in use, so that it can be changed."""
    if memory.state is not State.LIVING:
        raise Conflict(f"Memory {memory.id} is {memory.state}; restore it first")


def living(reader: Reader, ctx: Context, memory_id: int) -> Memory:
    """The memory with this number, which must be in use: NotFound or Conflict if not."""
    memory = reader.memory(memory_id)
    if memory is None or memory.state is State.NAMED or not ctx.may_see(memory.namespace):
        raise NotFound("memory not found")
    must_live(memory)
    return memory


def promote(ctx: Context, memory_id: int) -> Memory:
    """Make a living memory long, without an end; one whose time is over can be saved so until it is collected."""
    with ctx.write("promote") as tx:
        return tx.change(living(tx, ctx, memory_id), tier=Tier.LONG, expires_at=None)


def supersede(ctx: Context, reference: int | str, text: str, reason: str | None) -> tuple[Memory, Memory]:
    """Put a corrected memory in the place of one, which stays readable as superseded: (new, old).

    Conflict if it is not in use, or its time is over: the correction would be over with it.
    """
    with write_after_expiry(ctx, "supersede") as tx:
        old = locate(tx, ctx, reference)
        must_live(old)
        old = taken_out(tx, old, State.SUPERSEDED, reason, ctx.now())
        was_made = bool(old.statements) and old.title.startswith(title_of(old.content))
        new = tx.add(successor(tx, old, text, title_of(text) if was_made else old.title), uid=ctx.new_uid())
        tx.add_edge(new.id, old.id, SUPERSEDES, reason=reason)
    ctx.wake()
    return new, old


def successor(tx: Writer, old: Memory, text: str, title: str) -> Draft:
    """What takes the place of *old*: it says *text*, and is like it in all else."""
    return Draft(
        namespace=old.namespace,
        title=tx.unused_title(old.namespace, title),
        texts=(text,),
        kind=old.kind,
        tags=old.tags,
        priority=old.priority,
        confidence=old.confidence,
        tier=old.tier,
        source=old.source,
        metadata=old.metadata,
        session_id=old.session_id,
        expires_at=old.expires_at,
    )


class Fate(StrEnum):
    """What becomes of memories that are let go: all but the purged can be restored."""

    FORGOTTEN = "forget"
    ARCHIVED = "archive"
    PURGED = "purge"


def forget(
    ctx: Context,
    references: Sequence[int | str],
    *,
    reason: str | None = None,
    dry_run: bool = False,
    fate: Fate = Fate.FORGOTTEN,
) -> list[Memory]:
    """Let go of these memories; those that were affected."""
    with ctx.write(fate) as tx:
        meant = {memory.id: memory for memory in (locate(tx, ctx, reference) for reference in references)}
        affected = [
            memory for memory in meant.values() if fate is Fate.PURGED or memory.state is State.LIVING
        ]
        return affected if dry_run else _let_go(tx, ctx, affected, reason, fate)


def forget_matching(
    ctx: Context,
    wanted: Filter,
    *,
    pattern: str | None = None,
    reason: str | None = None,
    dry_run: bool = False,
    fate: Fate = Fate.FORGOTTEN,
) -> list[Memory]:
    """Let go of every memory that passes *wanted* and, if given, holds all words of *pattern*.

    They are looked for before the transaction; what somebody changes meanwhile is left alone.
    """
    ctx.must_write()
    seen = ctx.store.sequence()
    found = matching(ctx.store.read(), ctx, wanted, pattern)
    if dry_run:
        return found
    with ctx.write(fate) as tx:
        changed = _changed(tx, seen)
        return _let_go(tx, ctx, [memory for memory in found if memory.id not in changed], reason, fate)


def _changed(reader: Reader, seen: int) -> set[int]:
    """The memories that somebody changed since change *seen*; to use one is not to change it."""
    changes = reader.journal(after=seen, subject=Subject.MEMORY)
    return {change.subject_id for change in changes if change.operation != USE}


def matching(reader: Reader, ctx: Context, wanted: Filter, pattern: str | None) -> list[Memory]:
    """Every memory that passes *wanted* and, if given, holds all words of *pattern*."""
    everything = reader.count()
    if pattern is None:
        numbers = reader.select(wanted, limit=everything)
    else:
        terms = _terms(pattern)
        numbers = [number for number, _ in reader.words(terms, wanted, every=True, limit=everything)]
    return [memory for memory in reader.memories(numbers) if ctx.may_see(memory.namespace)]


def _terms(pattern: str) -> tuple[str, ...]:
    """The different words of *pattern*."""
    if len(pattern) > MAX_QUERY_CHARACTERS:
        raise Invalid(f"pattern: longer than {MAX_QUERY_CHARACTERS:,} characters", "pattern")
    terms = tuple(dict.fromkeys(words(pattern)))
    if not terms:
        raise Invalid("pattern: has no words", "pattern")
    if len(terms) > MAX_PATTERN_WORDS:
        raise Invalid(f"pattern: more than {MAX_PATTERN_WORDS} different words", "pattern")
    return terms


def _let_go(tx: Writer, ctx: Context, affected: list[Memory], reason: str | None, fate: Fate) -> list[Memory]:
    if fate is Fate.PURGED:
        tx.purge([memory.id for memory in affected])
        return affected
    state = State.ARCHIVED if fate is Fate.ARCHIVED else State.FORGOTTEN
    return [taken_out(tx, memory, state, reason, ctx.now()) for memory in affected]


def restore(ctx: Context, references: Sequence[int | str], *, name: str | None = None) -> list[Memory]:
    """Restore memories that were deleted, archived or superseded, a single one under another *name* if that is given.

    Of several that had the same name the last to leave is meant. Conflict if the name belongs to another memory now.
    """
    if name is not None and len(references) != 1:
        raise Invalid("name: goes with one memory", "name")
    with write_after_expiry(ctx, "restore") as tx:
        back = [_bring_back(tx, ctx, _left(tx, ctx, reference), name) for reference in references]
    ctx.wake()
    return back


def _left(reader: Reader, ctx: Context, reference: int | str) -> Memory:
    """The memory *reference* means to restore: one that has left comes before a living one of the same name."""
    if isinstance(reference, str) and _number(reference) is None:
        found = [
            memory for memory in reader.memories(reader.ids_left(reference)) if ctx.may_see(memory.namespace)
        ]
        scope = ctx.scope() or ()
        found.sort(key=lambda memory: memory.namespace not in scope)  # stable: the last to leave stays first
        if found:
            return found[0]
    return locate(reader, ctx, reference)


def _bring_back(tx: Writer, ctx: Context, memory: Memory, name: str | None) -> Memory:
    end = None if memory.has_expired(ctx.now()) else memory.expires_at
    chosen = {} if name is None else {"title": name}
    try:
        return brought_back(tx, memory, expires_at=end, **chosen)
    except Conflict as error:
        raise Conflict(f"{error}; give `name` to restore it under another") from None
