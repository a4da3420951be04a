"""The index of substrings: which memories hold some characters, wherever in a text these stand.

It is an FTS5 index of byte trigrams. Writes do not wait for it: it is updated from
the journal when it is asked, and what has changed since then is looked at itself. So a row may be out of date, but
then its memory is among those that are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby, islice
from typing import Any

import apsw

from mnemic.model.filter import Filter
from mnemic.storage.sqlite import journal, memories
from mnemic.storage.sqlite.memories import as_json, where
from mnemic.storage.sqlite.rows import row, rows, value

PUT = """
INSERT OR REPLACE INTO gram (rowid, text) VALUES (?, ?)
"""
TAKE_OUT = """
DELETE FROM gram WHERE rowid = ?
"""
MERGE = """
INSERT INTO gram (gram) VALUES ('optimize')
"""
STANDING = """
SELECT value FROM meta WHERE key = 'gram'
"""
STAND = """
INSERT OR REPLACE INTO meta (key, value) VALUES ('gram', ?)
"""
NEXT_CHANGES = """
SELECT sequence, subject, subject_id FROM journal WHERE sequence > ? ORDER BY sequence LIMIT ?
"""
WHOLE = """
SELECT m.id, concat_ws(char(10), m.title, m.kind, (
  SELECT group_concat(s.text, char(10)) FROM statement s
  WHERE s.memory_id = m.id AND s.until IS NULL AND s.position > 0))
FROM memory m WHERE m.id IN (SELECT value FROM json_each(?))
"""
# NOT INDEXED: by number, so that nothing has to be sorted and whoever stops early has not paid for the rest.
IDS_AFTER = """
SELECT m.id FROM memory m NOT INDEXED WHERE m.id > :after AND {conditions} ORDER BY m.id
"""
MATCHING = """
SELECT rowid FROM gram WHERE gram MATCH ? AND rowid > ? ORDER BY rowid
"""
TEXTS = """
SELECT m.id, m.title, m.kind, s.text FROM json_each(:candidates) j CROSS JOIN memory m ON m.id = j.value
LEFT JOIN statement s ON s.memory_id = m.id AND s.until IS NULL AND s.position > 0
WHERE {conditions}
ORDER BY m.id
"""

LENGTH = 3
RAREST = 4
"""Grams of a needle that are looked up: 32 needles took 0.2 to 5.4 ms at 100,000, with all their grams up to 30."""
SAMPLE = 128
LOOKED_AT_ONCE = 500
TAIL = 100
"""Changes that are looked at rather than indexed."""
BATCH = 250
"""Changes indexed in one transaction, which mostly takes 30 ms."""
BATCHES = 32
"""Most transactions a search may take, about a second; what is left after them is looked at."""


def key(text: str) -> str:
    """*text* as the index holds it: a character for each byte, since a word may be a single Chinese character."""
    return text.lower().replace("\0", "\n").encode(errors="surrogatepass").decode("latin-1")


def grams(body: str) -> set[str]:
    """Every three neighbouring characters of *body*, which is a key."""
    return {body[place : place + LENGTH] for place in range(len(body) - LENGTH + 1)}


def expression(some: Iterable[str]) -> str:
    """The FTS5 expression for those that hold all of *some* grams."""
    return " AND ".join('"' + gram.replace('"', '""') + '"' for gram in some)


def standing(connection: apsw.Connection) -> int | None:
    """The change up to which the index has come; None if there is no index."""
    found = row(connection, STANDING)
    return int(found[0]) if found else None


def is_behind(connection: apsw.Connection) -> bool:
    """Whether enough has changed to update the index."""
    return journal.last(connection)[0] - (standing(connection) or 0) > TAIL


def catch_up(connection: apsw.Connection) -> None:
    """Index the memories of the next few changes."""
    changes = rows(connection, NEXT_CHANGES, (standing(connection) or 0, BATCH))
    if not changes:
        return  # another process was faster
    changed = as_json(sorted({number for _, subject, number in changes if subject == "memory"}))
    whole = ((number, key(text)) for number, text in rows(connection, WHOLE, (changed,)))
    connection.executemany(PUT, whole)
    connection.execute(STAND, (changes[-1][0],))


def take_out(connection: apsw.Connection, memory_ids: Iterable[int]) -> None:
    """Leave no trace of these memories in the index."""
    if standing(connection) is None:
        return
    connection.executemany(TAKE_OUT, [(number,) for number in memory_ids])
    connection.execute(MERGE)


def search(
    connection: apsw.Connection, rarity: Rarity, needle: str, wanted: Filter, after: int, limit: int | None
) -> list[int]:
    """The memories after number *after* that pass and hold *needle*, by number."""
    candidates = _candidates(connection, rarity, key(needle), wanted, after)
    if not needle:
        return list(islice(candidates, limit))
    found: list[int] = []
    while (limit is None or len(found) < limit) and (some := list(islice(candidates, LOOKED_AT_ONCE))):
        found += _holding(connection, needle.lower(), wanted, some)
    return found[:limit]


def _candidates(
    connection: apsw.Connection, rarity: Rarity, sought: str, wanted: Filter, after: int
) -> Iterator[int]:
    """Ids, ascending: all that can hold *sought*, and false positives."""
    indexed_to = standing(connection)
    if indexed_to is None or len(sought) < LENGTH:
        conditions, values = where(wanted)
        return _numbers(connection, IDS_AFTER.format(conditions=conditions), values | {"after": after})
    changed = sorted({number for number in journal.changed(connection, indexed_to) if number > after})
    match = expression(rarity.rarest(connection, grams(sought)))
    return (number for number, _ in groupby(merge(changed, _numbers(connection, MATCHING, (match, after)))))


def _numbers(connection: apsw.Connection, sql: str, values: Any) -> Iterator[int]:
    return (found[0] for found in connection.execute(sql, values))


def _holding(connection: apsw.Connection, needle: str, wanted: Filter, memory_ids: list[int]) -> list[int]:
    """Those of *memory_ids* that pass and whose title, kind or a statement holds *needle*, which is lower case."""
    conditions, values = where(wanted)
    values["candidates"] = as_json(memory_ids)
    found = rows(connection, TEXTS.format(conditions=conditions), values)
    holding = (number for number, *texts in found if any(text and needle in text.lower() for text in texts))
    return list(dict.fromkeys(holding))


class Rarity:
    """How rare a gram is, by a sample of the texts. The rarest of a needle tell nearly as much as all of them."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._sampled_to = 0

    def rarest(self, connection: apsw.Connection, some: set[str]) -> list[str]:
        """Those of *some* grams that stand in the fewest texts."""
        newest = int(value(connection, memories.NEWEST))
        if newest > 2 * self._sampled_to:
            self._counts, self._sampled_to = _sampled(connection), newest
        return sorted(some, key=lambda gram: (self._counts[gram], gram))[:RAREST]


def _sampled(connection: apsw.Connection) -> Counter[str]:
    """Sampled document frequency of each trigram."""
    some = as_json(spread(connection, SAMPLE))
    return Counter(gram for _, text in rows(connection, WHOLE, (some,)) for gram in grams(key(text)))


def spread(connection: apsw.Connection, count: int) -> list[int]:
    """About *count* numbers of memories, evenly over all there have been."""
    newest = int(value(connection, memories.NEWEST))
    return list(range(1, newest + 1, max(1, newest // count)))
