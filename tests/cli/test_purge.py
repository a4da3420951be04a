"""`mnemic purge`: a name is erased everywhere, and what still holds it is named."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest


def test_a_name_is_erased_from_memories_history_mirrors_and_the_file(cli):
    for text in ("Frieda Zauberfrau ordered lamps.", "Lamps cost 5 euro.", "Kept."):
        assert cli("remember", text, "--namespace", "shop").code == 0
    cli("revise", "2", "--text", "ZAUBERFRAU pays 4 euro.", "--namespace", "shop")
    cli("revise", "2", "--text", "Lamps cost 6 euro.", "--namespace", "shop")
    notes = cli.home / "notes"
    cli("mirror", str(notes), "--once", "--namespace", "shop")
    assert any("Zauberfrau" in path.name for path in notes.iterdir())
    backup = cli.home / "copy.db"
    cli("backup", str(backup))
    assert "memories (2)" in cli("purge", "zauberfrau", "--dry-run").out
    assert "add --yes" in cli("purge", "zauberfrau").err
    facts = json.loads(cli("--json", "purge", "zauberfrau", "--yes").out)
    assert (facts["purged"], facts["left"], facts["files"]) == (2, {}, [str(backup)])
    assert cli("purge", "zauberfrau", "--verify").code == 1
    backup.unlink()
    done = cli("purge", "zauberfrau", "--verify")
    assert (done.code, done.out) == (
        0,
        "Verified: 'zauberfrau' stands nowhere in the store, its files, mirrors and backups.\n",
    )
    assert [path.name for path in notes.glob("*.md")] == ["Kept.md"]


def test_a_store_that_another_process_has_open_is_clean_too(cli):
    cli("remember", "Frieda Zauberfrau ordered lamps.", "--namespace", "shop")
    cli("mirror", str(cli.home / "notes"), "--once", "--namespace", "shop")
    with closing(sqlite3.connect(cli.home / "memory.db")) as daemon:
        assert daemon.execute("SELECT count(*) FROM statement").fetchone() == (1,)
        done = cli("purge", "zauberfrau", "--yes")
        assert done.code == 0 and "stands nowhere" in done.out


def test_sessions_links_and_their_history_lose_the_text(cli):
    here = ("--namespace", "shop")
    cli("session", "start", "--topic", "Call with Zauberfrau", *here)
    cli("session", "end", "--summary", "Zauberfrau wants lamps.", *here)
    for text in ("Lamps cost 5 euro.", "Delivery is free."):
        assert cli("remember", text, *here).code == 0
    first, second = (one["id"] for one in cli.json("list", *here)["memories"] if one["kind"] != "episode")
    linked = ("link", str(first), str(second), "--type", "depends_on", *here)
    assert cli(*linked, "--reason", "Zauberfrau said so").code == 0
    assert cli(*linked, "--reason", "ZAUBERFRAU said it again").code == 0
    cli("recall", "What did Zauberfrau say?", *here)
    found = cli.json("purge", "Zauberfrau", "--dry-run")["found"]
    assert found.keys() == {"memories", "links", "sessions", "journal entries", "recall log entries"}
    assert holding(cli.home, "zauberfrau")
    facts = cli.json("purge", "Zauberfrau", "--yes")
    assert (facts["left"], facts["files"], facts["clean"]) == ({}, [], True)
    assert holding(cli.home, "zauberfrau") == []
    assert cli("doctor").code == 0
    [session] = cli.json("sessions", *here)["sessions"]
    assert session["topic"] == "[erased]"


def holding(folder, text):
    """The files anywhere below *folder* in whose raw bytes *text* stands, whatever its case."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.name for path in files if text.encode() in path.read_bytes().lower())


def test_a_text_that_stands_in_anything_is_refused(cli):
    cli("remember", "one fact")
    assert "at least 3 characters" in cli("purge", "a", "--yes").err


@pytest.mark.parametrize("flags", [["--verify"], ["--dry-run"], ["--yes"]])
@pytest.mark.parametrize("place", [[], ["--db", "typo.db"]])
def test_a_database_that_is_not_there_proves_nothing(cli, flags, place):
    done = cli("purge", "Zauberfrau", *flags, *place)
    assert done.code == 1 and "there is no database" in done.err
    assert not list(cli.home.rglob("*.db"))


def test_a_dry_run_names_the_memories_that_would_go(cli):
    for text in ("Zauberfrau ordered lamps.", "Kept.", "Lamps go to Zauberfrau."):
        cli("remember", text)
    told = cli("purge", "zauberfrau", "--dry-run").out
    assert "\n    1 Zauberfrau ordered lamps.\n    3 Lamps go to Zauberfrau.\n" in told and "Kept" not in told
    assert [one["id"] for one in cli.json("purge", "zauberfrau", "--dry-run")["memories"]] == [1, 3]


@pytest.mark.parametrize("asked", ["GRÖSSMANN", "größmann", "Gro\u0308ssmann"])
def test_copies_are_searched_whatever_the_case_and_normal_form(cli, asked):
    cli("remember", "Frau Größmann ordered lamps.")
    notes, backup = cli.home / "notes", cli.home / "copy.db"
    cli("mirror", str(notes), "--once")
    cli("backup", str(backup))
    done = json.loads(cli("--json", "purge", asked, "--yes").out)
    assert (done["purged"], done["files"]) == (1, [str(backup)])
    cli("mirror", str(notes), "--once")
    for old in (*notes.rglob("*.md"), backup):
        old.unlink()
    (notes / "mine.md").write_text("GRÖSSMANN again")
    assert json.loads(cli("--json", "purge", asked, "--verify").out)["files"] == [str(notes / "mine.md")]


def test_a_backup_is_searched_as_the_store_is(cli):
    """Its bytes do not always show a text: the pages of a file part it, or it is written with other characters."""
    cli("remember", "\N{KELVIN SIGN}elvin Doe ordered lamps.")
    backup = cli.home / "copy.db"
    cli("backup", str(backup))
    assert b"kelvin doe" not in backup.read_bytes().lower()
    assert json.loads(cli("--json", "purge", "Kelvin Doe", "--yes").out)["files"] == [str(backup)]


def test_what_cannot_be_read_proves_nothing(cli, monkeypatch):
    cli("remember", "Kept.")
    backup = cli.home / "copy.db"
    cli("backup", str(backup))
    open_file = Path.open

    def refuse(path, *given, **named):
        if path.name == "copy.db":
            raise PermissionError(13, "Permission denied", str(path))
        return open_file(path, *given, **named)

    monkeypatch.setattr(Path, "open", refuse)
    done = cli("purge", "Zauberfrau", "--verify")
    assert (done.code, done.out) == (1, f"Not searched: {backup}: Permission denied\n")


def test_copies_are_searched_though_the_store_holds_nothing(cli):
    cli("remember", "Zauberfrau ordered lamps.")
    cli("backup", str(cli.home / "copy.db"))
    cli("purge", "zauberfrau", "--yes")
    done = cli("purge", "zauberfrau", "--yes")
    assert done.code == 1 and "Purged 0 memories." in done.out and "copy.db" in done.out
