"""`mnemic copy` on the command line."""

from __future__ import annotations

import pytest


@pytest.fixture
def full(cli):
    """The database of `cli`, which holds two memories."""
    cli("remember", "The heron is at the pond")
    cli("remember", "The fox is in the hedge")
    return cli.home / "memory.db"


def test_copy_says_what_was_copied_and_that_it_was_verified(cli, full):
    done = cli("copy", str(full), "copy.db")
    assert done.code == 0 and done.out.startswith("Copied 2 memories (")
    assert done.out.endswith("Counts and checksums of 18 tables agree.\n")
    assert "heron" in cli("--db", "copy.db", "recall", "heron").out


def test_copy_in_json_has_rows_and_checksum_of_each_table(cli, full):
    told = cli("copy", str(full), "copy.db", "--json").json
    assert told["verified"] and told["memories"] == 2 and not told["continued"] and told["kept"] == []
    assert told["tables"]["memory"]["rows"] == 2 and len(told["tables"]["memory"]["checksum"]) == 16


def test_a_dry_run_says_what_would_be_copied_and_makes_nothing(cli, full):
    before = sorted(cli.home.iterdir())
    assert cli("copy", str(full), "copy.db", "--dry-run").out.startswith("Would copy 2 memories (")
    assert cli("copy", str(full), "copy.db", "--dry-run", "--json").json["tables"]["memory"] == 2
    assert sorted(cli.home.iterdir()) == before


def test_copy_names_the_argument_that_is_wrong(cli, full):
    assert cli("copy", "nothing.db", "copy.db").err.startswith("Error: from: there is no database")
    assert "to: is the same database" in cli("copy", str(full), str(full)).err
    assert cli("copy", str(full), "mysql://x/y").err.startswith(
        "Error: to: must be a file or a postgresql://"
    )
    assert "to: the" in cli("copy", str(full), "postgresql://someone:secret@127.0.0.1:1/x").err.replace(
        "127.0.0.1/x: ", "the "
    )
    (cli.home / "notes.txt").write_text("hello")
    assert cli("copy", str(cli.home / "notes.txt"), "copy.db").err.startswith("Error: from: ")
    refused = cli("copy", str(full), str(cli.home / "notes.txt"))
    assert refused.code != 0 and refused.err.startswith("Error: to: ")
    assert (cli.home / "notes.txt").read_text() == "hello"


def test_a_password_is_neither_shown_nor_kept(cli, full):
    told = cli("copy", "postgresql://someone:secret@127.0.0.1:1/x", "copy.db")
    assert told.code != 0 and "secret" not in told.err + told.out
