"""The commands that look after a store: carry, copy, restore, embed, check, and who may use it."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from ai_memory_file import closed_ai_memory
from support import open_store

from mnemic.errors import Unavailable


@pytest.fixture
def known(cli):
    """A command line with two linked memories, one of them changed, and one that was forgotten."""
    cli("remember", "First fact", "--tags", "a", "--namespace", "app")
    cli("remember", "Second fact")
    cli("remember", "Gone fact")
    cli("link", "1", "2")
    cli("revise", "2", "--text", "Second fact, corrected")
    cli("forget", "3")
    return cli


def test_export_writes_the_documented_document(known):
    document = json.loads(known("export").out)
    assert {"memories", "links", "exported_at"} <= document.keys()
    assert [memory["title"] for memory in document["memories"]] == ["First fact", "Second fact, corrected"]
    assert len(document["links"]) == 1


def test_importing_a_document_twice_changes_nothing(known):
    document = known("export").out
    other = ("--db", str(known.home / "other.db"))
    assert known("import", "--json", *other, stdin=document).json == {
        "imported": 2,
        "skipped": 0,
        "errors": [],
    }
    assert known("import", *other, stdin=document).out == "Imported 0, 2 were known.\n"
    assert known("open", "1", "--json", *other).json["memories"][0]["text"] == "First fact"


def test_invalid_records_are_skipped_and_reported(known):
    document = json.loads(known("export").out)
    document["memories"].append({"id": "x", "title": "", "content": ""})
    done = known("import", "--db", str(known.home / "other.db"), stdin=json.dumps(document))
    assert (done.code, done.out) == (0, "Imported 2.\n") and done.err.startswith("Skipped: memories.2")


def test_a_document_with_a_value_out_of_range_loses_that_memory_only(known):
    document = json.loads(known("export").out)
    model = document["memories"][0]
    document["memories"] += [
        {**model, "id": "b", "title": "B", "priority": 99},
        {**model, "id": "c", "title": ""},
    ]
    done = known("import", "--json", "--db", str(known.home / "other.db"), stdin=json.dumps(document)).json
    assert (done["imported"], done["skipped"]) == (2, 0)
    assert [error.partition(":")[0] for error in done["errors"]] == ["B", "memories.3"]


def test_a_number_that_is_too_long_spoils_one_memory_only(cli):
    entries = [{"title": "A", "content": "x", "metadata": {"n": 10**25}}, {"title": "B", "content": "x"}]
    done = cli.json("import", stdin=json.dumps({"memories": entries}))
    assert done["imported"] == 1 and done["errors"][0].startswith("A: metadata")


def test_a_newer_version_replaces_the_older(known):
    document = json.loads(known("export").out)
    document["memories"][0] |= {"content": "First fact, edited", "updated_at": "2100-01-01T00:00:00Z"}
    assert known("import", "--dry-run", stdin=json.dumps(document)).out == "Would import 1, 1 are known.\n"
    assert known.json("open", "1")["memories"][0]["text"] == "First fact"
    assert known("import", stdin=json.dumps(document)).out == "Imported 1, 1 were known.\n"
    assert known.json("open", "1")["memories"][0]["text"] == "First fact, edited"


def test_a_dry_run_makes_no_database(known):
    document = known("export").out
    done = known("import", "--dry-run", "--json", "--db", str(known.home / "other.db"), stdin=document)
    assert done.json == {"imported": 2, "skipped": 0, "errors": [], "dry_run": True}
    assert not (known.home / "other.db").exists()


def test_a_database_of_ai_memory_is_imported(cli):
    file = closed_ai_memory(cli.home / "ai-memory.db")
    before = file.read_bytes()
    come = ("import", "--from", "ai-memory", str(file))
    assert cli.json(*come, "--dry-run")["imported"] == 4 and not (cli.home / "memory.db").exists()
    assert cli(*come).out == "Imported 4.\n"
    assert cli(*come).out == "Imported 0, 4 were known.\n"
    held = {memory["title"] for memory in json.loads(cli("export").out)["memories"]}
    assert held == {"Project uses Axum", "Rules"}
    assert file.read_bytes() == before and not list(cli.home.glob("ai-memory.db-*"))


def test_an_export_of_ai_memory_is_imported_whatever_its_namespaces(cli):
    entry = {"id": "x", "title": "T", "content": "c", "namespace": "a/b", "source": "mine-slack"}
    assert (
        cli("import", "--from", "ai-memory", stdin=json.dumps({"memories": [entry]})).out == "Imported 1.\n"
    )


def test_a_database_is_refused_as_an_export(cli):
    file = closed_ai_memory(cli.home / "ai-memory.db")
    done = cli("import", str(file))
    assert done.code == 2 and "--from SYSTEM" in done.err
    assert cli("import", "--from", "ai-memory", stdin=file.read_bytes()).code == 2
    cli("remember", "a fact")
    done = cli(
        "import", "--from", "ai-memory", str(cli.home / "memory.db"), "--db", str(cli.home / "other.db")
    )
    assert done.code == 2 and "memory.db is no database of ai-memory" in done.err
    done = cli("import", "--from", "ai-memory", stdin="rubbish")
    assert done.code == 2 and "not valid JSON" in done.err


def test_a_database_of_ai_memory_is_not_opened_as_ours(cli):
    file = closed_ai_memory(cli.home / "ai-memory.db")
    done = cli("stats", "--db", str(file))
    assert done.code == 1 and "mnemic import --from ai-memory ai-memory.db" in done.err


def test_lines_hold_everything(known):
    lines = known("export", "--format", "jsonl").out
    other = ("--db", str(known.home / "other.db"))
    assert known("import", *other, stdin=lines).code == 0
    assert known("export", "--format", "jsonl", *other).out == lines
    assert known("restore", "3", *other).code == 0


def test_lines_can_hold_the_journal(known):
    file = known.home / "all.jsonl"
    known("export", "--journal", "-o", str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    other = ("--db", str(known.home / "other.db"))
    known("import", str(file), *other)
    assert known("history", "--json", *other).json == known.json("history")


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[1, 2]", '{"a": 1}', '{"memories": 3}', "\x00", "{" * 5000]
)
def test_a_file_that_is_not_an_export_is_refused(cli, text):
    done = cli("import", stdin=text)
    assert done.code == 2 and "Traceback" not in done.err and "Unexpected" not in done.err, done.err


def test_a_failed_export_leaves_the_old_file(known, monkeypatch):
    file = known.home / "kept.jsonl"
    file.write_text("old")

    def broken(*_, **__):
        yield "{}"
        raise Unavailable("half way")

    monkeypatch.setattr("mnemic.transfer.jsonl.export_lines", broken)
    assert known("export", "--format", "jsonl", "-o", str(file)).code == 3
    assert file.read_text() == "old" and [path.name for path in known.home.glob("*kept*")] == ["kept.jsonl"]


def test_an_export_to_a_file_says_so(known):
    file = known.home / "out.json"
    assert known("export", "-o", str(file)).out.startswith(f"Wrote {file} (")
    done = known.json("export", "--to", "anthropic", "-o", str(file))
    assert (done["file"], done["bytes"]) == (str(file), file.stat().st_size) and done["lost"]["times"] == 2


def test_the_journal_does_not_fit_into_a_document(known):
    assert known("export", "--journal", "--format", "json").code == 2


def test_a_backup_is_restored_and_what_it_replaces_is_kept(known):
    copy = str(known.home / "copy.db")
    assert known.json("backup", copy)["bytes"] > 0
    known("remember", "Later fact")
    refused = known("restore", "--from", copy)
    assert refused.code == 1 and "--force" in refused.err
    assert known.json("stats")["total"] == 3
    done = known.json("restore", "--from", copy, "--force")
    assert done["memories"] == 3 and known.json("stats")["total"] == 2
    assert re.search(r"memory\.db\.\d{8}-\d{6}$", done["kept"])
    assert known("stats", "--json", "--db", done["kept"]).json["total"] == 3


def test_nothing_that_was_kept_is_replaced_by_the_next(known, monkeypatch):
    monkeypatch.setattr("time.strftime", lambda form: "20261116-100000")
    copy = str(known.home / "copy.db")
    known("backup", copy)
    known("remember", "Later fact")
    first = known.json("restore", "--from", copy, "--force")["kept"]
    second = known.json("restore", "--from", copy, "--force")["kept"]
    assert [known("stats", "--json", "--db", kept).json["total"] for kept in (first, second)] == [3, 2]


def test_a_backup_needs_no_force_where_nothing_is(known):
    copy, fresh = str(known.home / "copy.db"), ("--db", str(known.home / "fresh" / "new.db"))
    known("backup", copy)
    assert known("restore", "--from", copy, *fresh).code == 0
    assert known("stats", "--json", *fresh).json["total"] == 2


def test_a_backup_of_a_killed_process_is_restored_with_its_wal(known):
    killed, fresh = known.home / "killed.db", ("--db", str(known.home / "fresh.db"))
    with closing(open_store("sqlite", known.home, "memory")) as store:
        known("remember", "Only in the log")
        for tail in ("", "-wal"):
            shutil.copy(f"{store.path}{tail}", f"{killed}{tail}")
    killed.chmod(0o400)
    assert known("restore", "--from", str(killed), *fresh).code == 0
    assert known("stats", "--json", *fresh).json["total"] == 3
    assert killed.with_name("killed.db-wal").exists(), "a backup is left as it is"


def test_restores_and_exports_survive_a_power_loss(known, synced):
    for file in ("copy.db", "memories.json"):
        known(*(("backup", file) if file == "copy.db" else ("export", "-o", file)))
        assert synced[-1] == known.home, file
    known("restore", "--from", "copy.db", "--force")
    assert synced[-1] == known.home and synced[-2].name == "copy.db"


def test_a_restore_that_is_killed_leaves_the_old_database(known, monkeypatch):
    copy = str(known.home / "copy.db")
    known("backup", copy)
    known("remember", "Later fact")

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("mnemic.cli.commands.backup.put_in_place", killed)
    assert known("restore", "--from", copy, "--force").code == 130
    assert known.json("stats")["total"] == 3


def test_a_backup_does_not_replace_a_file_unasked(known):
    file = known.home / "precious"
    file.write_text("precious")
    assert known("backup", str(file)).code == 1 and file.read_text() == "precious"
    assert known("backup", str(file), "--force").code == 0


def test_a_backup_does_not_replace_its_own_database(known):
    database, link = known.home / "memory.db", known.home / "link.db"
    link.symlink_to(database)
    number = database.stat().st_ino
    for file in (database, link):
        done = known("backup", str(file), "--force")
        assert done.code == 2 and "is the database itself" in done.err
    assert database.stat().st_ino == number and link.is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_backup_does_not_replace_a_non_file(known):
    pipe = known.home / "pipe"
    os.mkfifo(pipe)
    done = known("backup", str(pipe), "--force")
    assert done.code == 2 and "is no file" in done.err and pipe.is_fifo()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_an_export_writes_into_a_named_pipe(known):
    pipe = known.home / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert known("export", "-o", str(pipe)).code == 0
    assert json.loads(os.read(reader, 1_000_000))["memories"] and pipe.is_fifo()
    os.close(reader)


def test_a_backup_by_a_name_that_is_not_utf_8_is_refused(known):
    done = known("backup", str(known.home / os.fsdecode(b"caf\xe9.db")))
    assert done.code == 2 and done.err.startswith("Error: file: is not UTF-8 text")


def test_a_backup_into_no_folder_names_the_folder(known):
    done = known("backup", str(known.home / "nowhere" / "copy.db"))
    assert done.code == 2 and f"there is no folder {known.home / 'nowhere'}" in done.err


def test_a_file_that_is_not_a_backup_is_not_restored(known):
    file = known.home / "no.db"
    file.write_bytes(b"no database" * 1000)
    done = known("restore", "--from", str(file), "--force")
    assert done.code == 1 and known.json("stats")["total"] == 2


def test_a_database_in_use_is_not_replaced(known):
    copy = str(known.home / "copy.db")
    known("backup", copy)
    with closing(open_store("sqlite", known.home, "memory")):
        done = known("restore", "--from", copy, "--force")
    assert done.code == 3 and "another process" in done.err.lower()
    assert known("restore", "--from", copy, "--force").code == 0


def test_force_replaces_a_damaged_database(known):
    copy, file = str(known.home / "copy.db"), known.home / "memory.db"
    known("backup", copy)
    file.write_bytes(b"damaged" * 999)
    refused = known("restore", "--from", copy)
    assert refused.code == 1 and "--force" in refused.err
    done = known.json("restore", "--from", copy, "--force")
    assert Path(done["kept"]).read_bytes().startswith(b"damaged")
    assert known.json("stats")["total"] == 2


def test_restore_accepts_memories_or_a_file(known):
    assert known("restore").code == 2
    assert known("restore", "3", "--from", str(known.home / "memory.db")).code == 2
    assert known("restore", "3").out == "Restored 3 Gone fact\n"


def test_embed_computes_missing_vectors(known):
    local = {"MNEMIC_EMBEDDER": "local"}
    assert known("embed", "--limit", "1", **local).out == "Embedded 1, 1 left.\n"
    assert json.loads(known("embed", "--json", **local).out) == {"embedded": 1, "pending": 0}


def test_embed_without_a_model_is_unavailable(cli):
    assert cli("embed").code == 3


def test_doctor_finds_a_sound_store_sound(known):
    done = known("doctor", MNEMIC_EMBEDDER="local")
    assert done.code == 0 and "broken" not in done.out
    assert "384 dimensions" in done.out and "2 statements wait for vectors" in done.out
    checks = known("doctor", "--json").json
    assert checks["ok"] and {
        "versions",
        "settings",
        "database",
        "journal",
        "model",
        "vectors",
        "disk",
        "mirrors",
        "clients",
        "daemon",
    } == {item["check"] for item in checks["checks"]}


def test_doctor_reports_failures_and_continues(cli):
    (cli.home / "memory.db").write_bytes(b"rubbish" * 1000)
    done = cli("doctor")
    assert done.code == 1 and "broken  database" in done.out and "clients" in done.out


def test_doctor_makes_no_database(cli):
    done = cli("doctor")
    assert done.code == 0 and "memory.db: made with the first memory" in done.out and "model" in done.out
    done = cli("doctor", "--db", "typo.db")
    assert done.code == 1 and "broken  database   --db: there is no database typo.db" in done.out
    assert not list(cli.home.rglob("*.db"))


def test_doctor_says_when_the_database_cannot_be_made(cli):
    (cli.home / "note").write_text("a file where a folder is needed")
    done = cli("doctor", MNEMIC_DB=str(cli.home / "note" / "memory.db"))
    assert done.code == 1 and "cannot be made" in done.out and "MNEMIC_DB" in done.out


def test_doctor_calls_a_full_disk_broken(known, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda place: shutil._ntuple_diskusage(10**9, 10**9, 0))
    done = known("doctor")
    assert done.code == 1 and "broken  disk       0 bytes free: memories cannot be stored" in done.out


@pytest.mark.parametrize(
    "command",
    [("backup", "copy.db"), ("export",), ("export", "-o", "copy.json"), ("token", "list"), ("embed",)],
)
def test_a_mistyped_database_is_neither_made_nor_copied(cli, command):
    done = cli(*command, "--db", "typo.db")
    assert (done.code, done.out, done.err) == (1, "", "Error: --db: there is no database typo.db\n")
    assert list(cli.home.iterdir()) == []


def test_a_full_disk_says_what_to_do(known):
    done = known("export", "-o", "/dev/full")
    assert done.code == 1 and done.err == "Error: No space left on device. Free some space and try again\n"


def test_doctor_sees_configured_clients(cli):
    cli("install", "cursor")
    assert "Cursor (user)" in cli("doctor").out


def test_doctor_sees_clients_that_start_nothing_and_files_that_cannot_be_read(cli):
    file = cli.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"mnemic": {"command": "/gone/mnemic", "args": ["mcp"]}}}')
    done = cli("doctor")
    assert done.code == 1 and done.out.count("Cursor") == 1
    assert "starts /gone/mnemic, which is not there; `mnemic install cursor` mends it" in done.out
    file.write_text('{"mcpServers": {')
    done = cli("doctor")
    assert done.code == 0 and f"note    clients    Cursor (user): {file} cannot be read: line 1" in done.out


def test_doctor_reports_a_bad_config_file(cli):
    (cli.home / "config.toml").write_text("= nonsense")
    done = cli("doctor", MNEMIC_CONFIG=str(cli.home / "config.toml"))
    assert done.code == 1 and "broken  settings" in done.out


def test_doctor_names_unknown_settings(cli):
    file = cli.home / "config.toml"
    file.write_text('prot = 9100\nport = 9101\napi_key = "x"\n[ttl]\nmid_ttl_secs = 5\n')
    done = cli("doctor", MNEMIC_CONFIG=str(file))
    assert done.code == 0 and f"note    settings   {file}: no setting is called prot\n" in done.out


def test_config_shows_the_source_of_each_setting(cli):
    (cli.home / "config.toml").write_text('port = 9999\ntoken = "very secret"\n')
    done = cli("config", "--namespace", "app", "--json", MNEMIC_CONFIG=str(cli.home / "config.toml"))
    settings = done.json["settings"]
    assert settings["namespace"] == {"value": "app", "from": "--namespace"}
    assert settings["db"]["from"] == "MNEMIC_DB"
    assert settings["port"] == {"value": 9999, "from": str(cli.home / "config.toml")}
    assert settings["host"]["from"] == "default"
    assert "very secret" not in done.out + cli("config", MNEMIC_CONFIG=str(cli.home / "config.toml")).out


def test_tokens_are_made_listed_and_revoked(cli):
    secret = cli("token", "create", "bob", "--namespace", "a,b", "--rights", "read").out.strip()
    assert len(secret) > 30
    cli("token", "create", "eve")
    listing = cli("token", "list")
    assert [line.split("  ", 1)[0] for line in listing.out.splitlines()] == ["bob", "eve"]
    assert "a, b            read   never expires  never used" in listing.out
    assert secret not in listing.out + cli("token", "list", "--json").out
    assert cli("token", "revoke", "bob").code == 0
    assert [item["name"] for item in cli.json("token", "list")["tokens"]] == ["eve"]
    assert cli("token", "revoke", "bob").code == 1
    assert cli("token", "create", "eve").code == 1


def test_a_token_has_bounds_and_can_be_rotated(cli):
    flags = ("--expires", "in 90 days", "--max-memories", "10", "--max-bytes", "999", "--max-requests", "60")
    first = cli("token", "create", "bob", *flags).out.strip()
    [known] = cli.json("token", "list")["tokens"]
    assert known["quota"] == {"memories": 10, "bytes": 999, "requests_per_minute": 60}
    assert known["expires_at"] > known["created_at"] and known["used_at"] is None
    assert cli("token", "rotate", "bob").out.strip() not in ("", first)
    assert cli.json("token", "list")["tokens"] == [known]
    assert cli("token", "rotate", "nobody").code == 1


@pytest.mark.parametrize(
    "given",
    [("t", "--namespace", ""), ("t", "--namespace", ","), ("",), (" ",), ("t", "--expires", "yesterday")],
)
def test_a_token_for_nothing_or_without_a_name_is_not_made(cli, given):
    assert cli("token", "create", *given).code != 0
    assert cli.json("token", "list")["tokens"] == []


def test_call_reaches_any_tool(cli):
    stored = cli("call", "mnemic", "remember", '{"text": "by call"}').json
    assert stored["stored"][0]["id"] == 1
    assert cli("call", "mnemic", "open", "-", stdin='{"ids": [1]}').json["memories"][0]["text"] == "by call"
    assert cli("call", "mnemic", "stats").json["total"] == 1
    assert cli("call", "mnemic", "nothing").code == 1
    assert cli("call", "klingon", "recall").code == 1
    assert cli("call", "mnemic", "recall", '{"query": "x", "a": ' + "[" * 1200 + "]" * 1200 + "}").code == 2


def test_config_names_the_namespace_of_the_project(cli):
    assert cli.json("config")["settings"]["namespace"]["value"] == "auto: no project here, so global"
    project = cli.home / "widgets"
    (project / ".git").mkdir(parents=True)
    cli.patch.chdir(project)
    assert cli.json("config")["settings"]["namespace"]["value"] == "auto: widgets"
    assert cli.json("config", "--namespace", "global")["settings"]["namespace"]["value"] == "global"


def test_an_interrupted_embed_keeps_and_reports_its_progress(known, monkeypatch):
    from mnemic.core import embedding_queue

    monkeypatch.setattr("mnemic.cli.commands.embed.BATCH", 1)
    whole, calls = embedding_queue.embed_pending, []

    def stopped(*given, **keywords):
        calls.append(given)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return whole(*given, **keywords)

    monkeypatch.setattr("mnemic.core.embedding_queue.embed_pending", stopped)
    done = known("embed", MNEMIC_EMBEDDER="local")
    assert done.code == 130 and re.fullmatch(r"Interrupted. Embedded 1, [1-9]\d* left.\n", done.out), done
