"""Postings kept in memory: which memories hold a token and how often, up to a limit of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mnemic.numeric import np
from mnemic.storage.arrays import Flags, Numbers, Scores, Times
from mnemic.storage.source import Phrase, Scope, Source

MOST_KEPT = 96 << 20
"""Most bytes kept."""
A_WORD, A_PAIR = 500, 16
"""Bytes of a posting, and for each memory in it; half of these only once its BM25 was asked for."""
FEW, MANY = 100, 500
"""Changes followed at once, or since the last reset; after more it takes less to read postings again."""
Held = tuple[int, dict[str, float]]
"""The slot of a changed memory, and how often it holds each token now, weighted by field."""


@dataclass(slots=True)
class Posting:
    """The memories that hold a phrase, by slot, and how often. Kept with what was last computed from it."""

    slots: Numbers
    times: Times
    adds: tuple[int, Scores] | None = None
    """What the phrase adds to the BM25 of each, by that edition of the lengths."""
    scoped: tuple[Scope, Posting] | None = None
    """The part that belongs to the namespaces asked for last."""

    @property
    def size(self) -> int:
        """How many bytes it takes, or will when it is asked for."""
        return A_WORD + A_PAIR * len(self.slots)

    def among(self, wanted: Numbers) -> tuple[Flags, Numbers]:
        """Which of the slots *wanted* are in it, and the places of these."""
        if not len(self.slots):
            return np.zeros(len(wanted), np.bool_), wanted[:0]
        places = np.searchsorted(self.slots, wanted.astype(np.int32, copy=False))
        holds = self.slots.take(places, mode="clip") == wanted
        return holds, places[holds]

    def holds_any(self, late: Collection[int]) -> bool:
        """Whether a memory in one of these slots holds it."""
        if not late or not len(self.slots) or min(late) > self.slots[-1]:
            return False
        return bool(self.among(np.array(list(late), np.int32))[0].any())

    def changed(self, late: Sequence[int], now: Mapping[int, float]) -> Posting:
        """The posting when of the memories in *late* none but those in *now* hold the phrase, so often."""
        stays = ~np.isin(self.slots, late)
        slots = np.concatenate([self.slots[stays], np.array(list(now), np.int32)])
        times = np.concatenate([self.times[stays], np.array(list(now.values()), np.float32)])
        order = np.argsort(slots, kind="stable")
        return Posting(slots[order], times[order])


class PostingsAge(NamedTuple):
    """Up to where changes are known: since which reset, and how many since then."""

    reset: int
    changes: int


class Postings:
    """The postings asked for last. Each is served as of the version that asks. Safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._has_room = True
        self._is_complete = False
        self._resets = 0
        self._changes: list[Held] = []
        self._latest: dict[str, int] = {}
        """The place of the last change in which a memory holds a token."""
        self._kept: OrderedDict[Phrase, tuple[Posting, int]] = OrderedDict()
        self._size = 0

    @property
    def wants_all(self) -> bool:
        """Whether all postings should be read ahead: they were not, or were dropped, and no lack of room was found."""
        return self._has_room and not self._is_complete

    @property
    def are_complete(self) -> bool:
        """Whether all postings were read ahead and not dropped since."""
        return self._is_complete

    def reset(self) -> PostingsAge:
        """Drop everything that is kept."""
        with self._lock:
            self._resets += 1
            self._changes = []
            self._latest.clear()
            self._kept.clear()
            self._size = 0
            self._is_complete = False
            return PostingsAge(self._resets, 0)

    def follow(self, changed: Sequence[int], held: Callable[[], list[Held]]) -> PostingsAge:
        """Take note of what the memories that have *changed* hold now; drop everything if they are too many."""
        if len(changed) > FEW or len(self._changes) + len(changed) > MANY:
            return self.reset()
        fresh = held()
        with self._lock:
            for change in fresh:
                self._latest.update(dict.fromkeys(change[1], len(self._changes)))
                self._changes.append(change)
            return PostingsAge(self._resets, len(self._changes))

    def get(self, phrase: Phrase, stamp: PostingsAge) -> Posting | None:
        """The posting of *phrase* as of *stamp*; None if it has to be read, as a phrase that changed has."""
        with self._lock:
            kept, seen = self._kept.get(phrase, (None, 0))
            if kept is None or stamp.reset != self._resets or seen > stamp.changes:
                return None
            if seen < stamp.changes and self._concerns(phrase, kept, seen, stamp.changes):
                late = dict(self._changes[seen : stamp.changes])
                holding = {slot: held for slot, held in late.items() if held.keys() >= {*phrase}}
                if len(phrase) != 1:
                    return None
                kept = kept.changed(list(late), {slot: held[phrase[0]] for slot, held in holding.items()})
            self._put(phrase, kept, stamp.changes)
            return kept

    def _concerns(self, phrase: Phrase, kept: Posting, first: int, end: int) -> bool:
        """Whether one of these changes may alter the posting of *phrase*: it holds its first token, or did."""
        return (
            not phrase
            or self._latest.get(phrase[0], -1) >= first
            or kept.holds_any([slot for slot, _ in self._changes[first:end]])
        )

    def put(self, phrase: Phrase, fresh: Posting, stamp: PostingsAge) -> Posting:
        """Keep a posting that was read as of *stamp*, unless a newer one is kept."""
        with self._lock:
            if stamp.reset == self._resets and self._kept.get(phrase, (None, -1))[1] <= stamp.changes:
                self._put(phrase, fresh, stamp.changes)
                self._let_go()
        return fresh

    def put_ahead(self, fresh: Mapping[Phrase, Posting], stamp: PostingsAge) -> bool:
        """Cache postings ahead of use; False if the cache was cleared since *stamp*."""
        with self._lock:
            if stamp.reset != self._resets or not self._is_complete:
                return False
            for phrase in fresh.keys() - self._kept.keys():
                self._put(phrase, fresh[phrase], stamp.changes)
                self._kept.move_to_end(phrase, last=False)
            return True

    def has_room_for_all(self, source: Source, tokens: float) -> bool:
        """Whether postings of *tokens* tokens in total fit into the cache; reserved if so."""
        with self._lock:
            self._is_complete = True
            self._has_room = A_PAIR * tokens < MOST_KEPT
        self._has_room = self._has_room and source.bytes_of_postings(A_WORD, A_PAIR) < MOST_KEPT
        return self._has_room

    def _put(self, phrase: Phrase, fresh: Posting, seen: int) -> None:
        if gone := self._kept.pop(phrase, None):
            self._size -= gone[0].size
        self._kept[phrase] = fresh, seen
        self._size += fresh.size

    def _let_go(self) -> None:
        """Drop the postings that were asked for longest ago, when too much is kept."""
        while self._size > MOST_KEPT:
            _, (gone, _) = self._kept.popitem(last=False)
            self._size -= gone.size


def merged(postings: Sequence[Posting]) -> Posting:
    """The memories in any of *postings*, as often as where it is most: forms of a word stand side by side."""
    slots = np.concatenate([one.slots for one in postings])
    order = np.argsort(slots, kind="stable")
    slots, times = slots[order], np.concatenate([one.times for one in postings])[order]
    firsts = _firsts(slots)
    return Posting(slots[firsts], np.maximum.reduceat(times, firsts) if len(firsts) else times)


def totals(numbers: Numbers, values: Scores) -> tuple[Numbers, Scores]:
    """The distinct ones of *numbers*, which are in order, and the sum of the *values* of each."""
    firsts = _firsts(numbers)
    return numbers[firsts], np.add.reduceat(values, firsts)


def _firsts(numbers: Numbers) -> Numbers:
    """The places of the first of each of *numbers*, which are in order."""
    is_first = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)
