"""The role that owns the tables, if another one logs in: it is taken on to migrate and to build indexes only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from mnemic.storage.postgres.connection import Row
from mnemic.storage.postgres.schema import PAST_SCHEMA, SCHEMA

# The owner of the tables, or of the database while there are none, if we are allowed to become it.
OWNER = f"""
SELECT quote_ident(o.rolname), quote_ident(current_user) FROM pg_roles o
WHERE o.oid = coalesce((SELECT nspowner FROM pg_namespace WHERE nspname = '{SCHEMA}'),
    (SELECT datdba FROM pg_database WHERE datname = current_database()))
  AND o.rolname != current_user AND NOT o.rolsuper AND pg_has_role(current_user, o.oid, 'SET')
"""
GRANT = f"""
GRANT USAGE ON SCHEMA {SCHEMA}, {PAST_SCHEMA} TO {{role}};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO {{role}};
GRANT SELECT ON ALL TABLES IN SCHEMA {PAST_SCHEMA} TO {{role}};
GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO {{role}};
"""
OWNS = f"""
SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class WHERE oid = '{SCHEMA}.passage'::regclass
"""


@contextmanager
def as_owner(connection: psycopg.Connection[Row]) -> Iterator[None]:
    """A transaction as the owner; the role that is logged in may then use what was made in it."""
    with connection.transaction():
        found = connection.execute(OWNER).fetchone()
        if found is None:
            yield
            return
        owner, role = found
        connection.execute(f"SET LOCAL ROLE {owner}".encode())
        yield
        connection.execute(GRANT.format(role=role).encode())


@contextmanager
def session_as_owner(connection: psycopg.Connection[Row]) -> Iterator[bool]:
    """The session as the owner for the block, for what no transaction can do; whether it owns the tables then."""
    found = connection.execute(OWNER).fetchone()
    if found is not None:
        connection.execute(f"SET ROLE {found[0]}".encode())
    try:
        yield connection.execute(OWNS).fetchall() == [(True,)]
    finally:
        if found is not None and not connection.broken:
            connection.execute("RESET ROLE")
