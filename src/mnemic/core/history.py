"""History: changes, earlier states of the store, and undo."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

from mnemic.core import titles
from mnemic.core.context import Context
from mnemic.core.memories import locate
from mnemic.core.states import taken_out
from mnemic.core.usage import Uses
from mnemic.errors import Conflict, Denied, NotFound
from mnemic.model.access import Grant
from mnemic.model.change import USE, Change, Position, Subject
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ALL_STATES, ChangeFilter, EdgeFilter
from mnemic.model.graph import Edge, EdgePatch
from mnemic.model.memory import Memory, MemoryPatch
from mnemic.model.session import Session, SessionPatch
from mnemic.model.time import Moment
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import edge_numbered, memory_numbered, session_numbered

Later = dict[tuple[Subject, int], list[Change]]
"""Changes by what they were made to."""
MOST_LOOKED_AT = 20_000
"""Changes that are looked through for those that pass."""
UNTRACKED = frozenset({"updated_at"})
"""Fields that move with every change, and so say nothing about whether one was built upon."""


def as_of(ctx: Context, moment: Moment) -> Context:
    """A context that reads the store as of *moment*, with the clock of that moment and in no session."""
    then = ctx.store.at(moment)
    return replace(ctx, store=then, now=lambda: moment, sessions={}, uses=None, deferred=Uses())


def history(
    ctx: Context,
    *,
    reference: int | str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    actor: str | None = None,
    before: int | None = None,
    operation: str | None = None,
    namespace: str | None = None,
    limit: int = 20,
) -> list[Change]:
    """The changes to one memory and the links it has and had, or to everything, newest first.

    Narrowed to those with a number smaller than *before*, by one *operation*, or to one *namespace*, where given.
    """
    if namespace is not None:
        ctx.must_see(namespace)
        ctx = ctx.limited_to(Grant((namespace,), can_write=False))
    reader = ctx.read()
    if before is not None:
        until = _moment_of(reader, before, until)
    wanted = ChangeFilter(since=since, until=until, actor=actor)
    changes = islice(_changes(reader, ctx, reference, wanted), MOST_LOOKED_AT)
    passing = (
        change
        for change in changes
        if (before is None or change.sequence < before)
        and (operation is None or change.operation == operation)
    )
    return list(islice(passing, limit))


def _moment_of(reader: Reader, number: int, until: Moment | None) -> Moment | None:
    """The moment of the change with this number, or *until* if that is earlier or there is no such change."""
    change = next(reader.journal(ChangeFilter(sequences=(number,))), None)
    if change is None:
        return until
    return change.at if until is None else min(until, change.at)


def _changes(
    reader: Reader, ctx: Context, reference: int | str | None, wanted: ChangeFilter
) -> Iterator[Change]:
    """The changes to one memory and its links, or to everything."""
    if reference is None:
        return reader.journal(wanted, newest_first=True)
    memory = locate(reader, ctx, reference)
    subjects = {Subject.MEMORY: [memory.id], Subject.EDGE: _edge_numbers(reader, memory.id)}
    journals = (
        reader.journal(replace(wanted, subject=subject, subject_ids=tuple(numbers)), newest_first=True)
        for subject, numbers in subjects.items()
    )
    return merge(*journals, key=attrgetter("position"), reverse=True)


def titles_of(ctx: Context, changes: Iterable[Change]) -> dict[tuple[Subject, int], str]:
    """What the memories that *changes* are about are called now."""
    numbers = {change.subject_id for change in changes if change.subject is Subject.MEMORY}
    return {(Subject.MEMORY, one.id): one.title for one in ctx.read().look(sorted(numbers), _Titled)}


class _Titled(NamedTuple):
    id: int
    title: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A memory that is not what it was at the beginning of a time; of what was purged only the number is left."""

    id: int
    title: str | None
    before: Mapping[str, object] = field(default_factory=dict)
    after: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """The memories that were added, changed and removed between two moments."""

    added: tuple[Changed, ...]
    changed: tuple[Changed, ...]
    left: tuple[Changed, ...]


def difference(ctx: Context, since: Moment, until: Moment) -> Difference:
    """How the living memories at *until* differ from those at *since*.

    The changes between the two are added up, so this takes as long as there are changes, not memories.
    """
    reader = ctx.read()
    sums = dict[int, _Sum]()
    for change in reader.journal(ChangeFilter(since=since + 1, until=until, subject=Subject.MEMORY)):
        sums.setdefault(change.subject_id, _Sum()).add(change)
    parts: dict[str, list[Changed]] = {"added": [], "changed": [], "left": []}
    for number, total in sums.items():
        part = _part(reader, number, total, until)
        if part:
            parts[part].append(_changed(reader, number, total, until))
    return Difference(*(tuple(parts[name]) for name in ("added", "changed", "left")))


@dataclass(slots=True)
class _Sum:
    """The net change of one thing: its fields before the first change and after the last."""

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


def _part(reader: Reader, number: int, total: _Sum, moment: Moment) -> str | None:
    if total.is_purged:
        return "left"
    state = total.after.get("state") or _at(reader, number, "state", moment)
    is_living = state == State.LIVING
    was_living = not total.is_born and total.before.get("state", state) == State.LIVING
    if is_living and was_living:
        return "changed" if total.fields() else None
    return "added" if is_living else "left" if was_living else None


def _at(reader: Reader, number: int, name: str, moment: Moment) -> object:
    """A field of a memory at *moment*: what it was changed from later, else what it is."""
    later = ChangeFilter(since=moment + 1, subject=Subject.MEMORY, subject_ids=(number,))
    for change in reader.journal(later):
        if change.before and name in change.before:
            return change.before[name]
    memory = memory_numbered(reader, number)
    return getattr(memory, name) if memory else None


def _changed(reader: Reader, number: int, total: _Sum, moment: Moment) -> Changed:
    title = total.after.get("title") or _at(reader, number, "title", moment)
    names = () if total.is_born or total.is_purged else sorted(total.fields())
    return Changed(
        number,
        None if title is None else str(title),
        {name: total.before.get(name) for name in names},
        {name: total.after[name] for name in names},
    )


def has_changed_since(ctx: Context, position: Position) -> bool:
    """Whether there is a settled change after *position* to a memory or link that the caller may see."""
    reader = ctx.read()
    # The whole journal, since what came here from elsewhere is a change too; only the subjects are looked at.
    changes = ctx.store.read().changes(position)
    return any(_is_seen(reader, change) for change in changes)


def _is_seen(reader: Reader, change: Change) -> bool:
    if change.subject is Subject.EDGE:
        return edge_numbered(reader, change.subject_id) is not None
    return change.subject is Subject.MEMORY and memory_numbered(reader, change.subject_id) is not None


class _Number(NamedTuple):
    id: int


def _edge_numbers(reader: Reader, memory_id: int) -> list[int]:
    """The numbers of all links that ever touched a memory."""
    found = reader.look(EdgeFilter(at=(memory_id,), states=ALL_STATES), _Number)
    return [edge.id for edge in found]


class _Rehearsed(Exception):
    """Rolls a dry run back, and carries what it would have undone."""

    def __init__(self, undone: list[int]):
        super().__init__()
        self.undone = undone


def undo(ctx: Context, sequence: int, *, dry_run: bool = False) -> list[int]:
    """Take back the change with this number and what was done together with it: the numbers undone."""

    def work(tx: Writer) -> list[int]:
        undone: list[int] = []
        one = next(tx.journal(ChangeFilter(sequences=(sequence,))), None)
        if one is None:
            raise NotFound(f"No change {sequence}")
        together = _together(tx, one.batch)
        if _together(ctx.store.read(), one.batch) != together:
            raise Denied(f"Change {sequence} was made together with others that this token may not touch.")
        later = _later(tx, together)
        for change in reversed(together):
            # A session that began with a memory stays: others may be in it by now.
            if change.subject is not Subject.SESSION or change.before is not None or len(together) == 1:
                _reverse(tx, ctx, change, later)
                undone.append(change.sequence)
        return undone

    return _tried(ctx, work) if dry_run else ctx.change("undo", work)


def _together(reader: Reader, batch: int) -> list[Change]:
    """The changes of one transaction that *reader* can see."""
    return list(reader.journal(ChangeFilter(batch=batch)))


def _later(tx: Writer, together: Sequence[Change]) -> Later:
    """The later changes to what these changes touched, before anything is undone. Uses are not changes."""
    numbers: defaultdict[Subject, set[int]] = defaultdict(set)
    for change in together:
        numbers[change.subject].add(change.subject_id)
    later: Later = defaultdict(list)
    for subject, some in numbers.items():
        wanted = ChangeFilter(after=together[-1].position, subject=subject, subject_ids=tuple(sorted(some)))
        for change in tx.journal(wanted):
            if change.operation != USE:
                later[subject, change.subject_id].append(change)
    return later


def _tried(ctx: Context, work: Callable[[Writer], list[int]]) -> list[int]:
    """What *work* would return; all it did is rolled back."""

    def rehearsal(tx: Writer) -> list[int]:
        raise _Rehearsed(work(tx))

    try:
        return ctx.change("undo", rehearsal)
    except _Rehearsed as rehearsed:
        return rehearsed.undone


def undo_since(ctx: Context, moment: Moment, *, dry_run: bool = False) -> list[int]:
    """Restore the state before *moment*: the numbers of the changes undone, newest first."""
    return _undo_all(ctx, ChangeFilter(since=moment), dry_run)


def undo_after(ctx: Context, position: Position, *, dry_run: bool = False) -> list[int]:
    """Restore the state at *position*: the numbers of the changes undone, newest first."""
    return _undo_all(ctx, ChangeFilter(after=position), dry_run)


def _undo_all(ctx: Context, wanted: ChangeFilter, dry_run: bool) -> list[int]:
    """Undo all changes from some point on, in one transaction.

    Each memory, link and session is changed once, however often it changed since, and not if it has that state already.
    What was purged since stays purged.
    """

    def work(tx: Writer) -> list[int]:
        undone: list[int] = []
        sums = dict[tuple[Subject, int], _Sum]()
        for change in tx.journal(wanted):
            total = sums.pop((change.subject, change.subject_id), None) or _Sum()
            total.add(change)
            sums[change.subject, change.subject_id] = total  # last of all: it was changed last
        while sums:
            (subject, number), total = sums.popitem()
            if total.is_purged:
                continue
            if subject is Subject.MEMORY:
                _release_name(tx, number, total, sums)
            if _stand_again(tx, ctx, subject, number, total):
                undone += total.changes
        return sorted(undone, reverse=True)

    return _tried(ctx, work) if dry_run else ctx.change("undo", work)


def _purged(sequence: int) -> Conflict:
    return Conflict(f"Change {sequence} cannot be undone: what it touched was purged")


def _release_name(tx: Writer, number: int, total: _Sum, others: Mapping[tuple[Subject, int], _Sum]) -> None:
    """Let another that has to be taken back yet give up the name that this memory had."""
    memory = memory_numbered(tx, number)
    if memory is None or total.is_born:
        return
    namespace = str(total.before.get("namespace", memory.namespace))
    name = total.before.get("name", memory.name)
    for holder in titles.bearers(tx, str(name), (namespace,)) if name is not None else ():
        if holder.id != number and (theirs := others.get((Subject.MEMORY, holder.id))):
            theirs.before.setdefault("name", name)
            tx.update(holder, MemoryPatch(name=None))


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


def _reverse(tx: Writer, ctx: Context, change: Change, later: Later) -> None:
    """Take back *change*, unless one of the *later* ones was built on it."""
    if change.after is None:
        raise _purged(change.sequence)
    thing = _thing(tx, change.subject, change.subject_id, change.sequence)
    if change.before is None:
        _take_away(tx, ctx, thing, change.sequence)
        return
    by_others = later.get((change.subject, change.subject_id), ())
    _refuse_overtaken(change, _present(thing, change.after), change.after, by_others)
    _change(tx, thing, _given_back(thing, change.before))


def _given_back(thing: Memory | Edge | Session, before: Mapping[str, object]) -> Mapping[str, object]:
    """The fields that are put back. A memory is changed now: the older of two loses when stores are merged."""
    if not isinstance(thing, Memory):
        return before
    return {name: value for name, value in before.items() if name not in UNTRACKED}


def _thing(tx: Writer, subject: Subject, number: int, sequence: int) -> Memory | Edge | Session:
    """What a change was about, as it is now."""
    ways: dict[Subject, Callable[[int], Memory | Edge | Session | None]] = {
        Subject.MEMORY: partial(memory_numbered, tx),
        Subject.EDGE: partial(edge_numbered, tx),
        Subject.SESSION: partial(session_numbered, tx),
    }
    thing = ways[subject](number)
    if thing is None:
        raise _purged(sequence)
    return thing


def _take_away(tx: Writer, ctx: Context, thing: Memory | Edge | Session, sequence: int) -> bool:
    """Take back that *thing* came to be; whether it was still there. A session ends, a mere name stays one."""
    match thing:
        case Session():
            return tx.update_session(thing, SessionPatch(ended_at=thing.ended_at or ctx.now())) is not thing
        case Edge():
            return tx.update_edge(thing, EdgePatch(state=State.FORGOTTEN)) is not thing
        case Memory(state=State.FORGOTTEN | State.NAMED):
            return False
    taken_out(tx, thing, State.FORGOTTEN, f"undo of {sequence}", ctx.now())
    return True


def _change(tx: Writer, thing: Memory | Edge | Session, fields: Mapping[str, Any]) -> None:
    match thing:
        case Session():
            tx.update_session(thing, SessionPatch(**fields))
        case Edge():
            tx.update_edge(thing, EdgePatch(**typed(fields)))
        case Memory():
            titles.update(tx, thing, MemoryPatch(**typed(fields)))


def _refuse_overtaken(
    change: Change, present: Mapping[str, object], after: Mapping[str, object], later: Sequence[Change]
) -> None:
    """Conflict if one of the *later* changes has changed the same again."""
    if all(present[name] == after[name] for name in after.keys() - UNTRACKED):
        return
    meant = {name for one in later for name in one.after or ()}
    for name in after.keys() - UNTRACKED:
        if present[name] != after[name] and name in meant:
            raise Conflict(
                f"Change {change.sequence} cannot be undone: {name} of {change.subject} {change.subject_id} "
                "has changed since. Undo the later change first, or revise it by hand"
            )


def _present(thing: Memory | Edge | Session, names: Iterable[str]) -> dict[str, object]:
    """Fields of *thing* in the form the journal tells them."""
    fields: dict[str, object] = {}
    for name in names:
        value = thing.texts if isinstance(thing, Memory) and name == "statements" else getattr(thing, name)
        fields[name] = (
            list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
        )
    return fields


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
