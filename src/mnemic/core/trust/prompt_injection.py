"""Looking for poisoned memories: those whose text has the signs, and those that deny a standing rule.

The latter have a sign too, *standing rule* (2): a later memory that says the opposite of a standard, or of a memory of
kind rule or policy, and was not put in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnemic.core import standards
from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.memories import Fate, forget, is_in_use, locate
from mnemic.core.trust.contradiction import contradiction_between
from mnemic.core.trust.injection_signs import Sign, enough, inspect, stretch
from mnemic.model.filter import EdgeFilter, Filter, Order
from mnemic.model.graph import Direction
from mnemic.model.memory import Memory
from mnemic.search.query import content_words
from mnemic.storage.base import Reader
from mnemic.storage.queries import best_words

QUARANTINE = "quarantine"
"""The reason by which a memory that was put away for this is known in the archive."""
READ_AT_ONCE = 1_000
RULES = ("rule", "policy", "standard")
"""The kinds whose memories are standing rules, beside the standards of the namespaces."""
MOST_RULES, NEAR_RULES = 200, 20
"""Standing rules compared, and nearest memories compared with each."""


@dataclass(frozen=True, slots=True)
class SuspiciousMemory:
    """A memory that looks poisoned, and why."""

    memory: Memory
    signs: tuple[Sign, ...]


def scan(
    ctx: Context,
    reference: int | str | None = None,
    namespace: str | None = None,
    *,
    newest: int | None = None,
) -> list[SuspiciousMemory]:
    """The living memories that look poisoned, or the one meant if it does, by number.

    With *newest*, only that many are looked at. Every text is read once and nothing but the rules is compared with
    others, so a scan takes as long as there is text.
    """
    steps = search(ctx, reference, namespace, newest=newest)
    return [step for step in steps if isinstance(step, SuspiciousMemory)]


def search(
    ctx: Context,
    reference: int | str | None = None,
    namespace: str | None = None,
    *,
    newest: int | None = None,
) -> Iterator[SuspiciousMemory | float]:
    """The same memories as they are found, and in between the share of the work that is done."""
    reader = ctx.read()
    if reference is not None:
        numbers: Sequence[int] = (locate(reader, ctx, reference, namespace).id,)
    else:
        wanted = Filter(namespaces=ctx.scope(namespace), alive_at=ctx.now())
        numbers = sorted(reader.select(wanted, limit=newest, order=Order.NEWEST))
    against = _against_rules(reader, ctx, namespace)
    looked_at = 0
    for some in batches(numbers, READ_AT_ONCE):
        yield looked_at / len(numbers)
        for memory in reader.get(some):
            if is_in_use(ctx, memory) and (signs := _signs(memory, against.get(memory.id))):
                yield SuspiciousMemory(memory, signs)
        looked_at += len(some)


def quarantine(ctx: Context, findings: Sequence[SuspiciousMemory]) -> list[Memory]:
    """Put the memories that were found into the archive, in one transaction; `restore` brings them back."""
    numbers = [finding.memory.id for finding in findings]
    return forget(ctx, numbers, reason=QUARANTINE, fate=Fate.ARCHIVED) if numbers else []


def _signs(memory: Memory, against: Sign | None) -> tuple[Sign, ...]:
    parts = (memory.title, memory.summary, memory.content, *memory.tags)
    signs = inspect("\n".join(part for part in parts if part))
    return enough([*signs, against]) if against else signs


def _against_rules(reader: Reader, ctx: Context, namespace: str | None) -> dict[int, Sign]:
    """The memories that deny a standing rule which is older than they are, by number."""
    signs: dict[int, Sign] = {}
    for rule in _standing_rules(reader, ctx, namespace):
        for other in _near(reader, ctx, rule):
            if contradiction_between(rule.content, other.content):
                signs.setdefault(other.id, Sign("standing rule", 2, stretch(f"{rule.id}: {rule.title}")))
    return signs


def _standing_rules(reader: Reader, ctx: Context, namespace: str | None) -> list[Memory]:
    """The newest rules, as many as are looked at."""
    wanted = Filter(namespaces=ctx.scope(namespace), kinds=RULES, alive_at=ctx.now())
    numbers = [number for number, _ in standards.settings(reader).values() if number is not None]
    numbers += reader.select(wanted, limit=MOST_RULES, order=Order.NEWEST)
    found = reader.get(list(dict.fromkeys(numbers))[:MOST_RULES])
    return [memory for memory in found if is_in_use(ctx, memory)]


def _near(reader: Reader, ctx: Context, rule: Memory) -> list[Memory]:
    """The later memories that have words of *rule* and were not put in its place."""
    terms = content_words(rule.content)
    wanted = Filter(namespaces=(rule.namespace,), alive_at=ctx.now())
    found = best_words(reader, terms, wanted, limit=NEAR_RULES) if terms else []
    linked = {edge.source_id for edge in reader.edges(EdgeFilter(at=(rule.id,), direction=Direction.IN))}
    others = [number for number, _ in found if number != rule.id and number not in linked]
    later = (memory for memory in reader.get(others) if memory.created_at >= rule.created_at)
    return [memory for memory in later if memory.kind not in RULES]
