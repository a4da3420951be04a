"""What is hidden: its made-up title gives way to one that was chosen, however that comes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mnemic.core import entities, known, storing
from mnemic.core.archive import unarchive
from mnemic.core.entities import Taken
from mnemic.core.history import undo
from mnemic.core.memories import Fate, Note, Revision, find, forget, remember, restore, revise
from mnemic.core.moving.documents import export_json, import_json
from mnemic.core.moving.lines import export_lines, import_lines
from mnemic.core.sessions import end, start
from mnemic.core.tidying.condensing import consolidate
from mnemic.core.tidying.splitting import Part, split
from mnemic.model.graph import Sketch
from mnemic.model.values import State
from support import Uids, kept

TITLE, TEXT = "Chose cedar", "A frame of cedar is light."


def an_episode(ctx):
    """An episode that made TITLE its own."""
    start(ctx)
    return end(ctx, summary=TITLE).episode


def is_aside(ctx, episode):
    """Whether TITLE stands for what says TEXT, and the episode is what it was under another title."""
    named, aside = find(ctx, TITLE), ctx.store.read().memory(episode.id)
    assert ctx.store.check() == []
    return (named.content, named.kind) == (TEXT, "note") and (
        (aside.title, aside.content, aside.kind, aside.state)
        == (f"{TITLE} (2)", TITLE, "episode", State.LIVING)
    )


WAYS = {
    "remember": lambda ctx: remember(ctx, [Note(text=TEXT, title=TITLE)]),
    "force": lambda ctx: remember(ctx, [Note(text=TEXT, title=TITLE)], force=True),
    "store": lambda ctx: storing.store(ctx, Note(text=TEXT, title=TITLE)),
    "gate": lambda ctx: known.take_in(ctx, [Note(text=TEXT, title=TITLE)], known.Gate(namespaces=None)),
    "create": lambda ctx: entities.create(ctx, [Sketch(TITLE, "note", (TEXT,))], Taken.KEEP),
    "revise": lambda ctx: revise(ctx, kept(ctx, TEXT).id, Revision(title=TITLE)),
    "update": lambda ctx: storing.update(ctx, kept(ctx, "x").id, Revision(title=TITLE, text=TEXT)),
    "move": lambda ctx: revise(
        ctx, kept(ctx, TEXT, title=TITLE, namespace="elsewhere").id, Revision(namespace="global")
    ),
    "split": lambda ctx: split(ctx, kept(ctx, TEXT, title="Whole").id, [Part(title=TITLE, texts=[TEXT])]),
    "consolidate": lambda ctx: consolidate(
        ctx, [kept(ctx, "one").id, kept(ctx, "two").id], title=TITLE, text=TEXT
    ),
    "import": lambda ctx: import_json(ctx, {"memories": [{"title": TITLE, "content": TEXT, "kind": "note"}]}),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_chosen_title_makes_the_hidden_one_step_aside(ctx, way):
    episode = an_episode(ctx)
    WAYS[way](ctx)
    assert is_aside(ctx, episode)


def test_so_does_one_that_comes_with_the_lines_of_another_store(ctx, fresh):
    elsewhere = replace(ctx, store=fresh("elsewhere"), new_uid=Uids("elsewhere"))
    kept(elsewhere, TEXT, title=TITLE)
    episode = an_episode(ctx)
    import_lines(ctx, export_lines(elsewhere))
    assert is_aside(ctx, episode)


WAYS_BACK = [
    (Fate.FORGOTTEN, lambda ctx, number, left_at: restore(ctx, [number])),
    (Fate.ARCHIVED, lambda ctx, number, left_at: unarchive(ctx, number)),
    (Fate.FORGOTTEN, lambda ctx, number, left_at: undo(ctx, left_at)),
]


@pytest.mark.parametrize("fate, bring_back", WAYS_BACK)
def test_so_does_one_that_comes_back(ctx, fate, bring_back):
    memory = kept(ctx, TEXT, title=TITLE)
    forget(ctx, [memory.id], fate=fate)
    left_at = ctx.store.sequence()
    episode = an_episode(ctx)
    bring_back(ctx, memory.id, left_at)
    assert is_aside(ctx, episode)


@pytest.mark.parametrize("fate, bring_back", WAYS_BACK)
def test_what_is_hidden_comes_back_under_another_title(ctx, fate, bring_back):
    episode = an_episode(ctx)
    forget(ctx, [episode.id], fate=fate)
    left_at = ctx.store.sequence()
    kept(ctx, TEXT, title=TITLE)
    bring_back(ctx, episode.id, left_at)
    assert is_aside(ctx, episode)


def test_to_restore_what_is_in_use_leaves_its_title(ctx):
    episode = an_episode(ctx)
    assert restore(ctx, [episode.id]) == [episode]


@pytest.mark.parametrize(
    "bring",
    [lambda to, of: import_json(to, export_json(of)), lambda to, of: import_lines(to, export_lines(of))],
)
def test_an_episode_from_elsewhere_leaves_what_bears_its_title_alone(ctx, fresh, bring):
    elsewhere = replace(ctx, store=fresh("elsewhere"), new_uid=Uids("elsewhere"))
    an_episode(elsewhere)
    memory = kept(ctx, TEXT, title=TITLE)
    bring(ctx, elsewhere)
    assert find(ctx, TITLE) == memory
    assert find(ctx, f"{TITLE} (2)").kind == "episode"


def test_a_name_means_what_is_hidden_only_if_there_is_no_other(ctx):
    here = replace(ctx, namespace="proj")
    episode = an_episode(here)
    assert find(here, TITLE) == episode
    memory = kept(ctx, TEXT, title=TITLE)
    assert find(here, TITLE) == memory
    assert entities.open_named(here, [TITLE]) == [memory]


@pytest.mark.parametrize(
    "since, then",
    [
        (lambda ctx, episode: None, TITLE),
        (lambda ctx, episode: kept(ctx, "another", title=f"{TITLE} (2)"), f"{TITLE} (3)"),
        (lambda ctx, episode: revise(ctx, episode.id, Revision(title="Cedar week")), "Cedar week"),
        (lambda ctx, episode: (forget(ctx, [TITLE]), an_episode(ctx)), f"{TITLE} (2)"),
    ],
    ids=["at once", "its new title is taken", "it was renamed", "its old title is taken"],
)
def test_a_chosen_title_can_be_taken_back_whatever_became_of_the_other(ctx, since, then):
    episode = an_episode(ctx)
    memory = kept(ctx, TEXT, title=TITLE)
    sequence = ctx.store.sequence()
    since(ctx, episode)
    undo(ctx, sequence)
    assert find(ctx, memory.id).state is State.FORGOTTEN
    assert find(ctx, episode.id).title == then
    assert ctx.store.check() == []
