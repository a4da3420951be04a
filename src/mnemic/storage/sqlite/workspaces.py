"""Rows of `workspace` and `member`."""

from __future__ import annotations

import apsw

from mnemic.model.time import Moment
from mnemic.model.workspace import Member, Role, Workspace
from mnemic.storage.sqlite.rows import rows

ALL = """
SELECT id, name, created_at FROM workspace ORDER BY id
"""
MEMBERS = """
SELECT workspace_id, id, path, role, label, added_at FROM member ORDER BY id
"""
INSERT = """
INSERT INTO workspace (name, created_at) VALUES (?, ?)
"""
ADD_MEMBER = """
INSERT INTO member (workspace_id, path, role, label, added_at) VALUES (?, ?, ?, ?, ?)
"""


def every(connection: apsw.Connection) -> list[Workspace]:
    """Every workspace with its stores."""
    members: dict[int, list[Member]] = {}
    for workspace, number, path, role, label, added_at in rows(connection, MEMBERS):
        one = Member(id=number, path=path, role=Role(role), label=label, added_at=added_at)
        members.setdefault(workspace, []).append(one)
    return [
        Workspace(id=number, name=name, created_at=created_at, members=tuple(members.get(number, ())))
        for number, name, created_at in rows(connection, ALL)
    ]


def add(connection: apsw.Connection, name: str, now: Moment) -> Workspace:
    """A new workspace without stores."""
    connection.execute(INSERT, (name, now))
    return Workspace(id=connection.last_insert_rowid(), name=name, created_at=now)


def add_member(
    connection: apsw.Connection, workspace_id: int, path: str, role: Role, label: str, now: Moment
) -> Member:
    """A store put into a workspace."""
    connection.execute(ADD_MEMBER, (workspace_id, path, role, label, now))
    number = connection.last_insert_rowid()
    return Member(id=number, path=path, role=role, label=label, added_at=now)
