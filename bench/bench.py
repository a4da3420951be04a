"""What every measurement is given: the stores, the reference server if there is one, and how hard to try."""

from __future__ import annotations

from dataclasses import dataclass

from bench.reference import Reference
from bench.stores import Stores


@dataclass(frozen=True, eq=False, slots=True)
class Bench:
    """One run of the benchmark."""

    stores: Stores
    reference: Reference | None
    sizes: tuple[int, ...]
    rounds: int

    def numbers(self, size: int) -> list[int]:
        """A memory for each round, spread over a store of this size."""
        return [turn * 997 % size for turn in range(self.rounds)]

    def reference_rounds(self, size: int) -> int:
        """How many calls the reference server can be asked for: at 100,000 each takes most of a second."""
        return 30 if size <= 10_000 else 6
