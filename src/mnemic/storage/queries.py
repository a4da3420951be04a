"""Common questions to a store, put together from the few that a Reader answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from itertools import count as count_up

from mnemic.model.candidates import Ask, Candidate
from mnemic.model.change import Change
from mnemic.model.enums import State
from mnemic.model.filter import ALL_STATES, LIVING_ONLY, AliasFilter, EdgeFilter, Filter, Order, SessionFilter
from mnemic.model.graph import Direction, Edge, Link
from mnemic.model.memory import Memory
from mnemic.model.session import Session, SessionDraft
from mnemic.model.shapes import Content, Identity, Number
from mnemic.model.time import Moment
from mnemic.model.uids import normalised
from mnemic.model.vectors import Embedding
from mnemic.storage.base import Reader, Writer

PAGE = 500
ANYTHING = Filter(states=ALL_STATES)
LIVING = Filter()
STANDING = Filter(states=frozenset({State.LIVING, State.NAMED, State.SUPERSEDED}))
"""The memories that a link must have at both ends to count."""
EACH_HAS = {Filter: "state", EdgeFilter: "type", SessionFilter: "namespace"}
"""An attribute that each memory, link or session has one of."""


def memory_numbered(reader: Reader, number: int) -> Memory | None:
    """The memory with this id, in any state, or None."""
    return next(iter(reader.get([number])), None)


def passing(reader: Reader, memory_ids: Iterable[int], wanted: Filter) -> set[int]:
    """Those of these memories that pass *wanted*."""
    numbers = tuple(memory_ids)
    return {one.id for one in reader.look(replace(wanted, ids=numbers), Number)} if numbers else set()


def numbers(reader: Reader, uids: Sequence[str]) -> dict[str, int]:
    """The ids of the memories with these full uids, in any state, by the uid as given."""
    known = {one.uid: one.id for one in reader.look(Filter(uids=tuple(uids), states=ALL_STATES), Identity)}
    spelled = {uid: normalised(uid) for uid in uids}
    return {uid: known[same] for uid, same in spelled.items() if same in known}


def ids_with_uid(reader: Reader, prefix: str, limit: int) -> list[int]:
    """The first *limit* memories, in any state, whose uid begins with *prefix*."""
    return reader.select(Filter(uid_prefix=prefix, states=ALL_STATES), order=Order.NUMBER, limit=limit)


def ids_titled(reader: Reader, title: str, namespaces: Sequence[str] | None) -> list[int]:
    """The living memories shown as *title* exactly, in these namespaces or in all, by number."""
    spaces = None if namespaces is None else tuple(namespaces)
    return reader.select(Filter(title=title, namespaces=spaces), order=Order.NUMBER)


def count(reader: Reader, wanted: Filter | EdgeFilter | SessionFilter = LIVING) -> int:
    """How many memories, links or sessions pass *wanted*; by default, how many memories are living."""
    return sum(reader.tally(wanted, EACH_HAS[type(wanted)]).values())


def alias_numbers(reader: Reader, uids: Sequence[str]) -> dict[str, int]:
    """The numbers of the memories that these uids are aliases of."""
    return dict(reader.aliases(AliasFilter(uids=tuple(uids))))


def alias_uids(reader: Reader, memory_ids: Sequence[int]) -> dict[int, list[str]]:
    """The aliases of these memories, by number; without those that have none."""
    found: dict[int, list[str]] = {}
    for uid, number in reader.aliases(AliasFilter(memory_ids=tuple(memory_ids))):
        found.setdefault(number, []).append(uid)
    return found


def newest_change(reader: Reader) -> Change | None:
    """The newest change that can be seen, or None."""
    return next(reader.journal(limit=1, newest_first=True), None)


def contents(reader: Reader, memory_ids: Sequence[int]) -> dict[int, str]:
    """The texts of these memories; one that says nothing is left out."""
    return {one.id: one.content for one in reader.look(memory_ids, Content) if one.content}


def uids_of(reader: Reader, memory_ids: Iterable[int], wanted: Filter) -> dict[int, str]:
    """The uids of those of these memories that pass *wanted*, by number."""
    return dict(reader.look(replace(wanted, ids=tuple(memory_ids)), Identity))


def best_words(
    reader: Reader, terms: Sequence[str], wanted: Filter, *, every: bool = False, limit: int
) -> list[tuple[int, float]]:
    """The best *limit* memories by BM25 among those that hold any of *terms* (or every one), with their scores."""
    found = reader.candidates(Ask(terms=tuple(terms), filter=wanted, every=every, depth=limit))
    return [(number, row.bm25) for number, row in found.rows.items()]


def nearest(
    reader: Reader, text: Embedding, wanted: Filter, *, limit: int, at_least: float = -math.inf
) -> list[Candidate]:
    """The *limit* memories nearest to *text* of those that pass, nearest first; none below *at_least*."""
    ask = Ask(text=text, filter=wanted, depth=limit, min_similarity=at_least)
    return list(reader.candidates(ask).rows.values())


def similarities(
    reader: Reader, text: Embedding, memory_ids: Sequence[int], states: frozenset[State] = LIVING_ONLY
) -> dict[int, float]:
    """The similarity of each of these memories to *text*, for those that have vectors.

    If *states* are not the living alone, memories that have left are compared by the vectors they left with.
    """
    found = reader.candidates(Ask(text=text, ids=tuple(memory_ids), filter=Filter(states=states))).rows
    return {number: row.cosine for number, row in found.items() if row.statement_id is not None}


def neighbours_in_session(reader: Reader, memory_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """For each of these memories that belongs to a session: the living ones right before and after it."""
    found = reader.candidates(Ask(ids=tuple(memory_ids), has_traits=True)).rows
    return {number: row.beside for number, row in found.items() if row.session_id is not None}


def holders(reader: Reader, terms: Sequence[str], namespaces: Sequence[str] | None) -> Mapping[str, int]:
    """Document frequency of each term in these namespaces (or in all)."""
    return reader.statistics(terms, namespaces).holders


def last_in_session(reader: Reader, session_id: int) -> int | None:
    """The number of the newest living memory of a session, or None."""
    found = reader.select(Filter(session_ids=(session_id,)), order=Order.LAST, limit=1)
    return next(iter(found), None)


def each_memory(reader: Reader, wanted: Filter = ANYTHING) -> Iterator[Memory]:
    """The memories that pass *wanted*, by number, without holding them all."""
    last = 0
    while numbers := reader.select(wanted, order=Order.NUMBER, after=last, limit=PAGE):
        yield from reader.get(numbers)
        last = numbers[-1]


def each_edge(reader: Reader, wanted: EdgeFilter) -> Iterator[Edge]:
    """The links that pass *wanted*, by number, without holding them all."""
    last = 0
    while page := reader.edges(wanted, after=last, limit=PAGE):
        yield from page
        last = page[-1].id


def edge_numbered(reader: Reader, number: int) -> Edge | None:
    """The link with this id, in any state, or None."""
    return next(iter(reader.edges(EdgeFilter(ids=(number,), states=ALL_STATES))), None)


def edge_between(reader: Reader, source_id: int, target_id: int, type: str) -> Edge | None:
    """The living link of this type from one memory to another that has not ended, or None."""
    wanted = EdgeFilter(sources=(source_id,), targets=(target_id,), types=(type,), is_current=True)
    return next(iter(reader.edges(wanted)), None)


def unlinked(
    reader: Reader,
    wanted: Filter,
    direction: Direction = Direction.BOTH,
    types: tuple[str, ...] | None = None,
) -> list[int]:
    """The memories that pass *wanted* and have no link in this direction, of these types or of any, by number.

    A link that has ended is none, nor is one to a memory that has left (a superseded one has not).
    """
    found = reader.select(wanted, order=Order.NUMBER)
    touching = EdgeFilter(at=tuple(found), direction=direction, types=types, ends=STANDING, is_current=True)
    links = reader.look(touching, Link)
    linked = {link.source_id for link in links if direction is not Direction.IN}
    linked |= {link.target_id for link in links if direction is not Direction.OUT}
    return [number for number in found if number not in linked]


def session_numbered(reader: Reader, number: int) -> Session | None:
    """The session with this number, or None."""
    return next(iter(reader.sessions(SessionFilter(ids=(number,)))), None)


def unused_session_name(reader: Reader, namespace: str, name: str) -> str:
    """*name* if no session of the namespace has it, else with the next free number in brackets."""
    taken = SessionFilter(namespaces=(namespace,), name=name, is_numbered=True)
    names = {session.name for session in reader.sessions(taken)}
    numbered = (f"{name} ({number})" for number in count_up(2))
    return next(one for one in chain([name], numbered) if one not in names)


def session_called(tx: Writer, namespace: str, name: str, started_at: Moment | None = None) -> Session:
    """The session of this name, started if there is none, now or when it is said to have been."""
    known = tx.sessions(SessionFilter(namespaces=(namespace,), name=name), limit=1)
    return known[0] if known else tx.insert_session(SessionDraft(namespace, name=name, started_at=started_at))
