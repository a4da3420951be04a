"""The terminal interface: three lists (search, review, history) beside the memory or change that is chosen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar, TypeVar

from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Footer, Header, Input, OptionList, Static, TabbedContent, TabPane
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from mnemic.core import graph, history, memories
from mnemic.core.capture import review
from mnemic.core.context import Context
from mnemic.core.memories import Revision
from mnemic.errors import MnemicError
from mnemic.model.change import Change, Position
from mnemic.model.filter import ChangeFilter
from mnemic.tui import queries, text
from mnemic.tui.dialogs import EditDialog, LinkDialog
from mnemic.tui.queries import Row

LOOK_SECONDS = 1.0
"""How often it is looked whether somebody else has changed the store."""
MOST_CHANGES = 200
SEARCH, REVIEW, HISTORY = "search", "review", "history"
T = TypeVar("T")


class MnemicTui(App[None]):
    """The memories of one store in a terminal."""

    TITLE = "Mnemic"
    CSS = """
    #lists { width: 45%; min-width: 36; border-right: solid $primary-darken-2; }
    #page { width: 1fr; padding: 1 2; }
    OptionList { border: none; height: 1fr; background: $background; }
    #query { margin: 0 0 1 0; }
    .dialog { width: 80%; height: 80%; margin: 2 4; padding: 1 2; border: round $primary; background: $surface; }
    .heading { text-style: bold; margin-bottom: 1; }
    EditDialog, LinkDialog { align: center middle; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", f"show('{SEARCH}')", "Search"),
        Binding("f2", f"show('{REVIEW}')", "Review"),
        Binding("f3", f"show('{HISTORY}')", "History"),
        Binding("slash", f"show('{SEARCH}')", "Search", show=False),
        Binding("e", "edit", "Edit"),
        Binding("l", "link", "Link"),
        Binding("d", "delete", "Delete"),
        Binding("a", "accept", "Accept"),
        Binding("u", "undo", "Undo"),
        Binding("escape", "leave", "Back", show=False),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, ctx: Context, database: str):
        super().__init__()
        self._ctx = ctx
        self._rows: dict[str, list[Row]] = {SEARCH: [], REVIEW: []}
        self._changes: list[Change] = []
        self._own: list[int] = []
        """Changes made here, the last of which `undo` takes back."""
        self._seen: Position | None = None
        self.sub_title = f"{database} · {ctx.namespace or 'all namespaces'}"

    def compose(self) -> ComposeResult:
        """Lists on the left, the chosen memory on the right."""
        yield Header()
        with Horizontal():
            with Vertical(id="lists"), TabbedContent(initial=SEARCH):
                with TabPane("Search", id=SEARCH):
                    yield Input(placeholder="What do you want to know?", id="query")
                    yield OptionList(id=f"{SEARCH}-list")
                with TabPane("Review", id=REVIEW):
                    yield OptionList(id=f"{REVIEW}-list")
                with TabPane("History", id=HISTORY):
                    yield OptionList(id=f"{HISTORY}-list")
            with VerticalScroll(id="page", can_focus=True):
                yield Static(id="content")
        yield Footer()

    def on_mount(self) -> None:
        """Fill the lists, and again whenever the store has changed."""
        self.query_one("#query").focus()
        self._look()
        self.set_interval(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        if (newest := self._ctx.store.newest()) != self._seen:
            self._seen = newest
            self._load(self.query_one("#query", Input).value)

    @work(thread=True, exclusive=True, group="load")
    def _load(self, asked: str) -> None:
        """Read the three lists in a thread, so that typing never waits."""
        found = self._tried(lambda: queries.search(self._ctx, asked)) or []
        waiting = self._tried(lambda: [Row(one) for one in review.waiting(self._ctx)]) or []
        changes = self._tried(lambda: history.history(self._ctx, limit=MOST_CHANGES)) or []
        if not get_current_worker().is_cancelled:  # a slower answer to what was typed before
            self.call_from_thread(self._show_lists, found, waiting, changes)

    def _show_lists(self, found: list[Row], waiting: list[Row], changes: list[Change]) -> None:
        now = self._ctx.now()
        self._rows = {SEARCH: found, REVIEW: waiting}
        self._changes = changes
        for name, rows in self._rows.items():
            self._fill(name, [Option(text.line(row, now)) for row in rows])
        self._fill(HISTORY, [Option(text.change_line(change, now)) for change in changes])
        self.query_one(TabbedContent).get_tab(REVIEW).label = (
            f"Review ({len(waiting)})" if waiting else "Review"
        )
        self._show_page()

    def _fill(self, name: str, options: list[Option]) -> None:
        """Show *options*, with the same place highlighted as before."""
        shown = self.query_one(f"#{name}-list", OptionList)
        place = shown.highlighted
        shown.clear_options()
        shown.add_options(options)
        if options:
            shown.highlighted = min(place or 0, len(options) - 1)

    @on(Input.Changed, "#query")
    def _typed(self, event: Input.Changed) -> None:
        self.query_one(f"#{SEARCH}-list", OptionList).highlighted = None
        self._load(event.value)

    @on(Input.Submitted, "#query")
    def _asked(self) -> None:
        self.query_one(f"#{SEARCH}-list").focus()

    @on(OptionList.OptionHighlighted)
    @on(TabbedContent.TabActivated)
    def _moved(self) -> None:
        self._show_page()

    @on(OptionList.OptionSelected)
    def _opened(self) -> None:
        """Opening a memory, unlike looking at it, counts as a use."""
        if (row := self._row()) is not None:
            self._tried(lambda: memories.open_all(self._ctx, [row.memory.id]))
        self.query_one("#page").focus()

    def _show_page(self) -> None:
        content, now = self.query_one("#content", Static), self._ctx.now()
        row, change = self._row(), self._change()
        if row is not None:
            found = self._tried(lambda: queries.details(self._ctx, row))
            content.update(text.page(found, now) if found else "")
        elif change is not None:
            content.update(text.change_page(change))
        else:
            content.update(self._nothing())

    def _nothing(self) -> str:
        if self._tab() == REVIEW:
            return "Nothing captured waits for review."
        if self._tab() == HISTORY:
            return "Nothing has changed yet."
        asked = self.query_one("#query", Input).value.strip()
        return "Nothing relevant is known." if asked else "The store is empty."

    def _tab(self) -> str:
        return self.query_one(TabbedContent).active or SEARCH

    def _place(self) -> int | None:
        return self.query_one(f"#{self._tab()}-list", OptionList).highlighted

    def _row(self) -> Row | None:
        rows, place = self._rows.get(self._tab(), []), self._place()
        return rows[place] if place is not None and place < len(rows) else None

    def _change(self) -> Change | None:
        place = self._place()
        is_there = self._tab() == HISTORY and place is not None and place < len(self._changes)
        return self._changes[place] if is_there and place is not None else None

    def action_show(self, tab: str) -> None:
        """Go to one of the lists; to the field, for a search."""
        self.query_one(TabbedContent).active = tab
        self.query_one("#query" if tab == SEARCH else f"#{tab}-list").focus()

    def action_leave(self) -> None:
        """From the page to its list, from a list to the search field."""
        is_page = self.focused is not None and self.focused.id == "page"
        self.query_one(f"#{self._tab()}-list" if is_page else "#query").focus()
        if not is_page:
            self.query_one(TabbedContent).active = SEARCH

    def action_edit(self) -> None:
        """Change the text of the memory that is shown."""
        if (row := self._row()) is not None:
            self.push_screen(EditDialog(row.memory), partial(self._edited, row.memory.id))

    def _edited(self, number: int, written: str | None) -> None:
        if written is not None:
            self._do(lambda: review.revise(self._ctx, number, Revision(text=written)), f"Changed {number}.")

    def action_link(self) -> None:
        """Link the memory that is shown to another."""
        if (row := self._row()) is not None:
            dialog = LinkDialog(row.memory, partial(queries.search, self._ctx), self._ctx.now())
            self.push_screen(dialog, partial(self._linked, row.memory.id))

    def _linked(self, number: int, chosen: tuple[int, str] | None) -> None:
        if chosen is not None:
            other, type = chosen
            self._do(lambda: graph.link(self._ctx, number, other, type), f"Linked {number} to {other}.")

    def action_delete(self) -> None:
        """Delete the memory that is shown. A captured one does not come back."""
        if (row := self._row()) is not None:
            number = row.memory.id
            self._do(lambda: memories.forget(self._ctx, [number]), f"Deleted {number}.")

    def action_accept(self) -> None:
        """Accept the captured memory that is shown."""
        row = self._row()
        if row is not None and review.is_unreviewed(row.memory):
            self._do(lambda: review.accept(self._ctx, row.memory.id), f"Accepted {row.memory.id}.")

    def action_undo(self) -> None:
        """Undo the change that is shown, else the last one made here."""
        change = self._change()
        number = change.sequence if change else self._own.pop() if self._own else None
        if number is None:
            self.notify("Nothing was changed here. F3 lists all changes.")
        else:
            self._do(lambda: history.undo(self._ctx, number), f"Undid change {number}.", is_own=False)

    def _do(self, work: Callable[[], object], notice: str, *, is_own: bool = True) -> None:
        """Carry out a change, tell of it, and show what holds now."""
        before = self._ctx.store.newest()
        if self._tried(work) is None:
            return
        self.notify(f"{notice} u undoes it." if is_own else notice)
        made = next(self._ctx.read().journal(ChangeFilter(after=before)), None)
        if is_own and made is not None:
            self._own.append(made.sequence)
        self._look()

    def _tried(self, work: Callable[[], T]) -> T | None:
        """What *work* gives; None, and a notice, if it cannot be done."""
        try:
            return work()
        except MnemicError as error:
            self.notify(str(error), severity="error")
            return None
