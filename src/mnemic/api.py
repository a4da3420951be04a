"""The memory from Python: `with mnemic.open("notes.db") as memory: memory.remember("…")`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from mnemic.app import App, dialect, open_app
from mnemic.core import graph, history, memories, overview, recall, sessions, upkeep
from mnemic.core.context import Context
from mnemic.core.judging import feedback, grounding
from mnemic.core.judging.feedback import Rated
from mnemic.core.judging.grounding import Verdict
from mnemic.core.memories import Fate, Kept, Note, Outcome, Revision
from mnemic.core.overview import Overview
from mnemic.core.recall import Recollection
from mnemic.core.sessions import Ended, Resumed, Started
from mnemic.errors import Duplicate, Invalid
from mnemic.model.graph import Direction, Edge, Neighbourhood
from mnemic.model.journal import Change
from mnemic.model.memory import Memory
from mnemic.model.search import Filter, Query
from mnemic.model.values import Moment, Tier, parse_moment, parse_span
from mnemic.settings import load

__all__ = ["Direction", "Fate", "Memories", "Note", "Revision", "Tier"]


class Memories:
    """An open memory. Every method is one of the core's verbs; values come back as the model's classes.

    A reference is a number, a uid, the beginning of one, or a title. Times are given as `2026-01-31`,
    `2026-01-31T09:00Z`, as a datetime (in UTC if it has no zone) or as a span before now such as `7d`. What the
    house's tools would refuse is Invalid here too, and every error is a MnemicError (`mnemic.errors`).
    """

    def __init__(self, ctx: Context, app: App | None = None):
        self._ctx = ctx
        self._app = app

    def __enter__(self) -> Memories:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        if self._app:
            self._app.close()

    @property
    def context(self) -> Context:
        """What the core's functions take, for those who call them directly."""
        return self._ctx

    def remember(
        self,
        text: str,
        *,
        title: str | None = None,
        kind: str = "note",
        tags: Sequence[str] = (),
        namespace: str | None = None,
        tier: Tier | None = None,
        ttl: str | None = None,
        confidence: float = 1.0,
        priority: int = 5,
        session: int | str | None = None,
        metadata: Mapping[str, object] | None = None,
        force: bool = False,
    ) -> Memory:
        """Keep *text*. Duplicate if the same is known and it is not *force*d."""
        must_fit("remember", text=text, tags=tags, ttl=ttl)  # a text for `tags` would become its letters
        note = Note(
            text=text,
            title=title,
            kind=kind,
            tags=tuple(tags),
            namespace=namespace,
            tier=tier,
            ttl=parse_span(ttl, "ttl") if ttl else None,
            confidence=confidence,
            priority=priority,
            session=session,
            session_id=now_in.id if (now_in := sessions.enter(self._ctx)) else None,
            metadata=metadata or {},
        )
        return self._only(self.remember_all([note], force=force)).memory

    def _only(self, outcome: Outcome) -> Kept:
        for refusal in outcome.refused:
            raise Duplicate(f"{refusal.reason} (memory {refusal.known.id})")
        return outcome.kept[0]

    def remember_all(self, notes: Sequence[Note], *, force: bool = False) -> Outcome:
        """Keep many notes in one transaction."""
        for note in notes:
            must_fit("remember", **{name: getattr(note, name) for name in LIMITED})
        return memories.remember(self._ctx, notes, force=force)

    def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        namespace: str | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        budget_tokens: int | None = None,
    ) -> Recollection:
        """What is known about *query*, best first."""
        must_fit(
            "recall",
            query=query,
            limit=limit,
            namespace=namespace,
            kinds=kinds,
            tags=tags,
            budget_tokens=budget_tokens,
        )
        now = self._ctx.now()
        wanted = Filter(
            namespaces=self._ctx.scope(namespace),
            kinds=tuple(kinds) if kinds else None,
            tags=tuple(tags) if tags else None,
            since=self._moment(since, "since") if since else None,
            until=self._moment(until, "until") if until else None,
            alive_at=now,
        )
        asked = Query(text=query, filter=wanted, limit=limit, now=now)
        return recall.recall(self._ctx, asked, budget_tokens=budget_tokens)

    def open(self, reference: int | str) -> Memory:
        """The memory meant, whole."""
        must_fit("open", ids=[reference])
        return memories.open_all(self._ctx, [reference])[0][0]

    def revise(self, reference: int | str, revision: Revision) -> Memory:
        """Change a memory's text or fields."""
        given = {name: value for name, value in asdict(revision).items() if name not in ("ttl", "expires_at")}
        if any(value is not None for value in given.values()):
            must_fit("revise", id=reference, **given)
        return memories.revise(self._ctx, reference, revision)

    def supersede(self, reference: int | str, text: str, reason: str | None = None) -> Memory:
        """Put a correction in the place of a memory, which stays readable."""
        must_fit("revise", id=reference, text=text, supersede=True, reason=reason)
        return memories.supersede(self._ctx, reference, text, reason)[0]

    def forget(
        self, *references: int | str, reason: str | None = None, fate: Fate = Fate.FORGOTTEN
    ) -> list[Memory]:
        """Take memories out of use, move them into the archive, or delete them for good."""
        if not references:
            return []
        must_fit("forget", ids=references, reason=reason)
        return memories.forget(self._ctx, references, reason=reason, fate=fate)

    def restore(self, *references: int | str) -> list[Memory]:
        """Bring memories back."""
        must_fit("restore", ids=references)
        return memories.restore(self._ctx, references)

    def link(
        self,
        source: int | str,
        target: int | str,
        type: str = "related_to",
        *,
        weight: float = 1.0,
        reason: str | None = None,
    ) -> Edge:
        """Relate two memories."""
        must_fit("link", source=source, target=target, type=type, weight=weight, reason=reason)
        return graph.link(self._ctx, source, target, type, weight, reason)

    def end_link(self, source: int | str, target: int | str, type: str = "related_to") -> Edge:
        """End a link."""
        must_fit("link", source=source, target=target, type=type, end=True)
        return graph.end_link(self._ctx, source, target, type)

    def explore(
        self,
        reference: int | str,
        *,
        direction: Direction = Direction.BOTH,
        types: Sequence[str] | None = None,
        depth: int = 1,
        limit: int = 50,
    ) -> Neighbourhood:
        """The memories around one."""
        must_fit("explore", id=reference, direction=direction, types=types, depth=depth, limit=limit)
        return graph.explore(self._ctx, reference, direction, types, depth, limit)

    def path(self, source: int | str, target: int | str) -> Neighbourhood:
        """The shortest way between two memories."""
        must_fit("explore", id=source, to=target)
        return graph.path(self._ctx, source, target)

    def start_session(self, topic: str | None = None) -> Started:
        """Begin a session; what is remembered from now on belongs to it."""
        must_fit("session", action="start", topic=topic)
        return sessions.begin(self._ctx, topic)

    def end_session(self, summary: str | None = None, *, number: int | None = None) -> Ended:
        """End the session that is open, or that of this *number*; its memories become part of an episode."""
        must_fit("session", action="end", id=number, summary=summary)
        return sessions.end_open(self._ctx, number, summary)

    def resume_session(self, number: int | None = None, *, limit: int = 15) -> Resumed:
        """What there is to go on with; the session of this *number*, if one is given, is open again."""
        must_fit("session", action="resume", id=number, limit=limit)
        if number is not None:
            sessions.take_up(self._ctx, number)
        return sessions.resume(self._ctx, limit, others=None)

    def log_turn(
        self, user: str | None = None, agent: str | None = None, *, topic: str | None = None
    ) -> Memory:
        """Keep what was said in the open session, which begins if there is none."""
        must_fit("session", action="log", user=user, agent=agent, topic=topic)
        return sessions.log(self._ctx, user, agent, topic=topic)[1]

    def rate(
        self,
        *references: int | str,
        useful: bool,
        confidence: float | None = None,
        links: Sequence[int] = (),
    ) -> Rated:
        """Say whether memories and links (by number) helped, and how sure you are, 1 to 10."""
        must_fit("rate", ids=references, links=links, useful=useful, confidence=confidence)
        return feedback.rate_named(self._ctx, references, links, useful, confidence)

    def verify(self, claim: str, *, namespace: str | None = None) -> Verdict:
        """Whether memory backs *claim*."""
        must_fit("verify", claim=claim, namespace=namespace)
        return grounding.verify(self._ctx, claim, namespace)

    def history(self, reference: int | str | None = None, *, limit: int = 20) -> list[Change]:
        """What changed, newest first."""
        must_fit("history", id=reference, limit=limit)
        return history.history(self._ctx, reference=reference, limit=limit)

    def undo(self, change: int) -> list[int]:
        """Take back a change and what was done together with it."""
        must_fit("undo", change=change)
        return history.undo(self._ctx, change)

    def undo_since(self, when: str | datetime) -> list[int]:
        """Take back everything since a moment."""
        must_fit("undo", since=when)
        return history.undo_since(self._ctx, self._moment(when, "when"))

    def as_of(self, when: str | datetime) -> Memories:
        """The memory as it stood at a moment, to read from."""
        return Memories(history.as_of(self._ctx, self._moment(when, "when")))

    def stats(self) -> Overview:
        """The memory in numbers."""
        return overview.overview(self._ctx)

    def embed(self, limit: int = 1000) -> int:
        """Give vectors to what has none yet; how many statements got them."""
        return upkeep.embed_pending(self._ctx, limit)

    def _moment(self, when: str | datetime, field: str) -> Moment:
        text = when.isoformat() if isinstance(when, datetime) else when
        if not isinstance(text, str):
            raise Invalid(f"{field}: must be a text or a datetime, not {type(when).__name__}", field)
        return parse_moment(text, field, self._ctx.now())


LIMITED = ("text", "title", "kind", "tags", "namespace", "tier", "confidence", "priority", "session")
"""The fields of a note that the house's `remember` has limits for."""
PARTS = {
    "explore": "exploring",
    "forget": "leaving",
    "history": "changing",
    "link": "linking",
    "open": "opening",
    "rate": "rating",
    "recall": "finding",
    "remember": "remembering",
    "restore": "leaving",
    "revise": "revising",
    "session": "working",
    "undo": "changing",
    "verify": "verifying",
}
"""Where the house declares the tools whose limits hold here too: only what is called is loaded."""


def must_fit(tool: str, **given: object) -> None:
    """Invalid, with the field's name, if the house's *tool* would refuse what was *given*; None was not."""
    arguments = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in given.items()
        if value is not None
    }
    request = dialect("mnemic", PARTS[tool]).operations[tool].parse(arguments)
    for name, value in arguments.items():
        must_be_alike(name, value, getattr(request, name))


def must_be_alike(name: str, given: object, taken: object) -> None:
    """Invalid if a tool made something else of what was *given*, such as a number of a text: here nobody does."""
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
