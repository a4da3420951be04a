"""Three-way merge of a memory, link or session with a file that tells no versions.

The last common state is taken from the journal: the past state that differs least from what the file says. So a file
changes only what was changed in it, and what was changed here stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mnemic.model.change import Subject
from mnemic.model.filter import ChangeFilter
from mnemic.model.time import Moment
from mnemic.storage.base import Reader
from mnemic.transfer.three_way_merge import TEXT, FieldConflict, Values, merged_with_file

IMPORT = "import"
"""The operation that imports are journaled as."""


@dataclass(frozen=True, slots=True)
class Past:
    """A state in which a thing was here: its values, when it had last changed, and whether it came from a file."""

    values: Values
    updated_at: Moment
    is_imported: bool


@dataclass(frozen=True, slots=True)
class FileMerge:
    """The values that a file changes here, and what both sides had changed."""

    changes: Values
    conflicts: tuple[FieldConflict, ...]
    is_whole: bool
    """Whether all that the file says holds afterwards. Otherwise the journal must tell what it said."""


def merge_file(here: Values, there: Values, pasts: Sequence[Past], moment: Moment) -> FileMerge:
    """Merge what a file says, which was last changed at *moment*; *pasts* are the states here, the newest first."""
    base = _last_common(pasts, there, moment)
    is_later = moment >= pasts[0].updated_at
    changes, conflicts = merged_with_file(base, there, here, is_later=is_later)
    if clash := _text_clash(base, there, here):
        texts = there if is_later else here
        conflicts.append(FieldConflict("text", *(_texts(side) for side in (here, there, texts))))
        changes = {key: value for key, value in changes.items() if not key.startswith(TEXT)}
        if is_later:
            changes |= {key: there.get(key) for key in clash}
    merged = {**here, **changes}
    is_whole = all(merged.get(key) == there.get(key) for key in {*merged, *there})
    return FileMerge(changes, tuple(conflicts), is_whole or not (changes or conflicts))


def _last_common(pasts: Sequence[Past], there: Values, moment: Moment) -> Values:
    """The state that the file was made from: the one that it differs least from.

    A file that says what was here before has not changed since, unless it is newer than the last file and only files
    changed anything. One that is older than all that is known here has nothing new to say. Of states that differ
    as much, the last one that a file brought is the likeliest.
    """
    present = pasts[0]
    same = next((past for past in pasts if past.values == there), None)
    if same:
        return (present if present.is_imported and moment > present.updated_at else same).values
    possible = [past for past in pasts if past.updated_at <= moment]
    if not possible:
        return there
    least = min(_distance(past.values, there) for past in possible)
    nearest = [past for past in possible if _distance(past.values, there) == least]
    return next((past for past in nearest if past.is_imported), nearest[-1]).values


def _distance(one: Values, other: Values) -> int:
    return sum(one.get(key) != other.get(key) for key in {*one, *other})


def _text_clash(base: Values, there: Values, here: Values) -> set[str]:
    """The statements of both sides, if each is one text that both changed in different ways."""
    ours, theirs, before = ({key for key in side if key.startswith(TEXT)} for side in (here, there, base))
    is_clash = len(ours) == len(theirs) == 1 and ours != theirs and before not in (ours, theirs)
    return ours | theirs if is_clash else set()


def _texts(values: Values) -> list[object]:
    return [value for key, value in values.items() if key.startswith(TEXT)]


def pasts(
    reader: Reader,
    subject: Subject,
    number: int,
    present: Mapping[str, Any],
    read: Callable[[Mapping[str, Any]], tuple[Values, Moment]],
) -> list[Past]:
    """The states of a thing, the newest first.

    *present* holds its fields as the journal names them. *read* tells the values that the fields of a state stand for,
    and when that had last changed.
    """
    wanted = ChangeFilter(subject=subject, subject_ids=(number,))
    fields, found = dict(present), []
    for change in reader.journal(wanted, newest_first=True):
        found.append(Past(*read(fields), change.operation == IMPORT))
        if change.before is None:
            break
        fields |= change.before
    return found or [Past(*read(fields), False)]
