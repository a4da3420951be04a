"""The memory tool of the Anthropic API, called with the commands that Claude sends."""

from __future__ import annotations

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

from mnemic.adapters.anthropic import MnemicMemoryTool


@pytest.fixture
def tool(memories):
    return MnemicMemoryTool(memories)


def run(tool, command, **arguments):
    return tool.call({"command": command, **arguments})


def test_it_is_declared_as_the_memory_tool(tool):
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}


def test_created_file_is_viewed_with_line_numbers(tool):
    run(tool, "create", path="/memories/notes.md", file_text="one\ntwo\nthree\n")
    shown = run(tool, "view", path="/memories/notes.md")
    assert "     1\tone\n     2\ttwo\n     3\tthree" in shown
    part = run(tool, "view", path="/memories/notes.md", view_range=[2, 2])
    assert "2\ttwo" in part
    assert "one" not in part


def test_create_refuses_an_existing_file(tool):
    run(tool, "create", path="/memories/a.md", file_text="x")
    with pytest.raises(ToolError, match="exists"):
        run(tool, "create", path="/memories/a.md", file_text="y")
    with pytest.raises(ToolError, match="exists"):
        run(tool, "create", path="/memories", file_text="y")


def test_folder_lists_files_two_levels_deep_with_sizes(tool):
    run(tool, "create", path="/memories/a.md", file_text="12345")
    run(tool, "create", path="/memories/deep/er/est.md", file_text="123")
    run(tool, "create", path="/memories/.hidden", file_text="123")
    shown = run(tool, "view", path="/memories").splitlines()[1:]
    assert "5B\t/memories/a.md" in shown
    assert "3B\t/memories/deep/" in shown
    assert "3B\t/memories/deep/er/" in shown
    assert not any("est.md" in line or "hidden" in line for line in shown)


def test_empty_store_lists_an_empty_root(tool):
    assert "/memories" in run(tool, "view", path="/memories")
    with pytest.raises(ToolError, match="does not exist"):
        run(tool, "view", path="/memories/none.md")


def test_str_replace_needs_exactly_one_place(tool):
    run(tool, "create", path="/memories/a.md", file_text="red\nblue\nred")
    with pytest.raises(ToolError, match="lines: 1, 3"):
        run(tool, "str_replace", path="/memories/a.md", old_str="red", new_str="green")
    with pytest.raises(ToolError, match="did not appear verbatim"):
        run(tool, "str_replace", path="/memories/a.md", old_str="black", new_str="green")
    assert "green" in run(tool, "str_replace", path="/memories/a.md", old_str="blue", new_str="green")
    assert tool.memories.get("chat", "/memories/a.md").text == "red\ngreen\nred"


def test_insert_puts_text_behind_a_line(tool):
    run(tool, "create", path="/memories/a.md", file_text="one\nthree")
    run(tool, "insert", path="/memories/a.md", insert_line=1, insert_text="two\n")
    assert tool.memories.get("chat", "/memories/a.md").text.rstrip("\n") == "one\ntwo\nthree"
    with pytest.raises(ToolError, match="insert_line"):
        run(tool, "insert", path="/memories/a.md", insert_line=9, insert_text="x")


def test_rename_and_delete_work_on_folders(tool):
    run(tool, "create", path="/memories/old/a.md", file_text="x")
    run(tool, "create", path="/memories/old/b.md", file_text="y")
    run(tool, "rename", old_path="/memories/old", new_path="/memories/new")
    assert "x" in run(tool, "view", path="/memories/new/a.md")
    run(tool, "delete", path="/memories/new")
    with pytest.raises(ToolError, match="does not exist"):
        run(tool, "view", path="/memories/new/a.md")
    with pytest.raises(ToolError, match="Cannot delete"):
        run(tool, "delete", path="/memories")


@pytest.mark.parametrize("path", ["/etc/passwd", "/memories/../etc", "memories/a", "/memoriesx"])
def test_paths_outside_the_root_are_refused(tool, path):
    with pytest.raises(ToolError, match="Path"):
        run(tool, "view", path=path)


def test_empty_file_stays_empty(tool):
    run(tool, "create", path="/memories/e.md", file_text="")
    assert run(tool, "view", path="/memories/e.md").endswith("     1\t")
    run(tool, "insert", path="/memories/e.md", insert_line=0, insert_text="first")
    assert "1\tfirst" in run(tool, "view", path="/memories/e.md")


def test_file_is_found_by_other_agents_and_edits_can_be_undone(tool, memories):
    run(tool, "create", path="/memories/deploy.md", file_text="We deploy on Fridays")
    assert memories.recall("when do we deploy")[0].memory.name == "/memories/deploy.md"
    run(tool, "str_replace", path="/memories/deploy.md", old_str="Fridays", new_str="Mondays")
    newest = memories.history(limit=1)[0]
    memories.undo(newest.number)
    assert "Fridays" in run(tool, "view", path="/memories/deploy.md")


SCRIPT = [
    ("create", {"path": "/memories/a.md", "file_text": "red\nblue\nred\nfour\nfive\nsix\n"}),
    ("create", {"path": "/memories/a.md", "file_text": "x"}),
    ("create", {"path": "/memories/sub/b.md", "file_text": "one"}),
    ("view", {"path": "/memories/a.md"}),
    ("view", {"path": "/memories/a.md", "view_range": [2, 3]}),
    ("view", {"path": "/memories/none.md"}),
    ("view", {"path": "/elsewhere"}),
    ("view", {"path": "/memories/../../etc/passwd"}),
    ("str_replace", {"path": "/memories/a.md", "old_str": "red", "new_str": "green"}),
    ("str_replace", {"path": "/memories/a.md", "old_str": "black", "new_str": "green"}),
    ("str_replace", {"path": "/memories/a.md", "old_str": "four", "new_str": "vier\nquatre"}),
    ("str_replace", {"path": "/memories/none.md", "old_str": "a", "new_str": "b"}),
    ("str_replace", {"path": "/memories/sub", "old_str": "a", "new_str": "b"}),
    ("insert", {"path": "/memories/a.md", "insert_line": 1, "insert_text": "second\n"}),
    ("insert", {"path": "/memories/a.md", "insert_line": 99, "insert_text": "x"}),
    ("insert", {"path": "/memories/none.md", "insert_line": 0, "insert_text": "x"}),
    ("view", {"path": "/memories/a.md"}),
    ("rename", {"old_path": "/memories/a.md", "new_path": "/memories/sub/b.md"}),
    ("rename", {"old_path": "/memories/none.md", "new_path": "/memories/c.md"}),
    ("rename", {"old_path": "/memories", "new_path": "/memories/c"}),
    ("rename", {"old_path": "/memories/a.md", "new_path": "/memories/c.md"}),
    ("delete", {"path": "/memories/none.md"}),
    ("delete", {"path": "/memories"}),
    ("delete", {"path": "/memories/sub"}),
    ("view", {"path": "/memories/c.md"}),
]


def test_answers_and_errors_are_those_of_the_library_s_own_tool(tool, tmp_path):
    theirs = BetaLocalFilesystemMemoryTool(base_path=str(tmp_path / "files"))

    def told(one, command, given):
        try:
            return run(one, command, **given)
        except ToolError as error:
            return f"error: {error}"

    for command, given in SCRIPT:
        assert told(tool, command, given) == told(theirs, command, given), (command, given)
