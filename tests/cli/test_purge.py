"""`mnemic purge`: a name is erased everywhere, and what still holds it is named."""

from __future__ import annotations

import json


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


def test_a_session_loses_the_text_and_its_history_is_told(cli):
    cli("session", "start", "--topic", "Call with Zauberfrau", "--namespace", "shop")
    facts = json.loads(cli("--json", "purge", "Zauberfrau", "--yes").out)
    assert list(facts["left"]) == ["journal entries"] and not facts["clean"]
    assert "leave the history behind" in cli("purge", "Zauberfrau", "--verify").out


def test_a_text_that_stands_in_anything_is_refused(cli):
    cli("remember", "one fact")
    assert "at least 3 characters" in cli("purge", "a", "--yes").err
