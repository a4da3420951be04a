"""A workspace: several stores that are asked as one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mnemic.model.time import Moment


class Role(StrEnum):
    """What a store is to a workspace."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    REFERENCE = "reference"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A store in a workspace: where it lies, what it is to it, and what it is called there."""

    id: int
    path: str
    role: Role
    label: str
    added_at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A workspace and its stores, in the order they were added."""

    id: int
    name: str
    created_at: Moment
    members: tuple[Member, ...] = ()
