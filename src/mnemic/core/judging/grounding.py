"""Checking a claim against what is known.

The claim's content words are compared, by their stems, with the words of memories that come near it.
*Verified*: one living memory, or one together with those it is linked to, backs most of them, every number
and every name included, and denies nothing the claim asserts. *Partial*: some are backed. *Ungrounded*: none.
A superseded memory never verifies; it is shown as outdated evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.core.judging.beliefs import CONTRADICTS
from mnemic.core.memories import SUPERSEDES, is_in_use
from mnemic.core.recall import catch_up, vector_of
from mnemic.core.sessions import NEXT, PART_OF
from mnemic.model.graph import Direction
from mnemic.model.memory import Memory
from mnemic.model.search import Filter, Hit, Query
from mnemic.model.values import State
from mnemic.retrieval import engine
from mnemic.retrieval.profiles import HOUSE
from mnemic.retrieval.text import STOP_WORDS, content_words
from mnemic.storage.base import Reader

VERIFIED, PARTIAL, UNGROUNDED = "verified", "partial", "ungrounded"
MOST = 0.8
DENIED = 0.5
LOOKED_AT = 20
FEW = 10
FORERUNNERS = 100
"""So many versions behind the memories found are looked at, the latest first."""
LATELY = 200
"""So many of those superseded last are looked at for what they said themselves."""
SUPERSEDED_ONLY = frozenset({State.SUPERSEDED})
NO_SUPPORT = frozenset((NEXT, PART_OF, CONTRADICTS, SUPERSEDES))
"""Links that do not let two memories speak as one: every memory of a session has one of the first two."""
NEGATION = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|without|cannot|neither|nor|\w+n['’]t)\b", re.IGNORECASE
)
"""Words by which a sentence denies something."""
CLAUSE = re.compile(
    r"[.;:!?,\n]+|\b(?:because|but|although|though|while|whereas|since|so|and)\b", re.IGNORECASE
)
"""Where one thing that is said ends and the next begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A memory that bears on a claim, the content words of the claim it backs, and their share."""

    memory: Memory
    words: tuple[str, ...]
    support: float
    is_outdated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How a claim stands, and the words nobody backs."""

    status: str
    confidence: float
    evidence: tuple[Evidence, ...]
    missing: tuple[str, ...]


def verify(ctx: Context, claim: str, namespace: str | None = None, limit: int = 5) -> Verdict:
    """Whether memory backs *claim*."""
    reader = ctx.store.read()
    telling = (word for word in content_words(claim) if word not in STOP_WORDS)
    stems = {word: frozenset(reader.stems(word)) for word in telling}
    near = [hit.memory for hit in _near(ctx, reader, claim, namespace)]
    living = _by_support(_evidence(reader, memory, stems) for memory in near)
    backed = _backed(reader, ctx, living[0].memory, stems) if living else frozenset()
    missing = tuple(word for word in stems if word not in backed)
    support = (1 - len(missing) / len(stems)) * _agreement(reader, claim, living, stems) if stems else 0.0
    status = _status(claim, living, support, missing)
    confidence = support * (living[0].memory.confidence if living else 0.0)
    # Of what is outdated at most half, or of a belief that changed often its present form would not be seen.
    outdated = _outdated(ctx, reader, near, stems, namespace)[: (limit + 1) // 2]
    evidence = _by_support((*living, *outdated))[:limit]
    return Verdict(status=status, confidence=confidence, evidence=tuple(evidence), missing=missing)


def _by_support(evidence: Iterable[Evidence]) -> list[Evidence]:
    """What backs some of a claim, the best first."""
    return sorted((item for item in evidence if item.support > 0), key=lambda item: -item.support)


def _near(ctx: Context, reader: Reader, claim: str, namespace: str | None) -> list[Hit]:
    now = ctx.now()
    wanted = Filter(namespaces=ctx.scope(namespace), alive_at=now)
    query = Query(text=claim, filter=wanted, limit=LOOKED_AT, min_relevance=0.0, now=now)
    catch_up(ctx, query.filter)
    return engine.search(reader, query, vector_of(ctx, claim, wanted), HOUSE)


def _outdated(
    ctx: Context,
    reader: Reader,
    near: Sequence[Memory],
    stems: dict[str, frozenset[str]],
    namespace: str | None,
) -> list[Evidence]:
    """What was superseded: the versions before what is *near* a claim, and whatever else says most of it."""
    older = _forerunners(reader, [memory.id for memory in near])
    lately = reader.left(State.SUPERSEDED, ctx.scope(namespace), limit=LATELY)
    numbers = list(dict.fromkeys((*older, *lately)))
    shown = reader.passing(
        numbers, Filter(namespaces=ctx.granted, states=SUPERSEDED_ONLY, alive_at=ctx.now())
    )
    memories = reader.memories([number for number in numbers if number in shown])
    evidence = _by_support(_evidence(reader, memory, stems) for memory in memories)
    return [item for item in evidence if item.memory.id in older or item.support >= MOST]


def _forerunners(reader: Reader, memory_ids: Sequence[int]) -> set[int]:
    """What these memories have superseded, and what that had superseded before."""
    seen = set(memory_ids)
    found: set[int] = set()
    frontier = list(memory_ids)
    while frontier and len(found) < FORERUNNERS:
        edges = reader.edges(frontier, Direction.OUT, [SUPERSEDES])
        frontier = sorted({edge.target_id for edge in edges} - seen)[: FORERUNNERS - len(found)]
        seen.update(frontier)
        found.update(frontier)
    return found


def _status(claim: str, living: Sequence[Evidence], support: float, missing: Sequence[str]) -> str:
    if not living or support == 0:
        return UNGROUNDED
    firm = any(_is_firm(claim, word) for word in missing)
    return VERIFIED if support >= MOST and not firm else PARTIAL


def _agreement(
    reader: Reader, claim: str, living: Sequence[Evidence], stems: dict[str, frozenset[str]]
) -> float:
    """Half if the claim denies what the best evidence says of it, or the other way round; else whole."""
    if not living:
        return 1.0
    # What else a memory denies is another matter.
    clauses = [clause for clause in CLAUSE.split(living[0].memory.content) if clause.strip()]
    held = {clause: frozenset(reader.stems(clause)) for clause in clauses}
    about = max(clauses, key=lambda clause: sum(stem <= held[clause] for stem in stems.values()), default="")
    return DENIED if _denies(claim) != _denies(about) else 1.0


def _is_firm(claim: str, word: str) -> bool:
    """Numbers and names: words that nothing similar can stand in for."""
    name = rf"(?<!^)(?<![.!?] )\b{re.escape(word.capitalize())}\b"
    return any(char.isdigit() for char in word) or bool(re.search(name, claim))


def _denies(text: str) -> bool:
    return bool(NEGATION.search(text))


def _evidence(reader: Reader, memory: Memory, stems: dict[str, frozenset[str]]) -> Evidence:
    backed = _backs(reader, [memory], stems)
    return Evidence(
        memory=memory,
        words=tuple(word for word in stems if word in backed),
        support=len(backed) / len(stems) if stems else 0.0,
        is_outdated=memory.state is State.SUPERSEDED,
    )


def _backs(reader: Reader, memories: Sequence[Memory], stems: dict[str, frozenset[str]]) -> frozenset[str]:
    """The words of the claim that stand in any of these memories."""
    held = {stem for memory in memories for stem in reader.stems(f"{memory.title}\n{memory.content}")}
    return frozenset(word for word, wanted in stems.items() if wanted <= held)


def _backed(reader: Reader, ctx: Context, best: Memory, stems: dict[str, frozenset[str]]) -> frozenset[str]:
    """What the best memory backs, alone or with the living ones it is linked to by more than order or opposition."""
    links = [link for link in reader.links([best.id], Direction.BOTH) if link.type not in NO_SUPPORT]
    ends = {end for link in links for end in (link.source_id, link.target_id)} - {best.id}
    linked = [memory for memory in reader.memories(sorted(ends)[:LOOKED_AT]) if is_in_use(ctx, memory)]
    return _backs(reader, [best, *linked[:FEW]], stems)
