"""Merge of two versions of one thing, field by field and statement by statement.

A memory, link or session is taken apart into *values*: one for each field, tag, metadata key and statement that is
set. Each value has a stamp, and of two values the one with the greater stamp wins. A statement that was added or
removed is a value that was set or unset, so two stores that change different statements keep both changes. The
result depends neither on the order of merges nor on how often they are repeated.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mnemic.model.time import iso
from mnemic.model.version import BIRTH, NEVER, Stamp, Version
from mnemic.transfer.line_merge import merged_lines

Values = Mapping[str, object]
"""What is set, by key; what is not there is as it is by default."""
Knows = Callable[[Stamp], bool]
"""Whether a store has seen the change of this stamp."""
ORDER = "order"
STATE = "state"
TEXT, TAG, METADATA = "text:", "tag:", "metadata:"
QUIET = (ORDER, TEXT, TAG, "expires_at")
"""Keys, or how they begin, of which a difference is settled without being listed."""


@dataclass(frozen=True, slots=True)
class Side:
    """One version of a thing: its values and their stamps, and which changes its store has seen."""

    values: Values
    version: Version
    knows: Knows = lambda stamp: False

    def stamp(self, key: str) -> Stamp:
        """When and by whom *key* was set or unset last."""
        return self.version.stamp(key, is_set=key in self.values)


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field that both sides changed without knowing of each other; *kept* is the value that both have now."""

    field: str
    here: object
    there: object
    kept: object


@dataclass(frozen=True, slots=True)
class Merged:
    """The merge of two versions."""

    values: Values
    version: Version
    conflicts: tuple[FieldConflict, ...]


def merge(here: Side, there: Side) -> Merged:
    """Merge two versions of one thing. A field that both changed goes to the greater stamp and is listed."""
    keys = {*here.values, *there.values, *here.version.stamps, *there.version.stamps} - {BIRTH, ORDER}
    values: dict[str, object] = {}
    stamps: dict[str, Stamp] = {}
    conflicts: list[FieldConflict] = []
    for key in sorted(keys):
        winner = _winner(here, there, key)
        if key in winner.values:
            values[key] = winner.values[key]
        stamps[key] = max(here.stamp(key), there.stamp(key))
        if _is_conflict(here, there, key):
            conflicts.append(_conflict(here, there, key, values.get(key)))
    conflicts += _text_conflict(here, there, values)
    version = _version(here.version, there.version, values, stamps)
    return Merged(values, version, tuple(conflicts))


def _winner(here: Side, there: Side, key: str) -> Side:
    return max(here, there, key=lambda side: (side.stamp(key), _comparable(side.values, key)))


def _comparable(values: Values, key: str) -> tuple[bool, str]:
    """A value in a form in which any two can be compared, for equal stamps."""
    return key in values, json.dumps(values.get(key), sort_keys=True)


def _is_conflict(here: Side, there: Side, key: str) -> bool:
    if key.startswith(QUIET) or here.values.get(key) == there.values.get(key):
        return False
    if key == STATE and _state_of(here) == _state_of(there):
        return False
    return _is_concurrent(here, there, key)


def _state_of(side: Side) -> object:
    """The state without its reason and time."""
    stated = side.values.get(STATE)
    return stated[0] if isinstance(stated, Sequence) else None


def _is_concurrent(here: Side, there: Side, key: str) -> bool:
    """Whether both sides changed *key*, each without having seen the other's change."""
    ours, theirs = here.stamp(key), there.stamp(key)
    if NEVER in (ours, theirs) or ours == theirs:
        return False
    return not here.knows(theirs) and not there.knows(ours)


def _conflict(here: Side, there: Side, key: str, kept: object) -> FieldConflict:
    versions = here.values.get(key), there.values.get(key), kept
    return FieldConflict(key, *(map(_told_state, versions) if key == STATE else versions))


def _told_state(value: object) -> str:
    """A state with its time and reason, in words."""
    if not isinstance(value, Sequence):
        return "living, edited"
    state, reason, at = value
    return f"{state} at {iso(at)}" + (f": {reason}" if reason else "")


def _text_conflict(here: Side, there: Side, values: Values) -> Iterator[FieldConflict]:
    """Both replaced the same statement, or both are one text and these differ. All of the texts are kept."""
    ours, theirs = _statements(here), _statements(there)
    new_here = [key for key in ours.keys() - theirs if not there.knows(here.stamp(key))]
    new_there = [key for key in theirs.keys() - ours if not here.knows(there.stamp(key))]
    both_removed = (key for key in _removed(here) & _removed(there) if _is_concurrent(here, there, key))
    if new_here and new_there and (len(ours) == len(theirs) == 1 or any(both_removed)):
        kept = [values[key] for key in sorted(values) if key.startswith(TEXT)]
        yield FieldConflict("text", list(ours.values()), list(theirs.values()), kept)


def _statements(side: Side) -> dict[str, object]:
    return {key: value for key, value in side.values.items() if key.startswith(TEXT)}


def _removed(side: Side) -> set[str]:
    return {key for key in side.version.stamps if key.startswith(TEXT) and key not in side.values}


def _version(here: Version, there: Version, values: Values, stamps: dict[str, Stamp]) -> Version:
    """The stamps of both; what agrees with the birth needs none of its own."""
    birth = min(here.birth, there.birth)
    differing = {key: stamp for key, stamp in stamps.items() if stamp != (birth if key in values else NEVER)}
    last = max(here, there, key=lambda one: (one.stamp(ORDER, is_set=bool(one.order)), one.order))
    order = last.stamp(ORDER, is_set=bool(last.order))
    if order != NEVER:
        differing[ORDER] = order
    return Version({BIRTH: birth, **differing}, last.order)


# -- files


def merged_with_file(
    base: Values | None, there: Values, here: Values, *, is_later: bool
) -> tuple[dict[str, object], list[FieldConflict]]:
    """What a file that has no stamps changes: the values to set here, and what both sides had changed.

    *base* is the last state that both shared, None if they never met: then the file changes only what it tells. Of a
    field that both changed, the file wins if it *is_later*. Lists take the changes of both sides, texts those by line.
    """
    changes: dict[str, object] = {}
    conflicts: list[FieldConflict] = []
    for key in sorted({*there, *(base or ())}):
        before, theirs, ours = (base or {}).get(key), there.get(key), here.get(key)
        if theirs in (ours, before):
            continue
        if (base is not None or ours is None) and ours == before:
            changes[key] = theirs
            continue
        both = _both(before, theirs, ours)
        if both is None:
            both = theirs if is_later else ours
            conflicts.append(FieldConflict(key, ours, theirs, both))
        if both != ours:
            changes[key] = both
    return changes, conflicts


def _both(before: object, theirs: object, ours: object) -> object:
    """A value with the changes of both sides; None if there is none."""
    if isinstance(theirs, list) and isinstance(ours, list):
        known = before if isinstance(before, list) else []
        kept = [item for item in ours if item not in known or item in theirs]
        return kept + [item for item in theirs if item not in known and item not in ours]
    if all(isinstance(value, str) and "\n" in value for value in (before, theirs, ours)):
        return merged_lines(str(before), str(ours), str(theirs))
    return None


# -- statements


def statement_keys(texts: Iterable[str]) -> list[str]:
    """The keys of statements, in order: the digest of each text, and which of several equal ones it is."""
    seen: Counter[str] = Counter()
    keys = []
    for text in texts:
        digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()
        keys.append(f"{TEXT}{digest}#{seen[digest]}" if seen[digest] else f"{TEXT}{digest}")
        seen[digest] += 1
    return keys


def ordered_texts(values: Values, version: Version) -> list[str]:
    """The statements in order: as last ordered, and behind them those that came since, the oldest first."""
    found = {key for key in values if key.startswith(TEXT)}
    first = [key for key in version.order if key in found]
    rest = sorted(found.difference(first), key=lambda key: (version.stamp(key, is_set=True), key))
    return [str(values[key]) for key in (*first, *rest)]


# -- changes


def stamped(
    version: Version, before: Values, after: Values, stamp: Stamp, order: Sequence[str] | None = None
) -> Version:
    """*version* after the values *before* became *after*; *order* is that of the statements, if they changed."""
    stamps = dict(version.stamps)
    for key in _changed_keys(before, after):
        stamps[key] = later(version.stamp(key, is_set=key in before), stamp)
    if order is None:
        return Version(stamps, version.order)
    stamps[ORDER] = later(version.stamp(ORDER, is_set=True), stamp)
    return Version(stamps, tuple(order))


def _changed_keys(before: Values, after: Values) -> set[str]:
    kept = {key for key in before.keys() & after if before[key] == after[key]}
    return {*before, *after} - kept


def later(old: Stamp, new: Stamp) -> Stamp:
    """*new*, moved behind *old* where the clock of its store is behind."""
    return new if new.at > old.at else new._replace(at=old.at + 1)
