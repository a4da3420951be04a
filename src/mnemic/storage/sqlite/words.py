"""The words index: one FTS5 row for each living memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import apsw

from mnemic.model.memory import Memory
from mnemic.model.search import Filter
from mnemic.storage import text
from mnemic.storage.sqlite.memories import EXPIRED, as_json, where
from mnemic.storage.sqlite.rows import row, rows
from mnemic.storage.sqlite.schema import TOKENIZER

TITLE, SUMMARY, TAGS, BODY, PARTS = 3.0, 2.0, 1.5, 1.0, 0.5
RANK = f"bm25(words, {TITLE}, {SUMMARY}, {TAGS}, {BODY}, {PARTS}, 0.0)"

PUT = """
INSERT OR REPLACE INTO words (rowid, title, summary, tags, body, parts, namespace) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
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
SELECT words.rowid, {RANK} AS score FROM words JOIN memory m ON m.id = words.rowid
WHERE words MATCH :match AND {{conditions}}
ORDER BY score LIMIT :limit
"""
VOCABULARY = """
CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, 'row')
"""
FREQUENCY = """
SELECT doc FROM temp.vocabulary WHERE term = ?
"""
THESE_TERMS = """
SELECT term, doc FROM temp.vocabulary WHERE term IN (SELECT value FROM json_each(?))
"""
ALL_TERMS = """
SELECT term, doc FROM temp.vocabulary WHERE length(term) BETWEEN ? AND ?
"""
_COLUMNS = "{title summary tags body parts}"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def row_of(memory: Memory, namespace_id: int) -> tuple[Any, ...]:
    """*memory* as a row of the index."""
    body = memory.content
    parts = text.identifier_parts(f"{memory.title}\n{body}")
    return (
        memory.id,
        text.indexed(memory.title),
        text.indexed(memory.summary or ""),
        text.indexed(" ".join(memory.tags)),
        text.indexed(body),
        parts,
        _token(namespace_id),
    )


def _token(namespace_id: int) -> str:
    # A private character, which the index takes for a letter: no word of a text is ever mistaken for this.
    return f"\ue000{namespace_id}"


def match_expression(terms: Sequence[str], namespace_ids: Iterable[int] | None, *, every: bool) -> str:
    """The FTS5 expression for *terms*, each quoted so that nothing in it is syntax."""
    joined = (" AND " if every else " OR ").join('"' + term.replace('"', '""') + '"' for term in terms)
    expression = f"{_COLUMNS} : ({joined})"
    if namespace_ids is None:
        return expression
    spaces = " OR ".join(f'"{_token(number)}"' for number in namespace_ids)
    return f"namespace : ({spaces}) AND {expression}"


def search(
    connection: apsw.Connection,
    terms: Sequence[str],
    wanted: Filter,
    namespace_ids: Sequence[int] | None,
    *,
    every: bool,
    limit: int,
) -> list[tuple[int, float]]:
    """The best memories by BM25; the filter works inside the search."""
    if not terms or namespace_ids == []:
        return []
    values: dict[str, Any] = {"match": match_expression(terms, namespace_ids, every=every), "limit": limit}
    if wanted.is_plain:
        # What has expired but is not yet collected is a short list; a join would touch every match.
        conditions = f"words.rowid NOT IN ({EXPIRED})" if wanted.alive_at is not None else "TRUE"
        values |= {"alive_at": wanted.alive_at} if wanted.alive_at is not None else {}
        sql = SEARCH.format(conditions=conditions)
    else:
        conditions, more = where(wanted)
        values |= more
        sql = SEARCH_NARROWED.format(conditions=conditions)
    return [(number, -score) for number, score in rows(connection, sql, values)]


def stem(connection: apsw.Connection, term: str) -> list[str]:
    """The tokens the index holds for *term*."""
    tokenizer = connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
    tokens = tokenizer(
        term.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
    )
    return cast("list[str]", tokens)


def frequency(connection: apsw.Connection, term: str) -> int:
    """In how many memories *term* stands; of a phrase, its rarest word."""
    connection.execute(VOCABULARY)
    counts = []
    for token in stem(connection, term):
        found = row(connection, FREQUENCY, (token,))
        counts.append(found[0] if found else 0)
    return min(counts, default=0)


def spellings(connection: apsw.Connection, term: str, limit: int) -> list[str]:
    """Words one letter away from *term* that the index holds, most frequent first.

    A typo rarely hits the first letter, so the words that share it come before all the others.
    """
    word = term.lower()
    if len(word) < 4:
        return []
    connection.execute(VOCABULARY)
    close = _close_in_ascii(connection, word) if word.isascii() and word.isalnum() else _close(connection, word)
    best = sorted(close.items(), key=lambda found: (found[0][0] != word[0], -found[1], found[0]))
    return [spelling for spelling, _ in best[:limit]]


def _close_in_ascii(connection: apsw.Connection, word: str) -> dict[str, int]:
    """The index holds stems, from which a typo can be far: so every word one letter away is stemmed and looked up."""
    spellings = sorted(one_edit_away(word), reverse=True)
    spelled = dict(zip(stem(connection, " ".join(spellings)), spellings, strict=True))
    known = rows(connection, THESE_TERMS, (as_json(list(spelled)),))
    return {spelled[token]: count for token, count in known}


def _close(connection: apsw.Connection, word: str) -> dict[str, int]:
    """The stemmer leaves other scripts alone, and they have too many letters to try each."""
    token = "".join(stem(connection, word))
    around = (len(token) - 1, len(token) + 1)
    return {near: count for near, count in rows(connection, ALL_TERMS, around) if one_edit(token, near)}


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
