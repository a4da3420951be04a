"""Sessions across stores: what a session is known by, and which session here is the same."""

from __future__ import annotations

import re
from collections.abc import Collection

from mnemic.model.filter import SessionFilter
from mnemic.model.session import Session, SessionDraft
from mnemic.model.time import Moment
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import unused_session_name
from mnemic.transfer.records import SessionKey

NUMBERED = re.compile(r"( \(\d+\))+$")
"""What a session's name ends with if it was given another, since its own was taken."""


def session_key(session: Session) -> SessionKey:
    """What *session* is known by in its store."""
    return session.namespace, session.name, session.started_at


def common_key(key: SessionKey) -> list[object]:
    """The same for every store: the number behind a name tells it only from others of that store."""
    namespace, name, started_at = key
    return [namespace, NUMBERED.sub("", name), started_at]


def session_here(
    tx: Writer, namespace: str, name: str, started_at: Moment, others: Collection[int] = ()
) -> Session:
    """The session of this name that began at this moment; *others* are known to be others.

    If it is not there it is made, under a name that is free: many are only called after their number, and two stores
    count alike.
    """
    known = known_session(tx, namespace, name, started_at, others)
    return known or tx.insert_session(
        SessionDraft(namespace, name=unused_session_name(tx, namespace, name), started_at=started_at)
    )


def known_session(
    tx: Reader, namespace: str, name: str, started_at: Moment, others: Collection[int]
) -> Session | None:
    """The same, or None if it is not there."""
    own_name = NUMBERED.sub("", name)
    same = [
        one
        for one in tx.sessions(SessionFilter(namespaces=(namespace,), name=own_name, is_numbered=True))
        if one.started_at == started_at and one.id not in others and NUMBERED.sub("", one.name) == own_name
    ]
    return min(same, key=lambda one: one.name != name, default=None)
