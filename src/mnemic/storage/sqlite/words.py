"""The words index: one FTS5 row for each living memory."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from typing import Any, cast

import apsw

from mnemic.model.memory import Memory, is_beginning
from mnemic.model.search import Filter
from mnemic.storage import text
from mnemic.storage.base import Match
from mnemic.storage.sqlite import journal, memories
from mnemic.storage.sqlite.memories import as_json, left_out, where
from mnemic.storage.sqlite.rows import Row, column, rows, value
from mnemic.storage.sqlite.schema import TOKENIZER

TITLE, SUMMARY, TAGS, BODY, PARTS = 3.0, 2.0, 1.5, 1.0, 0.5
RANK = f"bm25(words, {TITLE}, {SUMMARY}, {TAGS}, {BODY}, {PARTS}, 0.0)"

ADD = """
INSERT INTO words (rowid, title, summary, tags, body, parts, namespace) VALUES (?, ?, ?, ?, ?, ?, ?)
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
# The best alone are looked up, not every match.
WITH_MERITS = """
SELECT found.rowid, -found.score, m.priority, m.confidence, m.access_count, m.tier, m.updated_at
FROM ({search}) AS found CROSS JOIN memory m ON m.id = found.rowid
"""
# The index has one row a living memory, and these are short: 0.5 ms at 100,000 where `memory` takes 1.4.
LIVING_COUNT = """
SELECT count(*) FROM words_docsize
"""
WEIGHED = 300
"""So many of the best by words are weighed by their merits too."""
LONGEST_TOKEN = 32_768
"""So many bytes of a token the index keeps."""
FREQUENT = 1_000
MOST_COUNTED = 100_000
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
Holders = Callable[[apsw.Connection, Iterable[str]], dict[str, int]]
"""Finds who holds each of some tokens, and tells how many they are; of a token that stands everywhere it does not."""
FEW = 16
"""Of so many tokens it is worth knowing who holds them: a question has them, and asks that next."""
_COLUMNS = "{title summary tags body parts}"
PRIVATE = "\ue000"
"""A letter to the index, and in no word that anybody asks for by chance: what a namespace is called begins with it."""
SHORTEST, LONGEST = 4, 40
"""Of a shorter word too many are one letter away; a longer one is no word that someone mistyped."""
LOOKED_AT = 5
_LAST = "\U0010ffff"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def row_of(memory: Memory, namespace_id: int) -> tuple[Any, ...]:
    """*memory* as a row of the index."""
    body = memory.content
    # A title made from the body would count its words again, with the weight of words someone chose.
    title = "" if is_beginning(memory.title, body) else memory.title
    parts = text.identifier_parts(f"{title}\n{body}" if title else body)
    return (
        memory.id,
        text.indexed(title),
        text.indexed(memory.summary or ""),
        text.indexed(" ".join(memory.tags)),
        text.indexed(body),
        parts,
        _token(namespace_id),
    )


def _token(namespace_id: int) -> str:
    return f"{PRIVATE}{namespace_id}"


def match_expression(terms: Sequence[str], namespace_ids: Iterable[int] | None, *, every: bool) -> str:
    """The FTS5 expression for *terms*, each quoted so that nothing in it is syntax."""
    joined = (" AND " if every else " OR ").join(_quoted(term) for term in terms)
    # To keep to some columns makes the index look at every place of a word: by all words, a third of the time.
    is_plain = not any(PRIVATE in term for term in terms)
    expression = f"({joined})" if is_plain else f"{_COLUMNS} : ({joined})"
    if namespace_ids is None:
        return expression
    spaces = " OR ".join(f'"{_token(number)}"' for number in namespace_ids)
    return f"namespace : ({spaces}) AND {expression}"


def _quoted(term: str) -> str:
    # The expression would end at a zero, which the index takes for a space.
    return '"' + term.replace('"', '""').replace("\0", " ") + '"'


def search(
    connection: apsw.Connection,
    terms: Sequence[str],
    wanted: Filter,
    namespace_ids: Sequence[int] | None,
    *,
    every: bool,
    limit: int,
) -> list[tuple[int, float]]:
    """The best memories by BM25; the filter works inside the search.

    Without *namespace_ids* those that are wanted are looked for in the rows of the memories, not in the index.
    """
    sql, values = _query(terms, wanted, namespace_ids, every=every, limit=limit)
    return [(number, -score) for number, score in rows(connection, sql, values)]


def matches(
    connection: apsw.Connection,
    terms: Sequence[str],
    wanted: Filter,
    namespace_ids: Sequence[int] | None,
    *,
    every: bool,
    limit: int,
) -> list[Match]:
    """At least the *limit* best memories by BM25, with what speaks for each."""
    sql, values = _query(terms, wanted, namespace_ids, every=every, limit=max(limit, WEIGHED))
    return [Match._make(found) for found in rows(connection, WITH_MERITS.format(search=sql), values)]


def each(
    connection: apsw.Connection, terms: Sequence[str], memory_ids: Sequence[int]
) -> list[dict[int, float]]:
    """For each term, what it adds to the BM25 of those of these memories that hold it."""
    among = as_json(list(memory_ids))
    expressions = (match_expression([term], None, every=True) for term in terms)
    return [dict(rows(connection, HELD_BY, (expression, among))) for expression in expressions]


def _query(
    terms: Sequence[str],
    wanted: Filter,
    namespace_ids: Sequence[int] | None,
    *,
    every: bool,
    limit: int,
) -> tuple[str, dict[str, Any]]:
    values: dict[str, Any] = {"match": match_expression(terms, namespace_ids, every=every), "limit": limit}
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
    """The tokens the index holds for *term*."""
    tokenizer = connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
    found = tokenizer(
        term.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
    )
    tokens = cast("list[str]", found)
    if len(term) <= LONGEST_TOKEN // 4:
        return tokens
    return [token.encode()[:LONGEST_TOKEN].decode(errors="ignore") for token in tokens]


class Frequencies:
    """In how many memories words stand.

    SQLite counts the memories of a word one by one, 1.5 ms for a word in half of 100,000. So counts are kept: of a
    frequent word until there are a twentieth more memories or fewer, of any other until what a memory says has changed.
    """

    def __init__(self) -> None:
        self._frequent: dict[str, tuple[int, int]] = {}
        self._rare: dict[str, int] = {}
        self._total = self._counted_at = self._sequence = 0

    def total(self, connection: apsw.Connection) -> int:
        """How many memories there are, counted again when so much has changed that it may be a twentieth off."""
        return self._total_at(connection, journal.last(connection)[0])

    def _total_at(self, connection: apsw.Connection, sequence: int) -> int:
        if abs(sequence - self._counted_at) > self._total / 20:
            self._total, self._counted_at = int(value(connection, LIVING_COUNT)), sequence
        return self._total

    def of(
        self, connection: apsw.Connection, terms: Iterable[str], holders: Holders | None
    ) -> dict[str, int]:
        """In how many memories each term stands; of a phrase, its rarest word. By *holders*, if they can be asked."""
        sequence = journal.last(connection)[0]
        total = self._total_at(connection, sequence)
        # What a transaction sees may be taken back.
        rare = {} if connection.in_transaction else self._unchanged(connection, sequence)
        tokens = {term: stem(connection, term) for term in terms}
        every = set(chain.from_iterable(tokens.values()))
        counts = {token: count for token in every if (count := self._kept(token, total, rare)) is not None}
        if unknown := sorted(every - counts.keys()):
            counted = _counted(connection, unknown, holders)
            self._frequent |= {token: (count, total) for token, count in counted.items() if count >= FREQUENT}
            rare |= {token: count for token, count in counted.items() if count < FREQUENT}
            counts |= counted
        return {term: min((counts[token] for token in made), default=0) for term, made in tokens.items()}

    def _unchanged(self, connection: apsw.Connection, sequence: int) -> dict[str, int]:
        """The counts of rare words that still hold."""
        if sequence != self._sequence:
            if len(self._rare) > MOST_COUNTED or journal.is_reworded(connection, self._sequence):
                # Not cleared: whoever counts just now puts what it finds into the old one.
                self._rare = {}
            self._sequence = sequence
        return self._rare

    def _kept(self, token: str, total: int, rare: dict[str, int]) -> int | None:
        """The count of *token*, if it still holds."""
        if token in rare:
            return rare[token]
        count, counted_among = self._frequent.get(token, (None, 0))
        return count if abs(total - counted_among) <= total / 20 else None


def _counted(connection: apsw.Connection, tokens: Sequence[str], holders: Holders | None) -> dict[str, int]:
    told = holders(connection, tokens) if holders and len(tokens) <= FEW else {}
    others = [token for token in tokens if token not in told]
    if not others:
        return told
    connection.execute(VOCABULARY)
    return {**dict.fromkeys(others, 0), **told, **dict(rows(connection, THESE_TERMS, (as_json(others),)))}


def spellings(connection: apsw.Connection, term: str, limit: int) -> list[str]:
    """Words one letter away from *term* that the index holds, most frequent first.

    A typo rarely hits the first letter, so the words that share it come before all the others.
    """
    word = _plain(term)
    if not SHORTEST <= len(word) <= LONGEST:
        return []
    connection.execute(VOCABULARY)
    token = "".join(stem(connection, word))
    if word.isascii() and word.isalnum():
        spelled = _stems_of(connection, one_edit_away(word))
        found = _known(connection, spelled, word[:2])
    else:
        # The stemmer leaves other scripts alone, and they have too many letters to try each.
        found = rows(connection, ALL_TERMS, (len(token) - 1, len(token) + 1))
        found = [(near, count) for near, count in found if one_edit(token, near)]
        spelled = {near: near for near, _ in found}
    best = sorted(found, key=lambda one: (one[0][0] != word[0], -one[1], one[0]))
    near = ((other, spelled[other]) for other, _ in best[: 3 * limit])
    sure = (
        spelling
        for other, spelling in near
        if one_edit(token, other) or _is_written(connection, spelling, word)
    )
    return list(islice(sure, limit))


def _stems_of(connection: apsw.Connection, spellings: Iterable[str]) -> dict[str, str]:
    """The stems of *spellings*, each with one that has it. The index holds stems; a typo can be far from its own."""
    ordered = sorted(spellings, reverse=True)
    stems = zip(stem(connection, " ".join(ordered)), ordered, strict=True)
    return {token: spelling for token, spelling in stems if len(token) > 2}


def _known(connection: apsw.Connection, stems: Iterable[str], head: str) -> list[Row]:
    """Those of *stems* that the index holds, with their counts; if any begin with *head*, only those."""
    # To walk the few words that begin alike takes 0.5 ms at 100,000 memories, to look up 450 spellings 7.
    wanted = set(stems)
    found = [one for one in rows(connection, TERMS_FROM, (head, head + _LAST)) if one[0] in wanted]
    others = [token for token in wanted if not token.startswith(head)]
    return found or rows(connection, THESE_TERMS, (as_json(others),))


def _is_written(connection: apsw.Connection, spelling: str, word: str) -> bool:
    """Whether the first memories with the stem of *spelling* have a word one letter away from *word*."""
    expression = match_expression([spelling], None, every=True)
    holding = memories.many(connection, column(connection, HOLDING, (expression, LOOKED_AT)))
    bodies = (" ".join((one.title, one.summary or "", *one.tags, one.content)) for one in holding)
    return any(one_edit(word, other) for body in bodies for other in text.words(_plain(body)))


def _plain(body: str) -> str:
    """*body* in lower case and without its accents, as the index compares."""
    if body.isascii():
        return body.lower()
    parts = unicodedata.normalize("NFD", body.lower())
    return unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))


def one_edit_away(word: str) -> set[str]:
    """Every word that one insertion, deletion, replacement or swap of neighbours makes of *word*."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    letters = _LETTERS if word.isalpha() else _LETTERS + "0123456789"
    inserted = {head + letter + tail for head, tail in cuts for letter in letters}
    replaced = {head + letter + tail[1:] for head, tail in cuts if tail for letter in letters}
    deleted = {head + tail[1:] for head, tail in cuts if tail}
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    return (inserted | replaced | deleted | swapped) - {word}


def one_edit(left: str, right: str) -> bool:
    """True if one insertion, deletion, replacement or swap of neighbours turns *left* into *right*."""
    if left == right or abs(len(left) - len(right)) > 1:
        return False
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    rest_left, rest_right = left[start:], right[start:]
    if len(left) > len(right):
        return rest_left[1:] == rest_right
    if len(left) < len(right):
        return rest_left == rest_right[1:]
    swapped = rest_left[1::-1] == rest_right[:2] and rest_left[2:] == rest_right[2:]
    return rest_left[1:] == rest_right[1:] or swapped
