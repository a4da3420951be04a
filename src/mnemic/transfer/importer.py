"""The importer: every record that comes from a file or another store is merged into this one here.

Records are matched by uid, then by chosen name, merged by field and by statement, and written in transactions of a few
hundred. What cannot be merged is listed with its reason and leaves nothing behind.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Protocol

from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.storage.base import Progress, Writer
from mnemic.transfer.batch import Batch, Numbers, Sessions
from mnemic.transfer.exporter import batched
from mnemic.transfer.import_report import Report
from mnemic.transfer.records import LinkRecord, Record, SessionKey


class Policy(Protocol):
    """How records are merged: by version as those of a store, or by the journal as those of a file."""

    @property
    def operation(self) -> str:
        """What the journal calls it."""

    @property
    def expires_first(self) -> bool:
        """Whether memories whose time is over leave before others come."""

    def batch(self, ctx: Context, tx: Writer, numbers: Numbers, sessions: Sessions) -> Batch:
        """The batch of a transaction."""

    def learn(self, tx: Writer) -> None:
        """Note how much of the other store is merged now."""


class Importer:
    """Records merged into the store of *ctx* by a policy."""

    def __init__(self, ctx: Context, policy: Policy):
        self.report = Report()
        self.numbers: dict[str, int] = {}
        """The numbers here of the memories that came, by their uids."""
        self._ctx = ctx
        self._policy = policy
        self._sessions: dict[SessionKey, int] = {}
        self._unnamed: dict[int, tuple[str, str]] = {}

    def merge(self, records: Iterable[Record], progress: Progress | None = None, total: int = 0) -> Report:
        """Merge *records*, in their order: links come after the memories they link."""
        count = 0
        for is_link, group in groupby(records, key=lambda record: isinstance(record, LinkRecord)):
            for batch in batched(_same_links(group) if is_link else map(_alone, group)):
                self._run(batch)
                count += len(batch)
                if progress:
                    progress(min(count, total or count), total or count)
        if self._unnamed:
            self._ctx.change(self._policy.operation, self._settle_names)
            self._unnamed = {}
        return self.report

    def finish(self) -> Report:
        """Note what the source knows, if all of it was merged, and let the vectors be made."""
        if not self.report.errors and self._ctx.granted is None:
            self._ctx.change(self._policy.operation, self._policy.learn)
        self._ctx.wake()
        return self.report

    def _run(self, groups: Sequence[Sequence[Record]]) -> None:
        """Merge some records in one transaction; each of *groups* is merged together."""

        def work(tx: Writer) -> Batch:
            batch = self._batch(tx)
            for group in groups:
                batch.take(group)
            return batch

        if self._policy.expires_first:
            done = change_after_expiry(self._ctx, self._policy.operation, work)
        else:
            done = self._ctx.change(self._policy.operation, work)
        self.numbers |= done.numbers.maps[0]
        self._sessions |= done.sessions.maps[0]
        self._unnamed |= done.unnamed
        self.report.add(done.report)

    def _batch(self, tx: Writer) -> Batch:
        # A transaction may be run again, so what it finds out is added once it has been committed.
        return self._policy.batch(self._ctx, tx, ChainMap({}, self.numbers), ChainMap({}, self._sessions))

    def _settle_names(self, tx: Writer) -> None:
        self._batch(tx).settle_names(self._unnamed)


def _alone(record: Record) -> list[Record]:
    return [record]


def _same_links(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Links with the same ends and type, together."""

    def ends(record: Record) -> object:
        assert isinstance(record, LinkRecord)
        return record.key.source, record.key.target, record.key.type

    return (list(group) for _, group in groupby(records, key=ends))
