"""BM25 from memory: which memories hold the words of a question, and what each word adds to their score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from mnemic.index.postings import Posting, Postings, PostingsAge, merged, totals
from mnemic.index.table import ColumnTable, Slots
from mnemic.numeric import np
from mnemic.storage.arrays import Flags, Numbers, Scores, Times, among
from mnemic.storage.index_port import K1, B, Ranked
from mnemic.storage.source import ChangedMemory, Extent, Group, Phrase, Scope, Source

LEAST_IDF = 1e-6
LONG = 20_000
"""A posting with more occurrences than this is read only to search by it, not to count who holds it."""


class Lengths:
    """How many words each living memory has, and its namespace, as of one position."""

    def __init__(self, table: ColumnTable, counts: Scores, totals: Scores, edition: int):
        self._table = table
        self._counts = counts
        self._totals = totals
        self.edition = edition

    @classmethod
    def read(cls, source: Source) -> Callable[[Slots], Lengths]:
        """The lengths of all living memories: how to place them in slots, which is quick."""
        found = source.lengths(None)

        def placed(slots: Slots) -> Lengths:
            table = ColumnTable.empty(slots, {"length": (np.int32, 0), "namespace": (np.int32, 0)})
            return cls(table, np.zeros(1), np.zeros(1), 0)._noted(found, None)

        return placed

    def updated(self, source: Source, changed: Sequence[int]) -> Lengths:
        """The next version, with these memories read again."""
        return self._noted(source.lengths(changed), changed) if changed else self

    def _noted(self, found: tuple[Numbers, Numbers, Numbers], changed: Sequence[int] | None) -> Lengths:
        counts, totals = self._counts, self._totals
        living, lengths, spaces = found
        numbers = living
        if changed is not None:
            numbers = np.array(changed, np.int64)
            counts, totals = self._summed_up(self._table, numbers, counts, totals, -1)
            # One update for both those that live and those that left: a second one would copy the columns.
            lengths, spaces = (_spread(numbers, living, values) for values in (lengths, spaces))
        table = self._table.updated(numbers, {"length": lengths, "namespace": spaces})
        counts, totals = self._summed_up(table, living, counts, totals, 1)
        return Lengths(table, counts, totals, self.edition + 1)

    def _summed_up(
        self, table: ColumnTable, numbers: Numbers, counts: Scores, totals: Scores, sign: int
    ) -> tuple[Scores, Scores]:
        """The sums by namespace with these memories added, or taken out."""
        slots = table.slots.of(numbers)
        slots = slots[(slots >= 0) & (slots < table.count)]
        slots = slots[table["length"][slots] > 0]
        spaces = table["namespace"][slots]
        size = max(len(counts), int(spaces.max(initial=0)) + 1)
        lengths = np.bincount(spaces, table["length"][slots], minlength=size)
        return (
            _resized(counts, size) + sign * np.bincount(spaces, minlength=size),
            _resized(totals, size) + sign * lengths,
        )

    @property
    def slots(self) -> Slots:
        """The slots of the memories."""
        return self._table.slots

    def count(self, scope: Scope = None) -> int:
        """How many living memories *scope* has."""
        return int(_in_scope(self._counts, scope))

    def length(self, scope: Scope = None) -> float:
        """How many words they have together."""
        return _in_scope(self._totals, scope)

    def bm25(self, holders: int | Sequence[int], slots: Numbers, times: Times, scope: Scope = None) -> Scores:
        """What a word adds to the BM25 score of the memories in *slots*, which hold it *times* times.

        *holders* is how many memories of *scope* hold it. Of several words at once with as many *holders*, and as many
        rows of *times*.
        """
        count = self.count(scope)
        mean = self.length(scope) / max(1, count) or 1.0
        number, often = np.array(holders), times.astype(np.float64, copy=False)
        rarity = np.log((count - number + 0.5) / (number + 0.5))
        damping = K1 * (1 - B + B * self._table["length"][slots] / mean)
        adds: Scores = np.where(rarity > 0, rarity, LEAST_IDF)[..., None] * (
            (often * (K1 + 1.0)) / (often + damping)
        )
        return adds

    def are_in(self, slots: Numbers, scope: Sequence[int]) -> Flags:
        """Which of *slots* belong to a memory of these namespaces."""
        return among(self._table["namespace"][slots], scope)

    def placed(self, found: tuple[Numbers, Times]) -> Posting:
        """A posting by slot, of the memories *found* by number."""
        numbers, times = found
        slots = self.slots.of(numbers)
        known = (slots >= 0) & (slots < self._table.count)
        if not known.all():  # a damaged index may hold memories that have no length
            slots, times = slots[known], times[known]
        if len(slots) and not (slots[1:] > slots[:-1]).all():
            order = np.argsort(slots, kind="stable")
            slots, times = slots[order], times[order]
        return Posting(slots.astype(np.int32, copy=False), times)


class Words:
    """The words of all living memories as of one position. Postings are read when they are first asked for."""

    def __init__(self, position: Extent, lengths: Lengths, postings: Postings, stamp: PostingsAge):
        self.position = position
        self._lengths = lengths
        self._postings = postings
        self._stamp = stamp

    @classmethod
    def read(cls, source: Source, position: Extent) -> Callable[[Slots, Postings], Words]:
        """The words as of now, whose postings are not read yet: how to place them in slots, which is quick."""
        lengths = Lengths.read(source)
        return lambda slots, postings: cls(position, lengths(slots), postings, postings.reset())

    def updated(self, source: Source, changes: Sequence[ChangedMemory], position: Extent) -> Words:
        """The next version, which knows what the memories that *changes* name hold now."""
        changed = list(dict.fromkeys(change.memory_id for change in changes if not change.is_use))
        if not changed:
            return Words(position, self._lengths, self._postings, self._stamp)
        lengths = self._lengths.updated(source, changed)
        stamp = self._postings.follow(changed, lambda: _by_slot(source, lengths.slots, changed))
        return Words(position, lengths, self._postings, stamp)

    @property
    def slots(self) -> Slots:
        """The slots of the memories."""
        return self._lengths.slots

    def count(self, scope: Scope) -> int:
        """How many living memories *scope* has."""
        return self._lengths.count(scope)

    def ranked(
        self, source: Source, groups: Sequence[Group], scope: Scope, *, every: bool, can_read: bool
    ) -> Ranked | None:
        """The memories of *scope* that hold any of these words, with their BM25 by its statistics.

        Or those that hold *every* one; None if a posting would have to be read for it and it *can_read* none: the
        engine finds them in less time than it takes to read whole postings.
        """
        phrases = [_phrases(source, group) for group in groups]
        if not every:
            return self._summed(self._of(source, phrases, scope), scope)
        if can_read:
            return self._in_all(self._of(source, phrases, scope), scope)
        if self._postings.are_complete and (kept := self._kept_of(phrases, scope)):
            return self._in_all(kept, scope)
        return None

    def each(
        self, source: Source, groups: Sequence[Group], scope: Scope, memory_ids: Sequence[int]
    ) -> list[dict[int, float]]:
        """For each word, what it adds to the BM25 of those of these memories that hold it."""
        slots = self._lengths.slots.of(np.array(memory_ids, np.int64))
        wanted, numbers = slots[slots >= 0], np.array(memory_ids, np.int64)[slots >= 0]
        phrases = [_phrases(source, group) for group in groups]
        return [self._among(one, wanted, numbers, scope) for one in self._of(source, phrases, scope)]

    def holders(self, source: Source, groups: Iterable[Group], scope: Scope) -> dict[Group, int]:
        """How many memories of *scope* hold each word, but for words with very long postings."""
        phrases = {group: _phrases(source, group) for group in groups}
        forms = self._short_forms(source, list(dict.fromkeys(chain.from_iterable(phrases.values()))))
        return {
            group: len(self._here([forms[one] for one in some], scope).slots)
            for group, some in phrases.items()
            if all(one in forms for one in some)
        }

    def has_room_for_all(self, source: Source) -> bool:
        """Whether the postings of all words can be kept; if not, none is read ahead from now on."""
        return self._postings.has_room_for_all(source, self._lengths.length())

    def read_ahead(self, source: Source, first: str, last: str) -> bool:
        """Keep the postings of all tokens from *first* to *last*; False if the cache was cleared meanwhile."""
        fresh = {
            phrase: self._lengths.placed((numbers, times))
            for phrase, numbers, times in source.postings_between(first, last)
        }
        return self._postings.put_ahead(fresh, self._stamp)

    def _of(self, source: Source, phrases: Sequence[Sequence[Phrase]], scope: Scope) -> list[Posting]:
        """The posting of each word, whose forms are these *phrases*."""
        forms = self._forms(source, list(dict.fromkeys(chain.from_iterable(phrases))))
        return [self._here([forms[one] for one in some], scope) for some in phrases]

    def _kept_of(self, phrases: Sequence[Sequence[Phrase]], scope: Scope) -> list[Posting] | None:
        """The posting of each word if all are kept."""
        found = [[self._postings.get(one, self._stamp) for one in some] for some in phrases]
        kept = [[one for one in some if one] for some in found]
        if any(len(some) < len(all_forms) for some, all_forms in zip(kept, found, strict=True)):
            return None
        return [self._here(some, scope) for some in kept]

    def _forms(self, source: Source, phrases: Sequence[Phrase]) -> dict[Phrase, Posting]:
        """The posting of each of these phrases; those that are not kept are read together."""
        kept = self._kept(phrases)
        return kept | self._read(source.postings([one for one in phrases if one not in kept]))

    def _short_forms(self, source: Source, phrases: Sequence[Phrase]) -> dict[Phrase, Posting]:
        """The same for single tokens with short postings alone, and for cached words."""
        kept = self._kept(phrases)
        wanted = [one for one in phrases if one not in kept and len(one) == 1]
        return kept | self._read(source.postings(wanted, below=LONG))

    def _kept(self, phrases: Sequence[Phrase]) -> dict[Phrase, Posting]:
        found = ((one, self._postings.get(one, self._stamp)) for one in phrases)
        return {phrase: kept for phrase, kept in found if kept}

    def _read(self, found: Mapping[Phrase, tuple[Numbers, Times]]) -> dict[Phrase, Posting]:
        """Postings that were read just now, kept for the next time."""
        return {
            phrase: self._postings.put(phrase, self._lengths.placed(one), self._stamp)
            for phrase, one in found.items()
        }

    def _here(self, forms: Sequence[Posting], scope: Scope) -> Posting:
        """The posting of a word with these *forms*, limited to *scope*."""
        posting = merged(forms) if len(forms) > 1 else forms[0]
        if scope is None:
            return posting
        if posting.scoped is None or posting.scoped[0] != scope:
            here = self._lengths.are_in(posting.slots, scope)
            posting.scoped = scope, Posting(posting.slots[here], posting.times[here])
        return posting.scoped[1]

    def _summed(self, postings: Sequence[Posting], scope: Scope) -> Ranked:
        """The memories in any of *postings*."""
        slots = np.concatenate([one.slots for one in postings])
        adds = np.concatenate([self._bm25(one, scope) for one in postings])
        order = np.argsort(slots, kind="stable")
        return Ranked(*totals(slots[order], adds[order]))

    def _in_all(self, postings: Sequence[Posting], scope: Scope) -> Ranked:
        """The memories in every one of *postings*."""
        rarest, *others = sorted(postings, key=lambda one: len(one.slots))
        found = rarest.slots
        for one in others:
            found = found[one.among(found)[0]]
        times = np.array([one.times[np.searchsorted(one.slots, found)] for one in postings], np.float64)
        bm25 = self._lengths.bm25([len(one.slots) for one in postings], found, times, scope)
        return Ranked(found, bm25.sum(0))

    def _bm25(self, posting: Posting, scope: Scope) -> Scores:
        if posting.adds is None or posting.adds[0] != self._lengths.edition:
            adds = self._lengths.bm25(len(posting.slots), posting.slots, posting.times, scope)
            posting.adds = self._lengths.edition, adds
        return posting.adds[1]

    def _among(self, posting: Posting, wanted: Numbers, numbers: Numbers, scope: Scope) -> dict[int, float]:
        holds, places = posting.among(wanted)
        adds = self._bm25(posting, scope)[places]
        return dict(zip(numbers[holds].tolist(), adds.tolist(), strict=True))


def steps_ahead(words: Words, source: Source) -> Iterator[tuple[str, str]]:
    """The runs of tokens whose postings are worth reading ahead; none if there is no room for all."""
    if words.has_room_for_all(source):
        yield from source.stretches()


def _by_slot(source: Source, slots: Slots, changed: Sequence[int]) -> list[tuple[int, dict[str, float]]]:
    """What the memories that have *changed* hold now, by slot."""
    held = source.held(changed)
    places = slots.of(np.array(changed, np.int64)).tolist()
    return [(place, held[number]) for place, number in zip(places, changed, strict=True)]


def _phrases(source: Source, group: Group) -> list[Phrase]:
    """The tokens of each form of a word; equal forms are one."""
    return list(dict.fromkeys(tuple(source.tokens(form)) for form in group))


def _spread(numbers: Numbers, known: Numbers, values: Numbers) -> Numbers:
    """The one of *values* for each of *numbers* that is *known*, 0 for the others."""
    told = dict(zip(known.tolist(), values.tolist(), strict=True))
    return np.array([told.get(number, 0) for number in numbers.tolist()], np.int64)


def _in_scope(of_each: Scores, scope: Scope) -> float:
    if scope is None:
        return float(of_each.sum())
    return float(sum(of_each[space] for space in scope if space < len(of_each)))


def _resized(values: Scores, size: int) -> Scores:
    larger: Scores = np.zeros(size, np.float64)
    larger[: len(values)] = values
    return larger
