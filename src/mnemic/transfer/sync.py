"""Sync of two stores: one way, or both ways so that they hold the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from mnemic.core.context import Context
from mnemic.storage.base import Progress
from mnemic.storage.queries import count
from mnemic.transfer.exporter import knowledge_of, read_records
from mnemic.transfer.import_report import Report
from mnemic.transfer.importer import Importer
from mnemic.transfer.store_batch import StorePolicy


class Course(StrEnum):
    """Which way memories go."""

    PULL = "pull"
    PUSH = "push"
    MERGE = "merge"


@dataclass(frozen=True, slots=True)
class Synced:
    """What came here and what went there; None where nothing was to."""

    pulled: Report | None
    pushed: Report | None


class Peer(Protocol):
    """Another store, wherever it is."""

    def pull(self, ctx: Context, progress: Progress | None = None) -> Report:
        """Merge everything of the peer's into the store of *ctx*."""

    def push(self, ctx: Context, progress: Progress | None = None) -> Report:
        """Merge everything of *ctx* into the peer."""


def sync(ctx: Context, peer: Peer, course: Course, progress: Progress | None = None) -> Synced:
    """Merge the peer's memories into *ctx*, or those of *ctx* into the peer, or both, so that both hold the same."""
    pulled = peer.pull(ctx, progress) if course is not Course.PUSH else None
    pushed = peer.push(ctx, progress) if course is not Course.PULL else None
    return Synced(pulled, pushed)


@dataclass(frozen=True, slots=True)
class LocalPeer:
    """The peer that is a store of ours in the same process."""

    ctx: Context

    def pull(self, ctx: Context, progress: Progress | None = None) -> Report:
        """Merge everything of this store into that of *ctx*."""
        return _merge(self.ctx, ctx, progress)

    def push(self, ctx: Context, progress: Progress | None = None) -> Report:
        """Merge everything of *ctx* into this store."""
        return _merge(ctx, self.ctx, progress)


def _merge(source: Context, target: Context, progress: Progress | None) -> Report:
    importer = Importer(target, StorePolicy(knowledge_of(source)))
    with source.snapshot() as reader:
        importer.merge(read_records(source, reader), progress, count(reader))
    return importer.finish()
