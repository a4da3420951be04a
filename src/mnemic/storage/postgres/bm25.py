"""BM25 computed from `words` as it is asked for, for a store that is too large for the index in memory.

The rows of a small scope are read once by their key, so statistics are exact. In a large one the words index gives
candidates, and statistics are those that the background worker keeps; words that few memories hold are counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import orjson

from mnemic.model.candidates import Weights
from mnemic.model.time import DAY
from mnemic.storage.index_port import K1, B
from mnemic.storage.postgres import words
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.namespace_filter import numbered
from mnemic.storage.postgres.rows import rows, value
from mnemic.storage.source import Group, Phrase

LARGE = 5_000
"""From so many memories on, a scope is searched by the words index and by kept statistics."""
FEW = 50
"""A word that fewer memories hold, as far as is known, is counted."""
LEAST_IDF = 1e-6
LEAST_CANDIDATES, MOST_CANDIDATES = 100, 1_000
"""Memories that are ranked because they hold the rarest words. Of the others, those that hold two words are."""
READ_TOGETHER = 8
"""Words looked for in one look at the rows of a small scope; more than that are only counted."""

SIZE = """
SELECT coalesce(sum(memories), 0)::bigint, coalesce(sum(words), 0)::float8 FROM namespace_size
WHERE {here[namespace_size]}
"""
# The rows of a scope by their key, whatever else the planner would think of.
SCAN = """
SELECT count(*), coalesce(sum(w.length), 0)::float8, array_agg(w.memory_id) FILTER (WHERE w.is_hit),
  array_agg(w.length) FILTER (WHERE w.is_hit){taken}
FROM (SELECT w.memory_id, w.length, w.is_hit{times}
  FROM (SELECT w.memory_id, w.length, w.tokens, w.times, w.places, ({held}) AS is_hit FROM words w
    WHERE {here[w]} OFFSET 0) w OFFSET 0) w
"""
COUNT_TOKENS = """
SELECT t, count(*) FROM (SELECT w.tokens FROM words w WHERE {here[w]} OFFSET 0) w,
  unnest(w.tokens) t WHERE t = ANY(%(tokens)s::text[]) GROUP BY t
"""
PASSING = """
SELECT m.id, {merits} FROM memory m
WHERE {here[m]} AND m.id = ANY(%(numbers)s::bigint[]) AND {conditions}
"""
KEPT_HOLDERS = """
SELECT token, sum(holders)::bigint FROM term
WHERE {here[term]} AND token = ANY(%(tokens)s::text[]) AND holders IS NOT NULL
GROUP BY token
"""
HOLDERS = """
SELECT count(*) FROM words w WHERE {here[w]} AND ({held})
"""
BEST = """
SELECT w.memory_id, {bm25} AS bm25 FROM words w
WHERE {here[w]} AND w.memory_id != ALL(%(left_out)s::bigint[]) AND ({held})
ORDER BY 2 DESC, 1 LIMIT %(limit)s
"""
BEST_PASSING = """
SELECT memory_id, bm25 FROM (
  SELECT w.memory_id, {bm25} AS bm25, {merits} AS merits FROM words w
  JOIN memory m ON m.namespace_id = w.namespace_id AND m.id = w.memory_id
  WHERE {here[w]} AND w.memory_id != ALL(%(left_out)s::bigint[]) AND ({held})
    AND {conditions} OFFSET 0) found
ORDER BY bm25 + merits DESC, memory_id LIMIT %(limit)s
"""
EACH = """
SELECT w.memory_id, w.length, {times} FROM words w
WHERE {here[w]} AND w.memory_id = ANY(%(ids)s::bigint[])
"""
MERITS = f"""%(priority)s::float8 * m.priority + %(use)s::float8 * least(m.access_count, %(most_uses)s::integer)
  + %(confidence)s::float8 * m.confidence + coalesce((%(tiers)s::jsonb ->> m.tier)::float8, 0)
  + 1 / (1 + %(aging)s::float8 * (greatest(0, %(now)s::bigint - m.updated_at)::float8 / {DAY}))"""
NO_MERITS = "0::float8"
ANY_LIVING = "m.state = 'living'"
_DAMPING = "(%(short)s::float8 + %(long)s::float8 * w.length)"

Forms = tuple[Phrase, ...]
"""The tokens of each form of a word."""


class Passing(NamedTuple):
    """Which memories a search is for: all but a few, or those that meet conditions over `memory m`."""

    left_out: Sequence[int]
    conditions: str | None
    values: Mapping[str, Any]


class Choice(NamedTuple):
    """Which of the memories that hold a word are wanted."""

    passing: Passing
    every: bool
    """Whether they hold every word, not just any."""
    weights: Weights | None
    """Choose by BM25 plus these, not by BM25 alone."""
    limit: int


class _Scope:
    """Some namespaces through one connection. What was counted stays: use one for a moment."""

    def __init__(self, db: Executor, spaces: Sequence[int], count: int = 0, length: float = 0.0):
        self._db = db
        self._here = numbered(spaces)
        self._count = count
        self._length = length
        self._holders: dict[Forms, int] = {}

    @property
    def _shape(self) -> dict[str, float]:
        """How the length of a memory damps what a word adds."""
        mean = self._length / max(1, self._count) or 1.0
        return {"short": K1 * (1 - B), "long": K1 * B / mean}

    def _idf(self, forms: Forms) -> float:
        """How much a word counts."""
        holders = self._holders[forms]
        return max(LEAST_IDF, math.log((max(self._count, holders) - holders + 0.5) / (holders + 0.5)))

    def _adds(self, forms: Forms, held: Iterable[tuple[int, int, float | None]]) -> dict[int, float]:
        """What a word adds to the BM25 of memories with a number and a length that hold it so often."""
        idf, (short, long) = self._idf(forms), self._shape.values()
        return {
            number: idf * often * (K1 + 1) / (often + short + long * length)
            for number, length, often in held
            if often
        }


class SmallScope(_Scope):
    """A scope whose rows are all looked at once for the words that are asked for."""

    def __init__(self, db: Executor, spaces: Sequence[int]):
        super().__init__(db, spaces)
        self._held: dict[Forms, list[tuple[int, int, float | None]]] = {}
        self._is_counted = False

    @property
    def count(self) -> int:
        """How many living memories there are."""
        if not self._is_counted:
            self._read([])
        return self._count

    def holders(self, groups: Sequence[Group]) -> dict[Group, int]:
        """How many memories hold each word."""
        asked = {group: _forms(group) for group in groups}
        missing = [one for one in dict.fromkeys(asked.values()) if one not in self._holders]
        tokens = {one: one[0][0] for one in missing if len(one) == 1 and len(one[0]) == 1}
        if len(tokens) > READ_TOGETHER:
            values = {**self._here.values, "tokens": list(tokens.values())}
            counts: dict[str, int] = dict(rows(self._db, COUNT_TOKENS.format(here=self._here), values))
            self._holders |= {one: counts.get(token, 0) for one, token in tokens.items()}
            missing = [one for one in missing if one not in tokens]
        self._read(missing)
        return {group: self._holders[one] for group, one in asked.items()}

    def best(self, groups: Sequence[Group], choice: Choice) -> dict[int, float]:
        """The BM25 of the best that hold these words, best first."""
        adds = self._each(groups)
        numbers = set.intersection(*map(set, adds)) if choice.every else set().union(*adds)
        bm25 = {number: sum(one.get(number, 0.0) for one in adds) for number in numbers}
        merits = self._merits(bm25.keys() - set(choice.passing.left_out), choice)
        chosen = sorted(merits, key=lambda one: (-bm25[one] - merits[one], one))[: choice.limit]
        return {one: bm25[one] for one in sorted(chosen, key=lambda one: (-bm25[one], one))}

    def each(self, groups: Sequence[Group], memory_ids: Sequence[int]) -> list[dict[int, float]]:
        """For each word, what it adds to the BM25 of those of these memories that hold it."""
        wanted = set(memory_ids)
        return [
            {number: add for number, add in adds.items() if number in wanted} for adds in self._each(groups)
        ]

    def _each(self, groups: Sequence[Group]) -> list[dict[int, float]]:
        asked = [_forms(group) for group in groups]
        self._read([one for one in dict.fromkeys(asked) if one not in self._held])
        return [self._adds(one, self._held[one]) for one in asked]

    def _read(self, missing: Sequence[Forms]) -> None:
        """Look for these words in every row, and count the rows."""
        if self._is_counted and not missing:
            return
        values: dict[str, Any] = {**self._here.values}
        held = _some(missing, values)
        times = [
            f", CASE WHEN w.is_hit THEN {_times(one, values)} END AS t{n}" for n, one in enumerate(missing)
        ]
        taken = [f", array_agg(w.t{n}) FILTER (WHERE w.is_hit)" for n in range(len(missing))]
        sql = SCAN.format(here=self._here, held=held, times="".join(times), taken="".join(taken))
        self._count, self._length, numbers, lengths, *often = rows(self._db, sql, values)[0]
        self._is_counted = True
        for one, all_times in zip(missing, often, strict=True):
            told = zip(numbers or (), lengths or (), all_times or (), strict=True)
            self._held[one] = [hit for hit in told if hit[2]]
            self._holders[one] = len(self._held[one])

    def _merits(self, numbers: Iterable[int], choice: Choice) -> dict[int, float]:
        """Those of these memories that pass, and what their attributes add to their score."""
        passing, weights = choice.passing, choice.weights
        if passing.conditions is None and weights is None:
            return dict.fromkeys(numbers, 0.0)
        values = {**_attributes(choice), **self._here.values, "numbers": list(numbers)}
        sql = PASSING.format(
            here=self._here,
            merits=NO_MERITS if weights is None else MERITS,
            conditions=passing.conditions or ANY_LIVING,
        )
        return dict(rows(self._db, sql, values))


class LargeScope(_Scope):
    """A scope that is searched by the words index, with the statistics that the background worker keeps."""

    @property
    def count(self) -> int:
        """How many living memories there are, as far as is known."""
        return self._count

    def holders(self, groups: Sequence[Group]) -> dict[Group, int]:
        """How many memories hold each word: counted if few do, else as far as is known."""
        asked = {group: _forms(group) for group in groups}
        if missing := [one for one in dict.fromkeys(asked.values()) if one not in self._holders]:
            tokens = list({token for forms in missing for phrase in forms for token in phrase})
            values = {**self._here.values, "tokens": tokens}
            kept: dict[str, int] = dict(rows(self._db, KEPT_HOLDERS.format(here=self._here), values))
            self._holders |= {one: self._known(one, kept) for one in missing}
        return {group: self._holders[one] for group, one in asked.items()}

    def _known(self, forms: Forms, kept: Mapping[str, int]) -> int:
        # The forms of a word stand side by side, so about as many memories hold any as hold the commonest.
        known = max((kept.get(one[0], 0) for one in forms if len(one) == 1), default=0)
        if known >= FEW:
            return min(known, self._count)
        values: dict[str, Any] = {**self._here.values}
        return int(value(self._db, HOLDERS.format(here=self._here, held=_held(forms, values)), values))

    def best(self, groups: Sequence[Group], choice: Choice) -> dict[int, float]:
        """The BM25 of the best that hold these words, best first."""
        self.holders(groups)
        asked = [_forms(group) for group in groups]
        if choice.every and not all(self._holders[one] for one in asked):
            return {}
        values: dict[str, Any] = {**self._here.values, "limit": choice.limit, **self._shape}
        values["left_out"] = list(choice.passing.left_out)
        bm25 = self._bm25(asked, values)
        held = _every(asked, values) if choice.every else self._any(asked, values)
        found = rows(self._db, self._statement(choice, bm25, held), {**values, **_attributes(choice)})
        ordered = sorted(found, key=lambda one: (-one[1], one[0]))
        return {number: score for number, score in ordered if score > 0}

    def _statement(self, choice: Choice, bm25: str, held: str) -> str:
        if choice.passing.conditions is None and choice.weights is None:
            return BEST.format(here=self._here, bm25=bm25, held=held)
        return BEST_PASSING.format(
            here=self._here,
            bm25=bm25,
            held=held,
            merits=NO_MERITS if choice.weights is None else MERITS,
            conditions=choice.passing.conditions or ANY_LIVING,
        )

    def each(self, groups: Sequence[Group], memory_ids: Sequence[int]) -> list[dict[int, float]]:
        """For each word, what it adds to the BM25 of those of these memories that hold it."""
        self.holders(groups)
        asked = [_forms(group) for group in groups]
        values: dict[str, Any] = {**self._here.values, "ids": list(memory_ids)}
        times = ", ".join(_times(one, values) for one in asked)
        found = rows(self._db, EACH.format(here=self._here, times=times), values)
        return [
            self._adds(one, ((told[0], told[1], told[place]) for told in found))
            for place, one in enumerate(asked, 2)
        ]

    def _bm25(self, asked: Sequence[Forms], values: dict[str, Any]) -> str:
        """The expression for the score of a row; what a word adds is written so that it is looked for once."""
        adds = []
        for forms in asked:
            weight = _named(values, (K1 + 1) * self._idf(forms))
            held = f"coalesce({_times(forms, values)}, 0)"
            adds.append(f"{weight}::float8 * (1 - {_DAMPING} / ({_DAMPING} + {held}))")
        return " + ".join(adds)

    def _any(self, asked: Sequence[Forms], values: dict[str, Any]) -> str:
        """The condition that a row holds one of the rarest of these words, or two of the others."""
        ordered = sorted(dict.fromkeys(asked), key=self._holders.__getitem__)
        rare, total = 0, 0
        for forms in ordered:
            total += self._holders[forms]
            if total - self._holders[forms] >= LEAST_CANDIDATES and total > MOST_CANDIDATES:
                break
            rare += 1
        pairs = combinations(ordered[rare:], 2)
        both = [f"({_held(one, values)}) AND ({_held(other, values)})" for one, other in pairs]
        return " OR ".join((_some(ordered[:rare], values), *both))


Bm25 = SmallScope | LargeScope


def scope(db: Executor, spaces: Sequence[int]) -> Bm25:
    """BM25 in these namespaces."""
    here = numbered(spaces)
    count, length = rows(db, SIZE.format(here=here), here.values)[0]
    return LargeScope(db, spaces, count, length) if count >= LARGE else SmallScope(db, spaces)


def _forms(group: Group) -> Forms:
    """The tokens of each form of a word; a form without any is none."""
    found = (tuple(words.tokens(form)) for form in group)
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))


def _named(values: dict[str, Any], value: object) -> str:
    """A parameter with this value."""
    name = f"p{len(values)}"
    values[name] = value
    return f"%({name})s"


def _tokens(forms: Iterable[Phrase]) -> list[str]:
    return [phrase[0] for phrase in forms if len(phrase) == 1]


def _phrase_times(phrase: Phrase, values: dict[str, Any]) -> str:
    wanted, weights = _named(values, list(phrase)), _named(values, list(map(float, words.FIELDS)))
    return f"phrase_times(w.tokens, w.places, {wanted}::text[], {weights}::real[])"


def _held(forms: Sequence[Phrase], values: dict[str, Any]) -> str:
    """The condition that a row holds one of these forms."""
    parts = []
    if tokens := _tokens(forms):
        parts.append(f"w.tokens && {_named(values, tokens)}::text[]")
    for phrase in forms:
        if len(phrase) > 1:
            has_tokens = f"w.tokens @> {_named(values, list(phrase))}::text[]"
            parts.append(f"({has_tokens} AND {_phrase_times(phrase, values)} > 0)")
    return " OR ".join(parts) or "FALSE"


def _some(told: Iterable[Forms], values: dict[str, Any]) -> str:
    """The condition that a row holds one of these words."""
    return _held(list(dict.fromkeys(phrase for forms in told for phrase in forms)), values)


def _every(told: Iterable[Forms], values: dict[str, Any]) -> str:
    """The condition that a row holds each of these words."""
    return " AND ".join(f"({_held(forms, values)})" for forms in told)


def _times(forms: Sequence[Phrase], values: dict[str, Any]) -> str:
    """The expression for how often a row holds a word; NULL if it does not."""
    found = [
        f"w.times[array_position(w.tokens, {_named(values, phrase[0])}::text)]"
        if len(phrase) == 1
        else f"CASE WHEN w.tokens @> {_named(values, list(phrase))}::text[] THEN {_phrase_times(phrase, values)} END"
        for phrase in forms
    ]
    return f"greatest({', '.join(found)})" if found else "NULL::real"


def _attributes(choice: Choice) -> dict[str, Any]:
    """The parameters for the memories that pass, and for what their attributes add."""
    weights = choice.weights
    if weights is None:
        return dict(choice.passing.values)
    return {
        **choice.passing.values,
        "priority": weights.priority,
        "use": weights.use,
        "most_uses": weights.most_uses,
        "confidence": weights.confidence,
        "tiers": orjson.dumps({str(tier): boost for tier, boost in weights.tiers.items()}).decode(),
        "aging": weights.aging,
        "now": weights.now,
    }
