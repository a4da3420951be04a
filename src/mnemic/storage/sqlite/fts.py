"""The words index: one FTS5 row for each living memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import apsw

from mnemic.model.filter import Filter
from mnemic.model.memory import Memory
from mnemic.storage.edit_distance import (
    LONGEST,
    LOOKED_AT,
    SHORTEST,
    is_written,
    one_edit,
    one_edit_away,
    plain,
)
from mnemic.storage.indexed_words import BODY, PARTS, STEMS, SUMMARY, TAGS, TITLE, indexed_words
from mnemic.storage.source import Group, Scope
from mnemic.storage.sqlite import journal, memories
from mnemic.storage.sqlite.memories import as_json, left_out, where
from mnemic.storage.sqlite.rows import column, row, rows, value
from mnemic.storage.sqlite.schema import TOKENIZER
from mnemic.storage.tokenizer import NAMESPACE_MARK, STEM_MARK, normalized

RANK = f"bm25(words, {TITLE}, {SUMMARY}, {TAGS}, {BODY}, {PARTS}, {STEMS}, 0.0)"

ADD = """
INSERT INTO words (rowid, title, summary, tags, body, parts, stems, namespace) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
PUT = ADD.replace("INSERT", "INSERT OR REPLACE")
TAKE_OUT = """
DELETE FROM words WHERE rowid = ?
"""
MERGE = """
INSERT INTO words (words) VALUES ('optimize')
"""
SEARCH = f"""
SELECT words.rowid, {RANK} AS score FROM words
WHERE words MATCH :match AND {{conditions}}
ORDER BY score LIMIT :limit
"""
SEARCH_NARROWED = f"""
SELECT words.rowid, {RANK} AS score FROM words CROSS JOIN memory m ON m.id = words.rowid
WHERE words MATCH :match AND {{conditions}}
ORDER BY score LIMIT :limit
"""
# The index has one row a living memory, and these are short: 0.5 ms at 100,000 where `memory` takes 1.4.
LIVING_COUNT = """
SELECT count(*) FROM words_docsize
"""
WEIGHED = 300
"""Of the best by words, how many are weighed by their merits too."""
LONGEST_TOKEN = 32_768
"""Bytes of a token that the index keeps."""
FREQUENT = 1_000
MOST_COUNTED = 100_000
MOST_SCOPES = 1_000
VOCABULARY = """
CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, 'row')
"""
# All at once: to begin with a word takes as long as to count a hundred memories.
THESE_TERMS = """
SELECT term, doc FROM temp.vocabulary WHERE term IN (SELECT value FROM json_each(?))
"""
HOLDING = """
SELECT rowid FROM words WHERE words MATCH ? LIMIT ?
"""
HOLDERS = """
SELECT count(*) FROM words WHERE words MATCH ?
"""
MEMBERS = """
SELECT count(*) FROM words WHERE words MATCH ?
"""
A_STEM = f"""
SELECT 1 FROM temp.vocabulary WHERE term >= '{STEM_MARK}' AND term < '{STEM_MARK}{chr(0x10FFFF)}' LIMIT 1
"""
NAMESPACES = """
SELECT name, id FROM main.namespace
"""
# The plus keeps SQLite from looking the memories up one by one, each with a count of all that hold the word.
HELD_BY = f"""
SELECT rowid AS number, -{RANK} AS adds FROM words WHERE words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
"""
TERMS_FROM = """
SELECT term, doc FROM temp.vocabulary WHERE term >= ? AND term < ?
"""
ALL_TERMS = """
SELECT term, doc FROM temp.vocabulary WHERE length(term) BETWEEN ? AND ?
"""
Holders = Callable[[Iterable[Group], Scope], dict[Group, int]]
"""How many memories of a scope hold each of some words, but for those that stand nearly everywhere."""
FEW = 16
"""Of so many words it is worth knowing who holds them: a question has them, and asks that next."""
ALIKE = 3
"""The words that share so many letters with a misspelt one are walked, the others looked up one by one."""
_LAST = "\U0010ffff"


def row_of(memory: Memory, namespace_id: int) -> tuple[Any, ...]:
    """*memory* as a row of the index."""
    return (memory.id, *indexed_words(memory), _token(namespace_id))


def rebuild(connection: apsw.Connection) -> None:
    """Index every living memory anew, after the table was made anew."""
    spaces: dict[str, int] = dict(rows(connection, NAMESPACES))
    living = memories.walk(connection, Filter())
    connection.executemany(PUT, (row_of(memory, spaces[memory.namespace]) for memory in living))


def _token(namespace_id: int) -> str:
    return f"{NAMESPACE_MARK}{namespace_id}"


def holds_stems(connection: apsw.Connection) -> bool:
    """Whether the index has any: as long as all is English it has not."""
    connection.execute(VOCABULARY)
    return row(connection, A_STEM) is not None


def match_expression(groups: Sequence[Group], scope: Iterable[int] | None, *, every: bool) -> str:
    """The FTS5 expression for the words in *groups*, each quoted so that nothing in it is syntax."""
    words = (f"({' OR '.join(map(_quoted, group))})" for group in groups)
    expression = f"({(' AND ' if every else ' OR ').join(words)})"
    if scope is None:
        return expression
    return f"{_members(scope)} AND {expression}"


def _members(scope: Iterable[int]) -> str:
    spaces = " OR ".join(f'"{_token(number)}"' for number in scope)
    return f"namespace : ({spaces})"


def _quoted(form: str) -> str:
    # The expression would end at a zero, which the index takes for a space.
    return '"' + form.replace('"', '""').replace("\0", " ") + '"'


def search(
    connection: apsw.Connection,
    groups: Sequence[Group],
    wanted: Filter,
    namespace_ids: Sequence[int] | None,
    *,
    every: bool,
    limit: int,
) -> list[tuple[int, float]]:
    """The best memories by BM25; the filter works inside the search.

    Without *namespace_ids* those that are wanted are looked for in the rows of the memories, not in the index.
    """
    sql, values = _query(groups, wanted, namespace_ids, every=every, limit=limit)
    return [(number, -score) for number, score in rows(connection, sql, values)]


def each(
    connection: apsw.Connection, groups: Sequence[Group], memory_ids: Sequence[int]
) -> list[dict[int, float]]:
    """For each word, what it adds to the BM25 of those of these memories that hold it."""
    among = as_json(list(memory_ids))
    expressions = (match_expression([group], None, every=True) for group in groups)
    return [dict(rows(connection, HELD_BY, (expression, among))) for expression in expressions]


def _query(
    groups: Sequence[Group],
    wanted: Filter,
    namespace_ids: Sequence[int] | None,
    *,
    every: bool,
    limit: int,
) -> tuple[str, dict[str, Any]]:
    values: dict[str, Any] = {"match": match_expression(groups, namespace_ids, every=every), "limit": limit}
    if wanted.is_plain and (wanted.namespaces is None or namespace_ids is not None):
        # What is left out is a short list; a join would touch every match.
        queries, more = left_out(wanted)
        conditions = " AND ".join(f"words.rowid NOT IN ({query})" for query in queries) or "TRUE"
        values |= more
        sql = SEARCH.format(conditions=conditions)
    else:
        conditions, more = where(wanted)
        values |= more
        sql = SEARCH_NARROWED.format(conditions=conditions)
    return sql, values


def stem(connection: apsw.Connection, term: str) -> list[str]:
    """The tokens the index holds for *term* as it is written."""
    return tokens(connection, normalized(term))


def tokens(connection: apsw.Connection, form: str) -> list[str]:
    """The tokens the index holds for a text in the form it is indexed in."""
    tokenize = connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
    found = tokenize(
        form.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
    )
    made = cast("list[str]", found)
    if len(form) <= LONGEST_TOKEN // 4:
        return made
    return [token.encode()[:LONGEST_TOKEN].decode(errors="ignore") for token in made]


class Frequencies:
    """In how many memories of a scope words stand.

    SQLite counts the memories of a word one by one, 1.5 ms for a word in half of 100,000. So counts are kept: of a
    frequent word until there are a twentieth more memories or fewer, of any other until what a memory says has changed.
    """

    def __init__(self) -> None:
        self._frequent: dict[tuple[Group, Scope], tuple[int, int]] = {}
        self._rare: dict[tuple[Group, Scope], int] = {}
        self._totals: dict[Scope, tuple[int, int]] = {}
        self._sequence = 0

    def total(self, connection: apsw.Connection, scope: Scope) -> int:
        """The number of memories, counted again when it may be off by a twentieth."""
        return self._total_at(connection, journal.last(connection)[0], scope)

    def _total_at(self, connection: apsw.Connection, sequence: int, scope: Scope) -> int:
        total, counted_at = self._totals.get(scope, (0, 0))
        if abs(sequence - counted_at) > total / 20:
            if len(self._totals) > MOST_SCOPES:
                self._totals.clear()
            total = _living(connection, scope)
            self._totals[scope] = total, sequence
        return total

    def of(
        self,
        connection: apsw.Connection,
        groups: Iterable[Group],
        scope: Scope,
        holders: Holders | None,
        *,
        is_private: bool,
    ) -> dict[Group, int]:
        """Document frequency of each word in *scope*, by *holders* if available.

        A *private* transaction may be rolled back, so its figures are not cached.
        """
        sequence = journal.last(connection)[0]
        total = self._total_at(connection, sequence, scope)
        rare = {} if is_private else self._unchanged(connection, sequence)
        every = set(groups)
        counts = {one: count for one in every if (count := self._kept(one, scope, total, rare)) is not None}
        if unknown := sorted(every - counts.keys()):
            counted = _counted(connection, unknown, scope, holders)
            for group, count in counted.items():
                if count >= FREQUENT:
                    self._frequent[group, scope] = count, total
                else:
                    rare[group, scope] = count
            counts |= counted
        return counts

    def _unchanged(self, connection: apsw.Connection, sequence: int) -> dict[tuple[Group, Scope], int]:
        """The counts of rare words that still hold."""
        if sequence != self._sequence:
            if len(self._rare) > MOST_COUNTED or journal.is_reworded(connection, self._sequence):
                # Not cleared: whoever counts just now puts what it finds into the old one.
                self._rare = {}
            self._sequence = sequence
        return self._rare

    def _kept(
        self, group: Group, scope: Scope, total: int, rare: dict[tuple[Group, Scope], int]
    ) -> int | None:
        """The count of a word, if it still holds."""
        if (group, scope) in rare:
            return rare[group, scope]
        count, counted_among = self._frequent.get((group, scope), (None, 0))
        return count if abs(total - counted_among) <= total / 20 else None


def _living(connection: apsw.Connection, scope: Scope) -> int:
    if scope is None:
        return int(value(connection, LIVING_COUNT))
    return int(value(connection, MEMBERS, (_members(scope),))) if scope else 0


def _counted(
    connection: apsw.Connection, groups: Sequence[Group], scope: Scope, holders: Holders | None
) -> dict[Group, int]:
    if scope == ():
        return dict.fromkeys(groups, 0)
    frequencies = holders(groups, scope) if holders and len(groups) <= FEW else {}
    others = {group: tokens(connection, group[0]) for group in groups if group not in frequencies}
    # One word of the whole store is looked up among all words, which takes less than to count who holds it.
    single = {
        made[0]: group for group, made in others.items() if scope is None and len(group) == len(made) == 1
    }
    if single:
        connection.execute(VOCABULARY)
        found: dict[str, int] = dict(rows(connection, THESE_TERMS, (as_json(list(single)),)))
        frequencies |= {group: found.get(token, 0) for token, group in single.items()}
    for group in others.keys() - frequencies.keys():
        frequencies[group] = int(value(connection, HOLDERS, (match_expression([group], scope, every=True),)))
    return frequencies


Counted = Callable[[list[str]], dict[str, int]]
"""In how many memories of a scope each of some words stands."""


def spellings(connection: apsw.Connection, term: str, scope: Scope, counted: Counted) -> Iterator[str]:
    """Words one letter away from *term* that memories of *scope* hold, most frequent first.

    A typo rarely hits the first letter, so the words that share it come before all the others.
    """
    word = plain(term)
    if not SHORTEST <= len(word) <= LONGEST:
        return
    connection.execute(VOCABULARY)
    token = "".join(stem(connection, word))
    if word.isascii() and word.isalnum():
        spelled = _stems_of(connection, one_edit_away(word))
        found = _known(connection, spelled, word[:ALIKE], counted)
    else:
        # English stems are of ASCII letters, and other scripts have too many letters to try each.
        near = [one for one in _of_length(connection, token) if one_edit(token, one)]
        spelled = dict(zip(near, near, strict=True))
        found = _held(near, spelled, counted)
    for other in sorted(found, key=lambda one: (one[0] != word[0], -found[one], one)):
        if one_edit(token, other) or _is_written(connection, spelled[other], word, scope):
            yield spelled[other]


def _stems_of(connection: apsw.Connection, spellings: Iterable[str]) -> dict[str, str]:
    """The stems of *spellings*, each with one that has it. The index holds stems; a typo can be far from its own."""
    ordered = sorted(spellings, reverse=True)
    stems = zip(stem(connection, " ".join(ordered)), ordered, strict=True)
    return {token: spelling for token, spelling in stems if len(token) > 2}


def _known(
    connection: apsw.Connection, spelled: Mapping[str, str], head: str, counted: Counted
) -> dict[str, int]:
    """The stems in *spelled* that are held, with their counts; if any begin with *head*, only those."""
    # At 100,000 memories it takes 0.4 ms to walk the words that share three letters, 4 ms those that share "re",
    # and 7 ms to look up 450 spellings.
    alike = [term for term, _ in rows(connection, TERMS_FROM, (head, head + _LAST)) if term in spelled]
    if held := _held(alike, spelled, counted):
        return held
    others = as_json([token for token in spelled if not token.startswith(head)])
    return _held([term for term, _ in rows(connection, THESE_TERMS, (others,))], spelled, counted)


def _held(tokens: list[str], spelled: Mapping[str, str], counted: Counted) -> dict[str, int]:
    """Those of *tokens* that are held, with their counts. They are counted as spelled: a stem has another stem."""
    counts = counted([spelled[token] for token in tokens])
    return {token: count for token in tokens if (count := counts[spelled[token]])}


def _of_length(connection: apsw.Connection, token: str) -> list[str]:
    found = rows(connection, ALL_TERMS, (len(token) - 1, len(token) + 1))
    return [near for near, _ in found if near[0] not in (NAMESPACE_MARK, STEM_MARK)]


def _is_written(connection: apsw.Connection, spelling: str, word: str, scope: Scope) -> bool:
    """Whether the first memories with the stem of *spelling* have a word one letter away from *word*."""
    expression = match_expression([(spelling,)], scope, every=True)
    holding = memories.many(connection, column(connection, HOLDING, (expression, LOOKED_AT)))
    return is_written(word, holding)
