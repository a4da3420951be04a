"""One run of the benchmark: its stores, the reference server if it is installed, and the number of calls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import platformdirs

from bench.reference import Reference, installed
from bench.stores import Stores

CACHE = Path(platformdirs.user_cache_dir("mnemic-bench"))
SIZES = (1_000, 10_000, 100_000)


@dataclass(frozen=True, eq=False, slots=True)
class Bench:
    """What every measurement is given."""

    stores: Stores
    reference: Reference | None
    sizes: tuple[int, ...]
    rounds: int

    def numbers(self, size: int) -> list[int]:
        """The number of a memory for each round, spread over a store of this size."""
        return [turn * 997 % size for turn in range(self.rounds)]

    def reference_rounds(self, size: int) -> int:
        """Calls to the reference server: at 100,000 memories each takes most of a second."""
        return 30 if size <= 10_000 else 6


def prepared(cache: Path = CACHE, *, is_quick: bool = False) -> Bench:
    """A run on the stores and the reference server that earlier runs left in *cache*."""
    return Bench(
        stores=Stores(cache / "stores"),
        reference=installed(cache / "reference"),
        sizes=SIZES[:2] if is_quick else SIZES,
        rounds=60 if is_quick else 300,
    )
