"""The past: what changed, how the store stood, and taking changes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from mnemic.core.context import Context
from mnemic.core.leaving import taken_out
from mnemic.core.memories import links_of, locate
from mnemic.errors import Conflict, Denied, NotFound
from mnemic.model.journal import Change, Subject
from mnemic.model.memory import Memory
from mnemic.model.values import Moment, State, Tier
from mnemic.storage.base import Reader, Writer

UNTRACKED = frozenset({"updated_at"})
"""Fields that move with every change, and so say nothing about whether one was built upon."""


def as_of(ctx: Context, moment: Moment) -> Context:
    """A context that reads the store as it stood at *moment*, by the clock of that moment."""
    sequence = ctx.store.sequence_at(moment)
    return replace(ctx, store=ctx.store.at(sequence), now=lambda: moment, uses=None)


def history(
    ctx: Context,
    *,
    reference: int | str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    actor: str | None = None,
    limit: int = 20,
) -> list[Change]:
    """The changes to one memory and its links, or to everything, newest first."""
    reader = ctx.store.read()
    asked: dict[str, Any] = {"since": since, "until": until, "actor": actor, "newest_first": True}
    if reference is None:
        changes = reader.journal(**asked, limit=_at_most(ctx, limit))
        return list(islice((change for change in changes if _may_see(ctx, change)), limit))
    memory = locate(reader, ctx, reference)
    links = links_of(reader, ctx, memory)
    subjects = {Subject.MEMORY: [memory.id], Subject.EDGE: [edge.id for edge in links]}
    told = [
        change
        for subject, numbers in subjects.items()
        for change in reader.journal(**asked, subject=subject, subject_ids=numbers, limit=limit)
    ]
    return sorted(told, key=lambda change: -change.sequence)[:limit]


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
    sums: dict[int, _Sum] = {}
    for change in reader.journal(after=first, subject=Subject.MEMORY):
        if change.sequence > last:
            break
        if _may_see(ctx, change):
            sums.setdefault(change.subject_id, _Sum(change.before is None and change.after is not None)).add(
                change
            )
    parts: dict[str, list[Changed]] = {"added": [], "changed": [], "left": []}
    for number, total in sums.items():
        part = _part(reader, number, total, last)
        if part:
            parts[part].append(_changed(reader, number, total))
    return Difference(*(tuple(parts[name]) for name in ("added", "changed", "left")))


@dataclass(slots=True)
class _Sum:
    """What the changes to a memory come to: its fields before the first of them and after the last."""

    is_born: bool
    before: dict[str, object] = field(default_factory=dict)
    after: dict[str, object] = field(default_factory=dict)
    is_purged: bool = False

    def add(self, change: Change) -> None:
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
    state = total.after.get("state") or _state_at(reader, number, last)
    is_living = state == State.LIVING
    was_living = not total.is_born and total.before.get("state", state) == State.LIVING
    if is_living and was_living:
        return "changed" if total.fields() else None
    return "added" if is_living else "left" if was_living else None


def _state_at(reader: Reader, number: int, last: int) -> object:
    """The state of a memory after the change *last*: what it was changed from later, else what it is."""
    for change in reader.journal(after=last, subject=Subject.MEMORY, subject_ids=[number]):
        if change.before and "state" in change.before:
            return change.before["state"]
    memory = reader.memory(number)
    return memory.state if memory else None


def _changed(reader: Reader, number: int, total: _Sum) -> Changed:
    title = total.after.get("title")
    if title is None and (memory := reader.memory(number)):
        title = memory.title
    names = () if total.is_born or total.is_purged else sorted(total.fields())
    return Changed(
        number,
        None if title is None else str(title),
        {name: total.before.get(name) for name in names},
        {name: total.after[name] for name in names},
    )


def has_changed_since(ctx: Context, sequence: int) -> bool:
    """Whether there is a change after this number that the caller may see."""
    changes = ctx.store.read().journal(after=sequence, limit=_at_most(ctx, 1))
    return any(_may_see(ctx, change) for change in changes)


def _at_most(ctx: Context, limit: int) -> int | None:
    """How much of the journal to read: all of it for a caller who may not see every change."""
    return limit if ctx.granted is None else None


def _may_see(ctx: Context, change: Change) -> bool:
    """Whether everything *change* touched lies where the caller may look."""
    if ctx.granted is None:
        return True
    reader = ctx.store.read()
    touched = [change.subject_id] if change.subject is Subject.MEMORY else []
    if change.subject is Subject.EDGE and (edge := reader.edge(change.subject_id)):
        touched = [edge.source_id, edge.target_id]
    found = reader.memories(touched)
    return bool(found) and all(ctx.may_see(memory.namespace) for memory in found)


def undo(ctx: Context, sequence: int, *, dry_run: bool = False) -> list[int]:
    """Take back the change with this number and what was done together with it: the numbers undone."""
    with ctx.write("undo") as tx:
        one = next(tx.journal(after=sequence - 1, limit=1), None)
        if one is None or one.sequence != sequence or not _may_see(ctx, one):
            raise NotFound(f"No change {sequence}")
        together = [change for change in tx.journal(after=one.batch - 1) if change.batch == one.batch]
        if not all(_may_see(ctx, change) or change.subject is Subject.SESSION for change in together):
            raise Denied(f"Change {sequence} was made together with others that this token may not touch.")
        return _take_back(tx, ctx, together[::-1], dry_run)


def undo_since(ctx: Context, moment: Moment, *, dry_run: bool = False) -> list[int]:
    """Take back everything that was changed after *moment*, newest first: the numbers undone."""
    with ctx.write("undo") as tx:
        after = ctx.store.sequence_at(moment)
        changes = [change for change in tx.journal(after=after, newest_first=True) if _may_see(ctx, change)]
        return _take_back(tx, ctx, changes, dry_run)


def _take_back(tx: Writer, ctx: Context, changes: Sequence[Change], dry_run: bool) -> list[int]:
    if not dry_run:
        for change in changes:
            _reverse(tx, ctx, change)
    return [change.sequence for change in changes]


def _reverse(tx: Writer, ctx: Context, change: Change) -> None:
    if change.after is None:
        raise Conflict(f"Change {change.sequence} cannot be taken back: what it touched was purged")
    match change.subject:
        case Subject.MEMORY:
            _reverse_memory(tx, ctx, change, change.after)
        case Subject.EDGE:
            _reverse_edge(tx, change, change.after)


def _reverse_memory(tx: Writer, ctx: Context, change: Change, after: Mapping[str, object]) -> None:
    memory = tx.memory(change.subject_id)
    if memory is None:
        raise Conflict(
            f"Change {change.sequence} cannot be taken back: memory {change.subject_id} was purged"
        )
    if change.before is None:
        if memory.state is State.FORGOTTEN:
            return
        taken_out(tx, memory, State.FORGOTTEN, f"undo of {change.sequence}", ctx.now())
        return
    _refuse_overtaken(change, _present(memory, after), after)
    tx.change(memory, **typed(change.before))


def _reverse_edge(tx: Writer, change: Change, after: Mapping[str, object]) -> None:
    edge = tx.edge(change.subject_id)
    if edge is None:
        raise Conflict(f"Change {change.sequence} cannot be taken back: its link was purged")
    if change.before is None:
        tx.change_edge(edge, state=State.FORGOTTEN)
        return
    _refuse_overtaken(change, {name: getattr(edge, name) for name in after}, after)
    tx.change_edge(edge, **typed(change.before))


def _refuse_overtaken(change: Change, present: Mapping[str, object], after: Mapping[str, object]) -> None:
    for name in after.keys() - UNTRACKED:
        if present[name] != after[name]:
            raise Conflict(
                f"Change {change.sequence} cannot be taken back: {name} of {change.subject} {change.subject_id} "
                "has changed since. Undo the later change first, or revise it by hand"
            )


def _present(memory: Memory, names: Iterable[str]) -> dict[str, object]:
    """The fields of *memory* in the form the journal tells them."""
    told: dict[str, object] = {}
    for name in names:
        if name == "statements":
            told[name] = memory.texts
        else:
            value = getattr(memory, name)
            told[name] = (
                list(value)
                if isinstance(value, tuple)
                else dict(value)
                if isinstance(value, Mapping)
                else value
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
