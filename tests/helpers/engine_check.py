"""What a PostgreSQL database must be able to do, whatever lies in front of it or whichever version it is."""

from __future__ import annotations

import threading

from copy_places import context, copied, fill
from support import Clock, everything, faults

from mnemic.api import Memories
from mnemic.app import open_store
from mnemic.model.change import BEGINNING
from mnemic.model.time import iso
from mnemic.settings import Settings

WRITERS, EACH = 6, 5


def check_engine(address: str, target: str) -> None:
    """Open, write, recall, look back, undo, write from many threads at once, and copy the store to *target*."""
    store = open_store(Settings(db=address))
    try:
        clock = Clock()
        ctx = context(store, clock)
        fill(ctx, clock)
        api = Memories(ctx)
        assert api.recall("heron at the weir").hits[0].memory.id == 1
        first = min(change.at for change in ctx.read().journal())
        assert [hit.memory.id for hit in api.as_of(iso(first)).recall("heron").hits] == [1]
        before = everything(store)
        clock.advance(hours=1)
        api.revise(4, text="The hedgehog sleeps.")
        api.undo_since(iso(clock()))
        assert everything(store)[0][4]["statements"] == before[0][4]["statements"]
        check_threads(api)
        numbers = [change.sequence for change in ctx.read().changes(BEGINNING)]
        assert numbers == sorted(set(numbers)) and faults(store) == []
        assert copied(store, target).plan.memories > WRITERS * EACH
    finally:
        store.close()


def check_threads(api: Memories) -> None:
    """Write and read in many threads at once; all of it is there."""
    failed: list[Exception] = []

    def work(writer: int) -> None:
        try:
            for number in range(EACH):
                api.remember(f"writer {writer} saw swallow {number}", namespace=f"space {writer}", force=True)
                assert api.recall("swallow", namespace=f"space {writer}").hits
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert all(api.namespaces()[f"space {writer}"] == EACH for writer in range(WRITERS))
