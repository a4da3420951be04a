"""Rows of `workspace` and `member`."""

from __future__ import annotations

from mnemic.model.time import Moment
from mnemic.model.workspace import Member, Role, Workspace
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.rows import rows, value

ALL = """
SELECT id, name, created_at FROM workspace ORDER BY id
"""
MEMBERS = """
SELECT workspace_id, id, path, role, label, added_at FROM member ORDER BY id
"""
INSERT = """
INSERT INTO workspace (name, created_at) VALUES (%s, %s) RETURNING id
"""
ADD_MEMBER = """
INSERT INTO member (workspace_id, path, role, label, added_at) VALUES (%s, %s, %s, %s, %s) RETURNING id
"""


def every(db: Executor) -> list[Workspace]:
    """Every workspace with its stores."""
    members: dict[int, list[Member]] = {}
    for workspace, number, path, role, label, added_at in rows(db, MEMBERS):
        one = Member(id=number, path=path, role=Role(role), label=label, added_at=added_at)
        members.setdefault(workspace, []).append(one)
    return [
        Workspace(id=number, name=name, created_at=created_at, members=tuple(members.get(number, ())))
        for number, name, created_at in rows(db, ALL)
    ]


def add(db: Executor, name: str, now: Moment) -> Workspace:
    """A new workspace without stores."""
    return Workspace(id=value(db, INSERT, (name, now)), name=name, created_at=now)


def add_member(db: Executor, workspace_id: int, path: str, role: Role, label: str, now: Moment) -> Member:
    """A store put into a workspace."""
    number = value(db, ADD_MEMBER, (workspace_id, path, role, label, now))
    return Member(id=number, path=path, role=role, label=label, added_at=now)
