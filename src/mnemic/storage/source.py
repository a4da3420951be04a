"""The port through which the index reads an engine's rows, tokens and vectors, all as of one moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mnemic.model.change import BEGINNING, Position

if TYPE_CHECKING:
    from mnemic.model.filter import Filter
    from mnemic.storage.arrays import Numbers, Times


Phrase = tuple[str, ...]
"""The tokens of one form of a word; mostly a single one."""
Group = tuple[str, ...]
"""The forms of a word: as written, and its stems. A memory that holds one of them holds the word."""
Scope = tuple[int, ...] | None
"""The ids of the namespaces searched; None means all of them."""


class Extent(NamedTuple):
    """How much a moment shows: the newest change and the newest passage."""

    change: Position = BEGINNING
    passage: int = 0


class ChangedMemory(NamedTuple):
    """An entry of the journal about a memory."""

    position: Position
    memory_id: int
    is_use: bool
    """Only counters, tier or expiry changed: no text, and no vector."""


class PassageRow(NamedTuple):
    """A vector with what it belongs to."""

    passage_id: int
    memory_id: int
    statement_id: int
    namespace_id: int
    vector: bytes


class Source(Protocol):
    """An engine's answers from one moment, through one connection."""

    def prepare(self) -> None:
        """Wait for what `begin` may need of others, while no lock is held that they may wait for."""

    def begin(self) -> Extent:
        """Fix the moment: everything read until `end` is as of the extent returned."""

    def end(self) -> None:
        """Let the moment go."""

    def extent(self) -> Extent:
        """How much can be seen now."""

    def changes(self, after: Position) -> list[ChangedMemory]:
        """The settled entries of the journal about memories after *after*, in order."""

    def attributes(self, memory_ids: Sequence[int] | None) -> Iterator[Mapping[str, Sequence[Any]]]:
        """The attributes of these memories, or of all, in any state: lists by column, in batches of rows."""

    def namespaces(self) -> dict[str, int]:
        """The id of each namespace, by name."""

    def members(self, by: str) -> dict[str, list[int]]:
        """The memories that have each `tag`, or that each `actor` stored."""

    def passing(self, wanted: Filter) -> list[int]:
        """The memories that pass *wanted*, which sets only fields that the columns do not hold."""

    def lengths(self, memory_ids: Sequence[int] | None) -> tuple[Numbers, Numbers, Numbers]:
        """Of the living ones of these memories, or of all: numbers, words each has, and namespace ids."""

    def tokens(self, form: str) -> list[str]:
        """The tokens of a text as the index holds them."""

    def held(self, memory_ids: Sequence[int]) -> dict[int, dict[str, float]]:
        """How often each of these memories holds each of its tokens, weighted by field; {} if it is not living."""

    def postings(
        self, phrases: Sequence[Phrase], *, below: int | None = None
    ) -> Mapping[Phrase, tuple[Numbers, Times]]:
        """For each of *phrases* the memories that hold it, ascending, and how often, weighted by field.

        If a limit is given, without those that occur *below* that many times not.
        """

    def stretches(self) -> Iterator[tuple[str, str]]:
        """The first and last token of short runs of the vocabulary, until all tokens are covered."""

    def postings_between(self, first: str, last: str) -> Iterable[tuple[Phrase, Numbers, Times]]:
        """The posting of each token from *first* to *last*."""

    def bytes_of_postings(self, each: int, pair: int) -> int:
        """How many bytes all postings take at *each* a token and *pair* for each memory that holds it."""

    def passages(self, model_id: int, after: int, to: int) -> Iterator[PassageRow]:
        """The vectors of living memories by this model with a passage number in that range, in order."""

    def passages_of(self, model_id: int, to: int, memory_ids: Sequence[int]) -> list[PassageRow]:
        """The vectors these living memories have by this model, up to passage *to*."""

    def statements_of_other_models(self, model_id: int, after: int, to: int) -> list[int]:
        """The statements that got a vector by another model in that range of passages."""

    def history(self, position: Position) -> str | None:
        """What tells this history from any other that has a change at this position; None if there is none."""

    def vectors_of(self, passage_ids: Sequence[int]) -> dict[int, tuple[int, int, bytes]]:
        """The statement, model and vector of each of these passages that still exists."""
