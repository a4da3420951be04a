"""A folder of notes and the store, kept equal: edits, renames and deletions on either side, and conflicts."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from mnemic.app import import_from
from mnemic.core import titles
from mnemic.core.memories import Note, Revision, forget, remember, restore, revise
from mnemic.core.retention import touch
from mnemic.errors import Busy, Invalid
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter
from mnemic.model.memory import Draft
from mnemic.model.time import HOUR
from mnemic.storage.queries import each_memory
from mnemic.transfer.folder_mirror import MARKER, FolderMirror
from mnemic.transfer.mirror_pace import LONGEST_PAUSE_SECONDS, LOOK_SECONDS, pause_after


@pytest.fixture
def vault(tmp_path):
    return tmp_path / "vault"


@pytest.fixture
def mirror(vault):
    return FolderMirror(vault, "global")


def new(ctx, name, *texts, namespace="global", **told):
    draft = Draft(namespace=namespace, name=name, texts=texts, **told)
    return ctx.change("remember", lambda tx: tx.insert(draft, uid=ctx.new_uid()))


def living(ctx):
    found = each_memory(ctx.store.read())
    return {memory.title: memory for memory in found if memory.state is State.LIVING}


def edit(path, old, new, at=None):
    """Change a file as an editor does: some seconds after its last change, or *at* a moment."""
    assert old in path.read_text()
    stamp = path.stat().st_mtime_ns + 2_000_000_000 if at is None else at * 1_000
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, ns=(stamp, stamp))


def settled(mirror, ctx):
    done = mirror.sync(ctx)
    assert mirror.sync(ctx).changes == 0
    return done


def test_memories_are_written_and_notes_become_memories(ctx, mirror, vault):
    new(ctx, "Deploy day", "We deploy on Mondays.", tags=("ops",))
    vault.mkdir()
    (vault / "Idea.md").write_text("---\naliases: [x]\ncount: 1.10\ntype: idea\n---\nSee [[Deploy day]].\n")
    done = settled(mirror, ctx)
    assert (done.written, done.changed, done.errors) == (1, 1, [])
    memory = living(ctx)["Idea"]
    assert (memory.name, memory.kind, memory.content) == ("Idea", "idea", "See [[Deploy day]].")
    assert memory.metadata == {"aliases": ["x"], "count": "1.10", "file": "vault/Idea.md"}
    text = (vault / "Deploy day.md").read_text()
    assert f"uid: {living(ctx)['Deploy day'].uid}" in text and text.endswith("---\nWe deploy on Mondays.\n")
    [edge] = ctx.store.read().edges(EdgeFilter(types=("related_to",)))
    assert (edge.source_id, edge.target_id) == (memory.id, living(ctx)["Deploy day"].id)
    assert (vault / "Idea.md").read_text().startswith("---\naliases: [x]\ncount: 1.10\n")


def test_edits_of_either_side_arrive_on_the_other(ctx, mirror, vault):
    number = new(ctx, "Deploy day", "We deploy on Mondays.").id
    settled(mirror, ctx)
    file = vault / "Deploy day.md"
    edit(file, "Mondays", "Tuesdays")
    edit(file, "created:", "mood: good\npriority: 8\ncreated:")
    settled(mirror, ctx)
    memory = living(ctx)["Deploy day"]
    assert (memory.content, memory.priority) == ("We deploy on Tuesdays.", 8)
    assert memory.metadata["mood"] == "good"
    revise(ctx, number, Revision(tags=("ops",), text="We deploy on Thursdays."))
    settled(mirror, ctx)
    text = file.read_text()
    assert "We deploy on Thursdays." in text and "- ops" in text and "mood: good" in text


def test_a_change_in_the_store_is_noticed_without_a_look_at_the_files(ctx, mirror, vault):
    memory = new(ctx, "Idea", "Paint it blue.")
    settled(mirror, ctx)
    assert not mirror.is_behind(ctx)
    for _ in range(11):  # the tenth use gains it priority
        touch(ctx, [memory])
    assert ctx.store.newest() != mirror.position and not mirror.is_behind(ctx)
    revise(ctx, memory.id, Revision(text="Paint it red."))
    assert mirror.is_behind(ctx)
    mirror.sync(ctx)
    assert not mirror.is_behind(ctx) and "red" in (vault / "Idea.md").read_text()


def test_a_large_folder_is_looked_at_less_often_but_soon_after_a_change():
    idle = [pause_after(seconds, has_changed=False) for seconds in (0.001, 0.1, 60.0)]
    assert idle == [LOOK_SECONDS, 3.0, LONGEST_PAUSE_SECONDS]
    assert pause_after(60.0, has_changed=True) == LOOK_SECONDS


def test_changes_of_different_fields_and_lines_are_both_kept(ctx, mirror, vault):
    text = "one\ntwo\nthree\nfour"
    number = new(ctx, "Plan", text).id
    settled(mirror, ctx)
    edit(vault / "Plan.md", "four", "FOUR")
    edit(vault / "Plan.md", "created:", "tags: [mine]\ncreated:")
    revise(ctx, number, Revision(text="ONE\ntwo\nthree\nfour", tags=("theirs",), priority=9))
    done = settled(mirror, ctx)
    memory = living(ctx)["Plan"]
    assert done.conflicts == [] and memory.content == "ONE\ntwo\nthree\nFOUR"
    assert set(memory.tags) == {"mine", "theirs"} and memory.priority == 9
    assert "ONE\ntwo\nthree\nFOUR" in (vault / "Plan.md").read_text()


@pytest.mark.parametrize("later", [-HOUR, HOUR])
def test_a_conflict_is_listed_and_the_version_that_lost_is_kept_beside(ctx, mirror, vault, later):
    number = new(ctx, "Plan", "first").id
    settled(mirror, ctx)
    edit(vault / "Plan.md", "first", "from the file", ctx.now() + later)
    revise(ctx, number, Revision(text="from the store"))
    done = settled(mirror, ctx)
    [clash] = done.conflicts
    assert (clash.title, clash.conflict.field) == ("Plan", "text")
    assert (clash.conflict.here, clash.conflict.there) == ("from the store", "from the file")
    kept, lost = (clash.conflict.kept, {"from the store", "from the file"} - {clash.conflict.kept})
    assert living(ctx)["Plan"].content == kept and kept in (vault / "Plan.md").read_text()
    [copy] = vault.glob("Plan (conflict*.md")
    assert lost.pop() in copy.read_text() and len(living(ctx)) == 1


def test_deletions_travel_both_ways_and_can_be_taken_back(ctx, mirror, vault):
    for title in ("One", "Two"):
        new(ctx, title, f"{title} says this.")
    settled(mirror, ctx)
    (vault / "One.md").unlink()
    number = living(ctx)["One"].id
    assert settled(mirror, ctx).deleted == 1 and set(living(ctx)) == {"Two"}
    restore(ctx, [number])
    settled(mirror, ctx)
    assert (vault / "One.md").exists()
    forget(ctx, [living(ctx)["Two"].id])
    assert settled(mirror, ctx).removed == 1
    assert not (vault / "Two.md").exists() and (vault / ".trash" / "Two.md").exists()


def test_a_file_deleted_while_its_memory_changed_comes_back(ctx, mirror, vault):
    number = new(ctx, "One", "first").id
    settled(mirror, ctx)
    (vault / "One.md").unlink()
    revise(ctx, number, Revision(text="second"))
    done = settled(mirror, ctx)
    assert done.deleted == 0 and "second" in (vault / "One.md").read_text()


def test_renames_are_followed_both_ways(ctx, mirror, vault):
    number = new(ctx, "Old name", "Text.").id
    settled(mirror, ctx)
    (vault / "sub").mkdir()
    (vault / "Old name.md").rename(vault / "sub" / "New name.md")
    done = settled(mirror, ctx)
    assert done.deleted == 0 and living(ctx)["New name"].id == number
    assert living(ctx)["New name"].name == "New name"
    revise(ctx, number, Revision(name="What/if?"))
    settled(mirror, ctx)
    assert [path.name for path in (vault / "sub").iterdir()] == ["What if.md"]
    assert "title: What/if?" in (vault / "sub" / "What if.md").read_text()


def test_links_are_wikilinks_in_the_front_matter(ctx, mirror, vault):
    one, two = new(ctx, "One", "first"), new(ctx, "Two", "second")
    remember(ctx, [Note(text="third", name="Three", links=((one.id, "depends_on", 1.0),))])
    settled(mirror, ctx)
    file = vault / "Three.md"
    assert "depends_on:\n- '[[One]]'" in file.read_text()
    edit(file, "- '[[One]]'", "- '[[Two]]'")
    settled(mirror, ctx)
    links = ctx.store.read().edges(EdgeFilter(types=("depends_on",), is_current=True))
    assert [edge.target_id for edge in links] == [two.id]


def test_the_sections_of_a_note_are_memories_that_change_with_it(ctx, mirror, vault):
    vault.mkdir()
    file = vault / "0007.md"
    file.write_text("# Databases\n\n## Context\nWe ran them.\n\n## Decision\nUse managed ones.\n")
    settled(mirror, ctx)
    assert set(living(ctx)) == {"Databases › Context", "Databases › Decision"}
    decision = living(ctx)["Databases › Decision"]
    revise(ctx, decision.id, Revision(text="Use managed ones, in Europe."))
    settled(mirror, ctx)
    assert file.read_text() == (
        "# Databases\n\n## Context\nWe ran them.\n\n## Decision\nUse managed ones, in Europe.\n"
    )
    edit(file, "We ran them.", "We ran them ourselves.")
    settled(mirror, ctx)
    assert living(ctx)["Databases › Context"].content == "We ran them ourselves."
    forget(ctx, [decision.id])
    settled(mirror, ctx)
    assert file.read_text() == "# Databases\n\n## Context\nWe ran them ourselves.\n"


def test_observations_are_a_list(ctx, mirror, vault):
    number = new(ctx, "Ada", "Likes tea.\nAnd cake.", "Lives in London.").id
    settled(mirror, ctx)
    file = vault / "Ada.md"
    assert file.read_text().endswith("- Likes tea.\n  And cake.\n- Lives in London.\n")
    file.write_text(file.read_text() + "- Plays chess.\n")
    edit(file, "London", "Paris")
    settled(mirror, ctx)
    assert living(ctx)["Ada"].texts == ["Likes tea.\nAnd cake.", "Lives in Paris.", "Plays chess."]
    assert living(ctx)["Ada"].id == number


def test_a_bad_field_is_named_and_the_file_left_alone(ctx, mirror, vault):
    number = new(ctx, "Plan", "first").id
    settled(mirror, ctx)
    file = vault / "Plan.md"
    edit(file, "created:", "priority: high\ncreated:")
    done = mirror.sync(ctx)
    assert done.errors == ["Plan.md: priority: must be a number, not 'high'"]
    bad = file.read_text()
    revise(ctx, number, Revision(text="second"))
    mirror.sync(ctx)
    assert file.read_text() == bad and living(ctx)["Plan"].content == "second"
    edit(file, "priority: high", "priority: 9")
    settled(mirror, ctx)
    assert (living(ctx)["Plan"].content, living(ctx)["Plan"].priority) == ("second", 9)
    assert "second" in file.read_text()


def test_a_folder_that_is_gone_deletes_nothing(ctx, mirror, vault):
    new(ctx, "Plan", "first")
    settled(mirror, ctx)
    vault.rename(vault.with_name("moved"))
    with pytest.raises(Invalid, match=MARKER):
        mirror.sync(ctx)
    vault.mkdir()
    with pytest.raises(Invalid, match=MARKER):
        mirror.sync(ctx)
    assert set(living(ctx)) == {"Plan"}


def test_an_emptied_file_is_written_again(ctx, mirror, vault):
    new(ctx, "Plan", "first")
    settled(mirror, ctx)
    (vault / "Plan.md").write_text("")
    settled(mirror, ctx)
    assert living(ctx)["Plan"].content == "first" and "first" in (vault / "Plan.md").read_text()


def test_a_second_program_goes_on_where_the_first_ended(ctx, vault):
    number = new(ctx, "Plan", "first").id
    settled(FolderMirror(vault, "global"), ctx)
    edit(vault / "Plan.md", "first", "second")
    revise(ctx, number, Revision(priority=9))
    done = settled(FolderMirror(vault, "global"), ctx)
    assert done.conflicts == []
    assert (living(ctx)["Plan"].content, living(ctx)["Plan"].priority) == ("second", 9)


def test_all_namespaces_have_a_folder_each(ctx, vault):
    new(ctx, "Plan", "first", namespace="shop/web")
    new(ctx, "Plan", "second", namespace="blog")
    mirror = FolderMirror(vault)
    settled(mirror, ctx)
    assert (vault / "shop web" / "Plan.md").exists() and (vault / "blog" / "Plan.md").exists()
    (vault / "shop web" / "New.md").write_text("Here.")
    settled(mirror, ctx)
    assert living(ctx)["New"].namespace == "shop/web"


def test_names_that_no_platform_takes_are_made_safe(ctx, mirror, vault):
    for title in ("CON", "a/b:c*?", "plan", "Plan", "日本語" * 80, ". ."):
        new(ctx, title, f"about {title}")
    settled(mirror, ctx)
    names = sorted(path.name for path in vault.glob("*.md"))
    assert len(names) == 6 and len({name.casefold() for name in names}) == 6
    assert "CON.md" not in names and "a b c.md" in names and all(len(name.encode()) < 143 for name in names)


def test_a_purged_memory_leaves_no_file_behind(ctx, mirror, vault):
    number = new(ctx, "Plan", "secret").id
    settled(mirror, ctx)
    edit(vault / "Plan.md", "secret", "secret file", ctx.now() - HOUR)
    revise(ctx, number, Revision(text="secret store"))
    settled(mirror, ctx)
    ctx.change("purge", lambda tx: tx.purge([number]))
    settled(mirror, ctx)
    assert not [path for path in vault.rglob("*.md") if "secret" in path.read_text()]


def test_claude_codes_folder_gets_its_own_words_and_its_list(ctx, mirror, vault):
    vault.mkdir()
    (vault / "MEMORY.md").write_text("# Memory\n- [Tests](tests.md) — how to run them\n")
    (vault / "tests.md").write_text(
        "---\nname: Tests\ndescription: how to run them\ntype: project\n---\nRun make test.\n"
    )
    new(ctx, "Deploy day", "On Mondays.", kind="decision")
    settled(mirror, ctx)
    assert set(living(ctx)) == {"Tests", "Deploy day"}
    assert (living(ctx)["Tests"].summary, living(ctx)["Tests"].kind) == ("how to run them", "project")
    text = (vault / "Deploy day.md").read_text()
    assert "name: Deploy day" in text and "type: decision" in text and "description: Deploy day" in text
    assert "- [Deploy day](Deploy%20day.md)" in (vault / "MEMORY.md").read_text()
    forget(ctx, [living(ctx)["Deploy day"].id])
    settled(mirror, ctx)
    assert (vault / "MEMORY.md").read_text() == "# Memory\n- [Tests](tests.md) — how to run them\n"


def test_a_copied_note_becomes_a_memory_of_its_own(ctx, mirror, vault):
    new(ctx, "Plan", "first")
    settled(mirror, ctx)
    (vault / "Plan copy.md").write_text((vault / "Plan.md").read_text())
    settled(mirror, ctx)
    assert set(living(ctx)) == {"Plan", "Plan copy"}
    assert living(ctx)["Plan copy"].uid in (vault / "Plan copy.md").read_text()
    edit(vault / "Plan copy.md", "first", "second")
    settled(mirror, ctx)
    assert (living(ctx)["Plan"].content, living(ctx)["Plan copy"].content) == ("first", "second")


def test_imported_sections_are_known_again_by_the_mirror(ctx, vault):
    vault.mkdir()
    (vault / "0007.md").write_text("# Databases\n\n## Context\nOurs.\n\n## Decision\nManaged.\n")
    import_from(replace(ctx, namespace="adr"), "markdown", vault)
    before = {memory.uid for memory in living(ctx).values()}
    settled(FolderMirror(vault, "adr"), ctx)
    assert {memory.uid for memory in living(ctx).values()} == before and len(before) == 2


@pytest.mark.parametrize("mirrored", ["", "services"])
def test_imported_notes_of_one_name_are_not_mixed_up_by_the_mirror(ctx, vault, mirrored):
    for service in ("auth", "billing", "search"):
        note = vault / "services" / service / "adr" / "0001.md"
        note.parent.mkdir(parents=True)
        note.write_text(f"# Database\n\n## Context\nFor {service}.\n\n## Decision\nPostgres for {service}.\n")
    import_from(replace(ctx, namespace="adr"), "markdown", vault)
    before = {memory.uid: memory.content for memory in each_memory(ctx.store.read())}
    done = settled(FolderMirror(vault / mirrored, "adr"), ctx)
    assert (done.written, done.changed, done.conflicts) == (0, 0, [])
    assert {memory.uid: memory.content for memory in each_memory(ctx.store.read())} == before and len(
        before
    ) == 6


def test_two_programs_that_mirror_one_folder_make_no_copies(ctx, vault):
    number = new(ctx, "Alpha", "Alpha is first.").id
    one, other = FolderMirror(vault, "global"), FolderMirror(vault, "global")
    one.sync(ctx)
    other.sync(ctx)
    for step in range(4):
        revise(ctx, number, Revision(text=f"Alpha is number {step}."))
        assert one.sync(ctx).written == 1 and other.sync(ctx).changes == 0
        edit(vault / "Alpha.md", "Alpha is", "Today Alpha is")
        done = other.sync(ctx)
        assert (done.changed, done.conflicts, one.sync(ctx).changes) == (1, [], 0)
        one, other = other, one
    assert [path.name for path in vault.glob("*.md")] == ["Alpha.md"]
    assert living(ctx)["Alpha"].content == "Today Alpha is number 3."


def test_edits_are_not_lost_when_the_store_refuses_them_at_first(ctx, mirror, vault, monkeypatch):
    names = ("Alpha", "Beta")
    for name in names:
        new(ctx, name, "This is first.")
    mirror.sync(ctx)
    for name in names:
        edit(vault / f"{name}.md", "first", "second")
    with monkeypatch.context() as broken:
        broken.setattr(titles, "update", _second_fails(titles.update))
        with pytest.raises(Busy):
            mirror.sync(ctx)
    mirror.sync(ctx)
    assert [living(ctx)[name].content for name in names] == ["This is second."] * 2


def _second_fails(update):
    calls = []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) > 1:
            raise Busy("the store is locked")
        update(*arguments)

    return failing


def test_a_note_that_says_what_is_usual_anyway_stays_as_it_is(ctx, mirror, vault):
    vault.mkdir()
    text = "---\nkind: note\npriority: 5\ntier: long\nconfidence: 1.0\n---\nPaint it blue.\n"
    (vault / "Idea.md").write_text(text)
    done = settled(mirror, ctx)
    assert (done.changed, done.written) == (1, 0)
    assert (vault / "Idea.md").read_text() == text
    revise(ctx, living(ctx)["Idea"].id, Revision(text="Paint it red."))
    settled(mirror, ctx)
    assert (vault / "Idea.md").read_text() == text.replace("blue", "red")


def test_claude_codes_folder_gets_a_list_and_nothing_that_claude_md_says(ctx, tmp_path):
    project = tmp_path / "shop"
    project.mkdir()
    (project / "CLAUDE.md").write_text("# Rules\nNever edit migrations.\n")
    import_from(ctx, "markdown", project)
    new(ctx, "Tests", "Run make test.")
    folder = tmp_path / "claude" / "projects" / "-shop" / "memory"
    settled(FolderMirror(folder, "global"), ctx)
    assert sorted(path.name for path in folder.glob("*.md")) == ["MEMORY.md", "Tests.md"]
    assert (folder / "MEMORY.md").read_text() == "- [Tests](Tests.md)\n"
    assert "name: Tests" in (folder / "Tests.md").read_text()
    assert "Rules" in living(ctx)


def test_importing_a_mirrored_folder_changes_nothing_but_what_was_edited_in_it(ctx, mirror, vault):
    new(
        ctx, "Deploy day", "We deploy on Mondays.", tags=("ops",), priority=8, confidence=0.7, kind="decision"
    )
    new(ctx, None, "Tea is at four.", source="captured", metadata={"session": 1})
    before = {memory.uid: memory for memory in living(ctx).values()}
    mirror.sync(ctx)
    import_from(ctx, "markdown", vault)
    after = {memory.uid: memory for memory in living(ctx).values()}
    assert after == before
    edit(vault / "Deploy day.md", "Mondays", "Fridays", at=ctx.now() + HOUR)
    import_from(ctx, "markdown", vault)
    assert living(ctx)["Deploy day"].content == "We deploy on Fridays."
    assert len(living(ctx)) == len(before)
