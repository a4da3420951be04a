"""How memories, changes and reasons are written in the terminal interface. Stored text is never read as markup."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from mnemic.console.terminal import age, safe
from mnemic.core.capture.review import is_unreviewed
from mnemic.model.change import Change
from mnemic.model.memory import Memory
from mnemic.model.time import Moment, iso
from mnemic.tui.queries import Details, Row

BAR_CELLS = 12
TITLE_CHARACTERS = 200
SMALLEST_TERM = 0.005
"""A term below this is not worth a line."""
FAINT, STRONG = "dim", "bold"
REASONS = {
    "semantic": "meaning",
    "words": "words",
    "beside": "the turns beside it",
    "session": "the session it belongs to",
    "relevance": "relevance",
}
"""Terms of the score in words for people; others are shown by their name."""


def line(row: Row, now: Moment) -> Text:
    """A memory in a list: relevance, title, and on a second line where and when."""
    memory, shown = row.memory, Text(no_wrap=True, overflow="ellipsis")
    if row.hit is not None and row.hit.relevance is not None:
        shown.append(f"{row.hit.relevance:4.0%} ", style=_colour(row.hit.relevance))
    shown.append(_plain(memory.title)[:TITLE_CHARACTERS], style=STRONG)
    mark = " · captured" if is_unreviewed(memory) else ""
    shown.append(
        f"\n{memory.id} · {_plain(memory.namespace)} · {_plain(memory.kind)} · {age(memory.created_at, now)}{mark}",
        style=FAINT,
    )
    return shown


def change_line(change: Change, now: Moment) -> Text:
    """A change in a list: what was done to what, by whom and when."""
    shown = Text(no_wrap=True, overflow="ellipsis")
    shown.append(f"{change.sequence:>5} ", style=FAINT)
    shown.append(f"{_plain(change.operation)} ", style=STRONG)
    shown.append(f"{change.subject} {change.subject_id}")
    shown.append(f"\n      {_plain(change.actor)} · {age(change.at, now)}", style=FAINT)
    return shown


def page(details: Details, now: Moment) -> Text:
    """A memory in full: text, fields, links, and why it is a hit."""
    memory, shown = details.row.memory, Text()
    shown.append(_plain(memory.title)[:TITLE_CHARACTERS] + "\n\n", style="bold underline")
    shown.append("\n".join(map(safe, memory.content.split("\n"))) + "\n\n")
    for name, value in _fields(memory, now):
        shown.append(f"{name:>12}  ", style=FAINT).append(f"{value}\n")
    if details.links:
        shown.append("\nLinks\n", style=STRONG)
        for edge, other in details.links:
            arrow = "→" if edge.source_id == memory.id else "←"
            shown.append(f"{arrow} {_plain(edge.type)} ", style=FAINT)
            shown.append(f"{other.id} {_plain(other.title)[:TITLE_CHARACTERS]}\n")
    _append_reasons(shown, details.row)
    return shown


def change_page(change: Change) -> Text:
    """A change in full: each field before and after."""
    shown = Text()
    shown.append(f"Change {change.sequence}: {_plain(change.operation)}\n\n", style="bold underline")
    shown.append(
        f"{change.subject} {change.subject_id}, by {_plain(change.actor)}, {iso(change.at)}\n\n", style=FAINT
    )
    before, after = change.before or {}, change.after or {}
    for name in dict.fromkeys((*before, *after)):
        shown.append(f"{name}\n", style=STRONG)
        if name in before:
            shown.append(f"  - {_value(name, before[name])}\n", style="red")
        if name in after:
            shown.append(f"  + {_value(name, after[name])}\n", style="green")
    if not before and not after:
        shown.append("Purged: nothing of it is left.\n")
    return shown


def _append_reasons(shown: Text, row: Row) -> None:
    if row.hit is None:
        return
    shown.append("\nWhy it is here\n", style=STRONG)
    terms = {name: value for name, value in row.hit.terms.items() if abs(value) >= SMALLEST_TERM}
    largest = max((abs(value) for value in terms.values()), default=1.0)
    for name, value in sorted(terms.items(), key=lambda term: -abs(term[1])):
        cells = round(abs(value) / largest * BAR_CELLS)
        shown.append(f"{value:+.2f} ", style=FAINT).append("█" * cells, style="green" if value > 0 else "red")
        shown.append(f" {REASONS.get(name, name.replace('_', ' '))}\n")
    if row.hit.relevance is not None:
        signals = _signals(row.hit.signals)
        shown.append(f"relevance {row.hit.relevance:.2f}{signals}, score {row.hit.score:.2f}\n", style=FAINT)


def _signals(signals: Mapping[str, float]) -> str:
    listed = ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in signals.items() if value)
    return f" from {listed}" if listed else ""


def _fields(memory: Memory, now: Moment) -> list[tuple[str, str]]:
    pairs = [
        ("number", str(memory.id)),
        ("name", _plain(memory.name or "")),
        ("namespace", _plain(memory.namespace)),
        ("kind", _plain(memory.kind)),
        ("tags", _plain(", ".join(memory.tags))),
        ("priority", str(memory.priority)),
        ("confidence", f"{memory.confidence:.2f}"),
        ("source", _plain(memory.source or "")),
        ("created", f"{iso(memory.created_at)[:16]} ({age(memory.created_at, now)})"),
        ("recalled", f"{memory.access_count} times"),
        ("expires", iso(memory.expires_at)[:16] if memory.expires_at else ""),
    ]
    return [(name, value) for name, value in pairs if value]


def _plain(text: str) -> str:
    """*text* on one line, without what a terminal could take for a command."""
    return safe(" ".join(text.split()))


def _value(name: str, value: object) -> str:
    if value is None:
        return "(none)"
    if name.endswith("_at") and isinstance(value, int):
        return iso(value)
    return _plain(value if isinstance(value, str) else str(value))[:500]


def _colour(relevance: float) -> str:
    return "green" if relevance >= 0.5 else "yellow" if relevance >= 0.2 else "dim"
