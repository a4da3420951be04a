"""Files outside of the store that hold its memories: backups and mirrors that we made, by path."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import orjson

from mnemic.core.context import Context
from mnemic.errors import StoreUnusable
from mnemic.model.access import EVERYTHING
from mnemic.storage.base import Reader, Writer

SETTING = "copies"


class Copy(NamedTuple):
    """A backup, a mirrored file or a mirrored folder, and the namespace that a folder shows."""

    kind: str
    path: str
    namespace: str | None = None


def copies(reader: Reader) -> list[Copy]:
    """The copies that were ever made, whether they are still there or not."""
    return [Copy(*one) for one in orjson.loads(reader.setting(SETTING) or "[]")]


def note_copy(ctx: Context, copy: Copy) -> None:
    """Remember that there is a copy at this place, unless the store can only be read: it is copied all the same."""

    def work(tx: Writer) -> None:
        known = copies(tx)
        if copy not in known:
            tx.put_setting(SETTING, orjson.dumps([list(one) for one in (*known, copy)]).decode())

    if copy in copies(ctx.store.read()):
        return
    with suppress(StoreUnusable):
        ctx.store.change(EVERYTHING, "copy", ctx.actor, ctx.now(), work, durable=False)
