"""Keeping, reading, changing and letting go of memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache, partial
from typing import NamedTuple

import orjson

from mnemic.core import titles
from mnemic.core.annotations import with_its_keys
from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.core.retention import touch
from mnemic.core.states import brought_back, retire, taken_out
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.model.enums import State, Tier
from mnemic.model.filter import EdgeFilter, Filter, Order
from mnemic.model.graph import Edge, EdgeDraft
from mnemic.model.limits import MAX_PATTERN_WORDS, MAX_QUERY_CHARACTERS, not_itself
from mnemic.model.memory import ATTRIBUTES, ATTRIBUTES_OF, Attributes, Draft, Memory, MemoryPatch
from mnemic.model.patch import UNSET, Unset, if_given
from mnemic.model.time import DAY, Moment
from mnemic.search.similarity import near_duplicates
from mnemic.storage.base import Reader, Writer
from mnemic.storage.fingerprint import digest
from mnemic.storage.queries import (
    best_words,
    ids_titled,
    ids_with_uid,
    memory_numbered,
    passing,
    session_called,
    session_numbered,
)
from mnemic.storage.tokenizer import words

SUPERSEDES = "supersedes"
KNOWN = frozenset({State.LIVING, State.SUPERSEDED})
"""What is still there to be read: a belief that was corrected stays part of the story."""
COMPARED_AT_ONCE = 10
"""Largest batch whose near-duplicates are reported; of a larger one they would not be read."""
PREFIXES_LOOKED_AT = 100
BEYOND = 2**63
"""No memory has so large a number."""
EVERY = 1 << 31
"""A limit that leaves nothing out."""
LEFT = frozenset({State.FORGOTTEN, State.ARCHIVED, State.SUPERSEDED})
NEVER: Moment = 0
"""As the `expires_at` of a revision: the memory is to have no end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Attributes):
    """Something to remember, as its author gives it."""

    text: str
    namespace: str | None = None
    tier: Tier | None = None
    ttl: Moment | None = None
    session: int | str | None = None
    """Its session by number, or by a name, under which one begins if there is none; it wins over `session_id`."""
    links: tuple[tuple[int | str, str, float], ...] = ()
    occurred_at: Moment | None = None
    """When it happened, if not when it is stored: the date that filters and the ranking go by."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that was stored, and the known ones that say nearly the same, with how alike they are."""

    memory: Memory
    similar: tuple[tuple[Memory, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A note that was not stored because a known memory repeats it."""

    index: int
    reason: str
    known: Memory


@dataclass(frozen=True, slots=True)
class RememberResult:
    """What became of the notes."""

    kept: tuple[Kept, ...]
    refused: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """Changes to a memory; None leaves a field as it is."""

    text: str | None = None
    append: str | None = None
    name: str | None = None
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


def remember(ctx: Context, notes: Sequence[Note], *, force: bool = False) -> RememberResult:
    """Keep *notes* in one transaction. A text that is known is refused unless *force*d, a name that is taken always."""

    texts = [note.text for note in notes]

    def announce(tx: Writer) -> None:
        tx.expect(len(notes), lambda reader: _look_up(reader, ctx, notes, force=force))

    def work(tx: Writer) -> tuple[list[Kept], list[Refusal]]:
        kept: list[Kept] = []
        refused: list[Refusal] = []
        fresh = _unheard(tx, texts) if len(notes) > 1 else ()
        for index, note in enumerate(notes):
            refusal = _refusal(tx, ctx, index, note, is_fresh=force or note.text in fresh)
            if refusal:
                refused.append(refusal)
            else:
                similar = _similar(tx, ctx, note) if len(notes) <= COMPARED_AT_ONCE else ()
                kept.append(Kept(keep(tx, ctx, note), similar))
        return kept, refused

    kept, refused = change_after_expiry(
        ctx,
        "remember",
        work,
        namespaces=(ctx.home(note.namespace) for note in notes),
        announce=announce,
    )
    if kept:
        ctx.wake()
    return RememberResult(tuple(kept), tuple(refused))


def _look_up(reader: Reader, ctx: Context, notes: Sequence[Note], *, force: bool) -> None:
    """The look-ups for *notes* before the first of them is stored."""
    if len(notes) > 1:
        _unheard(reader, [note.text for note in notes])
    else:
        _refusal(reader, ctx, 0, notes[0], is_fresh=force)
        _similar(reader, ctx, notes[0])


def _unheard(reader: Reader, texts: Sequence[str]) -> set[str]:
    """Those of *texts* that no memory has and that occur once in the list, ignoring case and spacing."""
    known, often = reader.same_texts(texts, None), Counter(map(digest, texts))
    return {text for text in texts if text not in known and often[digest(text)] == 1}


def _similar(reader: Reader, ctx: Context, note: Note) -> tuple[tuple[Memory, float], ...]:
    """The known memories that *note* nearly repeats. What had expired before the transaction began has left."""
    return near_duplicates(reader, note.text, _living_in(ctx.home(note.namespace)))


@lru_cache(maxsize=64)  # to make one takes 3 µs of every write
def _living_in(namespace: str) -> Filter:
    return Filter(namespaces=(namespace,))


def _refusal(reader: Reader, ctx: Context, index: int, note: Note, *, is_fresh: bool) -> Refusal | None:
    namespace = ctx.home(note.namespace)
    twin = None if is_fresh else reader.same_texts([note.text], (namespace,)).get(note.text)
    if twin is not None:
        return Refusal(
            index, "the same text is known; revise it, or force to store it again", reader.get([twin])[0]
        )
    if note.name is not None:
        for known in titles.bearers(reader, note.name, (namespace,)):
            return Refusal(index, "the title is taken; revise that memory, or choose another", known)
    return None


def keep(tx: Writer, ctx: Context, note: Note) -> Memory:
    """The memory made of *note*. Conflict if its name is taken."""
    memory = titles.insert(tx, ctx, draft_of(tx, ctx, note))
    for reference, type, weight in note.links:
        target = locate(tx, ctx, reference)
        not_itself(memory.id, target.id, "links")
        must_live(target)
        tx.insert_edge(EdgeDraft(memory.id, target.id, type, weight=weight))
        if type == SUPERSEDES:
            retire(tx, [target.id], None, ctx.now())
    return memory


def draft_of(tx: Writer, ctx: Context, note: Note) -> Draft:
    """The memory that *note* is to become. The session it names begins if there is none."""
    namespace = ctx.home(note.namespace)
    tier = note.tier or tier_for(note.ttl)
    said = dict(zip(ATTRIBUTES, ATTRIBUTES_OF(note), strict=True)) | {
        "tags": tuple(dict.fromkeys(note.tags)),
        "metadata": faithful(note.metadata),
        "expires_at": note.expires_at or ctx.lives.expiry(tier, note.ttl, ctx.now()),
    }
    if note.session:
        said["session_id"] = _session(tx, ctx, namespace, note.session)
    return Draft(**said, namespace=namespace, texts=(note.text,), tier=tier, valid_from=note.occurred_at)


def _session(tx: Writer, ctx: Context, namespace: str, session: int | str) -> int:
    """The number of the session meant: digits are its number if there is such a one, else any text is a name.

    One of that name begins if there is none. Invalid for an unknown number.
    """
    is_number = isinstance(session, int) or (session.isascii() and session.isdecimal() and len(session) < 10)
    found = session_numbered(tx, int(session)) if is_number else None
    if found is not None:
        return found.id
    if isinstance(session, int):
        raise Invalid(f"session: there is no session {session}", "session")
    return session_called(tx, namespace, session).id


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
    """The memory meant by a name, number, uid, beginning of a uid, or title; NotFound or Conflict if unclear.

    A name is looked up in the caller's own namespace first. Names and titles are those of living memories.
    """
    number = _number(reference)
    found = called(reader, ctx, reference, namespace) if isinstance(reference, str) else None
    if found is None and number is not None:
        found = memory_numbered(reader, number)
    if found is None and isinstance(reference, str):
        found = _with_uid(reader, ctx, reference) or _only_titled(reader, ctx, reference, namespace)
    if found is None or found.state is State.NAMED:
        raise NotFound(f"No memory {str(reference)[:80]!r}")
    return found


def _number(reference: int | str) -> int | None:
    if isinstance(reference, int):
        return reference if 0 < reference < BEYOND else None
    if not isinstance(reference, str):
        raise Invalid(f"reference: must be a number or a text, not {type(reference).__name__}", "reference")
    return int(reference) if reference.isascii() and reference.isdigit() and len(reference) < 19 else None


def called(reader: Reader, ctx: Context, name: str, namespace: str | None = None) -> Memory | None:
    """The living memory of this name, looked up in the caller's own namespace first."""
    for memory in _first(reader, ctx, reader.ids_named, name, namespace):
        return memory
    return None


def titled(reader: Reader, ctx: Context, title: str, namespace: str | None = None) -> list[Memory]:
    """The living memories displayed as *title*, of the caller's own namespace if there are any."""
    return _first(reader, ctx, partial(ids_titled, reader), title, namespace)


def _first(
    reader: Reader, ctx: Context, look: Callable[..., list[int]], text: str, namespace: str | None
) -> list[Memory]:
    scope = ctx.scope(namespace)
    # Most that are asked for are at home, and to look there alone is as good as free.
    places: tuple[Sequence[str] | None, ...] = ((ctx.home(),), None) if scope is None else (scope,)
    for place in places:
        found = [memory for memory in reader.get(look(text, place)) if is_in_use(ctx, memory)]
        if found:
            return found
    return []


def _only_titled(reader: Reader, ctx: Context, title: str, namespace: str | None) -> Memory | None:
    """The memory that is shown as *title*; Conflict if several are."""
    return _single(titled(reader, ctx, title, namespace), f"{title[:80]!r} is the title of several memories")


def _with_uid(reader: Reader, ctx: Context, uid: str) -> Memory | None:
    """The memory whose uid begins so; Conflict if several do."""
    begun = reader.get(ids_with_uid(reader, uid, PREFIXES_LOOKED_AT))
    return _single(begun, f"{uid!r} begins the uid of several memories")


def _single(found: Sequence[Memory], unclear: str) -> Memory | None:
    if len(found) > 1:
        raise Conflict(f"{unclear}, among them {found[0].id} and {found[1].id}; give the id")
    return found[0] if found else None


def is_in_use(ctx: Context, memory: Memory) -> bool:
    """Whether *memory* is living and its time is not over."""
    return memory.state is State.LIVING and not memory.has_expired(ctx.now())


def in_use(ctx: Context) -> Filter:
    """The same as a filter, where the memories themselves are not needed."""
    return Filter(alive_at=ctx.now())


def known(ctx: Context) -> Filter:
    """What a walk along links may pass: the living and what they have superseded, as far as the caller may see."""
    return Filter(states=KNOWN, alive_at=ctx.now())


def find(ctx: Context, reference: int | str, namespace: str | None = None) -> Memory:
    """The memory *reference* means, in any state."""
    return locate(ctx.read(), ctx, reference, namespace)


class Opened(NamedTuple):
    """Memories with their links, and the references that mean none."""

    memories: list[tuple[Memory, list[Edge]]]
    missing: list[int | str]


def open_all(ctx: Context, references: Sequence[int | str], namespace: str | None = None) -> Opened:
    """The memories meant, in that order, each with the links it has to living ones. Counts as a use.

    NotFound if there is none of them.
    """
    reader = ctx.read()
    found: list[Memory] = []
    missing: list[int | str] = []
    for reference in references:
        try:
            found.append(locate(reader, ctx, reference, namespace))
        except NotFound:
            if len(references) == 1:
                raise
            missing.append(reference)
    if missing and not found:
        raise NotFound(f"No memory {', '.join(repr(str(reference)[:80]) for reference in missing)}")
    touch(ctx, found)
    return Opened([(memory, links_of(reader, ctx, memory)) for memory in found], missing)


def links_of(reader: Reader, ctx: Context, memory: Memory) -> list[Edge]:
    """The links of *memory* whose other end is living and may be seen."""
    edges = reader.edges(EdgeFilter(at=(memory.id,)))
    ends = {edge.target_id if edge.source_id == memory.id else edge.source_id for edge in edges}
    seen = passing(reader, sorted(ends), in_use(ctx))
    return [edge for edge in edges if {edge.source_id, edge.target_id} - {memory.id} <= seen]


def revise(ctx: Context, reference: int | str, revision: Revision) -> Memory:
    """Change a memory's text or fields."""

    def work(tx: Writer) -> Memory:
        memory = locate(tx, ctx, reference)
        must_live(memory)
        return titles.update(tx, memory, patch_of(ctx, memory, revision))

    moves_to = () if revision.namespace is None else (ctx.home(revision.namespace),)
    changed = change_after_expiry(ctx, "revise", work, namespaces=(*ctx.usual, *moves_to))
    ctx.wake()
    return changed


def patch_of(ctx: Context, memory: Memory, revision: Revision) -> MemoryPatch:
    """The change that *revision* makes to *memory*."""
    patch = MemoryPatch(
        kind=if_given(revision.kind),
        summary=if_given(revision.summary),
        tags=if_given(revision.tags),
        confidence=if_given(revision.confidence),
        priority=if_given(revision.priority),
        texts=_revised_texts(memory, revision),
    )
    if revision.metadata is not None:
        patch = replace(patch, metadata=with_its_keys(memory, faithful(revision.metadata)))
    if revision.namespace is not None:
        patch = replace(patch, namespace=ctx.home(revision.namespace))
    return patch.then(_revised_title(memory, revision)).then(_revised_end(ctx, memory, revision))


def _revised_texts(memory: Memory, revision: Revision) -> tuple[str, ...] | Unset:
    if revision.text is None and revision.append is None:
        return UNSET
    body = memory.texts if revision.text is None else [revision.text]
    return (*body,) if revision.append is None else (*body, revision.append)


def _revised_title(memory: Memory, revision: Revision) -> MemoryPatch:
    if revision.name is not None:
        return MemoryPatch(**titles.named(revision.name))
    return MemoryPatch() if revision.text is None else titles.retitled(memory, (revision.text,))


def _revised_end(ctx: Context, memory: Memory, revision: Revision) -> MemoryPatch:
    patch = MemoryPatch()
    if revision.tier is not None or revision.ttl is not None:
        tier = revision.tier or memory.tier
        patch = MemoryPatch(tier=tier, expires_at=ctx.lives.expiry(tier, revision.ttl, ctx.now()))
    return patch if revision.expires_at is None else replace(patch, expires_at=revision.expires_at or None)


def must_live(memory: Memory) -> None:
    """Conflict unless *memory* is living, so that it can be changed."""
    if memory.state is not State.LIVING:
        raise Conflict(f"Memory {memory.id} is {memory.state}; restore it first")


def living(reader: Reader, ctx: Context, memory_id: int) -> Memory:
    """The living memory with this number: NotFound or Conflict if it is missing or not living."""
    memory = memory_numbered(reader, memory_id)
    if memory is None or memory.state is State.NAMED:
        raise NotFound("memory not found")
    must_live(memory)
    return memory


def promote(ctx: Context, memory_id: int) -> Memory:
    """Make a living memory long, without an end; one whose time is over can be saved so until it is collected."""
    return ctx.change(
        "promote",
        lambda tx: tx.update(living(tx, ctx, memory_id), MemoryPatch(tier=Tier.LONG, expires_at=None)),
        namespaces=ctx.usual,
    )


def supersede(ctx: Context, reference: int | str, text: str, reason: str | None) -> tuple[Memory, Memory]:
    """Replace a memory by its correction; the old one stays readable as superseded: (new, old).

    A living memory that says the correction already becomes it: a contradiction is reported after both were stored.

    Conflict if it is not living or has expired: the correction would expire with it.
    """

    def work(tx: Writer) -> tuple[Memory, Memory]:
        old = locate(tx, ctx, reference)
        must_live(old)
        twin = tx.same_texts([text], (old.namespace,)).get(text)
        old = taken_out(tx, old, State.SUPERSEDED, reason, ctx.now())
        if twin is not None and twin != old.id:
            [new] = tx.get([twin])
        else:
            new = titles.insert(tx, ctx, successor(tx, old, text))
        tx.insert_edge(EdgeDraft(new.id, old.id, SUPERSEDES, reason=reason))
        return old, new

    old, new = change_after_expiry(ctx, "supersede", work, namespaces=ctx.usual)
    ctx.wake()
    return new, old


def successor(tx: Reader, old: Memory, text: str) -> Draft:
    """What takes the place of *old*, and its name if that is free: it says *text*, and is like it in all else."""
    is_free = old.name is not None and not tx.ids_named(old.name, (old.namespace,))
    return Draft(
        namespace=old.namespace,
        name=old.name if is_free else None,
        title="" if titles.is_derived(old) else old.title,
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
    """How memories are removed: all but purged ones can be restored."""

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
    """Delete, archive or purge these memories; those affected."""

    def work(tx: Writer) -> list[Memory]:
        meant = {memory.id: memory for memory in (locate(tx, ctx, reference) for reference in references)}
        affected = [
            memory for memory in meant.values() if fate is Fate.PURGED or memory.state is State.LIVING
        ]
        return affected if dry_run else _let_go(tx, ctx, affected, reason, fate)

    return ctx.change(fate, work, namespaces=None if fate is Fate.PURGED else ctx.usual)


def forget_matching(
    ctx: Context,
    wanted: Filter,
    *,
    pattern: str | None = None,
    reason: str | None = None,
    dry_run: bool = False,
    fate: Fate = Fate.FORGOTTEN,
) -> list[Memory]:
    """Remove every memory that passes *wanted* and, if given, has all words of *pattern*.

    They are looked for before the transaction; what somebody changes meanwhile is left alone.
    """
    ctx.must_write()
    found = matching(ctx.read(), ctx, wanted, pattern)
    if dry_run:
        return found

    def work(tx: Writer) -> list[Memory]:
        now = {memory.id: _said(memory) for memory in tx.get([memory.id for memory in found])}
        unchanged = [memory for memory in found if now.get(memory.id) == _said(memory)]
        return _let_go(tx, ctx, unchanged, reason, fate)

    where = None if fate is Fate.PURGED else {memory.namespace for memory in found}
    return ctx.change(fate, work, namespaces=where)


def _said(memory: Memory) -> Memory:
    """*memory* without what its use changes."""
    return replace(
        memory, accessed_at=None, access_count=0, days_used=0, priority=1, tier=Tier.LONG, expires_at=None
    )


def matching(reader: Reader, ctx: Context, wanted: Filter, pattern: str | None) -> list[Memory]:
    """Every memory that passes *wanted* and, if given, holds all words of *pattern*."""
    if pattern is None:
        numbers = reader.select(wanted)
    else:
        found = best_words(reader, _terms(pattern), wanted, every=True, limit=EVERY)
        numbers = [number for number, _ in found]
    return reader.get(numbers)


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
        raise Invalid("name: only for a single memory", "name")
    back = change_after_expiry(
        ctx,
        "restore",
        lambda tx: [_bring_back(tx, ctx, _left(tx, ctx, reference), name) for reference in references],
        namespaces=ctx.usual,
    )
    ctx.wake()
    return back


def _left(reader: Reader, ctx: Context, reference: int | str) -> Memory:
    """The memory *reference* means to restore: one that has left comes before a living one of the same name."""
    if isinstance(reference, str) and _number(reference) is None:
        found = reader.get(_ids_left(reader, reference))
        scope = ctx.scope() or ()
        found.sort(key=lambda memory: memory.namespace not in scope)  # stable: the last to leave stays first
        if found:
            return found[0]
    return locate(reader, ctx, reference)


def _ids_left(reader: Reader, name: str) -> list[int]:
    """The memories of this title or name that have left, the last to leave first."""
    titled, named = Filter(title=name, states=LEFT), Filter(name=name, states=LEFT)
    return reader.select(titled, order=Order.LEFT) or reader.select(named, order=Order.LEFT)


def _bring_back(tx: Writer, ctx: Context, memory: Memory, name: str | None) -> Memory:
    end = None if memory.has_expired(ctx.now()) else memory.expires_at
    chosen = MemoryPatch() if name is None else MemoryPatch(**titles.named(name))
    try:
        return brought_back(tx, memory, MemoryPatch(expires_at=end).then(chosen))
    except Conflict as error:
        raise Conflict(f"{error}; give `name` to restore it under another") from None
