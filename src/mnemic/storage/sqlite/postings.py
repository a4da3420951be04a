"""The words index in memory: which memories hold a word, and how often.

The index tells where a word stands five times as fast as it ranks those who hold it. So it is asked for one word at a
time, its answers are kept, and BM25, which is a sum over the words of a question, is worked out here by its rules. In a
process that stays all words are read before they are asked for: then a question does not cost more in a larger store.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce

import apsw
import orjson

from mnemic.model.memory import Memory
from mnemic.model.values import State
from mnemic.numeric import np
from mnemic.storage.sqlite import journal, memories, words
from mnemic.storage.sqlite.arrays import Flags, Numbers, Scores, Times
from mnemic.storage.sqlite.census import Census
from mnemic.storage.sqlite.connection import one_moment
from mnemic.storage.sqlite.rows import rows, value
from mnemic.storage.sqlite.words import BODY, PARTS, STEMS, SUMMARY, TAGS, TITLE, Group, Scope
from mnemic.storage.tokenizer import NAMESPACE_MARK

Phrase = tuple[str, ...]
"""The tokens of a form of a word, which are mostly one."""
Ranked = tuple[Numbers, Scores]
"""Memories by number, and the BM25 of each."""
Change = tuple[int, dict[str, float]]
"""A memory that has changed, and how often it holds each token now, weighed by column."""

MOST_KEPT = 96 << 20
"""So many bytes are kept at most."""
A_WORD, A_PAIR = 500, 16
"""So many a word takes in any case and for each memory that holds it, half of these only once it was asked for."""
LONG = 20_000
"""Where a word stands that has so many places is read only to search by it, not to count who holds it."""
AT_ONCE = 10_000
"""So many places are read ahead in one step, if they are not all of one word."""
FEW, MANY = 100, 500
"""So many changes at once, or one after another, are followed; after more it takes less to read the words again."""
COLUMNS = {"body": BODY, "title": TITLE, "summary": SUMMARY, "tags": TAGS, "parts": PARTS, "stems": STEMS}
"""What a word counts in each; most stand in the first."""
WEIGHTS = np.array(list(COLUMNS.values()))
NONE: Numbers = np.zeros(0, np.int64)
COLUMN_BITS, OFFSET_BITS = 3, 24
PLACES_TABLE = """
CREATE VIRTUAL TABLE IF NOT EXISTS temp.place USING fts5vocab(main, words, 'instance')
"""
# A memory and a column are one number, in front of how many words lie before; the name of a namespace has none.
_CASES = " ".join(
    f"WHEN '{column}' THEN doc * {1 << COLUMN_BITS} + {number}" for number, column in enumerate(COLUMNS)
)
# All are one row: at each row others may take the interpreter.
HELD_IN = f"""
SELECT json_group_array(CASE col {_CASES} ELSE -1 END) FROM temp.place WHERE term = ?
"""
FIRST_HELD_IN = f"""
SELECT json_group_array(held_in)
FROM (SELECT CASE col {_CASES} ELSE -1 END AS held_in FROM temp.place WHERE term = ? LIMIT ?)
"""
HELD_FROM = f"""
SELECT term, json_group_array(CASE col {_CASES} ELSE -1 END) FROM temp.place WHERE term BETWEEN ? AND ? GROUP BY term
"""
PLACES_OF_EACH = """
SELECT term, cnt FROM temp.vocabulary
"""
ROOM_FOR_ALL = f"""
SELECT coalesce(sum({A_WORD} + {A_PAIR} * doc), 0) FROM temp.vocabulary
"""
PLACES = f"""
SELECT json_group_array(CASE col {_CASES} ELSE -1 END * {1 << OFFSET_BITS} + offset) FROM temp.place WHERE term = ?
"""


@dataclass(slots=True)
class Posting:
    """The memories that hold a phrase, by number; how often, weighed by column; how many changes that knows of.

    And what the phrase added to the BM25 of each by that edition of the census, and the same of the scope asked for
    last.
    """

    memories: Numbers
    times: Times
    seen: int
    adds: Scores | None = None
    edition: int = 0
    scope: Scope = None
    scoped: Posting | None = None

    @property
    def size(self) -> int:
        """How many bytes it takes, or will when it is asked for."""
        return A_WORD + A_PAIR * len(self.memories)

    def among(self, wanted: Numbers) -> tuple[Flags, Numbers]:
        """Which of *wanted* hold it, and the places of these."""
        if not len(self.memories):
            return np.zeros(len(wanted), np.bool_), wanted[:0]
        places = np.searchsorted(self.memories, wanted.astype(np.int32, copy=False))
        holds = self.memories.take(places, mode="clip") == wanted
        return holds, places[holds]

    def changed(self, late: Sequence[int], now: Mapping[int, float]) -> Posting:
        """The same when of the memories in *late* none but those in *now* hold it, so often."""
        stays = ~np.isin(self.memories, late)
        numbers = np.concatenate([self.memories[stays], np.array(list(now), np.int32)])
        times = np.concatenate([self.times[stays], np.array(list(now.values()), np.float32)])
        order = np.argsort(numbers, kind="stable")
        return Posting(numbers[order], times[order], self.seen)


class Postings:
    """What the index says of the words that were asked for last. One instance a store, safe between threads."""

    def __init__(self) -> None:
        self._has_room = True
        self._is_read_ahead = False
        self._lock = threading.Lock()
        self._sequence = 0
        self._census = Census()
        self._changes: list[Change] = []
        self._kept: OrderedDict[Phrase, Posting] = OrderedDict()
        self._size = 0

    def ranked(
        self,
        connection: apsw.Connection,
        groups: Sequence[Group],
        scope: Scope,
        *,
        every: bool,
        can_read: bool,
    ) -> Ranked | None:
        """The memories of *scope* that hold any of these words, by number, and the BM25 of each by its statistics.

        Or those that hold *every* one; None if a word would have to be read for it and it *can_read* none: the index
        itself finds them in less time than it takes to tell where all words stand.
        """
        phrases = [_phrases(connection, group) for group in groups]
        with self._lock:
            if not every:
                return self._summed(self._of(connection, phrases, scope), scope)
            if can_read:
                return self._in_all(self._of(connection, phrases, scope), scope)
            if self._is_read_ahead and (kept := self._kept_of(connection, phrases, scope)):
                return self._in_all(kept, scope)
            return None

    def each(
        self, connection: apsw.Connection, groups: Sequence[Group], scope: Scope, memory_ids: Sequence[int]
    ) -> list[dict[int, float]]:
        """For each word, what it adds to the BM25 of those of these memories that hold it."""
        wanted = np.array(memory_ids, np.int64)
        phrases = [_phrases(connection, group) for group in groups]
        with self._lock:
            return [self._among(one, wanted, scope) for one in self._of(connection, phrases, scope)]

    def holders(self, connection: apsw.Connection, groups: Iterable[Group], scope: Scope) -> dict[Group, int]:
        """How many memories of *scope* hold each word, but for words that stand in very many places."""
        phrases = {group: _phrases(connection, group) for group in groups}
        with self._lock, self._now(connection):
            found = {group: self._all_short(connection, some, scope) for group, some in phrases.items()}
        return {group: len(one.memories) for group, one in found.items() if one}

    @property
    def wants_words(self) -> bool:
        """Whether words should be read ahead: they never were, or are forgotten, and no lack of room was found."""
        return self._has_room and not self._is_read_ahead

    def read_ahead(self, connection: apsw.Connection) -> Iterator[None]:
        """Read who holds the words that nobody has asked for yet, in short steps, if there is room for all.

        If there is none, none is found later. It ends early when so much has changed that what was read is forgotten.
        """
        with self._lock, self._now(connection):
            self._is_read_ahead = True
            self._has_room = A_PAIR * self._census.length() < MOST_KEPT
            seen = len(self._changes)
        self._has_room = self._has_room and value(connection, ROOM_FOR_ALL) < MOST_KEPT
        for stretch in _stretches(connection) if self._has_room else ():
            # As of now or later: what has changed since they were *seen* is heard of when they are asked for.
            found = rows(connection, HELD_FROM, stretch)
            fresh = {(term,): _posting((term,), _parsed(held_in), seen) for term, held_in in found}
            with self._lock:
                if not self._is_read_ahead:
                    return
                for phrase in fresh.keys() - self._kept.keys():
                    self._put(phrase, fresh[phrase])
                    self._kept.move_to_end(phrase, last=False)
                seen = len(self._changes)
            yield

    def _of(
        self, connection: apsw.Connection, phrases: Sequence[Sequence[Phrase]], scope: Scope
    ) -> list[Posting]:
        """What is known as of now of each word, whose forms are these *phrases*."""
        if kept := self._kept_of(connection, phrases, scope):
            return kept
        with self._now(connection):
            read = [
                [self._brought_up(one) or self._read(connection, one) for one in some] for some in phrases
            ]
        return [self._here(some, scope) for some in read]

    def _kept_of(
        self, connection: apsw.Connection, phrases: Sequence[Sequence[Phrase]], scope: Scope
    ) -> list[Posting] | None:
        """What is kept of each word as of now, if it is of all."""
        if journal.last(connection)[0] != self._sequence:
            with self._now(connection):
                pass
        found = [[self._brought_up(one) for one in some] for some in phrases]
        kept = [[one for one in some if one] for some in found]
        if any(len(some) < len(all_forms) for some, all_forms in zip(kept, found, strict=True)):
            return None
        return [self._here(some, scope) for some in kept]

    def _all_short(
        self, connection: apsw.Connection, phrases: Sequence[Phrase], scope: Scope
    ) -> Posting | None:
        """What is known of a word, if all its forms are single tokens that stand in few places or are kept."""
        found = []
        for phrase in phrases:
            one = self._brought_up(phrase) or self._read_if_short(connection, phrase)
            if one is None:
                return None
            found.append(one)
        return self._here(found, scope)

    def _here(self, forms: Sequence[Posting], scope: Scope) -> Posting:
        """Who of *scope* holds one of the *forms* of a word."""
        posting = _merged(forms) if len(forms) > 1 else forms[0]
        if scope is None:
            return posting
        if posting.scoped is None or posting.scope != scope:
            here = self._census.lives_in(posting.memories, scope)
            posting.scope, posting.scoped = scope, Posting(posting.memories[here], posting.times[here], 0)
        return posting.scoped

    @contextmanager
    def _now(self, connection: apsw.Connection) -> Iterator[None]:
        """All that is read in the block is of one moment, whose changes are known."""
        for table in (PLACES_TABLE, words.VOCABULARY):
            connection.execute(table)  # not in the moment, which is rolled back
        with one_moment(connection):
            self._follow(connection)
            yield
        self._let_go()

    def _follow(self, connection: apsw.Connection) -> None:
        """Hear of what has changed."""
        sequence = journal.last(connection)[0]
        if sequence == self._sequence:
            return
        # Before the first change there was nothing to follow, but words may have been asked for.
        is_first = not self._sequence
        changed = [] if is_first else list(dict.fromkeys(journal.reworded(connection, self._sequence)))
        self._census.take_in(connection, None if is_first else changed)
        if is_first or len(changed) > FEW or len(self._changes) + len(changed) > MANY:
            self._changes.clear()
            self._kept.clear()
            self._size = 0
            self._is_read_ahead = False
        else:
            self._changes += _changes(connection, changed)
        self._sequence = sequence

    def _summed(self, postings: Sequence[Posting], scope: Scope) -> Ranked:
        """Who is in any of *postings*."""
        numbers = np.concatenate([one.memories for one in postings])
        adds = np.concatenate([self._bm25(one, scope) for one in postings])
        order = np.argsort(numbers, kind="stable")
        return _totals(numbers[order], adds[order])

    def _in_all(self, postings: Sequence[Posting], scope: Scope) -> Ranked:
        """Who is in every one of *postings*."""
        rarest, *others = sorted(postings, key=lambda one: len(one.memories))
        found = rarest.memories
        for one in others:
            found = found[one.among(found)[0]]
        times = np.array([one.times[np.searchsorted(one.memories, found)] for one in postings], np.float64)
        bm25 = self._census.bm25([len(one.memories) for one in postings], found, times, scope)
        return found, bm25.sum(0)

    def _bm25(self, posting: Posting, scope: Scope) -> Scores:
        if posting.adds is None or posting.edition != self._census.edition:
            posting.adds = self._census.bm25(len(posting.memories), posting.memories, posting.times, scope)
            posting.edition = self._census.edition
        return posting.adds

    def _among(self, posting: Posting, wanted: Numbers, scope: Scope) -> dict[int, float]:
        holds, places = posting.among(wanted)
        adds = self._bm25(posting, scope)[places]
        return dict(zip(wanted[holds].tolist(), adds.tolist(), strict=True))

    def _brought_up(self, phrase: Phrase) -> Posting | None:
        """What is kept of *phrase*, with the changes since; None if it has to be read, as a phrase that changed has."""
        kept = self._kept.get(phrase)
        if kept is None:
            return None
        late = dict(self._changes[kept.seen :])
        holding = {number: held for number, held in late.items() if held.keys() >= {*phrase}}
        if holding or (late and kept.among(np.array(list(late), np.int64))[0].any()):
            if len(phrase) != 1:
                return None
            now = {number: held[phrase[0]] for number, held in holding.items()}
            kept = self._put(phrase, kept.changed(list(late), now))
        kept.seen = len(self._changes)
        self._kept.move_to_end(phrase)
        return kept

    def _read(self, connection: apsw.Connection, phrase: Phrase) -> Posting:
        if len(phrase) == 1:
            return self._keep(phrase, _numbers(connection, HELD_IN, phrase[0]))
        begins = [_numbers(connection, PLACES, token) - distance for distance, token in enumerate(phrase)]
        places = reduce(partial(np.intersect1d, assume_unique=True), begins) if begins else NONE
        return self._keep(phrase, places >> OFFSET_BITS)

    def _read_if_short(self, connection: apsw.Connection, phrase: Phrase) -> Posting | None:
        if len(phrase) != 1:
            return None
        held_in = _numbers(connection, FIRST_HELD_IN, phrase[0], LONG)
        return self._keep(phrase, held_in) if len(held_in) < LONG else None

    def _keep(self, phrase: Phrase, held_in: Numbers) -> Posting:
        return self._put(phrase, _posting(phrase, held_in, len(self._changes)))

    def _put(self, phrase: Phrase, fresh: Posting) -> Posting:
        if gone := self._kept.pop(phrase, None):
            self._size -= gone.size
        self._kept[phrase] = fresh
        self._size += fresh.size
        return fresh

    def _let_go(self) -> None:
        """Forget the words that were asked for longest ago, when too much is kept."""
        while self._size > MOST_KEPT:
            _, gone = self._kept.popitem(last=False)
            self._size -= gone.size


def _changes(connection: apsw.Connection, changed: Sequence[int]) -> list[Change]:
    """What the memories that have *changed* hold now; one that has left holds nothing."""
    found = memories.many(connection, changed)
    living = {memory.id: memory for memory in found if memory.state is State.LIVING}
    return [(number, _held(connection, living[number]) if number in living else {}) for number in changed]


def _held(connection: apsw.Connection, memory: Memory) -> dict[str, float]:
    _, title, summary, tags, body, parts, stems, _ = words.row_of(memory, 0)
    columns = (body, title, summary, tags, parts, stems)
    held: dict[str, float] = {}
    for text, weight in zip(columns, COLUMNS.values(), strict=True):
        for token in words.tokens(connection, text):
            held[token] = held.get(token, 0.0) + weight
    return held


def _phrases(connection: apsw.Connection, group: Group) -> list[Phrase]:
    """The tokens of each form of a word; forms that come to the same are one."""
    return list(dict.fromkeys(tuple(words.tokens(connection, form)) for form in group))


def _merged(postings: Sequence[Posting]) -> Posting:
    """Who is in any of *postings*, as often as in the one where it is most: the forms of a word stand side by side."""
    numbers = np.concatenate([one.memories for one in postings])
    order = np.argsort(numbers, kind="stable")
    numbers, times = numbers[order], np.concatenate([one.times for one in postings])[order]
    firsts = _firsts(numbers)
    return Posting(numbers[firsts], np.maximum.reduceat(times, firsts) if len(firsts) else times, 0)


def _posting(phrase: Phrase, held_in: Numbers, seen: int) -> Posting:
    """What the columns it is *held_in* say of *phrase*."""
    weights = WEIGHTS[held_in & ((1 << COLUMN_BITS) - 1)]
    numbers, times = _totals(held_in >> COLUMN_BITS, weights)
    return Posting(numbers.astype(np.int32), times.astype(np.float32), seen)


def _stretches(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    """The first and the last of a few words that follow each other, until all have come; without our own."""
    first = last = ""
    total = 0
    for term, count in rows(connection, PLACES_OF_EACH):
        is_ours = term.startswith(NAMESPACE_MARK)
        if first and (is_ours or total + count > AT_ONCE):
            yield first, last
            first, total = "", 0
        if not is_ours:
            first, last, total = first or term, term, total + count
    if first:
        yield first, last


def _numbers(connection: apsw.Connection, sql: str, token: str, *values: int) -> Numbers:
    return _parsed(value(connection, sql, (token, *values)))


def _parsed(numbers: str) -> Numbers:
    return np.array(orjson.loads(numbers), np.int64)


def _totals(numbers: Numbers, values: Scores) -> tuple[Numbers, Scores]:
    """The different ones of *numbers*, which are in order, and the sum of the *values* of each."""
    firsts = _firsts(numbers)
    return numbers[firsts], np.add.reduceat(values, firsts)


def _firsts(numbers: Numbers) -> Numbers:
    """The places of the first of each of *numbers*, which are in order."""
    is_first = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)
