"""What becomes of memories and links that come from elsewhere: new ones are taken in, known ones brought up to date."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from mnemic.core.context import Context
from mnemic.core.hidden import TARGET, bearers, free_title
from mnemic.core.leaving import brought_back, retire
from mnemic.core.memories import title_of
from mnemic.core.reflections import ABOUT, ENTITY, KIND, RELATION, TARGET_TYPE, aimed, target_of
from mnemic.core.sessions import EPISODE, EPISODE_OF
from mnemic.core.upkeep import write_after_expiry
from mnemic.errors import Conflict, Denied, Invalid
from mnemic.formats.document import uid_of
from mnemic.model.graph import Edge
from mnemic.model.hidden import is_hidden
from mnemic.model.memory import Memory, is_beginning
from mnemic.model.session import Session
from mnemic.model.values import Moment, State, Tier
from mnemic.storage.base import Progress, Reader, Writer

BATCH = 500
LABEL_LENGTH = 80
TITLES_TOLD = 10
SAID = frozenset({"title", "namespace", "content", "kind", "summary", "tags", "source", "metadata"})
"""What the newer of two memories says for both."""
NUMBERED = re.compile(r"( \(\d+\))+$")
"""What a session's name ends with if it was given another, since its own was taken."""

T = TypeVar("T")


@dataclass(slots=True)
class Imported:
    """What an import did: *imported* are new or changed something, *skipped* were known as they are."""

    imported: int = 0
    skipped: int = 0
    errors: list[str] = field(default_factory=list)
    links: int = 0
    """How many links are new."""
    titles: list[str] = field(default_factory=list)
    """What the first few of those imported are called."""

    def count(self, title: str, *, is_news: bool) -> None:
        """Count a memory that has come, and keep its title if there is room."""
        self.imported += is_news
        self.skipped += not is_news
        if is_news and len(self.titles) < TITLES_TOLD:
            self.titles.append(title)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A memory from elsewhere: how to speak of it, the id it goes by there, and which of SAID its teller knows of."""

    label: str
    key: str
    memory: Memory
    session: str | None = None
    session_started_at: Moment | None = None
    """When its session began, if that is told: there may be another of the same name here."""
    says: frozenset[str] = SAID
    has_name: bool = True
    """Whether its title can be its name, by which it is known too."""
    adds: bool = False
    """Whether its statements join those that are known, instead of taking their place."""
    target: str | None = None
    """What it is a thought about, by its id or key there: the number that has here goes into the metadata."""


@dataclass(frozen=True, slots=True)
class Tie:
    """A link from elsewhere, its ends by the ids they go by there."""

    label: str
    source: str
    target: str
    edge: Edge
    key: str = ""
    """What thoughts about it know it by."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What is set for a namespace elsewhere: its standard by the id it goes by there, and its parent."""

    label: str
    namespace: str
    standard: str | None
    parent: str | None


@dataclass(slots=True)
class Intake:
    """One run of taking in: the numbers that ids from elsewhere have here, and how it went so far."""

    ctx: Context
    keeps_forgotten: bool = False
    """Whether what was forgotten here stays so, unless it changed there since."""
    overwrites: bool = False
    """Whether what comes speaks for both even if it is the older."""
    tells_apart: Callable[[Memory, Memory], bool] = lambda known, coming: False
    """Whether *known*, which bears the title of one that is *coming*, comes as another."""
    done: Imported = field(default_factory=Imported)
    numbers: dict[str, int] = field(default_factory=dict)
    sessions: dict[tuple[str, str, Moment], int] = field(default_factory=dict)
    """The numbers here of sessions from elsewhere, by namespace, name and when they began."""
    edges: dict[str, int] = field(default_factory=dict)
    """The numbers here of links that have keys."""
    thoughts: dict[int, str] = field(default_factory=dict)
    """What memories are thoughts about, by their numbers here."""
    titles: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Namespace and title that memories have elsewhere and another bears here, by their numbers here."""

    def take(self, arrivals: Iterable[Arrival], total: int, progress: Progress | None = None) -> None:
        """Take in memories, a transaction for every few hundred, each of them whole or not at all."""
        for count, batch in _batches(arrivals):
            with write_after_expiry(self.ctx, "import") as tx:
                self._each(batch, partial(self._settle, tx))
            if progress:
                progress(min(count, total), total)
        if self.titles:
            self._hand_on_titles()

    def _hand_on_titles(self) -> None:
        """Give those their titles whose bearers have others elsewhere, and so give them up."""
        wanted = dict(self.titles)
        with self.ctx.write("import") as tx:
            while in_vain := [
                number
                for number, (space, title) in wanted.items()
                if set(tx.ids_titled(title, (space,))) - set(wanted)
            ]:
                for number in in_vain:
                    del wanted[number]
            for memory in tx.memories(list(wanted)):
                tx.change(memory, title=memory.uid, updated_at=memory.updated_at)
            for memory in tx.memories(list(wanted)):
                space, title = wanted[memory.id]
                tx.change(
                    memory, namespace=space, title=tx.unused_title(space, title), updated_at=memory.updated_at
                )

    def tie(self, ties: Iterable[Tie]) -> None:
        """Make the links that are not there. One whose end is unknown is reported."""
        for _, batch in _batches(ties):
            with self.ctx.write("import") as tx:
                self._each(batch, partial(self._link, tx))

    def aim(self) -> None:
        """Say of thoughts which memory or link they are about, if that has come and they do not say so yet."""
        if not self.thoughts:
            return
        numbers: Mapping[object, Mapping[str, int]] = {ENTITY: self.numbers, RELATION: self.edges}
        with self.ctx.write("import") as tx:
            for memory in tx.memories(list(self.thoughts)):
                known = numbers.get(memory.metadata.get(TARGET_TYPE), {}) if memory.kind == KIND else {}
                number = known.get(self.thoughts[memory.id])
                if number is not None and TARGET not in memory.metadata:
                    told = aimed(memory, number).metadata
                    tx.change(memory, metadata=told, updated_at=memory.updated_at)

    def tell_of(self, sessions: Iterable[Session]) -> None:
        """Say of sessions that are here what is said of them elsewhere."""
        for _, batch in _batches(sessions):
            with self.ctx.write("import") as tx:
                for session in batch:
                    key = (session.namespace, session.name, session.started_at)
                    number = self.sessions.get(key)
                    others = self.sessions.values()
                    known = tx.session_numbered(number) if number else known_session(tx, *key, others)
                    if known:
                        self.sessions[key] = known.id
                        tell_session(tx, known, session)

    def keep_together(self, pairs: Iterable[tuple[str, str, int, Moment]]) -> None:
        """Say of pairs how often and when last they were answered together, unless they were here too."""
        for _, batch in _batches(pairs):
            with self.ctx.write("import") as tx:
                for one, other, count, last in batch:
                    first, second = self.numbers.get(one), self.numbers.get(other)
                    if first and second and first != second and not tx.companions([first, second]):
                        tx.set_together(first, second, count, last)

    def set_standards(self, rules: Iterable[Rules]) -> None:
        """Set the standards of namespaces that have none. One that is unknown is reported."""
        waiting = list(rules)
        if not waiting:
            return
        with self.ctx.write("import") as tx:
            held = {namespace for namespace, _, _ in tx.standards()}
            self._each([item for item in waiting if item.namespace not in held], partial(self._set, tx))

    def _set(self, tx: Writer, rules: Rules) -> None:
        self.ctx.must_see(rules.namespace)
        number = None if rules.standard is None else self._number(tx, rules.standard)
        tx.set_standard(rules.namespace, number, rules.parent)

    def _each(self, batch: Sequence[Any], take: Callable[[Any], None]) -> None:
        for item in batch:
            try:
                take(item)
            except (Invalid, Conflict, Denied) as error:
                self.done.errors.append(f"{item.label}: {error}")

    def _settle(self, tx: Writer, arrival: Arrival) -> None:
        coming = arrival.memory
        if coming.state is State.NAMED:
            self.numbers[arrival.key] = tx.named(coming.namespace, coming.title)
            return
        known = self._known(tx, arrival)
        session_id = known.session_id if known else self._session(tx, arrival)
        arrival = self._aimed(replace(arrival, memory=within(coming, session_id)), known)
        if known is None:
            number, is_news = self._taken_in(tx, arrival), True
        else:
            number, is_news = known.id, self._updated(tx, known, arrival)
        self.numbers[arrival.key] = number
        if arrival.target is not None:
            self.thoughts[number] = arrival.target
        self.done.count(coming.title, is_news=is_news)

    def _aimed(self, arrival: Arrival, known: Memory | None) -> Arrival:
        """A thought with the number of what it is about, if that can be told already."""
        coming = arrival.memory
        needs_target = coming.kind == KIND and coming.metadata.get(TARGET_TYPE) in (ENTITY, RELATION)
        if not needs_target or TARGET in coming.metadata:
            return arrival
        number = target_of(known) if known and known.uid == coming.uid else None
        if number is None and arrival.target is not None:
            number = self.numbers.get(arrival.target)
        return arrival if number is None else replace(arrival, memory=aimed(coming, number))

    def _session(self, tx: Writer, arrival: Arrival) -> int | None:
        """The number of its session here: by its name alone if nothing else is told of it."""
        memory, name, started_at = arrival.memory, arrival.session, arrival.session_started_at
        if not name:
            return None
        if started_at is None:
            return tx.session(memory.namespace, name, memory.created_at)
        key = (memory.namespace, name, started_at)
        if key not in self.sessions:
            self.sessions[key] = session_here(tx, *key, self.sessions.values()).id
        return self.sessions[key]

    def _known(self, tx: Reader, arrival: Arrival) -> Memory | None:
        """What is known by its uid, or bears its name while it lives."""
        coming = arrival.memory
        known = tx.memories(tx.ids_with_uid(coming.uid, 1))
        same = known[0] if known else None
        if same and not self.ctx.may_see(same.namespace):
            raise Conflict("id: is taken by a memory that this token may not use")
        if coming.state is not State.LIVING or not arrival.has_name or is_hidden(coming):
            return same
        if same and same.state in (State.LIVING, State.SUPERSEDED):
            return same
        for bearer in bearers(tx, coming.title, (coming.namespace,)):
            if _are_one(bearer, coming) and not self.tells_apart(bearer, coming):
                return bearer
        return same

    def _updated(self, tx: Writer, known: Memory, arrival: Arrival) -> bool:
        """Bring *known* up to date; whether that changed anything.

        What was superseded elsewhere is so here; what has left there otherwise changes nothing.
        """
        coming = arrival.memory
        if coming.state is State.SUPERSEDED:
            return self._retired(tx, known, coming)
        if coming.state is not State.LIVING or self._stays_away(known, coming):
            return False
        changes = merged(known, arrival)
        if self._speaks(known, coming):
            changes |= _said(known, arrival) | self._named_anew(tx, known, arrival)
        if known.state is State.LIVING:
            changed = tx.change(known, **changes)
        else:
            changed = brought_back(tx, known, **{"title": free_title(tx, known), **changes})
        return _use_raised(tx, known, coming) or changed is not known

    def _retired(self, tx: Writer, known: Memory, coming: Memory) -> bool:
        """Whether *known* is in use no more, since it was superseded elsewhere and has not changed after that."""
        left_at = coming.updated_at if coming.state_at is None else coming.state_at
        if known.state is not State.LIVING or (known.updated_at > left_at and not self.overwrites):
            return False
        retire(tx, [known.id], coming.state_reason, left_at)
        return True

    def _taken_in(self, tx: Writer, arrival: Arrival) -> int:
        """The number of a memory that is new here, with another behind its title if that is taken."""
        coming = arrival.memory
        if coming.state is not State.LIVING:
            return tx.take_in(coming, is_checked=True).id
        title = free_title(tx, coming)
        number = tx.take_in(replace(coming, title=title), is_checked=True).id
        if title != coming.title:
            self.titles[number] = coming.namespace, coming.title
        return number

    def _named_anew(self, tx: Writer, known: Memory, arrival: Arrival) -> dict[str, Any]:
        """The title and namespace that the same memory has there, unless another bears it here."""
        coming = arrival.memory
        if known.uid != coming.uid or not {"title", "namespace"} <= arrival.says:
            return {}
        if free_title(tx, replace(known, title=coming.title, namespace=coming.namespace)) != coming.title:
            self.titles[known.id] = coming.namespace, coming.title
            return {}
        return {"title": coming.title, "namespace": coming.namespace}

    def _speaks(self, known: Memory, coming: Memory) -> bool:
        """Whether *coming* speaks for both."""
        # At the same moment the one from elsewhere does: then two that sync hold the same afterwards.
        return self.overwrites or coming.updated_at >= known.updated_at

    def _stays_away(self, known: Memory, coming: Memory) -> bool:
        """Whether *known* was corrected here, or forgotten after it last changed there, and that counts."""
        if known.state is State.SUPERSEDED:
            return not self.overwrites
        left_at = known.state_at or known.updated_at
        return self.keeps_forgotten and known.state is not State.LIVING and left_at >= coming.updated_at

    def _link(self, tx: Writer, tie: Tie) -> None:
        source, target = (self._number(tx, key) for key in (tie.source, tie.target))
        if tie.edge.type == ABOUT:
            self.thoughts.setdefault(source, tie.target)
        if source == target and tie.source != tie.target:
            return  # two that were one and the same here
        edge = tie.edge
        same = tx.edge_between(source, target, edge.type) if edge.is_current else None
        if same:
            self._note(tie, same)
            return
        if (not edge.is_current or self.keeps_forgotten) and tx.has_edge(
            source, target, edge.type, edge.created_at
        ):
            return
        self.done.links += 1
        self._note(tie, put_edge(tx, edge, source, target))

    def _note(self, tie: Tie, edge: Edge) -> None:
        if tie.key:
            self.edges[tie.key] = edge.id

    def _number(self, tx: Reader, key: str) -> int:
        if key in self.numbers:
            return self.numbers[key]
        for memory in tx.memories(tx.ids_with_uid(uid_of(key), 1)):
            if self.ctx.may_see(memory.namespace):
                self.numbers[key] = memory.id
                return memory.id
        raise Invalid(f"no memory has the id {key[:LABEL_LENGTH]!r}")


def _batches(items: Iterable[T]) -> Iterator[tuple[int, list[T]]]:
    """A few hundred of *items* at a time, with how many that makes so far."""
    waiting, count = iter(items), 0
    while batch := list(islice(waiting, BATCH)):
        count += len(batch)
        yield count, batch


def session_here(
    tx: Writer, namespace: str, name: str, started_at: Moment, others: Collection[int] = ()
) -> Session:
    """The session of this name that began at this moment; *others* are known to be others.

    If it is not there it is made, under a name that is free: many are only called after their number, and two stores
    count alike.
    """
    known = known_session(tx, namespace, name, started_at, others)
    return known or tx.add_session(
        namespace, name=tx.unused_session_name(namespace, name), started_at=started_at
    )


def known_session(
    tx: Reader, namespace: str, name: str, started_at: Moment, others: Collection[int]
) -> Session | None:
    """The same, or None if it is not there."""
    own_name = NUMBERED.sub("", name)
    same = [
        one
        for one in tx.sessions_called(namespace, own_name)
        if one.started_at == started_at and one.id not in others and NUMBERED.sub("", one.name) == own_name
    ]
    return min(same, key=lambda one: one.name != name, default=None)


def tell_session(tx: Writer, known: Session, coming: Session) -> None:
    """Say of a session what is said of it elsewhere and not here; of two ends the later counts.

    One that was taken up again here, and so has a summary and no end, stays open.
    """
    changes = {name: getattr(coming, name) for name in ("topic", "metadata") if not getattr(known, name)}
    is_new = known.ended_at is None and not known.summary
    if is_new or (known.ended_at is not None and (coming.ended_at or 0) > known.ended_at):
        changes |= {"ended_at": coming.ended_at, "summary": coming.summary}
    tx.change_session(known, **changes)


def within(memory: Memory, session_id: int | None) -> Memory:
    """*memory* in the session with this number; an episode is one of that session."""
    is_episode = memory.kind == EPISODE and EPISODE_OF in memory.metadata
    told = {EPISODE_OF: session_id} if is_episode and session_id is not None else {}
    return replace(memory, session_id=session_id, metadata={**memory.metadata, **told})


def _are_one(bearer: Memory, coming: Memory) -> bool:
    """Whether two of one title are the same memory: somebody chose that title for both, or they say the same."""
    return bearer.content == coming.content or not (_has_made_title(bearer) or _has_made_title(coming))


def _has_made_title(memory: Memory) -> bool:
    # A title of fewer words than would be made was chosen, though the text begins with them.
    return is_beginning(memory.title, memory.content) and memory.title.startswith(title_of(memory.content))


def merged(known: Memory, arrival: Arrival) -> dict[str, Any]:
    """The changes that bring *known* up to date, whichever speaks for both: nothing is lowered or shortened."""
    coming = arrival.memory
    changes: dict[str, Any] = {
        "priority": max(known.priority, coming.priority),
        "confidence": max(known.confidence, coming.confidence),
        "tier": max(known.tier, coming.tier, key=lambda tier: tier.rank),
        "expires_at": _later_end(known, coming),
        "updated_at": max(known.updated_at, coming.updated_at),
    }
    if arrival.adds:
        texts = known.texts
        changes["texts"] = [*texts, *(text for text in coming.texts if text not in texts)]
    return changes


def _said(known: Memory, arrival: Arrival) -> dict[str, Any]:
    """What the one that speaks for both says."""
    coming = arrival.memory
    plain = arrival.says & {"kind", "summary", "tags", "source", "metadata"}
    changes: dict[str, Any] = {name: getattr(coming, name) for name in plain}
    if coming.content != known.content and not arrival.adds:
        changes["texts"] = coming.texts
    return changes


def _later_end(known: Memory, coming: Memory) -> Moment | None:
    is_promoted = known.tier is not coming.tier and Tier.LONG in (known.tier, coming.tier)
    if known.expires_at is None or coming.expires_at is None or is_promoted:
        return None
    return max(known.expires_at, coming.expires_at)


def _use_raised(tx: Writer, known: Memory, coming: Memory) -> bool:
    """Count the uses of whichever was used more; whether that is the one from elsewhere."""
    ours = (known.access_count, known.accessed_at, known.days_used)
    accessed = max((at for at in (known.accessed_at, coming.accessed_at) if at is not None), default=None)
    both = (max(known.access_count, coming.access_count), accessed, max(known.days_used, coming.days_used))
    if both == ours:
        return False
    tx.set_use(known.id, *both)
    return True


ENDS = frozenset({"id", "source_id", "target_id"})
"""What a link has here and nowhere else."""


def put_edge(tx: Writer, edge: Edge, source_id: int, target_id: int) -> Edge:
    """The link *edge* between these memories, with everything that is said of it elsewhere."""
    told = {item.name: getattr(edge, item.name) for item in fields(edge) if item.name not in ENDS}
    return tx.add_edge(source_id, target_id, **told)
