"""The two endpoints that other stores sync with a daemon through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from mnemic.core.context import Context
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import ConflictEntry, Request
from mnemic.errors import Invalid
from mnemic.model.limits import MAX_ITEMS


class SyncRecords(TypedDict):
    """Everything the caller may see, and what the store knows of others."""

    store: str
    knowledge: Mapping[str, str]
    records: list[dict[str, Any]]


class Nothing(Request):
    """A request without arguments."""


@MNEMIC.endpoint("GET /sync", title="Read everything for a sync")
def read_for_sync(ctx: Context, request: Nothing) -> SyncRecords:
    """Every memory, link and session with its version, in the form that `POST /sync` of another daemon takes."""
    from mnemic.transfer.exporter import knowledge_of, read_records
    from mnemic.transfer.wire import encode

    knowledge = knowledge_of(ctx)
    with ctx.snapshot() as reader:
        records = [encode(record) for record in read_records(ctx, reader)]
    seen = knowledge.entry if ctx.granted is None else {}
    return {"store": knowledge.store, "knowledge": seen, "records": records}


class SyncRequest(Request):
    """Records of another store; several requests make one sync."""

    store: Annotated[str, Field(description="Id of the store they come from")]
    knowledge: Annotated[dict[str, str], Field(description="How much of each store's journal it has seen")]
    records: Annotated[list[dict[str, Any]], Field(max_length=MAX_ITEMS)]
    is_last: Annotated[bool, Field(description="Whether this completes the sync")] = False


class SyncReply(TypedDict):
    """What changed in the store of the daemon."""

    imported: int
    added: int
    skipped: int
    deleted: int
    restored: int
    purged: int
    links: int
    ended: int
    sessions: int
    conflicts: list[ConflictEntry]
    errors: list[str]


@MNEMIC.endpoint("POST /sync", title="Merge records of another store")
def merge_from_sync(ctx: Context, request: SyncRequest) -> SyncReply:
    """Merge up to 1000 records by field and statement. What cannot be merged is reported and left out."""
    from mnemic.transfer.importer import Importer
    from mnemic.transfer.store_batch import StorePolicy
    from mnemic.transfer.versions import Knowledge
    from mnemic.transfer.wire import decode, report_entry

    try:
        knowledge = Knowledge.of(request.store, request.knowledge)
    except ValueError:
        raise Invalid("knowledge: not as `GET /sync` tells it", "knowledge") from None
    importer = Importer(ctx, StorePolicy(knowledge))
    importer.merge(map(decode, request.records))
    if request.is_last:
        importer.finish()
    reply: SyncReply = report_entry(importer.report)  # type: ignore[assignment]
    return reply
