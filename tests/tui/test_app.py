"""The terminal interface over a real store, driven by keys as a person would."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static, TabbedContent, TextArea

from mnemic import app as composition
from mnemic.core import graph, memories
from mnemic.core.capture import conversation, review
from mnemic.core.memories import Note
from mnemic.settings import Settings
from mnemic.tui.app import MnemicTui

Keys = Callable[[Pilot[None]], Awaitable[None]]


@pytest.fixture
def app(tmp_path):
    """A store with three memories and one captured rule."""
    settings = Settings(db=str(tmp_path / "memory.db"), embedder="none", namespace="widgets")
    with composition.open_app(settings, actor="tui") as opened:
        for text in (
            "The staging database is called heron",
            "Ann prefers [bold]tabs[/bold]",
            "The build runs on Tuesdays",
        ):
            memories.remember(opened.ctx, [Note(text=text)])
        turn = conversation.Turn("Migrations are never edited.", "Understood.")
        conversation.capture(opened.ctx, "session", [turn])
        yield opened


def played(app, keys: Keys) -> MnemicTui:
    """The interface after *keys* were pressed."""
    shown = MnemicTui(app.ctx, app.settings.database)

    async def play() -> None:
        async with shown.run_test(size=(120, 40)) as pilot:
            await settled(pilot)
            await keys(pilot)

    asyncio.run(play())
    return shown


async def settled(pilot: Pilot[None]) -> None:
    """Wait for the lists, which are read in a thread once the messages before are handled."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def typed(pilot: Pilot[None], text: str) -> None:
    for sign in text:
        await pilot.press("space" if sign == " " else sign)
    await settled(pilot)


def page(pilot: Pilot[None]) -> str:
    return str(pilot.app.query_one("#content", Static).content)


def count(pilot: Pilot[None], name: str) -> int:
    return pilot.app.query_one(f"#{name}-list", OptionList).option_count


def test_hits_come_as_one_types_with_their_reasons_and_count_no_use(app):
    async def keys(pilot):
        assert count(pilot, "search") == 5
        await typed(pilot, "staging database")
        assert count(pilot, "search") == 1
        assert "heron" in page(pilot) and "Why it is here" in page(pilot) and "relevance 0." in page(pilot)
        await typed(pilot, " zzz")
        pilot.app.query_one("#query", Input).value = "xylophone"
        await settled(pilot)
        assert "Nothing relevant is known" in page(pilot)

    played(app, keys)
    assert memories.find(app.ctx, 1).access_count == 0


def test_stored_text_is_shown_as_it_is(app):
    async def keys(pilot):
        await typed(pilot, "tabs")
        assert "[bold]tabs[/bold]" in page(pilot)

    played(app, keys)


def test_a_memory_is_opened_edited_and_the_edit_undone(app):
    async def keys(pilot):
        await typed(pilot, "build")
        await pilot.press("enter", "enter")
        await settled(pilot)
        assert pilot.app.focused.id == "page"
        await pilot.press("e")
        await pilot.pause()
        pilot.app.screen.query_one(TextArea).text = "The build runs on Fridays"
        await pilot.press("ctrl+s")
        await settled(pilot)
        assert memories.find(app.ctx, 3).content == "The build runs on Fridays"
        assert "Fridays" in page(pilot)
        await pilot.press("u")
        await settled(pilot)
        assert "Tuesdays" in page(pilot)

    played(app, keys)
    assert memories.find(app.ctx, 3).content == "The build runs on Tuesdays"


def test_an_edit_can_be_left(app):
    async def keys(pilot):
        await typed(pilot, "build")
        await pilot.press("enter", "e")
        await pilot.pause()
        pilot.app.screen.query_one(TextArea).text = "Something else"
        await pilot.press("escape")
        await settled(pilot)

    played(app, keys)
    assert memories.find(app.ctx, 3).content == "The build runs on Tuesdays"


def test_two_memories_are_linked(app):
    async def keys(pilot):
        await typed(pilot, "build")
        await pilot.press("enter", "l")
        await settled(pilot)
        await typed(pilot, "heron")
        await pilot.press("enter", "down", "enter")
        await settled(pilot)
        assert "→ related_to 1 The staging database" in page(pilot)

    played(app, keys)
    assert [
        edge.target_id for edge in memories.links_of(app.ctx.read(), app.ctx, memories.find(app.ctx, 3))
    ] == [1]


def test_what_was_captured_is_accepted_or_rejected(app):
    second = conversation.Turn("Always run make check first.", "Yes.")
    conversation.capture(app.ctx, "other", [second])

    async def keys(pilot):
        await pilot.press("f2")
        await settled(pilot)
        assert count(pilot, "review") == 2 and "make check" in page(pilot)
        assert str(pilot.app.query_one(TabbedContent).get_tab("review").label) == "Review (2)"
        await pilot.press("d")
        await settled(pilot)
        assert count(pilot, "review") == 1 and "never edited" in page(pilot)
        await pilot.press("a")
        await settled(pilot)
        assert "Nothing captured waits" in page(pilot)

    played(app, keys)
    assert review.waiting(app.ctx) == []
    assert [one.content for one in app.ctx.read().get([5]) if not review.is_unreviewed(one)] == [
        "Migrations are never edited."
    ]


def test_a_change_is_shown_and_undone_in_the_history(app):
    graph.link(app.ctx, 1, 2, "related_to")

    async def keys(pilot):
        await pilot.press("f3")
        await settled(pilot)
        assert "Change" in page(pilot) and "link" in page(pilot)
        before = count(pilot, "history")
        await pilot.press("u")
        await settled(pilot)
        assert count(pilot, "history") > before

    played(app, keys)
    assert memories.links_of(app.ctx.read(), app.ctx, memories.find(app.ctx, 1)) == []


def test_what_somebody_else_stores_appears(app):
    async def keys(pilot):
        memories.remember(app.ctx, [Note(text="Stored meanwhile")])
        for _ in range(100):
            await pilot.pause(0.1)
            if count(pilot, "search") == 6:
                break
        await settled(pilot)
        assert count(pilot, "search") == 6

    played(app, keys)


def test_what_cannot_be_done_is_reported_and_nothing_breaks(app):
    async def keys(pilot):
        await pilot.press("f3")
        await settled(pilot)
        await pilot.press("end")
        await pilot.press("u", "u")
        await settled(pilot)
        assert pilot.app.is_running

    played(app, keys)


def test_a_pipe_gets_advice_on_what_to_use_instead(cli):
    done = cli("tui")
    assert done.code != 0 and "needs a terminal" in done.err
