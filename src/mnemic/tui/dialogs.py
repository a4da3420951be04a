"""Dialogs of the terminal interface: edit a text, choose the memory and type of a link."""

from __future__ import annotations

from collections.abc import Callable

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Label, OptionList, TextArea
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from mnemic.model.memory import Memory
from mnemic.model.time import Moment
from mnemic.tui.queries import Row
from mnemic.tui.text import line

RELATED = "related_to"


class EditDialog(ModalScreen[str | None]):
    """The text of a memory in an editor; the new text, or None."""

    BINDINGS = [("ctrl+s", "save", "Save"), ("escape", "dismiss(None)", "Cancel")]

    def __init__(self, memory: Memory):
        super().__init__()
        self._memory = memory

    def compose(self) -> ComposeResult:
        """A text area below a heading."""
        with Vertical(classes="dialog"):
            yield Label(f"Edit memory {self._memory.id}", classes="heading")
            yield TextArea(self._memory.content, soft_wrap=True)
            yield Footer()

    def action_save(self) -> None:
        """Hand back the text, unless it is empty or unchanged."""
        text = self.query_one(TextArea).text.strip()
        self.dismiss(text if text and text != self._memory.content else None)


class LinkDialog(ModalScreen[tuple[int, str] | None]):
    """Choose the other end of a link by searching, and its type; (number, type), or None."""

    BINDINGS = [("escape", "dismiss(None)", "Cancel")]

    def __init__(self, memory: Memory, search: Callable[[str], list[Row]], now: Moment):
        super().__init__()
        self._memory = memory
        self._search = search
        self._now = now

    def compose(self) -> ComposeResult:
        """The type, a search field, and what it finds."""
        with Vertical(classes="dialog"):
            yield Label(f"Link memory {self._memory.id} to", classes="heading")
            yield Input(placeholder="Search the other memory", id="target")
            yield OptionList(id="targets")
            yield Label("Type of the link")
            yield Input(RELATED, id="type")
            yield Footer()

    def on_mount(self) -> None:
        """Show the newest memories to begin with."""
        self._find("")

    @on(Input.Changed, "#target")
    def _typed(self, event: Input.Changed) -> None:
        self._find(event.value)

    @on(Input.Submitted, "#target")
    def _go_to_list(self) -> None:
        self.query_one("#targets").focus()

    @work(thread=True, exclusive=True)
    def _find(self, text: str) -> None:
        rows = [row for row in self._search(text) if row.memory.id != self._memory.id]
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._show, rows)

    def _show(self, rows: list[Row]) -> None:
        shown = self.query_one("#targets", OptionList)
        shown.clear_options()
        shown.add_options(Option(line(row, self._now), id=str(row.memory.id)) for row in rows)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        type = self.query_one("#type", Input).value.strip() or RELATED
        self.dismiss((int(str(event.option.id)), type))
