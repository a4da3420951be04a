"""Copies of stores: the places they are copied between, and a store in which there is some of everything."""

from __future__ import annotations

from pathlib import Path

from postgres_server import leased_url
from support import Clock, Uids, WordEmbedder

from mnemic.api import Memories
from mnemic.app import copy_target, engines
from mnemic.core.access import TokenRequest, create_token, note_use
from mnemic.core.capture.conversation import Turn, capture
from mnemic.core.context import Context
from mnemic.core.memories import Fate
from mnemic.core.standards import set_standard
from mnemic.storage.base import Progress, Store
from mnemic.transfer.store_copy import Copied, copy, plan

ANIMALS = ("heron", "fox", "crow", "hedgehog", "owl", "newt")


def place(engine: str, folder: Path, name: str) -> str:
    """Where the store of this name is kept, as it is given to `mnemic copy`."""
    return str(folder / f"{name}.db") if engine == "sqlite" else leased_url(folder, name)


def context(store: Store, clock: Clock, family: str = "") -> Context:
    """A context over *store* in which time, chance and the model are held still."""
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    return Context(
        store=store, engines=engines(), embedder=embedder, now=clock, new_uid=Uids(family), actor="tester"
    )


def copied(source: Store, to: str, *, origin: str = "there", progress: Progress | None = None) -> Copied:
    """*source* copied to the place *to*, as if from *origin*."""
    with source.row_source() as rows, copy_target(to) as target:  # type: ignore[attr-defined]
        return copy(rows, target, origin, plan(rows, target, origin), progress or (lambda done, total: None))


def fill(ctx: Context, clock: Clock) -> str:
    """Put some of everything into the store through the public API; the secret of a token."""
    api = Memories(ctx)
    for number in range(30):
        clock.advance(minutes=1)
        animal = ANIMALS[number % len(ANIMALS)]
        api.remember(
            f"The {animal} number {number} was seen at pond {number % 7}.\nIt left towards the café.",
            name=f"{animal} {number}" if number % 2 else None,
            namespace=("global", "garden", "town")[number % 3],
            tags=("bird",) if animal in ("heron", "crow", "owl") else (),
            metadata={"count": number} if number % 5 == 0 else None,
            force=True,
        )
    api.embed()
    _change(api, clock)
    capture(ctx, "claude-1", [Turn("We always feed the owl at nine, remember that.", "Understood.", 1)])
    set_standard(ctx, "garden", 2, "global")
    ctx.change("use", lambda tx: tx.count_together([4, 5, 6], ctx.now()))
    secret = create_token(ctx, TokenRequest(name="ann", namespaces=("garden",), can_write=False))
    note_use(ctx, secret)
    for animal in ANIMALS:
        clock.advance(minutes=1)
        api.recall(f"{animal} at the pond")
    return secret


def _change(api: Memories, clock: Clock) -> None:
    """Revise, supersede, link, delete, purge, rate and undo."""
    clock.advance(hours=1)
    api.revise(1, text="The heron was seen at the weir.", summary="weir")
    api.revise(2, namespace="town", tags=("moved",))
    api.supersede(3, "The crow was seen on the roof.", "it moved")
    api.link(4, 5, "near", weight=0.5, reason="same pond")
    api.link(6, 7)
    api.end_link(6, 7)
    clock.advance(hours=1)
    api.forget(8, 9, reason="wrong")
    api.restore(9)
    api.forget(10, fate=Fate.ARCHIVED)
    api.forget(11, fate=Fate.PURGED)
    api.rate(12, useful=True, confidence=8)
    api.start_session("ponds")
    api.log_turn("Where is the newt?", "In pond five.")
    api.end_session("found the newt")
    clock.advance(hours=1)
    api.undo(api.history(12, limit=1)[0].number)
