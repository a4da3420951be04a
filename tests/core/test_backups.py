"""Backups: made, listed, and gone back to while the store is in use."""

from __future__ import annotations

import pytest
from support import kept, open_store

from mnemic.core import backups, memories
from mnemic.core.copies import copies
from mnemic.core.history import undo
from mnemic.errors import Invalid, NotFound
from mnemic.model.filter import Filter
from mnemic.storage.queries import newest_change

pytestmark = pytest.mark.only_on("sqlite")  # a PostgreSQL database is backed up by its server


@pytest.fixture
def folder(tmp_path):
    """Where backups are kept."""
    return tmp_path / "backups"


def titles(ctx) -> list[str]:
    """The titles of the memories in use."""
    return sorted(memory.title for memory in ctx.read().get(ctx.read().select(Filter())))


def test_a_backup_is_listed_and_known_as_a_copy(ctx, folder):
    kept(ctx, "Tea is at four")
    made = backups.make(ctx, folder)
    again = backups.make(ctx, folder)
    assert {one.path for one in backups.listed(folder)} == {made, again} and made != again
    assert [copy.path for copy in copies(ctx.read())] == [str(made), str(again)]


def test_going_back_undoes_everything_since_and_can_be_undone(ctx, folder):
    tea = kept(ctx, "Tea is at four")
    made = backups.make(ctx, folder)
    lunch = kept(ctx, "Lunch is at noon")
    memories.forget(ctx, [tea.id])
    assert backups.restore(ctx, folder, made.name, dry_run=True) == 2
    assert titles(ctx) == [lunch.title] and len(backups.listed(folder)) == 1
    assert backups.restore(ctx, folder, made.name) == 2
    assert titles(ctx) == [tea.title] and len(backups.listed(folder)) == 2
    undo(ctx, newest_change(ctx.read()).sequence)
    assert titles(ctx) == [lunch.title]


def test_what_was_purged_since_stays_purged(ctx, folder):
    tea = kept(ctx, "Tea is at four")
    lunch = kept(ctx, "Lunch is at noon")
    made = backups.make(ctx, folder)
    memories.forget(ctx, [tea.id], fate=memories.Fate.PURGED)
    backups.restore(ctx, folder, made.name)
    assert titles(ctx) == [lunch.title]


def test_a_backup_of_an_empty_store_takes_everything_away(ctx, folder):
    made = backups.make(ctx, folder)
    kept(ctx, "Tea is at four")
    backups.restore(ctx, folder, made.name)
    assert titles(ctx) == []


def test_a_backup_of_another_store_is_refused(ctx, folder, tmp_path):
    kept(ctx, "Tea is at four")
    made = backups.make(ctx, folder)
    other = open_store("sqlite", tmp_path, "other")
    try:
        elsewhere = type(ctx)(store=other, engines=ctx.engines, embedder=None, actor="somebody else")
        kept(elsewhere, "Lunch is at noon")
        with pytest.raises(Invalid, match="no backup of this database"):
            backups.restore(elsewhere, folder, made.name)
    finally:
        other.close()


def test_only_files_of_the_folder_are_taken(ctx, folder):
    with pytest.raises(NotFound):
        backups.restore(ctx, folder, "../mnemic.db")
