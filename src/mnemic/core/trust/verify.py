"""Verify: whether memory entails a claim, contradicts it, says a part of it, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_backlog
from mnemic.core.memories import SUPERSEDES, is_in_use
from mnemic.core.recall import vector_of
from mnemic.core.sessions import NEXT, PART_OF
from mnemic.core.trust.beliefs import CONTRADICTS
from mnemic.core.trust.comparison import Entailment
from mnemic.core.trust.judgement import Judgement, entails_together, judge, propositions
from mnemic.core.trust.propositions import Clause
from mnemic.core.trust.terms import TermKind
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter, Filter, Order, Query
from mnemic.model.graph import Direction, Link
from mnemic.model.memory import Memory
from mnemic.model.time import Moment, iso
from mnemic.search import search
from mnemic.search.ranking import NATIVE
from mnemic.storage.base import Reader
from mnemic.storage.queries import passing

VERIFIED, CONTRADICTED, PARTIAL, UNGROUNDED = "verified", "contradicted", "partial", "ungrounded"
CANDIDATES = 20
"""Nearest memories compared with the claim."""
NOISE = 0.05
"""Memories below this relevance have nothing to do with a claim; the floor of recall would hide evidence."""
MOST_CLAUSES = 16
"""Statements of one claim that are checked."""
LINKED = 10
"""Memories linked to the best one that may complete it."""
FORERUNNERS = 100
"""Earlier versions of the candidates that are checked, latest first."""
RECENTLY_SUPERSEDED = 200
"""Most recently superseded memories that are checked."""
RELATED = 0.3
"""From this share of the claim on, a memory says a part of it."""
SUCCEEDS = 0.5
"""A successor that says this share of a claim its forerunner made speaks of the same."""
EXCERPT = 300
"""A longer text is shown by the sentences that bear on the claim."""
SUPERSEDED_ONLY = frozenset({State.SUPERSEDED})
NO_SUPPORT = frozenset((NEXT, PART_OF, CONTRADICTS, SUPERSEDES))
"""Link types that do not let two memories complete each other: every memory of a session has one of the first two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A memory that bears on a claim, with the words of the claim it backs and their weighted share."""

    memory: Memory
    words: tuple[str, ...]
    support: float
    is_outdated: bool = False
    contradicts: bool = False
    judgement: Judgement = field(repr=False, compare=False)

    @property
    def excerpt(self) -> str:
        """Its text; of a long one the sentences that were compared with the claim."""
        if len(self.memory.content) <= EXCERPT:
            return self.memory.content
        found = dict.fromkeys(part.fact.text for part in self.judgement.parts if part.coverage > 0)
        return " … ".join(found)[: 2 * EXCERPT] or f"{self.memory.content[:EXCERPT]} …"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Verdict on a claim with its evidence, the unsupported words, and the reason in one sentence."""

    status: str
    confidence: float
    evidence: tuple[Evidence, ...]
    missing: tuple[str, ...]
    because: str | None = None


def verify(ctx: Context, claim: str, namespace: str | None = None, limit: int = 5) -> Verdict:
    """Check *claim* against memory. When in doubt the verdict is partial, never verified."""
    every = propositions(claim)
    told = every[:MOST_CLAUSES]
    reader = ctx.read()
    near = _candidates(ctx, reader, claim, namespace) if told else []
    living = _by_support(_evidence(memory, told) for memory in near)
    outdated = _outdated(ctx, reader, near, told, namespace) if told else []
    verdict = _verdict(ctx, reader, told, living, outdated, limit)
    return verdict if len(told) == len(every) else _unfinished(verdict)


def _unfinished(verdict: Verdict) -> Verdict:
    """The verdict on a claim of which only the beginning was compared: it is never verified."""
    if verdict.status != VERIFIED:
        return verdict
    because = f"only the first {MOST_CLAUSES} statements of the claim were compared; verify it in parts"
    return replace(verdict, status=PARTIAL, because=because)


def _verdict(
    ctx: Context,
    reader: Reader,
    claim: Sequence[Clause],
    living: Sequence[Evidence],
    outdated: Sequence[Evidence],
    limit: int,
) -> Verdict:
    entailing = [item for item in living if item.judgement.relation is Entailment.ENTAILS]
    against = [item for item in living if item.contradicts]
    if entailing and against:
        return _disputed(entailing[0], against[0], living, outdated, limit)
    if entailing:
        return _found(VERIFIED, entailing, living, outdated, limit)
    if against:
        return _found(
            CONTRADICTED,
            against,
            living,
            outdated,
            limit,
            _reason(against[0]) + _was_true(against[0], outdated),
        )
    if together := _together(ctx, reader, claim, living):
        return _found(VERIFIED, together, living, outdated, limit)
    if replaced := _replaced(ctx, reader, claim, outdated):
        old, new = replaced
        return _found(CONTRADICTED, [new, old], living, outdated, limit, _succession(old.memory, new.memory))
    if living and living[0].support >= RELATED:
        return _found(PARTIAL, living[:1], living, outdated, limit)
    return Verdict(
        status=UNGROUNDED,
        confidence=0.0,
        evidence=_shown([], living, outdated, limit),
        missing=_missing(claim, living[:1]),
    )


def _found(
    status: str,
    first: Sequence[Evidence],
    living: Sequence[Evidence],
    outdated: Sequence[Evidence],
    limit: int,
    because: str | None = None,
) -> Verdict:
    best = first[0]
    backed = max((item.support for item in first), default=0.0) if status != CONTRADICTED else 1.0
    return Verdict(
        status=status,
        confidence=backed * best.memory.confidence,
        evidence=_shown(first, living, outdated, limit),
        missing=() if status == VERIFIED else _unbacked(best),
        because=because or (_unknown(best) if status == PARTIAL else None),
    )


def _disputed(
    backing: Evidence, against: Evidence, living: Sequence[Evidence], outdated: Sequence[Evidence], limit: int
) -> Verdict:
    """Two living memories disagree about the claim: neither is taken for the truth."""
    because = f"memory {backing.memory.id} says so, but {_reason(against)}"
    return Verdict(
        status=PARTIAL,
        confidence=backing.support * backing.memory.confidence / 2,
        evidence=_shown([backing, against], living, outdated, limit),
        missing=(),
        because=because,
    )


def _shown(
    first: Sequence[Evidence], living: Sequence[Evidence], outdated: Sequence[Evidence], limit: int
) -> tuple[Evidence, ...]:
    """The decisive evidence, then the rest by support; at most half is outdated, so that the present is seen."""
    rest = _by_support((*living, *outdated[: (limit + 1) // 2]))
    chosen = {item.memory.id: item for item in (*first, *rest)}
    return tuple(chosen.values())[:limit]


def _reason(item: Evidence) -> str:
    return item.judgement.reason.replace("memory", f"memory {item.memory.id}", 1)


def _was_true(against: Evidence, outdated: Sequence[Evidence]) -> str:
    """When the claim was held and since when not, if it is a belief that changed."""
    held = next((item for item in outdated if item.judgement.relation is Entailment.ENTAILS), None)
    if held is None:
        return ""
    since, until = _day(held.memory.occurred_at), _day(against.memory.occurred_at)
    return f"; memory {held.memory.id} of {since} said so until {until}"


def _succession(old: Memory, new: Memory) -> str:
    return (
        f"memory {old.id} ({_day(old.occurred_at)}) said so, "
        f"but memory {new.id} ({_day(new.occurred_at)}) replaced it"
    )


def _day(moment: Moment) -> str:
    return iso(moment)[:10]


def _unknown(best: Evidence) -> str:
    missing = _unbacked(best)
    if missing:
        return f"memory {best.memory.id} does not say: {', '.join(missing)}"
    return f"memory {best.memory.id} has these words, but does not say this of the same, or not outright"


def _unbacked(best: Evidence) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term.text for part in best.judgement.parts for term in part.missing))


def _missing(claim: Sequence[Clause], best: Sequence[Evidence]) -> tuple[str, ...]:
    if best:
        return _unbacked(best[0])
    return tuple(
        dict.fromkeys(
            term.text for clause in claim for term in clause.terms if term.kind is not TermKind.LIGHT
        )
    )


def _by_support(evidence: Iterable[Evidence]) -> list[Evidence]:
    """What backs some of a claim or contradicts it, the best first."""
    bearing = (item for item in evidence if item.support > 0 or item.contradicts)
    return sorted(bearing, key=lambda item: -item.support)


def _evidence(memory: Memory, claim: Sequence[Clause]) -> Evidence:
    judgement = judge(claim, memory.content, _chosen_title(memory))
    is_outdated = memory.state is State.SUPERSEDED
    return Evidence(
        memory=memory,
        words=judgement.backed,
        support=judgement.support,
        is_outdated=is_outdated,
        contradicts=judgement.relation is Entailment.CONTRADICTS and not is_outdated,
        judgement=judgement,
    )


def _chosen_title(memory: Memory) -> str:
    """The title somebody chose; one made of the first sentence adds nothing."""
    start = memory.title.rstrip("….")
    return "" if memory.content.lstrip().startswith(start[: len(start) * 3 // 4]) else memory.title


def _candidates(ctx: Context, reader: Reader, claim: str, namespace: str | None) -> list[Memory]:
    now = ctx.now()
    wanted = Filter(namespaces=ctx.scope(namespace), alive_at=now)
    query = Query(text=claim, filter=wanted, limit=CANDIDATES, min_relevance=NOISE, now=now)
    embed_backlog(ctx, query.filter)
    return [hit.memory for hit in search.find_hits(reader, query, vector_of(ctx, claim, wanted), NATIVE)]


def _together(
    ctx: Context, reader: Reader, claim: Sequence[Clause], living: Sequence[Evidence]
) -> list[Evidence]:
    """The best memory and one it is linked to, if both say the claim together; else nothing."""
    if not living:
        return []
    best = living[0]
    links = [
        link
        for link in reader.look(EdgeFilter(at=(best.memory.id,), is_current=True), Link)
        if link.type not in NO_SUPPORT
    ]
    ends = {end for link in links for end in (link.source_id, link.target_id)} - {best.memory.id}
    linked = [memory for memory in reader.get(sorted(ends)[:CANDIDATES]) if is_in_use(ctx, memory)]
    for memory in linked[:LINKED]:
        other = _evidence(memory, claim)
        if entails_together(best.judgement, other.judgement):
            return [best, other]
    return []


def _outdated(
    ctx: Context, reader: Reader, near: Sequence[Memory], claim: Sequence[Clause], namespace: str | None
) -> list[Evidence]:
    """Superseded memories: earlier versions of the candidates, and others that entail the claim."""
    older = _forerunners(reader, [memory.id for memory in near])
    recent = reader.select(
        Filter(namespaces=ctx.scope(namespace), states=frozenset({State.SUPERSEDED})),
        order=Order.LEFT,
        limit=RECENTLY_SUPERSEDED,
    )
    numbers = list(dict.fromkeys((*older, *recent)))
    wanted = Filter(states=SUPERSEDED_ONLY, alive_at=ctx.now())
    shown = passing(reader, numbers, wanted)
    memories = reader.get([number for number in numbers if number in shown])
    evidence = _by_support(_evidence(memory, claim) for memory in memories)
    return [
        item for item in evidence if item.memory.id in older or item.judgement.relation is Entailment.ENTAILS
    ]


def _forerunners(reader: Reader, memory_ids: Sequence[int]) -> set[int]:
    """What these memories have superseded, and what that had superseded before."""
    seen = set(memory_ids)
    found: set[int] = set()
    frontier = list(memory_ids)
    while frontier and len(found) < FORERUNNERS:
        edges = reader.edges(EdgeFilter(at=tuple(frontier), direction=Direction.OUT, types=(SUPERSEDES,)))
        frontier = sorted({edge.target_id for edge in edges} - seen)[: FORERUNNERS - len(found)]
        seen.update(frontier)
        found.update(frontier)
    return found


def _replaced(
    ctx: Context, reader: Reader, claim: Sequence[Clause], outdated: Sequence[Evidence]
) -> tuple[Evidence, Evidence] | None:
    """A superseded memory that made the claim, and the living one in its place."""
    for item in outdated:
        if item.judgement.relation is not Entailment.ENTAILS:
            continue
        held = _successor(ctx, reader, item.memory.id)
        if held is None:
            continue
        new = _evidence(held, claim)
        # A memory of several statements may be replaced because of another one of them.
        is_same = len(propositions(item.memory.content)) <= 2 or new.support >= SUCCEEDS
        if is_same:
            return item, replace(new, contradicts=True)
    return None


def _successor(ctx: Context, reader: Reader, number: int) -> Memory | None:
    """The living memory at the end of the supersessions that begin at *number*."""
    seen = {number}
    for _ in range(FORERUNNERS):
        later = {
            link.source_id
            for link in reader.look(
                EdgeFilter(at=(number,), direction=Direction.IN, types=(SUPERSEDES,), is_current=True), Link
            )
        } - seen
        if not later:
            break
        number = max(later)
        seen.add(number)
    found = reader.get([number])
    return found[0] if found and is_in_use(ctx, found[0]) else None
