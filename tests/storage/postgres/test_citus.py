"""On a cluster of Citus each statement of a call in one namespace is one task.

`MNEMIC_TEST_CITUS` is the address of an empty database on a coordinator: with workers, with the extensions `citus` and
`vector`, for a role that is a superuser. Without it these tests are left out: the wheel with the servers of the other
tests has no Citus.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from one_namespace import CALLS, Cluster, elsewhere, opened, sent_by
from psycopg.conninfo import conninfo_to_dict

from mnemic.app import open_app
from mnemic.settings import Settings
from mnemic.storage.postgres.schema import DISTRIBUTION, SHARDED
from statements import Sent, is_control, written_out

pytestmark = pytest.mark.only_on("postgres")

ADDRESS = os.environ.get("MNEMIC_TEST_CITUS", "")
on_a_cluster = pytest.mark.skipif(not ADDRESS, reason="MNEMIC_TEST_CITUS names no cluster")
TASKS = re.compile(r"Task Count: (\d+)")
PULLED = "INSERT/SELECT method: pull to coordinator"
"""How rows that come from a parameter are inserted: the coordinator copies each to its shard."""
TEAM = Path(__file__).parents[3] / "docs" / "team.md"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A store whose tables are spread over the cluster."""
    with closing(open_app(Settings(db=ADDRESS, embedder="none", index_mb=0))):
        pass  # makes the tables
    user = str(conninfo_to_dict(ADDRESS)["user"])
    with psycopg.connect(ADDRESS, autocommit=True) as superuser:
        for statement in DISTRIBUTION:
            superuser.execute(statement.encode())
    with opened(ADDRESS, user) as found:
        yield found
    with psycopg.connect(ADDRESS, autocommit=True) as superuser:
        superuser.execute("DROP SCHEMA mnemic_past CASCADE; DROP SCHEMA mnemic CASCADE")


def plan(connection: psycopg.Connection[Any], sent: Sent) -> str:
    """What the coordinator would do with a statement."""
    lines = connection.execute("EXPLAIN (VERBOSE) " + written_out(connection, sent)).fetchall()  # type: ignore[call-overload]
    return "\n".join(line for (line,) in lines)


@on_a_cluster
@pytest.mark.parametrize("call", [call for call in CALLS if call != "undo"])
def test_each_statement_of_a_call_in_one_namespace_is_one_task(engine, cluster, monkeypatch, call):
    before = elsewhere(cluster)
    tables = re.compile(rf"\b(FROM|JOIN|UPDATE|INTO) ({'|'.join(SHARDED)})\b")
    sent = [
        one for one in sent_by(cluster, monkeypatch, call) if not is_control(one[0]) and tables.search(one[0])
    ]
    assert sent
    for one in sent:
        told = plan(cluster.server, one)
        counts = TASKS.findall(told)
        assert set(counts) == {"1"} or (not counts and PULLED in told), told
    assert elsewhere(cluster) == before


def test_the_documents_show_how_the_tables_are_spread(engine):
    assert "\n".join(DISTRIBUTION) in TEAM.read_text().replace("\n   ", "\n")
