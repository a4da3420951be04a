"""`mnemic import --from` and `mnemic export --to`: other systems' files on the command line."""

from __future__ import annotations

import json

import pytest
from copy_places import place
from lorekeeper_file import write_lorekeeper
from mcp_memory_file import write_mcp_memory
from postgres_server import give_back

from mnemic.app import SYSTEMS

ENTITY = {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["likes tea"]}
RELATION = {"type": "relation", "from": "Anna", "to": "Tea", "relationType": "likes"}


@pytest.fixture
def lines(cli):
    """A file of the reference server with a damaged line."""
    path = cli.home / "memory.jsonl"
    path.write_text("\n".join([json.dumps(ENTITY), json.dumps(RELATION), "{broken"]))
    return str(path)


def test_a_dry_run_shows_the_import_and_changes_nothing(cli, lines):
    done = cli("import", "--from", "anthropic", lines, "--dry-run")
    assert (done.code, done.out) == (0, "Would import 1.\n  Anna\nNew links: 1.\n")
    assert done.err == "Skipped: line 3: not JSON\n" and not (cli.home / "memory.db").exists()
    assert cli.json("import", "--from", "anthropic", lines, "--dry-run") == {
        "imported": 1,
        "skipped": 0,
        "errors": ["line 3: not JSON"],
        "links": 1,
        "titles": ["Anna"],
        "dry_run": True,
    }


def test_a_dry_run_knows_what_a_server_holds(cli, lines, tmp_path):
    database = place("postgres", tmp_path, "store")
    try:
        assert cli("--db", database, "import", "--from", "anthropic", lines).out == "Imported 1.\n"
        done = cli("--db", database, "import", "--from", "anthropic", lines, "--dry-run")
        assert done.out == "Would import 0, 1 are known.\n"
    finally:
        give_back(tmp_path)


def test_notes_in_subfolders_go_to_one_namespace(cli):
    for name in ("adr/one.md", "howto/two.md"):
        note = cli.home / "notes" / name
        note.parent.mkdir(parents=True)
        note.write_text(f"# {name}\n\nthe heron stands in the pond of {name}\n")
    cli("import", "--from", "markdown", str(cli.home / "notes"))
    assert {one["namespace"] for one in cli.json("list")["memories"]} == {"global"}
    assert len(cli.json("recall", "heron")["memories"]) == 2


def test_a_second_run_is_well_and_changes_nothing(cli, lines):
    assert cli("import", "--from", "anthropic", lines).out == "Imported 1.\n"
    before = cli.json("export")["memories"]
    again = cli("import", "--from", "anthropic", lines)
    assert (again.code, again.out) == (0, "Imported 0, 1 were known.\n")
    assert cli.json("export")["memories"] == before
    assert cli("import", "--from", "anthropic", lines, "--dry-run").out == "Would import 0, 1 are known.\n"


def test_long_lists_of_titles_are_cut(cli):
    records = [json.dumps({**ENTITY, "name": f"E{n}"}) for n in range(12)]
    done = cli("import", "--from", "mcp-memory", "--dry-run", stdin="\n".join(records))
    assert done.out.splitlines()[0] == "Would import 12." and done.out.endswith("  E9\n  and 2 more\n")


def test_the_file_of_another_system_is_refused_with_the_next_step(cli, lines):
    for way in ((), ("--from", "ai-memory")):
        done = cli("import", *way, lines)
        assert done.code == 2 and "--from takes the system that wrote" in done.err


def test_a_document_written_by_hand_may_say_text_as_the_tools_do(cli):
    document = {"memories": [{"text": "Tea is at four", "tags": ["tea"]}]}
    assert cli("import", stdin=json.dumps(document)).out == "Imported 1.\n"
    assert cli.json("open", "1")["memories"][0]["text"] == "Tea is at four"


def test_databases_and_folders_are_imported(cli):
    write_mcp_memory(cli.home / "mcp.db")
    assert cli.json("import", "--from", "mcp-memory", "mcp.db")["imported"] == 6
    (cli.home / "lore").mkdir()
    write_lorekeeper(cli.home / "lore" / "lorekeeper.db")
    assert cli.json("import", "--from", "lorekeeper", "lore")["imported"] == 5
    (cli.home / "notes").mkdir()
    (cli.home / "notes" / "MEMORY.md").write_text("# One\nFirst\n# Two\nSecond")
    done = cli.json("import", "--from", "markdown", "notes", "--namespace", "mine")
    assert done["titles"] == ["MEMORY › One", "MEMORY › Two"]
    namespaces = {entry["namespace"] for entry in cli.json("export")["memories"]}
    assert namespaces == {"global", "shared", "auth", "mine"}


@pytest.mark.parametrize("words", [("--format", "json"), ("--format", "jsonl"), ("--to", "ai-memory")])
def test_a_byte_order_mark_is_no_flaw(cli, words):
    cli("remember", "The kettle is new")
    cli("export", *words, "-o", "out")
    marked = cli.home / "marked"
    marked.write_bytes(b"\xef\xbb\xbf" + (cli.home / "out").read_bytes())
    known = words if words[0] == "--format" else ("--from", words[1])
    for way in ((), known):
        assert cli("import", "marked", *way, "--db", f"{len(way)}.db").out == "Imported 1.\n"


@pytest.mark.parametrize("system", SYSTEMS)
def test_out_and_in_again(cli, system):
    cli("remember", "The kettle whistles", "--title", "Kettle", "--tags", "kitchen")
    done = cli("export", "--to", system, "-o", "out")
    assert done.code == 0 and done.out.startswith("Wrote out (")
    if system != "ai-memory":
        assert done.err.startswith(f"{system} has no place for: ") and "tags (1)" in done.err
        assert done.err.count("\n") == 1
    other = ("--db", str(cli.home / "other.db"))
    assert cli("import", "--from", system, "out", *other).out == "Imported 1.\n"
    assert cli("import", "--from", system, "out", *other).out == "Imported 0, 1 were known.\n"
    assert "The kettle whistles" in cli.json("export", *other)["memories"][0]["content"]


def test_an_export_for_another_system_can_be_piped(cli):
    cli("remember", "The kettle whistles", "--title", "Kettle")
    sent = cli("export", "--to", "simple-memory").out
    assert json.loads(sent)["entities"][0]["name"] == "Kettle"
    other = ("--db", str(cli.home / "other.db"))
    assert cli("import", "--from", "simple-memory", *other, stdin=sent).out == "Imported 1.\n"


def test_a_file_that_is_there_stays_if_sending_fails(cli, lines):
    (cli.home / "memory.db").write_text("no database")
    done = cli("export", "--to", "anthropic", "-o", lines)
    assert done.code != 0 and "likes tea" in (cli.home / "memory.jsonl").read_text()


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("import", "--from", "nobody", "x"), "nobody"),
        (("import", "--from", "markdown"), "reads no standard input"),
        (("import", "--from", "agentic-memory"), "reads no standard input"),
        (("import", "--from", "anthropic", "missing"), "does not exist"),
        (("import", "folder"), "is a directory"),
        (("export", "--to", "anthropic", "--format", "json"), "leave --format and --journal out"),
        (("export", "--to", "anthropic", "--journal"), "leave --format and --journal out"),
        (("export", "--to", "claude"), "claude"),
    ],
)
def test_invalid_options_are_refused(cli, words, sentence):
    (cli.home / "folder").mkdir()
    done = cli(*words)
    assert done.code == 2 and sentence in done.err


@pytest.mark.parametrize("system", [*SYSTEMS, "claude", "chatgpt", "slack"])
def test_a_foreign_file_is_refused_in_a_sentence(cli, system):
    (cli.home / "photo.jpg").write_bytes(b"\xff\xd8\xff rubbish")
    done = cli("import", "--from", system, "photo.jpg")
    assert done.code != 0 and "Traceback" not in done.err and len(done.err.splitlines()) == 1
    assert not done.out


def test_a_folder_where_a_file_is_meant_is_refused(cli):
    (cli.home / "folder").mkdir()
    for system in ("anthropic", "mcp-memory", "ai-memory", "lorekeeper", "agentic-memory"):
        done = cli("import", "--from", system, "folder")
        assert done.code != 0 and "cannot be read" in done.err


def test_memories_are_exported_as_notes(cli):
    cli("remember", "We deploy on Mondays.", "--title", "Deploy day", "--namespace", "shop")
    done = cli("export", "--to", "markdown", str(cli.home / "notes"), "--namespace", "shop")
    assert (done.code, done.err) == (0, "") and done.out.startswith("Wrote 1 notes to ")
    [file] = (cli.home / "notes").iterdir()
    assert file.name == "Deploy day.md" and file.read_text().endswith("---\nWe deploy on Mondays.\n")
    assert "is not empty" in cli("export", "--to", "markdown", str(cli.home / "notes")).err
    assert "go together" in cli("export", "--to", "markdown").err
    assert "go together" in cli("export", str(cli.home / "notes")).err


def test_a_folder_of_notes_is_mirrored_once(cli):
    cli("remember", "We deploy on Mondays.", "--title", "Deploy day", "--namespace", "shop")
    vault = cli.home / "vault"
    vault.mkdir()
    (vault / "Idea.md").write_text("Paint it blue.\n")
    facts = cli.json("mirror", str(vault), "--once", "--namespace", "shop")
    assert (facts["files_written"], facts["memories_changed"], facts["errors"]) == (1, 1, [])
    assert cli("mirror", str(vault), "--once", "--namespace", "shop").out == (
        "0 files written, 0 removed; 0 memories changed, 0 deleted.\n"
    )
    assert "Name either a folder or --claude-code." in cli("mirror").err
