"""An engine may run the work of a change again: a first run that is rolled back leaves no trace."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import Uids, kept, last_number

from mnemic.core.graph import link
from mnemic.core.history import undo
from mnemic.core.memories import Note, forget, remember, restore, supersede
from mnemic.core.sessions import end, start
from mnemic.storage.queries import each_memory


class Repeating:
    """A store that rolls the first run of every change back and runs it again."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    def change(self, scope, operation, actor, at, work, **how):
        class Lost(Exception):
            pass

        def lost(tx):
            work(tx)
            raise Lost

        with pytest.raises(Lost):
            self._store.change(scope, operation, actor, at, lost, **how)
        return self._store.change(scope, operation, actor, at, work, **how)


def story(ctx):
    """Everything that is left after rules of several kinds have run."""
    start(ctx, topic="lamps")
    outcome = remember(
        ctx, [Note(text="The lamp is green"), Note(text="The lamp is green"), Note(text="Blue")]
    )
    assert (len(outcome.kept), len(outcome.refused)) == (2, 1)
    one, other = (each.memory for each in outcome.kept)
    link(ctx, one.id, other.id, "beside")
    new, _ = supersede(ctx, one.id, "The lamp is red", "it was painted")
    forget(ctx, [other.id])
    restore(ctx, [other.id])
    kept(ctx, "A last word")
    undo(ctx, last_number(ctx.store))
    end(ctx)
    texts = [(memory.title, memory.state, memory.texts) for memory in each_memory(ctx.read())]
    changes = [(change.operation, change.subject) for change in ctx.read().journal()]
    return new.content, texts, changes


def test_rules_have_the_same_effect_when_their_work_runs_twice(ctx, fresh):
    other = fresh("other")
    other.use_models(ctx.embedder.name)
    twice = replace(ctx, store=Repeating(other), new_uid=Uids(), sessions={})
    assert story(twice) == story(ctx)
