"""What came of a session: a reflection on it, written once, and the memories of what was learnt.

The reflection is a memory among the other reflections, so the graph dialects do not list it. What was discovered
and learnt become memories of their own, linked to it; what was known is linked to it too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.core.graph import link_once
from mnemic.core.memories import Note, faithful, in_use
from mnemic.core.reflections import ABOUT, KIND, SESSION, TARGET_TYPE
from mnemic.dialects.lorekeeper.dedup import Admitted, Gate, Weighed, admit, weigh
from mnemic.dialects.lorekeeper.export_file import REFLECTION_TITLE, REFLECTS_ON
from mnemic.model.filter import Filter, Order
from mnemic.model.memory import Draft, Memory, title_of
from mnemic.model.patch import if_given
from mnemic.model.session import SessionPatch
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import ids_titled, passing, session_called

DISCOVERED, LEARNT = "discovered_in", "learned_in"
QUALITY = {DISCOVERED: 7.0, LEARNT: 8.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What someone says of a session that is over."""

    session: str
    summary: str
    date: str | None = None
    topic: str | None = None
    task_type: str | None = None
    what_was_done: str | None = None
    decisions: str | None = None
    lessons: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    discoveries: tuple[str, ...] = ()
    about: tuple[int, ...] = ()
    """The memories it has to do with."""

    def texts(self) -> tuple[str, ...]:
        """The account in words, a part each."""
        parts = {
            "What was done": self.what_was_done,
            "Decisions": self.decisions,
            "Lessons learnt": _bullets(self.lessons),
            "Good patterns": _bullets(self.patterns),
            "User profile updates": _bullets(self.profile),
            "Factual discoveries": _bullets(self.discoveries),
        }
        return (self.summary, *(f"{name}:\n{text}" for name, text in parts.items() if text))

    def learnings(self) -> list[tuple[str, str]]:
        """What was found out, with the relation it has to the session."""
        learnt = [(text, DISCOVERED) for text in self.discoveries] + [(text, LEARNT) for text in self.lessons]
        return [(text, relation) for text, relation in learnt if text.strip()]


def _bullets(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


@dataclass(frozen=True, slots=True)
class Learning:
    """A memory of what was learnt, how it relates to the session, and whether it was known before."""

    memory: Memory
    relation: str
    is_known: bool


@dataclass(frozen=True, slots=True)
class Learnt:
    """The reflection on a session; what was learnt, or that the session had been reflected on before."""

    reflection: Memory
    learnings: tuple[Learning, ...] = ()
    is_known: bool = False


def learn(
    ctx: Context,
    account: Account,
    gate: Gate,
    *,
    namespace: str | None = None,
    keeps_learnings: bool = True,
    title: Callable[[str], str] = title_of,
) -> Learnt:
    """Keep what came of a session, in one transaction; once, however many say it at the same time."""
    known = reflection_on(ctx.read(), account.session, gate.namespaces)
    if known:
        return Learnt(known, is_known=True)
    learnings = account.learnings() if keeps_learnings else []
    notes = [_note(text, relation, account, namespace, title) for text, relation in learnings]
    weighed = weigh(ctx, notes, gate)

    def work(tx: Writer) -> Learnt:
        # Another process may have committed the same reflection meanwhile.
        known = reflection_on(tx, account.session, gate.namespaces)
        if known:
            return Learnt(known, is_known=True)
        return _learnt(tx, ctx, account, weighed, [relation for _, relation in learnings], gate, namespace)

    # Once in all namespaces that are looked at.
    where = None if gate.namespaces is None else (ctx.home(namespace), *gate.namespaces)
    learnt = change_after_expiry(ctx, "learn", work, namespaces=where)
    ctx.wake()
    return learnt


def _note(
    text: str, relation: str, account: Account, namespace: str | None, title: Callable[[str], str]
) -> Note:
    return Note(
        text=text,
        title=title(text),
        namespace=namespace,
        quality=QUALITY[relation],
        session=account.session,
    )


def _learnt(
    tx: Writer,
    ctx: Context,
    account: Account,
    weighed: Sequence[Weighed],
    relations: Sequence[str],
    gate: Gate,
    namespace: str | None,
) -> Learnt:
    reflection = _reflection(tx, ctx, account, ctx.home(namespace))
    admitted = zip(admit(tx, ctx, weighed, gate), relations, strict=True)
    learnings = [learning for one, relation in admitted if (learning := _learning(one, relation))]
    for learning in learnings:
        link_once(tx, learning.memory.id, reflection.id, learning.relation)
    standing = passing(tx, account.about, in_use(ctx))
    for number in account.about:
        if number in standing:
            link_once(tx, reflection.id, number, ABOUT)
    return Learnt(reflection, tuple(learnings))


def _learning(one: Admitted, relation: str) -> Learning | None:
    if one.twin is not None:
        return Learning(one.twin.memory, relation, is_known=True)
    return None if one.memory is None else Learning(one.memory, relation, is_known=False)


def _reflection(tx: Writer, ctx: Context, account: Account, home: str) -> Memory:
    session = session_called(tx, home, account.session)
    patch = SessionPatch(
        topic=if_given(account.topic),
        summary=if_given(account.summary),
        ended_at=session.ended_at or ctx.now(),
    )
    tx.update_session(session, patch)
    draft = Draft(
        namespace=home,
        title=REFLECTION_TITLE.format(account.session),
        texts=account.texts(),
        kind=KIND,
        metadata=faithful(_metadata(account)),
        session_id=session.id,
    )
    return tx.insert(draft, uid=ctx.new_uid())


def _metadata(account: Account) -> dict[str, object]:
    metadata = {
        TARGET_TYPE: SESSION,
        REFLECTS_ON: account.session,
        "session_date": account.date,
        "topic": account.topic,
        "task_type": account.task_type,
    }
    return {name: value for name, value in metadata.items() if value is not None}


def reflection_on(reader: Reader, session: str, namespaces: tuple[str, ...] | None) -> Memory | None:
    """The reflection on a session in these namespaces, or anywhere; None if there is none."""
    titled = reader.get(ids_titled(reader, REFLECTION_TITLE.format(session), namespaces))
    # It has another title where somebody renamed it.
    return _on(session, titled) or _on(session, _reflections(reader, namespaces))


def _on(session: str, found: Sequence[Memory]) -> Memory | None:
    return next((one for one in found if _is_ours(one) and one.metadata[REFLECTS_ON] == session), None)


def reflected(reader: Reader, namespaces: tuple[str, ...] | None) -> list[str]:
    """The sessions that were reflected on in these namespaces, or anywhere, the first one first."""
    found = (one.metadata[REFLECTS_ON] for one in _reflections(reader, namespaces) if _is_ours(one))
    return list(dict.fromkeys(map(str, found)))


def _reflections(reader: Reader, namespaces: tuple[str, ...] | None) -> list[Memory]:
    wanted = Filter(namespaces=namespaces, kinds=(KIND,))
    return reader.get(reader.select(wanted, order=Order.NEWEST))[::-1]


def _is_ours(memory: Memory) -> bool:
    return memory.kind == KIND and REFLECTS_ON in memory.metadata
