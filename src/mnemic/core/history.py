"""The past: what changed, how the store stood, and taking changes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from heapq import merge
from itertools import islice, takewhile
from typing import Any

from mnemic.core.context import Context
from mnemic.core.hidden import free_title
from mnemic.core.leaving import taken_out
from mnemic.core.memories import locate
from mnemic.core.uses import Uses
from mnemic.errors import Conflict, Denied, NotFound
from mnemic.model.graph import Edge
from mnemic.model.hidden import is_hidden
from mnemic.model.journal import USE, Change, Subject
from mnemic.model.memory import NAMING, Memory
from mnemic.model.search import Filter
from mnemic.model.session import Session
from mnemic.model.values import Moment, State, Tier
from mnemic.storage.base import Reader, Writer

LOOKED_AT = 500
"""Of so many changes at once it is found out whether a caller may see them."""
UNTRACKED = frozenset({"updated_at"})
"""Fields that move with every change, and so say nothing about whether one was built upon."""


def as_of(ctx: Context, moment: Moment) -> Context:
    """A context that reads the store as it stood at *moment*, by the clock of that moment and in no session."""
    sequence = ctx.store.sequence_at(moment)
    return replace(
        ctx, store=ctx.store.at(sequence), now=lambda: moment, sessions={}, uses=None, deferred=Uses()
    )


def history(
    ctx: Context,
    *,
    reference: int | str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    actor: str | None = None,
    limit: int = 20,
) -> list[Change]:
    """The changes to one memory and the links it has and had, or to everything, newest first."""
    reader = ctx.store.read()
    asked: dict[str, Any] = {"since": since, "until": until, "actor": actor, "newest_first": True}
    if reference is None:
        changes = reader.journal(**asked, limit=_at_most(ctx, limit))
        return list(islice(_Sight(ctx).among(changes), limit))
    memory = locate(reader, ctx, reference)
    subjects = {Subject.MEMORY: [memory.id], Subject.EDGE: reader.edge_ids(memory.id)}
    told = (
        reader.journal(**asked, subject=subject, subject_ids=numbers, limit=_at_most(ctx, limit))
        for subject, numbers in subjects.items()
    )
    newest_first = merge(*told, key=lambda change: -change.sequence)
    return list(islice(_Sight(ctx).among(newest_first), limit))


@dataclass(frozen=True, slots=True)
class Changed:
    """A memory that is not what it was at the beginning of a time; of what was purged only the number is left."""

    id: int
    title: str | None
    before: Mapping[str, object] = field(default_factory=dict)
    after: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """What came into use between two moments, what is said otherwise, and what left."""

    added: tuple[Changed, ...]
    changed: tuple[Changed, ...]
    left: tuple[Changed, ...]


def difference(ctx: Context, since: Moment, until: Moment) -> Difference:
    """How the memories in use at *until* differ from those at *since*, whatever happened in between.

    The changes between the two are added up, so this takes as long as there are changes, not memories.
    """
    reader = ctx.store.read()
    first, last = ctx.store.sequence_at(since), ctx.store.sequence_at(until)
    sight, sums = _Sight(ctx), dict[int, _Sum]()
    later = reader.journal(after=first, subject=Subject.MEMORY)
    for change in sight.among(takewhile(lambda change: change.sequence <= last, later)):
        sums.setdefault(change.subject_id, _Sum()).add(change)
    parts: dict[str, list[Changed]] = {"added": [], "changed": [], "left": []}
    for number, total in sums.items():
        part = _part(reader, number, total, last)
        if part:
            parts[part].append(_changed(reader, number, total, last))
    return Difference(*(tuple(parts[name]) for name in ("added", "changed", "left")))


@dataclass(slots=True)
class _Sum:
    """What the changes to one thing come to: its fields before the first of them and after the last."""

    before: dict[str, object] = field(default_factory=dict)
    after: dict[str, object] = field(default_factory=dict)
    is_born: bool = False
    is_purged: bool = False
    changes: list[int] = field(default_factory=list)

    def add(self, change: Change) -> None:
        self.is_born |= change.before is None and change.after is not None
        self.changes.append(change.sequence)
        self.is_purged = change.after is None
        for name, value in (change.before or {}).items():
            self.before.setdefault(name, value)
        self.after |= change.after or {}

    def fields(self) -> set[str]:
        """The names of those that are not what they were."""
        return {name for name, value in self.after.items() if self.before.get(name) != value} - UNTRACKED


def _part(reader: Reader, number: int, total: _Sum, last: int) -> str | None:
    if total.is_purged:
        return "left"
    state = total.after.get("state") or _at(reader, number, "state", last)
    is_living = state == State.LIVING
    was_living = not total.is_born and total.before.get("state", state) == State.LIVING
    if is_living and was_living:
        return "changed" if total.fields() else None
    return "added" if is_living else "left" if was_living else None


def _at(reader: Reader, number: int, name: str, last: int) -> object:
    """A field of a memory after the change *last*: what it was changed from later, else what it is."""
    for change in reader.journal(after=last, subject=Subject.MEMORY, subject_ids=[number]):
        if change.before and name in change.before:
            return change.before[name]
    memory = reader.memory(number)
    return getattr(memory, name) if memory else None


def _changed(reader: Reader, number: int, total: _Sum, last: int) -> Changed:
    title = total.after.get("title") or _at(reader, number, "title", last)
    names = () if total.is_born or total.is_purged else sorted(total.fields())
    return Changed(
        number,
        None if title is None else str(title),
        {name: total.before.get(name) for name in names},
        {name: total.after[name] for name in names},
    )


def has_changed_since(ctx: Context, sequence: int) -> bool:
    """Whether there is a change after this number to something that the caller may see."""
    changes = ctx.store.read().journal(after=sequence, limit=_at_most(ctx, 1))
    return any(map(_Sight(ctx).reaches_subject, changes))


def _at_most(ctx: Context, limit: int) -> int | None:
    """How much of the journal to read: all of it for a caller who may not see every change."""
    return limit if ctx.granted is None else None


class _Sight:
    """Which changes a caller may see. Where a memory is and has been is read once for all of its changes."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self._reader = ctx.store.read()
        self._ends: dict[int, list[int]] = {}
        self._may_see: dict[int, bool] = {}
        self._moves: dict[int, list[tuple[int, str]]] = {}

    def among(self, changes: Iterable[Change]) -> Iterator[Change]:
        """Those of *changes* that it reaches, looked at many at a time."""
        if self._ctx.granted is None:
            yield from changes
            return
        waiting = iter(changes)
        while looked_at := list(islice(waiting, LOOKED_AT)):
            self._look(looked_at)
            yield from filter(self.reaches, looked_at)

    def reaches(self, change: Change) -> bool:
        """Whether everything *change* touched lies where the caller may look, and lay there before and after it."""
        if self._ctx.granted is None:
            return True
        return self.reaches_subject(change) and all(
            self._ctx.may_see(namespace)
            for number in self._touched(change)
            for namespace in self._around(number, change.sequence)
        )

    def reaches_subject(self, change: Change) -> bool:
        """Whether everything *change* touched lies where the caller may look."""
        if self._ctx.granted is None:
            return True
        self._look([change])
        touched = self._touched(change)
        return bool(touched) and all(self._may_see[number] for number in touched)

    def _look(self, changes: Sequence[Change]) -> None:
        """Find out which of the memories that were touched lie where the caller may look."""
        touched = (number for change in changes for number in self._touched(change))
        unknown = {number for number in touched if number not in self._may_see}
        if unknown:
            here = Filter(namespaces=self._ctx.granted, states=frozenset(State))
            seen = self._reader.passing(sorted(unknown), here)
            self._may_see |= {number: number in seen for number in unknown}

    def _touched(self, change: Change) -> list[int]:
        match change.subject:
            case Subject.MEMORY:
                return [change.subject_id]
            case Subject.EDGE:
                return self._ends_of(change.subject_id)
        return []

    def _ends_of(self, number: int) -> list[int]:
        if number not in self._ends:
            edge = self._reader.edge(number)
            self._ends[number] = [edge.source_id, edge.target_id] if edge else []
        return self._ends[number]

    def _around(self, number: int, sequence: int) -> list[str]:
        """The namespaces a memory left with the change *sequence* and with its next move, if it did."""
        if number not in self._moves:
            changes = self._reader.journal(subject=Subject.MEMORY, subject_ids=[number])
            self._moves[number] = [
                (change.sequence, str(change.before["namespace"]))
                for change in changes
                if change.before and "namespace" in change.before
            ]
        left = [namespace for at, namespace in self._moves[number] if at == sequence]
        return left + [namespace for at, namespace in self._moves[number] if at > sequence][:1]


class _Rehearsed(Exception):
    """What was done is to be rolled back: it was tried, so that what would happen can be told."""


def undo(ctx: Context, sequence: int, *, dry_run: bool = False) -> list[int]:
    """Take back the change with this number and what was done together with it: the numbers undone."""
    undone: list[int] = []
    sight = _Sight(ctx)
    with suppress(_Rehearsed), ctx.write("undo") as tx:
        newest = ctx.store.sequence()
        one = next(tx.journal(after=sequence - 1, limit=1), None)
        if one is None or one.sequence != sequence or not sight.reaches(one):
            raise NotFound(f"No change {sequence}")
        together = list(takewhile(lambda change: change.batch == one.batch, tx.journal(after=one.batch - 1)))
        if not all(sight.reaches(change) or change.subject is Subject.SESSION for change in together):
            raise Denied(f"Change {sequence} was made together with others that this token may not touch.")
        for change in reversed(together):
            # A session that began with a memory stays: others may be in it by now.
            if change.subject is not Subject.SESSION or change.before is not None or len(together) == 1:
                _reverse(tx, ctx, change, newest)
                undone.append(change.sequence)
        if dry_run:
            raise _Rehearsed
    return undone


def undo_since(ctx: Context, moment: Moment, *, dry_run: bool = False) -> list[int]:
    """Let everything stand again as it did before *moment*: the numbers of the changes undone, newest first.

    Each memory, link and session is changed once, however often it was changed since, and not if it stands so already.
    """
    undone: list[int] = []
    with suppress(_Rehearsed), ctx.write("undo") as tx:
        sight, sums = _Sight(ctx), dict[tuple[Subject, int], _Sum]()
        for change in sight.among(tx.journal(after=ctx.store.sequence_at(moment - 1))):
            total = sums.pop((change.subject, change.subject_id), None) or _Sum()
            total.add(change)
            sums[change.subject, change.subject_id] = total  # last of all: it was changed last
        for total in sums.values():
            if total.is_purged:
                raise _purged(total.changes[-1])
        while sums:
            (subject, number), total = sums.popitem()
            if subject is Subject.MEMORY:
                _clear_title(tx, number, total, sums)
            if _stand_again(tx, ctx, subject, number, total):
                undone += total.changes
        if dry_run:
            raise _Rehearsed
    return sorted(undone, reverse=True)


def _purged(sequence: int) -> Conflict:
    return Conflict(f"Change {sequence} cannot be taken back: what it touched was purged")


def _clear_title(tx: Writer, number: int, total: _Sum, others: Mapping[tuple[Subject, int], _Sum]) -> None:
    """Let another that has to be taken back yet give up the title that this memory had."""
    memory = tx.memory(number)
    if memory is None or total.is_born:
        return
    namespace = str(total.before.get("namespace", memory.namespace))
    title = str(total.before.get("title", memory.title))
    for holder in tx.memories(tx.ids_titled(title, (namespace,))):
        if holder.id != number and (theirs := others.get((Subject.MEMORY, holder.id))):
            theirs.before.setdefault("title", title)
            tx.change(holder, title=tx.unused_title(namespace, title))


def _stand_again(tx: Writer, ctx: Context, subject: Subject, number: int, total: _Sum) -> bool:
    """Let one thing stand as it did before these changes; whether that changed anything."""
    thing = _thing(tx, subject, number, total.changes[-1])
    if total.is_born:
        return _take_away(tx, ctx, thing, total.changes[0])
    fields = _given_back(thing, total.before)
    if _present(thing, fields) == fields:
        return False
    _change(tx, thing, fields)
    return True


def _reverse(tx: Writer, ctx: Context, change: Change, newest: int) -> None:
    """Take back *change*; what came after *newest* is part of the taking back."""
    if change.after is None:
        raise _purged(change.sequence)
    thing = _thing(tx, change.subject, change.subject_id, change.sequence)
    if change.before is None:
        _take_away(tx, ctx, thing, change.sequence)
        return
    left = _title_left(thing, change.after)
    after = {name: value for name, value in change.after.items() if name not in left}
    before = {name: value for name, value in change.before.items() if name not in left}
    _refuse_overtaken(tx, change, _present(thing, after), after, newest)
    _change(tx, thing, _given_back(thing, before))


def _title_left(thing: Memory | Edge | Session, after: Mapping[str, object]) -> frozenset[str]:
    """The title, if it is of something hidden that has another by now: nobody chose the one it had to give up."""
    is_left = isinstance(thing, Memory) and is_hidden(thing) and thing.title != after.get("title")
    return frozenset({"title"} if is_left else ())


def _given_back(thing: Memory | Edge | Session, before: Mapping[str, object]) -> Mapping[str, object]:
    """The fields that are put back. A memory is changed now: the older of two loses when stores are merged."""
    if not isinstance(thing, Memory):
        return before
    return {name: value for name, value in before.items() if name not in UNTRACKED}


def _thing(tx: Writer, subject: Subject, number: int, sequence: int) -> Memory | Edge | Session:
    """What a change was about, as it is now."""
    ways: dict[Subject, Callable[[int], Memory | Edge | Session | None]] = {
        Subject.MEMORY: tx.memory,
        Subject.EDGE: tx.edge,
        Subject.SESSION: tx.session_numbered,
    }
    thing = ways[subject](number)
    if thing is None:
        raise _purged(sequence)
    return thing


def _take_away(tx: Writer, ctx: Context, thing: Memory | Edge | Session, sequence: int) -> bool:
    """Take back that *thing* came to be; whether it was still there. A session ends, a mere name stays one."""
    match thing:
        case Session():
            return tx.change_session(thing, ended_at=thing.ended_at or ctx.now()) is not thing
        case Edge():
            return tx.change_edge(thing, state=State.FORGOTTEN) is not thing
        case Memory(state=State.FORGOTTEN | State.NAMED):
            return False
    taken_out(tx, thing, State.FORGOTTEN, f"undo of {sequence}", ctx.now())
    return True


def _change(tx: Writer, thing: Memory | Edge | Session, fields: Mapping[str, object]) -> None:
    match thing:
        case Session():
            tx.change_session(thing, **fields)
        case Edge():
            tx.change_edge(thing, **typed(fields))
        case Memory():
            tx.change(thing, **_under_free_title(tx, thing, typed(fields)))


def _under_free_title(tx: Writer, memory: Memory, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """*fields*, with a title that is free if the memory is hidden and to live.

    That is the one it had then or, if another bears it, the one it lives under there now, else the old with a number.
    """
    then = replace(memory, **{name: value for name, value in fields.items() if name in NAMING})
    if not is_hidden(memory) or then.state is not State.LIVING:
        return fields
    title = free_title(tx, then)
    stays = title != then.title and (memory.state, memory.namespace) == (State.LIVING, then.namespace)
    return {**fields, "title": memory.title if stays else title}


def _refuse_overtaken(
    tx: Writer, change: Change, present: Mapping[str, object], after: Mapping[str, object], newest: int
) -> None:
    """Conflict if somebody has changed the same again by *newest*; what a use earned is not meant by anybody."""
    if all(present[name] == after[name] for name in after.keys() - UNTRACKED):
        return
    later = tx.journal(after=change.sequence, subject=change.subject, subject_ids=[change.subject_id])
    by_others = (one for one in later if one.sequence <= newest and one.operation != USE)
    meant = {name for one in by_others for name in one.after or ()}
    for name in after.keys() - UNTRACKED:
        if present[name] != after[name] and name in meant:
            raise Conflict(
                f"Change {change.sequence} cannot be taken back: {name} of {change.subject} {change.subject_id} "
                "has changed since. Undo the later change first, or revise it by hand"
            )


def _present(thing: Memory | Edge | Session, names: Iterable[str]) -> dict[str, object]:
    """Fields of *thing* in the form the journal tells them."""
    told: dict[str, object] = {}
    for name in names:
        value = thing.texts if isinstance(thing, Memory) and name == "statements" else getattr(thing, name)
        told[name] = (
            list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
        )
    return told


def typed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as the journal tells them, in the types of the model."""
    typed = dict(fields)
    if "statements" in typed:
        typed["texts"] = tuple(typed.pop("statements"))
    if "tags" in typed:
        typed["tags"] = tuple(typed["tags"] or ())
    if "metadata" in typed:
        typed["metadata"] = typed["metadata"] or {}
    if "tier" in typed:
        typed["tier"] = Tier(typed["tier"])
    if "state" in typed:
        typed["state"] = State(typed["state"])
    return typed
