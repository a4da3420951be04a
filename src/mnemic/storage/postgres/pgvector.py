"""pgvector, if the server has it: the vectors in a form that the server compares, and indexes of large namespaces."""

from __future__ import annotations

from typing import NamedTuple

import psycopg

from mnemic.storage.postgres.connection import Executor, Row, first_line
from mnemic.storage.postgres.owner import as_owner
from mnemic.storage.postgres.rows import row

OLDEST = (0, 8)
INSTALLED = """
SELECT e.extversion, quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
WHERE e.extname = 'vector'
"""
IS_PREPARED = """
SELECT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = 'mnemic.passage'::regclass AND attname = 'half')
"""
# Numbers from -127 to 127 are exact in half precision: the server finds the same cosines as the index in memory.
PREPARE = """
ALTER TABLE mnemic.passage ADD COLUMN half {schema}.halfvec;
ALTER TABLE mnemic.passage ALTER COLUMN half SET STORAGE MAIN;
CREATE INDEX passage_unhalved ON mnemic.passage (id) WHERE half IS NULL;
CREATE FUNCTION mnemic.halved(quantised bytea) RETURNS {schema}.halfvec
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
    SELECT ARRAY(SELECT (get_byte(quantised, i) + 128) % 256 - 128
        FROM generate_series(0, length(quantised) - 1) i)::integer[]::{schema}.halfvec
$$;
CREATE FUNCTION mnemic.put_half() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.half := mnemic.halved(NEW.vector);
    RETURN NEW;
END $$;
CREATE TRIGGER passage_half BEFORE INSERT ON mnemic.passage FOR EACH ROW EXECUTE FUNCTION mnemic.put_half();
"""
UNHALVED = """
SELECT 1 FROM mnemic.passage WHERE half IS NULL LIMIT 1
"""
HALVE = """
UPDATE mnemic.passage SET half = mnemic.halved(vector)
WHERE (namespace_id, memory_id, id) IN (
  SELECT namespace_id, memory_id, id FROM mnemic.passage WHERE half IS NULL ORDER BY id LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED)
"""
HALVED_AT_ONCE = 1_000
INDEX_NAME = "passage_hnsw_{space}_{model}"
INDEXES = """
SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = 'mnemic.passage'::regclass AND starts_with(c.relname, 'passage_hnsw_')
"""
BUILD = """
CREATE INDEX CONCURRENTLY {name} ON mnemic.passage
USING hnsw ((half::{schema}.halfvec({dimension})) {schema}.halfvec_cosine_ops)
WHERE namespace_id = {space} AND model_id = {model}
"""
DROP = """
DROP INDEX CONCURRENTLY IF EXISTS mnemic.{name}
"""


class Capability(NamedTuple):
    """What a server offers for search."""

    schema: str | None
    """Where the types and operators of pgvector are; None if it cannot be used."""
    lack: str | None
    """A sentence that says what the server lacks; None if it lacks nothing."""


def index_name(space: int, model: int) -> str:
    """The name of the vector index of a namespace."""
    return INDEX_NAME.format(space=space, model=model)


def valid_indexes(db: Executor) -> frozenset[str]:
    """The names of the vector indexes that can be used."""
    return frozenset(name for name, is_valid in db.run(INDEXES) if is_valid)


def is_ready(db: Executor) -> bool:
    """Whether every vector has the form that the server compares; those stored before pgvector came get it later."""
    return row(db, UNHALVED) is None


def probe(connection: psycopg.Connection[Row]) -> Capability:
    """What the server offers, with the tables prepared for it."""
    found = connection.execute(INSTALLED).fetchone()
    if found is None:
        return Capability(
            None, "pgvector is not installed, so vectors are compared in memory: `CREATE EXTENSION vector`."
        )
    version, schema = found
    if tuple(map(int, version.split(".")[:2])) < OLDEST:
        return Capability(
            None,
            f"pgvector is {version}, so vectors are compared in memory: upgrade to 0.8 and "
            "`ALTER EXTENSION vector UPDATE`.",
        )
    if lack := _prepare(connection, schema):
        return Capability(None, lack)
    return Capability(schema, None)


def _prepare(connection: psycopg.Connection[Row], schema: str) -> str | None:
    """Let the tables keep vectors as the extension's; why that cannot be, or None."""
    if _is_prepared(connection):
        return None
    try:
        with as_owner(connection):
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('mnemic migrations', 0))")
            if not _is_prepared(connection):
                connection.execute(PREPARE.format(schema=schema).encode())
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction) as error:
        return (
            f"pgvector is not used yet: open the store once as the owner of its tables ({first_line(error)})."
        )
    return None


def _is_prepared(connection: psycopg.Connection[Row]) -> bool:
    return connection.execute(IS_PREPARED).fetchall() == [(True,)]


def halve_some(db: Executor) -> int:
    """Give some of the vectors that came before pgvector the form that the server compares; how many."""
    return db.changed(HALVE, {"limit": HALVED_AT_ONCE})


def unusable_indexes(db: Executor) -> list[str]:
    """The vector indexes whose building was interrupted."""
    return [name for name, is_valid in db.run(INDEXES) if not is_valid]
