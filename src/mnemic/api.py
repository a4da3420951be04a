"""The Python API: `with mnemic.open("notes.db") as memory: memory.remember("…")`."""

from __future__ import annotations

import builtins
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from mnemic.app import App, dialect, open_app
from mnemic.core import (
    embedding_queue,
    explanation,
    graph,
    history,
    listings,
    memories,
    recall,
    sessions,
    stats,
    traversal,
    upsert,
)
from mnemic.core.context import Context
from mnemic.core.memories import NEVER, Fate
from mnemic.core.stats import Overview
from mnemic.core.trust import ratings
from mnemic.core.trust import verify as verification
from mnemic.errors import Duplicate, Invalid
from mnemic.model.enums import State, Tier
from mnemic.model.filter import Filter, Order, Query
from mnemic.model.graph import Direction
from mnemic.model.time import Moment, parse_span
from mnemic.model.time_phrases import moment_of
from mnemic.results import (
    Change,
    EndedSession,
    Explanation,
    Hit,
    ImportConflict,
    ImportReport,
    Link,
    Memory,
    Neighbourhood,
    Outcome,
    Rated,
    Recollection,
    Refusal,
    ResumedSession,
    Session,
    StartedSession,
    Verdict,
    memories_of,
)
from mnemic.settings import load
from mnemic.transfer.formats import Format

__all__ = [
    "Change",
    "Direction",
    "EndedSession",
    "Fate",
    "Format",
    "Hit",
    "ImportConflict",
    "ImportReport",
    "Link",
    "Memories",
    "Memory",
    "Neighbourhood",
    "Note",
    "Order",
    "Outcome",
    "Rated",
    "Recollection",
    "Refusal",
    "ResumedSession",
    "Session",
    "StartedSession",
    "State",
    "Tier",
    "Verdict",
]

When = str | datetime
"""A time: a datetime, or a text such as `2026-01-31`, `yesterday`, `3 days ago` or `7d`."""
Span = str | timedelta
"""A length of time: a timedelta, or a text such as `6h`, `7d` or `1y`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something to remember, for `remember_all`."""

    text: str
    name: str | None = None
    kind: str = "note"
    tags: Sequence[str] = ()
    namespace: str | None = None
    tier: Tier | None = None
    ttl: Span | None = None
    occurred_at: When | None = None
    confidence: float = 1.0
    priority: int = 5
    source: str | None = None
    session: int | str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


class Memories:
    """An open memory. The methods are the native verbs; values come back as the classes of `mnemic.results`.

    A reference is an id, a uid, the beginning of one, or a name. A time is a datetime or a text such as `2026-01-31`,
    `yesterday` or `7d`; without an offset it is in the time zone of the setting `timezone`, by default that of the
    system. What the native tools would refuse is Invalid here too; every error is a MnemicError (`mnemic.errors`).
    """

    def __init__(self, ctx: Context, app: App | None = None):
        self._ctx = ctx
        self._app = app

    def __enter__(self) -> Memories:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        if self._app:
            self._app.close()

    @property
    def context(self) -> Context:
        """What the functions of the core take, for those who call them directly."""
        return self._ctx

    def remember(
        self,
        text: str,
        *,
        name: str | None = None,
        kind: str = "note",
        tags: Sequence[str] = (),
        namespace: str | None = None,
        tier: Tier | None = None,
        ttl: Span | None = None,
        occurred_at: When | None = None,
        confidence: float = 1.0,
        priority: int = 5,
        source: str | None = None,
        session: int | str | None = None,
        metadata: Mapping[str, object] | None = None,
        force: bool = False,
    ) -> Memory:
        """Store *text* and return the memory. Duplicate if the same text or name is known, unless *force*d."""
        note = Note(
            text=text,
            name=name,
            kind=kind,
            tags=tags,
            namespace=namespace,
            tier=tier,
            ttl=ttl,
            occurred_at=occurred_at,
            confidence=confidence,
            priority=priority,
            source=source,
            session=session,
            metadata={} if metadata is None else metadata,
        )
        outcome = self.remember_all([note], force=force)
        for refusal in outcome.refused:
            raise Duplicate(f"{refusal.reason} (memory {refusal.known.id})")
        return outcome.stored[0]

    def remember_all(self, notes: Sequence[Note], *, force: bool = False) -> Outcome:
        """Store many notes in one transaction; known ones are refused unless *force*d."""
        core = [self._note(note) for note in notes]
        outcome = memories.remember(self._ctx, core, force=force)
        return Outcome(
            stored=memories_of([kept.memory for kept in outcome.kept]),
            refused=tuple(
                Refusal(index=one.index, reason=one.reason, known=Memory.of(one.known))
                for one in outcome.refused
            ),
        )

    def upsert(
        self,
        name: str,
        text: str,
        *,
        kind: str = "note",
        tags: Sequence[str] = (),
        namespace: str | None = None,
        tier: Tier | None = None,
        ttl: Span | None = None,
        occurred_at: When | None = None,
        confidence: float = 1.0,
        priority: int = 5,
        source: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> Memory:
        """Store *text* under *name*, or update the memory of that name in the namespace.

        An update replaces text, tags, source and metadata, and never lowers priority, confidence or tier.
        """
        note = Note(
            text=text,
            name=name,
            kind=kind,
            tags=tags,
            namespace=namespace,
            tier=tier,
            ttl=ttl,
            occurred_at=occurred_at,
            confidence=confidence,
            priority=priority,
            source=source,
            metadata={} if metadata is None else metadata,
        )
        return Memory.of(upsert.store(self._ctx, self._note(note)).memory)

    def _note(self, note: Note) -> memories.Note:
        """*note* as the core takes it, checked as the tool `remember` checks it."""
        must_fit(
            "remember",
            text=note.text,
            title=note.name,
            kind=note.kind,
            tags=note.tags,  # a text for `tags` would become its letters
            namespace=note.namespace,
            tier=note.tier,
            confidence=note.confidence,
            priority=note.priority,
            source=note.source,
            session=note.session,
        )
        now_in = sessions.enter(self._ctx)
        return memories.Note(
            text=note.text,
            name=note.name,
            kind=note.kind,
            tags=tuple(note.tags),
            namespace=note.namespace,
            tier=note.tier,
            ttl=_span(note.ttl),
            occurred_at=self._optional(note.occurred_at, "occurred_at"),
            confidence=note.confidence,
            priority=note.priority,
            source=note.source,
            session=note.session,
            session_id=now_in.id if now_in else None,
            metadata=note.metadata,
        )

    def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        namespace: str | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        since: When | None = None,
        until: When | None = None,
        metadata: Mapping[str, object] | None = None,
        min_relevance: float | None = None,
        around: int = 0,
        budget_tokens: int | None = None,
        explain: bool = False,
    ) -> Recollection:
        """Find memories about *query*, best first; empty if nothing relevant is known.

        *min_relevance* replaces the default floor (0 returns every candidate). *around* adds that many turns of the
        session on either side of a hit. *metadata* selects memories with these values. With *explain* the hits carry
        the terms of their score and relevance.
        """
        must_fit(
            "recall",
            query=query,
            limit=limit,
            namespace=namespace,
            kinds=kinds,
            tags=tags,
            budget_tokens=budget_tokens,
            min_relevance=min_relevance,
            around=around,
        )
        wanted = self._filter(
            namespace=namespace, kinds=kinds, tags=tags, since=since, until=until, pairs=metadata
        )
        wanted_query = Query(
            text=query, filter=wanted, limit=limit, now=self._ctx.now(), min_relevance=min_relevance
        )
        found = recall.recall(self._ctx, wanted_query, budget_tokens=budget_tokens, around=around)
        return Recollection.of(found, explain=explain)

    def explain(self, query: str, id: int, *, limit: int = 10, namespace: str | None = None) -> Explanation:
        """Why the memory with this *id* is, or is not, a hit of `recall` with the same arguments. Counts no use."""
        must_fit("recall", query=query, limit=limit, namespace=namespace, why=[id])
        wanted = self._filter(namespace=namespace, kinds=None, tags=None, since=None, until=None, pairs=None)
        wanted_query = Query(text=query, filter=wanted, limit=limit, now=self._ctx.now())
        return Explanation.of(explanation.explain(self._ctx, wanted_query, id))

    def list(
        self,
        *,
        namespace: str | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        tier: Tier | None = None,
        state: State = State.LIVING,
        since: When | None = None,
        until: When | None = None,
        metadata: Mapping[str, object] | None = None,
        order: Order = Order.NEWEST,
        limit: int = 100,
        offset: int = 0,
    ) -> builtins.list[Memory]:
        """List memories that pass the filters, newest first unless another *order* is asked for."""
        must_fit(
            "list",
            namespace=namespace,
            kinds=kinds,
            tags=tags,
            tier=tier,
            state=state,
            order=order,
            limit=limit,
            offset=offset,
        )
        wanted = self._filter(
            namespace=namespace,
            kinds=kinds,
            tags=tags,
            tier=tier,
            state=state,
            since=since,
            until=until,
            pairs=metadata,
        )
        reader = self._ctx.read()
        numbers = reader.select(wanted, limit=limit, offset=offset, order=order)
        return [Memory.of(held) for held in reader.get(numbers)]

    def _filter(
        self,
        *,
        namespace: str | None,
        kinds: Sequence[str] | None,
        tags: Sequence[str] | None,
        since: When | None,
        until: When | None,
        pairs: Mapping[str, object] | None,
        tier: Tier | None = None,
        state: State = State.LIVING,
    ) -> Filter:
        wanted = Filter(
            namespaces=self._ctx.scope(namespace),
            kinds=tuple(kinds) if kinds else None,
            tags=tuple(tags) if tags else None,
            tier=tier,
            since=self._optional(since, "since"),
            until=self._optional(until, "until"),
            states=frozenset({state}),
            alive_at=self._ctx.now() if state is State.LIVING else None,
        )
        return listings.with_metadata(wanted, pairs) if pairs else wanted

    def namespaces(self) -> dict[str, int]:
        """The namespaces with their memory counts, the largest first."""
        return dict(stats.overview(self._ctx).by_namespace)

    def open(self, reference: int | str) -> Memory:
        """The memory *reference* means, in full; NotFound if there is none. Counts as a use."""
        must_fit("open", ids=[reference])
        return Memory.of(memories.open_all(self._ctx, [reference]).memories[0][0])

    def get(self, namespace: str, name: str) -> Memory | None:
        """The memory called *name* in *namespace*, or None."""
        must_fit("open", ids=[name], namespace=namespace)
        found = memories.called(self._ctx.read(), self._ctx, name, namespace)
        return None if found is None else Memory.of(found)

    def revise(
        self,
        reference: int | str,
        *,
        text: str | None = None,
        append: str | None = None,
        name: str | None = None,
        kind: str | None = None,
        summary: str | None = None,
        tags: Sequence[str] | None = None,
        namespace: str | None = None,
        tier: Tier | None = None,
        ttl: Span | None = None,
        expires_at: When | Literal["never"] | None = None,
        confidence: float | None = None,
        priority: int | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> Memory:
        """Change a memory's text or fields; fields not given stay unchanged."""
        given: dict[str, object] = {
            "text": text,
            "append": append,
            "title": name,
            "kind": kind,
            "summary": summary,
            "tags": tags,
            "namespace": namespace,
            "tier": tier,
            "confidence": confidence,
            "priority": priority,
            "metadata": metadata,
        }
        if any(value is not None for value in given.values()) or (ttl is None and expires_at is None):
            must_fit("revise", id=reference, **given)
        revision = memories.Revision(
            text=text,
            append=append,
            name=name,
            kind=kind,
            summary=summary,
            tags=None if tags is None else tuple(tags),
            namespace=namespace,
            tier=tier,
            ttl=_span(ttl),
            expires_at=NEVER if expires_at == "never" else self._optional(expires_at, "expires_at"),
            confidence=confidence,
            priority=priority,
            metadata=metadata,
        )
        return Memory.of(memories.revise(self._ctx, reference, revision))

    def supersede(self, reference: int | str, text: str, reason: str | None = None) -> Memory:
        """Replace a memory by a correction; the old one stays readable as superseded."""
        must_fit("revise", id=reference, text=text, supersede=True, reason=reason)
        return Memory.of(memories.supersede(self._ctx, reference, text, reason)[0])

    def forget(
        self, *references: int | str, reason: str | None = None, fate: Fate = Fate.FORGOTTEN
    ) -> builtins.list[Memory]:
        """Delete memories (restorable), move them to the archive, or purge them for good; those affected."""
        if not references:
            return []
        must_fit("forget", ids=references, reason=reason)
        gone = memories.forget(self._ctx, references, reason=reason, fate=fate)
        return [Memory.of(held) for held in gone]

    def restore(self, *references: int | str, name: str | None = None) -> builtins.list[Memory]:
        """Restore deleted, archived or superseded memories; one under another *name* if its own is taken."""
        must_fit("restore", ids=references, name=name)
        return [Memory.of(held) for held in memories.restore(self._ctx, references, name=name)]

    def link(
        self,
        source: int | str,
        target: int | str,
        type: str = "related_to",
        *,
        weight: float = 1.0,
        reason: str | None = None,
    ) -> Link:
        """Link two memories, or change the weight and reason of that link."""
        must_fit("link", source=source, target=target, type=type, weight=weight, reason=reason)
        supersedes = type == memories.SUPERSEDES
        return Link.of(graph.link(self._ctx, source, target, type, weight, reason, supersedes=supersedes))

    def end_link(self, source: int | str, target: int | str, type: str = "related_to") -> Link:
        """End a link."""
        must_fit("link", source=source, target=target, type=type, end=True)
        return Link.of(graph.end_link(self._ctx, source, target, type))

    def explore(
        self,
        reference: int | str,
        *,
        direction: Direction = Direction.BOTH,
        types: Sequence[str] | None = None,
        depth: int = 1,
        limit: int = 50,
    ) -> Neighbourhood:
        """Walk the links around a memory."""
        must_fit("explore", id=reference, direction=direction, types=types, depth=depth, limit=limit)
        return Neighbourhood.of(traversal.explore(self._ctx, reference, direction, types, depth, limit))

    def path(self, source: int | str, target: int | str) -> Neighbourhood:
        """The shortest path between two memories; empty if there is none."""
        must_fit("explore", id=source, to=target)
        return Neighbourhood.of(traversal.path(self._ctx, source, target))

    def start_session(self, topic: str | None = None) -> StartedSession:
        """Start a work session; later memories belong to it."""
        must_fit("session", action="start", topic=topic)
        return StartedSession.of(sessions.start(self._ctx, topic=topic))

    def end_session(self, summary: str | None = None, *, number: int | None = None) -> EndedSession:
        """End the open session, or that of this *number*; its memories become part of an episode."""
        must_fit("session", action="end", id=number, summary=summary)
        return EndedSession.of(sessions.end_open(self._ctx, number, summary))

    def resume_session(self, number: int | None = None, *, limit: int = 15) -> ResumedSession:
        """What there is to go on with; the session of this *number*, if one is given, is open again."""
        must_fit("session", action="resume", id=number, limit=limit)
        if number is not None:
            sessions.take_up(self._ctx, number)
        return ResumedSession.of(sessions.resume(self._ctx, limit, others=None))

    def log_turn(
        self, user: str | None = None, agent: str | None = None, *, topic: str | None = None
    ) -> Memory:
        """Store a turn of the open work session, which is started if there is none."""
        must_fit("session", action="log", user=user, agent=agent, topic=topic)
        return Memory.of(sessions.log(self._ctx, user, agent, topic=topic)[1])

    def rate(
        self,
        *references: int | str,
        useful: bool,
        confidence: float | None = None,
        links: Sequence[int] = (),
    ) -> Rated:
        """Say whether memories and links (by id) helped, and how sure you are, 1 to 10."""
        must_fit("rate", ids=references, links=links, useful=useful, confidence=confidence)
        return Rated.of(ratings.rate_named(self._ctx, references, links, useful, confidence))

    def verify(self, claim: str, *, namespace: str | None = None) -> Verdict:
        """Check a claim against memory."""
        must_fit("verify", claim=claim, namespace=namespace)
        return Verdict.of(verification.verify(self._ctx, claim, namespace))

    def history(
        self,
        reference: int | str | None = None,
        *,
        since: When | None = None,
        until: When | None = None,
        limit: int = 20,
    ) -> builtins.list[Change]:
        """What changed, newest first: of one memory, or everything."""
        must_fit("history", id=reference, limit=limit)
        changes = history.history(
            self._ctx,
            reference=reference,
            since=self._optional(since, "since"),
            until=self._optional(until, "until"),
            limit=limit,
        )
        return [Change.of(change) for change in changes]

    def undo(self, change: int) -> builtins.list[int]:
        """Undo a change and what was done together with it; the numbers of the changes undone."""
        must_fit("undo", change=change)
        return history.undo(self._ctx, change)

    def undo_since(self, when: When) -> builtins.list[int]:
        """Undo everything since a moment; the numbers of the changes undone."""
        return history.undo_since(self._ctx, self._moment(when, "when"))

    def as_of(self, when: When) -> Memories:
        """The memory as it was at a moment, to read from."""
        return Memories(history.as_of(self._ctx, self._moment(when, "when")))

    def stats(self) -> Overview:
        """The store in numbers."""
        return stats.overview(self._ctx)

    def embed(self, limit: int = 1000) -> int:
        """Compute missing vectors; how many statements got one."""
        return embedding_queue.embed_pending(self._ctx, limit)

    def export_file(
        self, path: str | os.PathLike[str], *, format: Format = Format.JSONL, journal: bool = False
    ) -> Path:
        """Write all memories and links to *path*, lossless as lines, and with the whole *journal* if it is asked for.

        As `Format.JSON` it is one document of the living memories. A failure leaves the old file.
        """
        from mnemic.atomic_write import written_whole
        from mnemic.transfer import formats

        if journal and format is Format.JSON:
            raise Invalid("journal: only lines can hold it; use Format.JSONL", "journal")
        target = Path(path)
        with written_whole(target) as stream:
            for piece in formats.export(self._ctx, Format(format), journal=journal):
                stream.write(piece)
        return target

    def import_file(self, path: str | os.PathLike[str], *, system: str | None = None) -> ImportReport:
        """Import a file of ours, or the data of another *system* at *path*: `anthropic`, `markdown`, `claude`, ….

        Memories with the same id or chosen name are merged field by field; importing twice changes nothing.
        """
        from mnemic.app import SOURCES, import_from
        from mnemic.transfer import formats
        from mnemic.transfer.wire import conflict_entry

        if system is not None and system not in SOURCES:
            raise Invalid(f"system: must be one of {', '.join(SOURCES)}, not {system!r}", "system")
        if system is not None:
            done = import_from(self._ctx, system, Path(path))
        else:
            with Path(path).open("rb") as stream:
                first = formats.first_line(stream)
                if formats.is_database(first):
                    raise Invalid(f"path: {path} is a database; name its system", "path")
                done = formats.take_in(self._ctx, first, stream, formats.looks_like(first))
        conflicts = tuple(ImportConflict(**conflict_entry(clash)) for clash in done.conflicts)
        return ImportReport(
            imported=done.imported, skipped=done.skipped, errors=tuple(done.errors), conflicts=conflicts
        )

    def _optional(self, when: When | None, field: str) -> Moment | None:
        return None if when is None else self._moment(when, field)

    def _moment(self, when: When, field: str) -> Moment:
        if isinstance(when, datetime):
            return moment_of(when, self._ctx.zone)
        if not isinstance(when, str):
            raise Invalid(f"{field}: must be a text or a datetime, not {type(when).__name__}", field)
        return self._ctx.moment(when, field)


def _span(ttl: Span | None) -> Moment | None:
    if ttl is None:
        return None
    if isinstance(ttl, timedelta):
        span = ttl // timedelta(microseconds=1)
        if span <= 0:
            raise Invalid("ttl: must be longer than nothing", "ttl")
        return span
    if not isinstance(ttl, str):
        raise Invalid(f"ttl: must be a text or a timedelta, not {type(ttl).__name__}", "ttl")
    return parse_span(ttl, "ttl")


PARTS = {"list": "catalog", "restore": "forget", "undo": "history"}
"""Native operations that are declared in a module of another name; only the module of the called one is imported."""


def must_fit(tool: str, **given: object) -> None:
    """Invalid, with the field's name, if the native *tool* would refuse what was *given*; None was not given."""
    arguments = {name: value for name, value in given.items() if value is not None}
    native = dialect("mnemic", PARTS.get(tool, tool))
    request = {**native.operations, **native.commands}[tool].parse(arguments)
    for name, value in arguments.items():
        must_be_alike(name, value, getattr(request, name))


def must_be_alike(name: str, given: object, taken: object) -> None:
    """Raise Invalid if a tool would coerce a *given* value, such as a text to a number; the API never coerces."""
    kind = next((kind for kind in (bool, int, float, str) if isinstance(taken, kind)), None)
    if kind is None or isinstance(given, kind) or (kind is float and isinstance(given, int)):
        return
    raise Invalid(f"{name}: must be of type {kind.__name__}, not {type(given).__name__}", name)


def open_memories(
    path: str | os.PathLike[str] | None, *, namespace: str | None, embedder: str | None
) -> Memories:
    """Open the memory at *path* with the user's settings, but for those that are given."""
    if path is not None and not isinstance(path, str | os.PathLike):
        raise Invalid(f"path: must be a path, not {type(path).__name__}", "path")
    database = None if path is None else os.fspath(path)
    settings = load({"db": database, "namespace": namespace, "embedder": embedder})
    app = open_app(settings, actor="python")
    return Memories(app.ctx, app)
