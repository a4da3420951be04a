"""The JSON document: memories and links moved out in one object, and in again.

What comes in is brought up to date where it is known; `lines` moves everything and loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from mnemic.core.context import Context
from mnemic.core.memories import faithful, is_in_use, title_of
from mnemic.core.moving.arrivals import LABEL_LENGTH, SAID, Arrival, Imported, Intake, Rules, Tie
from mnemic.core.reflections import aimed, target_of
from mnemic.core.upkeep import EXPIRED
from mnemic.errors import Denied, Invalid
from mnemic.formats import document
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.model.session import Session
from mnemic.model.values import State
from mnemic.storage.base import Progress, Reader

Check = Callable[[Mapping[str, Any]], None]
"""Raises Invalid for an entry or a link that breaks the rules of a vocabulary."""


def export_json(ctx: Context) -> dict[str, Any]:
    """Everything living as one JSON document."""
    now = ctx.now()
    with ctx.store.snapshot() as reader:
        living = (memory for memory in reader.all_memories() if is_in_use(ctx, memory))
        sessions = {session.id: session for session in reader.sessions()}
        content = document.document(living, current_edges(reader), sessions, now)
        standards = [
            {"namespace": rules.namespace, "standard_id": rules.standard, "parent": rules.parent}
            for rules in rules_of(ctx, reader)
        ]
    return {**content, "standards": standards} if standards else content


def rules_of(ctx: Context, reader: Reader) -> Iterator[Rules]:
    """What is set for the namespaces that may be seen, as far as the memory meant is in use."""
    for namespace, number, parent in reader.standards():
        memory = None if number is None else reader.memory(number)
        is_seen = ctx.may_see(namespace) and (memory is None or is_in_use(ctx, memory))
        if is_seen and (memory or parent):
            yield Rules(namespace, namespace, memory.uid if memory else None, parent)


def current_edges(reader: Reader) -> Iterator[Edge]:
    """The links that stand."""
    return (edge for edge in reader.all_edges() if edge.state is State.LIVING and edge.is_current)


def import_json(
    ctx: Context,
    content: object,
    *,
    check: Check | None = None,
    check_link: Check | None = None,
    progress: Progress | None = None,
    keeps_forgotten: bool = False,
    overwrites: bool = False,
) -> Imported:
    """Take in a JSON document. What is known is brought up to date; what cannot be read or linked is reported.

    With *keeps_forgotten* a memory that was forgotten here stays so, unless it changed there since. With *overwrites*
    what comes replaces what is known even if it is the older.
    """
    if not isinstance(content, Mapping) or not isinstance(content.get("memories"), list):
        raise Invalid("The document has no list of memories", "memories")
    links = content.get("links") or []
    if not isinstance(links, list):
        raise Invalid("The document's links are no list", "links")
    entries = content["memories"]
    places = dict(_places(ctx, entries))
    intake = Intake(
        ctx,
        keeps_forgotten=keeps_forgotten,
        overwrites=overwrites,
        # Two entries of one title in one namespace are one and the same.
        tells_apart=lambda known, coming: (
            places.get(known.uid) not in (None, (coming.namespace, coming.title))
        ),
    )
    intake.take(_arrivals(ctx, entries, check, intake.done), len(entries), progress)
    intake.tell_of(_sessions(ctx, content.get("sessions"), intake.done))
    intake.tie(ties_of(ctx, links, intake.done, check_link))
    intake.aim()
    intake.set_standards(_rules(content.get("standards"), intake.done))
    ctx.wake()
    return intake.done


def _places(ctx: Context, entries: Iterable[Any]) -> Iterator[tuple[str, tuple[str, Any]]]:
    """The namespace and title of the entries that have an id, by their uids."""
    for entry in entries:
        with suppress(Invalid, Denied):
            if isinstance(entry, Mapping) and (key := document.key_of(entry)):
                namespace = entry.get("namespace")
                named = namespace.strip() if isinstance(namespace, str) else ""
                yield document.uid_of(key), (named or ctx.home(), entry.get("title"))


def _arrivals(ctx: Context, entries: Iterable[Any], check: Check | None, done: Imported) -> Iterator[Arrival]:
    """The entries that can be read, of several with the same id the first; the others are told in *done*."""
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        try:
            arrival = _aimless(_arrival(ctx, index, entry, check))
            if arrival.memory.uid in seen:
                raise Invalid("id: an entry before has the same", "id")
            seen.add(arrival.memory.uid)
            yield arrival
        except (Invalid, Denied) as error:
            done.errors.append(f"{_label(index, entry)}: {error}")


def _aimless(arrival: Arrival) -> Arrival:
    """A thought without the number that what it is about had there; its link tells, if that is a memory."""
    is_aimed = target_of(arrival.memory) is not None
    return replace(arrival, memory=aimed(arrival.memory, None)) if is_aimed else arrival


def _arrival(ctx: Context, index: int, entry: Any, check: Check | None) -> Arrival:
    if not isinstance(entry, Mapping):
        raise Invalid("must be an object")
    if check:
        check(entry)
    return arrival_of(ctx, _label(index, entry), entry)


def arrival_of(
    ctx: Context,
    label: str,
    entry: Mapping[str, Any],
    *,
    key: str = "",
    has_name: bool = True,
    adds: bool = False,
) -> Arrival:
    """What an entry of the JSON document tells of, or Invalid; links know it by *key*, else by its id."""
    memory = document.memory_of(entry, ctx.now())
    faithful(memory.metadata)
    if not memory.title.strip() and not memory.content.strip():
        raise Invalid("title: must be a text that is not empty", "title")
    memory = replace(
        memory,
        uid=memory.uid or ctx.new_uid(),
        namespace=ctx.home(memory.namespace.strip()),
        title=memory.title if memory.title.strip() else title_of(memory.content),
    )
    session = document.text(entry, "session") if entry.get("session") is not None else None
    started_at = document.moment(entry, "session_started_at", ctx.now())
    says = SAID.intersection(name for name, value in entry.items() if value is not None)
    key = key or (document.key_of(entry) if entry.get("id") is not None else "")
    return Arrival(label, key, _over(ctx, memory), session, started_at, says, has_name, adds)


def _over(ctx: Context, memory: Memory) -> Memory:
    """*memory*, in the archive if its time is over."""
    if memory.state is not State.LIVING or not memory.has_expired(ctx.now()):
        return memory
    return replace(memory, state=State.ARCHIVED, state_reason=EXPIRED, state_at=ctx.now())


def _label(index: int, entry: Any) -> str:
    title = entry.get("title") if isinstance(entry, Mapping) else None
    if not isinstance(title, str) or not title.strip():
        return f"memories.{index}"
    return title[:LABEL_LENGTH].encode(errors="replace").decode()


def ties_of(ctx: Context, links: Iterable[Any], done: Imported, check: Check | None = None) -> Iterator[Tie]:
    """The links that can be read; the others are told in *done*."""
    for index, link in enumerate(links):
        label = f"links.{index}"
        try:
            if not isinstance(link, Mapping):
                raise Invalid("must be an object")
            source, target = (document.key_of(link, name) for name in ("source_id", "target_id"))
            if not source or not target:
                raise Invalid("source_id, target_id: both are needed")
            if check:
                check(link)
            yield Tie(label, source, target, document.edge_of(link, ctx.now()))
        except Invalid as error:
            done.errors.append(f"{label}: {error}")


def _sessions(ctx: Context, sessions: Any, done: Imported) -> Iterator[Session]:
    """What is said of sessions, as far as it can be read; the rest is told in *done*."""
    for index, entry in enumerate(sessions if isinstance(sessions, list) else ()):
        try:
            if not isinstance(entry, Mapping):
                raise Invalid("must be an object")
            session = document.session_of(entry, ctx.now())
            yield replace(session, namespace=ctx.home(session.namespace))
        except (Invalid, Denied) as error:
            done.errors.append(f"sessions.{index}: {error}")


def _rules(standards: Any, done: Imported) -> Iterator[Rules]:
    """What is set for namespaces, as far as it can be read; the rest is told in *done*."""
    for index, entry in enumerate(standards if isinstance(standards, list) else ()):
        label = f"standards.{index}"
        try:
            if not isinstance(entry, Mapping):
                raise Invalid("must be an object")
            told = {name: value for name, value in entry.items() if value is not None}
            namespace, parent = document.text(told, "namespace"), document.text(told, "parent")
            if not namespace:
                raise Invalid("namespace: must be a text that is not empty")
            yield Rules(label, namespace, document.key_of(told, "standard_id") or None, parent or None)
        except Invalid as error:
            done.errors.append(f"{label}: {error}")
