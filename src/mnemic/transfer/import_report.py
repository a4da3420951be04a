"""The report of an import or a sync: what came, what changed, and what both sides had changed."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from mnemic.transfer.three_way_merge import FieldConflict

TITLES_TOLD = 10


@dataclass(frozen=True, slots=True)
class Clash:
    """A field of one memory or link, by its title, that both sides changed."""

    title: str
    conflict: FieldConflict


@dataclass(slots=True)
class Report:
    """What an import did: *imported* are new or changed something, *skipped* were known as they are."""

    imported: int = 0
    skipped: int = 0
    errors: list[str] = field(default_factory=list)
    links: int = 0
    """How many links are new."""
    titles: list[str] = field(default_factory=list)
    """The titles of the first few of those imported."""
    added: int = 0
    """Of those imported, the ones that were not known."""
    merged: int = 0
    """Of those imported, the known ones that took in changes of the other side without a conflict."""
    deleted: int = 0
    restored: int = 0
    purged: int = 0
    ended: int = 0
    """How many links ended or were deleted."""
    relinked: int = 0
    """How many links have another weight, reason or rating."""
    sessions: int = 0
    """How many sessions changed."""
    conflicts: list[Clash] = field(default_factory=list)
    attachments: int = 0
    """How many attached files were left behind."""

    def count(self, title: str, *, is_news: bool) -> None:
        """Count a memory that has come, and keep its title if there is room."""
        self.imported += is_news
        self.skipped += not is_news
        if is_news and len(self.titles) < TITLES_TOLD:
            self.titles.append(title)

    def add(self, other: Report) -> None:
        """Count what *other* counted too."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))
        del self.titles[TITLES_TOLD:]

    @property
    def changes(self) -> int:
        """How many things are not what they were."""
        return self.imported + self.purged + self.links + self.ended + self.relinked + self.sessions
