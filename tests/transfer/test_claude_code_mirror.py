"""CLAUDE.md, rules and Claude Code's own notes kept equal to the memories of a project."""

from __future__ import annotations

import os

import pytest

from mnemic.app import import_from
from mnemic.client_config.instruction_block import BLOCK, with_block
from mnemic.core.memories import Note, Revision, forget, remember, restore, revise, supersede
from mnemic.model.enums import State
from mnemic.model.time import HOUR
from mnemic.storage.queries import each_memory
from mnemic.transfer.claude_code import instructions, main_root_of, memory_folder
from mnemic.transfer.folder_mirror import FolderMirror

TESTS = "## Tests\n\n- Run `make test`.\n- Read them.\n- Never skip one.\n\n"
TEXT = f"# Shop\n\nWe sell tea.\n\n{TESTS}## Style\n\nShort functions.\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "CLAUDE.md").write_text(TEXT)
    return tmp_path / "shop"


@pytest.fixture
def folder(project):
    return memory_folder(project, os.environ)


@pytest.fixture
def mirror(project, folder):
    return FolderMirror(folder, "global", project)


def living(ctx):
    found = each_memory(ctx.store.read())
    return {memory.title.rpartition(" › ")[2]: memory for memory in found if memory.state is State.LIVING}


def edit(path, old, new, at=None):
    assert old in path.read_bytes().decode()
    stamp = path.stat().st_mtime_ns + 2_000_000_000 if at is None else at * 1_000
    path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))
    os.utime(path, ns=(stamp, stamp))


def settled(mirror, ctx):
    done = mirror.sync(ctx)
    assert mirror.sync(ctx).changes == 0
    return done


def test_each_section_of_claude_md_is_a_memory_and_the_file_stays_as_it_is(ctx, mirror, project, folder):
    done = settled(mirror, ctx)
    assert (done.changed, done.written) == (3, 0)
    assert set(living(ctx)) == {"Shop", "Tests", "Style"}
    assert living(ctx)["Tests"].content == "- Run `make test`.\n- Read them.\n- Never skip one."
    assert (project / "CLAUDE.md").read_text() == TEXT
    assert {path.name for path in project.iterdir()} == {".git", "CLAUDE.md"}
    assert not list(folder.glob("*.md"))


def test_edits_and_deletions_of_the_file_arrive_in_the_store(ctx, mirror, project):
    settled(mirror, ctx)
    edit(project / "CLAUDE.md", "Short functions.", "Plain functions.")
    edit(project / "CLAUDE.md", TESTS, "")
    edit(project / "CLAUDE.md", "# Shop\n", "# Shop\n\n")
    settled(mirror, ctx)
    assert set(living(ctx)) == {"Shop", "Style"}
    assert living(ctx)["Style"].content == "Plain functions."


def test_an_edit_in_the_store_changes_its_section_alone(ctx, mirror, project):
    (project / "CLAUDE.md").write_text(with_block(TEXT))
    settled(mirror, ctx)
    change = Revision(text="Short, plain functions.", priority=9, tags=("code",), name="How we write")
    revise(ctx, living(ctx)["Style"].id, change)
    settled(mirror, ctx)
    expected = with_block(TEXT).replace("Short functions.", "Short, plain functions.")
    assert (project / "CLAUDE.md").read_text() == expected
    assert living(ctx)["How we write"].priority == 9


def test_a_deletion_in_the_store_takes_its_section_out_and_a_restored_memory_gets_a_note(
    ctx, mirror, project, folder
):
    settled(mirror, ctx)
    [gone] = forget(ctx, [living(ctx)["Tests"].id])
    done = settled(mirror, ctx)
    assert (done.written, done.removed) == (1, 0)
    assert (project / "CLAUDE.md").read_text() == "# Shop\n\nWe sell tea.\n\n## Style\n\nShort functions.\n"
    restore(ctx, [gone.id])
    settled(mirror, ctx)
    [note] = folder.glob("*Tests*.md")
    assert "Never skip one." in note.read_text() and "Tests" in (folder / "MEMORY.md").read_text()


def test_a_file_of_one_section_gets_no_front_matter_and_is_not_renamed(ctx, mirror, project):
    (project / "CLAUDE.md").write_text(with_block("Run make test.\n"))
    settled(mirror, ctx)
    revise(ctx, living(ctx)["CLAUDE"].id, Revision(text="Run make check.", priority=8, name="Checks"))
    settled(mirror, ctx)
    assert (project / "CLAUDE.md").read_text() == with_block("Run make check.\n")
    forget(ctx, [living(ctx)["Checks"].id])
    settled(mirror, ctx)
    assert (project / "CLAUDE.md").read_text().strip() == BLOCK.strip()


def test_what_is_new_in_the_store_becomes_a_note_of_the_memory_folder(ctx, mirror, project, folder):
    settled(mirror, ctx)
    remember(ctx, [Note(text="On Mondays.", name="Deploy day", namespace="global")])
    settled(mirror, ctx)
    assert (project / "CLAUDE.md").read_text() == TEXT
    assert "On Mondays." in (folder / "Deploy day.md").read_text()
    assert (folder / "MEMORY.md").read_text() == "- [Deploy day](Deploy%20day.md)\n"


def test_a_correction_stands_where_the_corrected_stood(ctx, mirror, project, folder):
    settled(mirror, ctx)
    supersede(ctx, living(ctx)["Style"].id, "Long functions.", "we changed our mind")
    settled(mirror, ctx)
    assert (project / "CLAUDE.md").read_text() == TEXT.replace("Short", "Long")
    assert not list(folder.glob("*.md"))
    edit(project / "CLAUDE.md", "Long", "Medium")
    settled(mirror, ctx)
    assert living(ctx)["Style"].content == "Medium functions."


@pytest.mark.parametrize("later", [-HOUR, HOUR])
def test_a_conflict_is_listed_and_the_version_that_lost_is_kept_in_the_memory_folder(
    ctx, mirror, project, folder, later
):
    settled(mirror, ctx)
    edit(project / "CLAUDE.md", "Short functions.", "Plain functions.", ctx.now() + later)
    revise(ctx, living(ctx)["Style"].id, Revision(text="Tiny functions."))
    done = settled(mirror, ctx)
    [clash] = done.conflicts
    assert clash.conflict.field == "text"
    kept, lost = ("Plain", "Tiny") if later > 0 else ("Tiny", "Plain")
    assert (project / "CLAUDE.md").read_text() == TEXT.replace("Short", kept)
    [copy] = folder.glob("*conflict*.md")
    assert f"{lost} functions." in copy.read_text() and "We sell tea." not in copy.read_text()
    assert {path.name for path in project.iterdir()} == {".git", "CLAUDE.md"}


def test_lines_that_both_sides_changed_apart_are_merged(ctx, mirror, project):
    settled(mirror, ctx)
    edit(project / "CLAUDE.md", "make test", "make check")
    revise(ctx, living(ctx)["Tests"].id, Revision(text="- Run `make test`.\n- Read them.\n- Skip none."))
    assert settled(mirror, ctx).conflicts == []
    assert "- Run `make check`.\n- Read them.\n- Skip none.\n" in (project / "CLAUDE.md").read_text()


def test_sections_of_the_same_heading_are_kept_apart(ctx, mirror, project):
    text = "# Front\n\n## Build\n\nRun npm.\n\n# Back\n\n## Build\n\nRun cargo.\n"
    (project / "CLAUDE.md").write_text(text)
    settled(mirror, ctx)
    back = next(memory for memory in each_memory(ctx.store.read()) if memory.content == "Run cargo.")
    revise(ctx, back.id, Revision(text="Run cargo build."))
    settled(mirror, ctx)
    assert (project / "CLAUDE.md").read_text() == text.replace("cargo.", "cargo build.")
    edit(project / "CLAUDE.md", "## Build\n\nRun npm.\n\n", "")
    settled(mirror, ctx)
    assert [one.content for one in living(ctx).values()] == ["Run cargo build."]
    assert living(ctx)["Build"].uid == back.uid


def test_what_stands_around_the_block_of_the_installer_stays(ctx, mirror, project):
    text = f"# Shop\n\nWe sell tea.\n\n{BLOCK}\n## Style\n\nShort functions.\n"
    (project / "CLAUDE.md").write_text(text)
    settled(mirror, ctx)
    assert set(living(ctx)) == {"Shop", "Style"} and living(ctx)["Shop"].content == "We sell tea."
    revise(ctx, living(ctx)["Shop"].id, Revision(text="We sell coffee."))
    revise(ctx, living(ctx)["Style"].id, Revision(text="Long functions."))
    settled(mirror, ctx)
    text = text.replace("sell tea", "sell coffee").replace("Short", "Long")
    assert (project / "CLAUDE.md").read_text() == text
    (project / "CLAUDE.md").write_text(text.replace(BLOCK, f"{BLOCK}\nAnd cake.\n"))
    settled(mirror, ctx)
    assert "And cake." in living(ctx)["Shop"].content
    revise(ctx, living(ctx)["Shop"].id, Revision(text="We sell cake."))
    settled(mirror, ctx)
    assert (project / "CLAUDE.md").read_text() == text.replace("sell coffee", "sell cake")


def test_line_ends_and_the_byte_order_mark_stay(ctx, mirror, project):
    data = b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()
    (project / "CLAUDE.md").write_bytes(data)
    settled(mirror, ctx)
    revise(ctx, living(ctx)["Style"].id, Revision(text="Long functions."))
    settled(mirror, ctx)
    assert (project / "CLAUDE.md").read_bytes() == data.replace(b"Short", b"Long")


def test_included_files_and_rules_are_mirrored_and_what_lies_outside_is_not(ctx, mirror, project, tmp_path):
    (project / "CLAUDE.md").write_text(
        "@AGENTS.md\n\n- @docs/style.md\n\nSee `@docs/code.md`, @../secret.md\n"
    )
    (project / "AGENTS.md").write_text("# Agents\n\nRun make test.\n\n## Deploy\n\nOn Mondays.\n")
    (project / "docs").mkdir()
    (project / "docs" / "style.md").write_text("Short functions.\n")
    (project / "docs" / "code.md").write_text("Not read.\n")
    (tmp_path / "secret.md").write_text("Not ours.\n")
    (project / ".claude" / "rules").mkdir(parents=True)
    rule = project / ".claude" / "rules" / "sql.md"
    rule.write_text("---\npaths: ['*.sql']\n---\nNever edit migrations.\n")
    settled(mirror, ctx)
    assert {"Agents", "Deploy", "style", "sql", "CLAUDE"} == set(living(ctx))
    revise(ctx, living(ctx)["sql"].id, Revision(text="Add migrations.", kind="rule"))
    revise(ctx, living(ctx)["Deploy"].id, Revision(text="On Fridays."))
    settled(mirror, ctx)
    assert rule.read_text() == "---\npaths: ['*.sql']\n---\nAdd migrations.\n"
    assert (project / "AGENTS.md").read_text().endswith("## Deploy\n\nOn Fridays.\n")


def test_a_linked_file_stays_a_link(ctx, mirror, project):
    (project / "CLAUDE.md").rename(project / "AGENTS.md")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    settled(mirror, ctx)
    revise(ctx, living(ctx)["Style"].id, Revision(text="Long functions."))
    settled(mirror, ctx)
    assert (project / "CLAUDE.md").is_symlink()
    assert (project / "AGENTS.md").read_text() == TEXT.replace("Short", "Long")


def test_what_was_imported_before_is_known_again(ctx, mirror, project):
    (project / ".claude" / "rules" / "db").mkdir(parents=True)
    (project / ".claude" / "rules" / "db" / "sql.md").write_text("Never edit migrations.\n")
    import_from(ctx, "claude-code", project)
    before = {memory.uid for memory in living(ctx).values()}
    assert len(before) == 4
    local = FolderMirror(mirror.path, living(ctx)["Style"].namespace, project)
    assert settled(local, ctx).changed == 0
    assert {memory.uid for memory in living(ctx).values()} == before
    edit(project / "CLAUDE.md", "Short", "Long")
    settled(local, ctx)
    assert import_from(ctx, "claude-code", project).imported == 0
    assert {memory.uid for memory in living(ctx).values()} == before


def test_a_file_that_is_gone_takes_its_memories_along_but_a_project_that_is_gone_does_not(
    ctx, mirror, project, tmp_path
):
    (project / "CLAUDE.local.md").write_text("My port is 8080.\n")
    settled(mirror, ctx)
    project.rename(tmp_path / "elsewhere")
    settled(mirror, ctx)
    assert len(living(ctx)) == 4
    (tmp_path / "elsewhere").rename(project)
    (project / "CLAUDE.local.md").unlink()
    settled(mirror, ctx)
    assert set(living(ctx)) == {"Shop", "Tests", "Style"}


def test_a_purged_memory_leaves_the_file_too(ctx, mirror, project):
    settled(mirror, ctx)
    number = living(ctx)["Tests"].id
    ctx.change("purge", lambda tx: tx.purge([number]))
    settled(mirror, ctx)
    assert "make test" not in (project / "CLAUDE.md").read_text()
    assert "Short functions." in (project / "CLAUDE.md").read_text()


def test_another_process_knows_the_project_from_the_store(ctx, mirror, project, folder):
    settled(mirror, ctx)
    edit(project / "CLAUDE.md", "Short", "Long")
    settled(FolderMirror(folder, "global"), ctx)
    assert living(ctx)["Style"].content == "Long functions."


def test_a_project_without_instructions_is_watched_from_the_start(ctx, mirror, project, folder):
    (project / "CLAUDE.md").unlink()
    settled(FolderMirror(folder, "global"), ctx)
    settled(mirror, ctx)
    (project / "CLAUDE.md").write_text(TEXT)
    settled(FolderMirror(folder, "global"), ctx)
    assert len(living(ctx)) == 3


def test_an_unreadable_file_is_told_once_and_left_alone(ctx, mirror, project):
    (project / "CLAUDE.md").write_bytes(b"caf\xe9\n")
    done = mirror.sync(ctx)
    assert len(done.errors) == 1 and "CLAUDE.md" in done.errors[0] and "UTF-8" in done.errors[0]
    assert mirror.sync(ctx).errors == [] and (project / "CLAUDE.md").read_bytes() == b"caf\xe9\n"


def test_a_note_with_front_matter_alone_stops_nothing(ctx, mirror, folder):
    folder.mkdir(parents=True)
    (folder / "empty.md").write_text("---\nname: Empty\n---\n")
    settled(mirror, ctx)
    assert not (folder / "MEMORY.md").exists() and "Style" in living(ctx)


def test_the_list_stays_within_what_claude_code_reads(ctx, mirror, folder):
    settled(mirror, ctx)
    titles = [f"{number} {'long title ' * 9}" for number in range(130)]
    remember(
        ctx, [Note(text=f"Text {title[:3]}.", name=title, namespace="global") for title in titles], force=True
    )
    settled(mirror, ctx)
    assert 20_000 < len((folder / "MEMORY.md").read_bytes()) <= 25_000


def test_worktrees_share_the_memory_folder_and_settings_name_another(project, tmp_path):
    linked, own = tmp_path / "fix", project / ".git" / "worktrees" / "fix"
    linked.mkdir()
    own.mkdir(parents=True)
    (linked / ".git").write_text(f"gitdir: {own}\n")
    (own / "commondir").write_text("../..\n")
    known = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    assert main_root_of(linked) == project
    assert memory_folder(linked, known) == memory_folder(project, known)
    (tmp_path / "claude").mkdir()
    (tmp_path / "claude" / "settings.json").write_text('{"autoMemoryDirectory": "/notes/claude"}')
    assert str(memory_folder(project, known)) == "/notes/claude"
    (tmp_path / "claude" / "settings.json").write_text("{broken")
    assert memory_folder(project, known).name == "memory"


def test_inclusions_are_followed_four_times_and_in_circles_once(project, tmp_path):
    for number in range(7):
        (project / f"{number}.md").write_text(f"Step {number}. @{number + 1}.md @CLAUDE.md @~nobody/x.md\n")
    (project / "CLAUDE.md").write_text("@0.md\n")
    found = instructions(project, tmp_path / "claude")
    assert [path.name for path in found] == ["CLAUDE.md", "0.md", "1.md", "2.md", "3.md"]
