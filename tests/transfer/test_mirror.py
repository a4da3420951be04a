"""A file that shows the graph: taken in at first, then followed, and nothing lost on either side."""

from __future__ import annotations

import json
import logging
import os
import stat
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from support import everything

from mnemic.core.entities import OnTakenName, create, delete, observe, read_graph, relate, unrelate
from mnemic.core.reflections import Reflection, add
from mnemic.model.graph import Sketch, Triple
from mnemic.storage.files import put_in_place
from mnemic.storage.queries import each_memory
from mnemic.transfer.graph_file import read_lines, write_lines
from mnemic.transfer.mirror import DOCUMENT, LINES, MOST_COPIES, Mirror, MirrorForm
from mnemic.transports import mirror_loop
from mnemic.transports.mirror_loop import mirrored

ANNA = {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["kind"]}
BOB = {"type": "entity", "name": "Bob", "entityType": "person", "observations": ["tall"]}
KNOWS = {"type": "relation", "from": "Anna", "to": "Bob", "relationType": "knows"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph" / "memory.jsonl"


@pytest.fixture
def mirror(path):
    return Mirror(path, LINES)


def write(path, *records, before="", after=""):
    path.parent.mkdir(exist_ok=True)
    text = before + "\n".join(json.dumps(one) for one in records) + after
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def shown(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def make(ctx, name, *observations):
    create(ctx, [Sketch(name, "person", observations)], OnTakenName.MERGE)


def names(ctx):
    return [one.title for one in read_graph(ctx).entities]


def written_at(path):
    """What changes when the file is written, and not when it is read."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


def in_its_folder(path):
    return sorted(one.name for one in path.parent.iterdir())


# -- from the store to the file


def test_an_empty_graph_makes_no_file(ctx, mirror, path):
    mirror.sync(ctx)
    assert not path.parent.exists()


def test_the_file_follows_the_graph(ctx, mirror, path):
    make(ctx, "Anna", "kind")
    mirror.sync(ctx)
    assert shown(path) == [ANNA]
    make(ctx, "Bob", "tall")
    relate(ctx, [Triple("Anna", "Bob", "knows")], may_dangle=True)
    mirror.sync(ctx)
    assert shown(path) == [ANNA, BOB, KNOWS]
    observe(ctx, [("Bob", ["old"])], may_repeat=True, must_exist=True)
    delete(ctx, ["Anna"])
    mirror.sync(ctx)
    assert shown(path) == [{**BOB, "observations": ["tall", "old"]}]
    delete(ctx, ["Bob"])
    mirror.sync(ctx)
    assert path.read_bytes() == b""
    assert in_its_folder(path) == [path.name]


def test_a_document_follows_it_too(ctx, tmp_path):
    path = tmp_path / "memory.json"
    make(ctx, "Anna", "kind")
    Mirror(path, DOCUMENT).sync(ctx)
    del (told := dict(ANNA))["type"]
    assert path.read_text() == json.dumps({"entities": [told], "relations": []}, indent=2)


def test_what_does_not_change_the_graph_leaves_the_file_alone(ctx, mirror, path):
    make(ctx, "Anna", "kind")
    mirror.sync(ctx)
    before = written_at(path)
    mirror.sync(ctx)
    add(ctx, Reflection(text="Tea"))
    mirror.sync(ctx)
    Mirror(path, LINES).sync(ctx)
    assert written_at(path) == before


def test_the_file_is_replaced_not_written_over(ctx, mirror, path):
    """Whoever is reading it has the old one to the end."""
    make(ctx, "Anna", "kind")
    mirror.sync(ctx)
    with path.open() as old:
        make(ctx, "Bob", "tall")
        mirror.sync(ctx)
        assert [json.loads(line) for line in old] == [ANNA]
    assert shown(path) == [ANNA, BOB]


def test_a_power_cut_does_not_take_the_file_away(ctx, mirror, path, synced):
    make(ctx, "Anna", "kind")
    mirror.sync(ctx)
    assert path.parent.parent in synced and synced[-1] == path.parent


def test_what_could_not_be_read_is_on_disk_before_it_is_replaced(ctx, mirror, path, synced):
    write(path, ANNA, after="no line of ours")
    mirror.sync(ctx)
    [copy] = path.parent.glob("*.damaged")
    assert synced[0] == copy and synced[-1] == path.parent


def test_a_file_that_is_gone_is_written_again(ctx, mirror, path):
    make(ctx, "Anna", "kind")
    mirror.sync(ctx)
    path.unlink()
    mirror.sync(ctx)
    assert shown(path) == [ANNA]
    assert names(ctx) == ["Anna"]


def test_the_mode_of_the_file_is_kept(ctx, mirror, path):
    write(path, ANNA)
    path.chmod(0o640)
    make(ctx, "Bob", "tall")
    mirror.sync(ctx)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_and_its_folder_are_for_its_owner(ctx, mirror, path):
    make(ctx, "Anna", "kind")
    mirror.sync(ctx)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_link_to_the_file_stays_a_link(ctx, path, tmp_path):
    write(path, ANNA)
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    make(ctx, "Bob", "tall")
    Mirror(link, LINES).sync(ctx)
    assert link.is_symlink() and len(shown(path)) == 2


# -- from the file to the store


def test_what_is_in_the_file_at_first_is_imported(ctx, mirror, path):
    write(path, KNOWS, ANNA, BOB)
    mirror.sync(ctx)
    assert names(ctx) == ["Anna", "Bob"]
    assert shown(path) == [ANNA, BOB, KNOWS]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("form", [LINES, DOCUMENT])
def test_a_byte_order_mark_is_no_flaw(ctx, tmp_path, form, mark):
    path = tmp_path / "file"
    content = ANNA if form is LINES else {"entities": [ANNA], "relations": [KNOWS]}
    write(path, content, before=mark)
    Mirror(path, form).sync(ctx)
    assert names(ctx) == ["Anna"]
    assert not (tmp_path / "file.damaged").exists()


def test_it_is_added_to_known_memories(ctx, mirror, path):
    make(ctx, "Anna", "wise")
    write(path, ANNA, BOB)
    mirror.sync(ctx)
    assert shown(path) == [{**ANNA, "observations": ["wise", "kind"]}, BOB]


def test_what_others_add_is_imported(ctx, mirror, path):
    make(ctx, "Anna", "kind")
    mirror.sync(ctx)
    write(path, ANNA, BOB, KNOWS)
    mirror.sync(ctx)
    assert names(ctx) == ["Anna", "Bob"]
    assert shown(path) == [ANNA, BOB, KNOWS]


def test_what_others_take_away_stays(ctx, mirror, path):
    """A file cannot say what was meant to go."""
    make(ctx, "Anna", "kind")
    make(ctx, "Bob", "tall")
    mirror.sync(ctx)
    write(path, BOB)
    mirror.sync(ctx)
    assert shown(path) == [ANNA, BOB]
    path.write_bytes(b"")
    mirror.sync(ctx)
    assert shown(path) == [ANNA, BOB]


def test_what_we_deleted_does_not_come_back(ctx, mirror, path):
    write(path, ANNA, BOB, KNOWS)
    mirror.sync(ctx)
    unrelate(ctx, [Triple("Anna", "Bob", "knows")])
    mirror.sync(ctx)
    delete(ctx, ["Bob"])
    mirror.sync(ctx)
    Mirror(path, LINES).sync(ctx)
    assert shown(path) == [ANNA] and names(ctx) == ["Anna"]


def test_nor_after_a_crash_before_the_file_was_written(ctx, mirror, path):
    write(path, ANNA, BOB)
    mirror.sync(ctx)
    delete(ctx, ["Bob"])
    Mirror(path, LINES).sync(ctx)  # the next server, which finds the file of the last one
    assert names(ctx) == ["Anna"] and shown(path) == [ANNA]


def test_nor_if_the_file_could_not_be_written_after_it_was_taken_in(ctx, path):
    write(path, ANNA, BOB)
    with pytest.raises(OSError):
        Mirror(path, MirrorForm(read_lines, fail)).sync(ctx)
    assert names(ctx) == ["Anna", "Bob"]
    delete(ctx, ["Bob"])
    Mirror(path, LINES).sync(ctx)
    assert names(ctx) == ["Anna"] and shown(path) == [ANNA]


def fail(*_):
    raise OSError("No space left on device")


def test_what_could_not_be_imported_is_tried_again_and_not_overwritten(ctx, path):
    ways = [MirrorForm(fail, write_lines), LINES]
    mirror = Mirror(path, MirrorForm(lambda text: ways.pop(0).read(text), write_lines))
    write(path, ANNA)
    with pytest.raises(OSError):
        mirror.sync(ctx)
    assert shown(path) == [ANNA]
    mirror.sync(ctx)
    assert names(ctx) == ["Anna"]


def test_a_file_imported_twice_changes_nothing(ctx, path):
    write(path, ANNA, BOB, KNOWS)
    Mirror(path, LINES).sync(ctx)
    before = everything(ctx.store)
    write(path, BOB, KNOWS, ANNA)
    Mirror(path, LINES).sync(ctx)
    assert everything(ctx.store) == before


def written(path, entities, relations):
    path.write_text(json.dumps({"entities": entities, "relations": relations}))


def document(path):
    content = json.loads(path.read_text())
    texts = {one["name"]: one["observations"] for one in content["entities"]}
    return texts, [one["relationType"] for one in content["relations"]]


def test_what_may_repeat_is_counted(ctx, tmp_path):
    path = tmp_path / "memory.json"
    mirror = Mirror(path, DOCUMENT)
    written(path, [{**ANNA, "observations": ["kind", "kind"]}, BOB], [KNOWS, KNOWS])
    mirror.sync(ctx)
    assert document(path) == ({"Anna": ["kind", "kind"], "Bob": ["tall"]}, ["knows"] * 2)
    before = everything(ctx.store)
    Mirror(path, DOCUMENT).sync(ctx)
    path.write_text(path.read_text() + "\n")
    mirror.sync(ctx)
    assert everything(ctx.store) == before, "what is there is not doubled"
    written(path, [BOB, {**ANNA, "observations": ["kind"] * 3}], [KNOWS] * 3)
    mirror.sync(ctx)
    assert document(path) == ({"Anna": ["kind"] * 3, "Bob": ["tall"]}, ["knows"] * 3)


def test_what_others_say_less_often_stays(ctx, tmp_path):
    path = tmp_path / "memory.json"
    mirror = Mirror(path, DOCUMENT)
    written(path, [{**ANNA, "observations": ["kind", "kind"]}, BOB], [KNOWS, KNOWS])
    mirror.sync(ctx)
    written(path, [ANNA, BOB], [KNOWS])
    mirror.sync(ctx)
    assert document(path) == ({"Anna": ["kind", "kind"], "Bob": ["tall"]}, ["knows"] * 2)


def test_two_stores_agree_on_how_often(ctx, fresh, tmp_path):
    path = tmp_path / "memory.json"
    there = replace(ctx, store=fresh("other"))
    one, other = Mirror(path, DOCUMENT), Mirror(path, DOCUMENT)
    for here, times in ((ctx, 1), (there, 3)):
        make(here, "Anna", *["kind"] * times)
        relate(here, [Triple("Anna", "Bob", "knows")] * times, may_dangle=True, may_repeat=True)
    for _ in range(3):
        one.sync(ctx)
        other.sync(there)
    assert document(path) == ({"Anna": ["kind"] * 3}, ["knows"] * 3)
    assert len(read_graph(ctx).relations) == 3 and read_graph(ctx).entities[0].texts == ["kind"] * 3
    last = written_at(path)
    one.sync(ctx)
    other.sync(there)
    assert written_at(path) == last


def test_a_line_without_a_type_takes_none_away(ctx, mirror, path):
    make(ctx, "Anna", "kind")
    mirror.sync(ctx)
    write(path, ANNA, {"type": "entity", "name": "Anna", "observations": ["tall"]})
    mirror.sync(ctx)
    assert shown(path) == [{**ANNA, "observations": ["kind", "tall"]}]


# -- several namespaces in one file


@pytest.fixture
def project(ctx):
    """In the namespace proj X, which leads to Z; and an X in two others."""
    here = replace(ctx, namespace="proj")
    make(here, "X", "secret of project")
    make(here, "Z")
    relate(here, [Triple("X", "Z", "uses")], may_dangle=True)
    make(replace(ctx, namespace="elsewhere"), "X", "of another")
    make(replace(ctx, namespace="global"), "X", "of global")


def texts(ctx):
    memories = [memory for memory in each_memory(ctx.store.read()) if memory.title == "X"]
    return {memory.namespace: list(memory.texts) for memory in memories}


APART = {"proj": ["secret of project"], "elsewhere": ["of another"], "global": ["of global"]}


@pytest.mark.parametrize("form", [LINES, DOCUMENT])
def test_what_is_added_to_a_file_leaves_the_rest_where_it_is(ctx, project, path, form):
    mirror = Mirror(path, form)
    mirror.sync(ctx)
    add_by_hand(path, form, BOB, {**KNOWS, "from": "Bob", "to": "Z"})
    mirror.sync(ctx)
    assert texts(ctx) == APART
    graph = read_graph(ctx)
    assert [one.title for one in graph.entities] == ["X", "Z", "X", "X", "Bob"]
    assert [one.type for one in graph.relations] == ["uses", "knows"]


def add_by_hand(path, form, entity, relation):
    if form is LINES:
        path.write_text("\n".join([path.read_text(), json.dumps(entity), json.dumps(relation)]))
        return
    content = json.loads(path.read_text())
    written(path, [*content["entities"], entity], [*content["relations"], relation])


def test_what_is_added_to_a_line_goes_to_the_one_it_shows(ctx, project, path, mirror):
    mirror.sync(ctx)
    path.write_text(path.read_text().replace('"secret of project"', '"secret of project", "and more"'))
    mirror.sync(ctx)
    assert texts(ctx) == {**APART, "proj": ["secret of project", "and more"]}
    path.write_text("\n".join(line for line in path.read_text().split("\n") if "global" not in line))
    mirror.sync(ctx)
    path.write_text(path.read_text().replace('"of another"', '"new", "of another"'))
    mirror.sync(ctx)
    assert texts(ctx) == {
        "proj": ["secret of project", "and more"],
        "elsewhere": ["of another", "new"],
        "global": ["of global"],
    }


def test_a_line_like_none_goes_where_its_name_leads(ctx, project, path, mirror):
    mirror.sync(ctx)
    path.write_text(path.read_text() + "\n" + json.dumps({**ANNA, "name": "X", "observations": ["new"]}))
    mirror.sync(ctx)
    assert texts(ctx) == {**APART, "global": ["of global", "new"]}


def test_a_relation_written_once_more_stands_once_more(ctx, project, tmp_path):
    path = tmp_path / "memory.json"
    mirror = Mirror(path, DOCUMENT)
    mirror.sync(ctx)
    content = json.loads(path.read_text())
    written(path, content["entities"], content["relations"] * 2)
    mirror.sync(ctx)
    assert len(read_graph(ctx).relations) == 2 and texts(ctx) == APART


# -- a damaged file


@pytest.mark.parametrize(
    "form, text",
    [
        (LINES, json.dumps(ANNA) + '\n{"type": "entity", "na'),
        (LINES, '\n{"type": "entity", "name": 7}\n' + json.dumps(ANNA)),
        (LINES, json.dumps(ANNA) + '\n{"type": "entity", "name": "\udcff"}'),
        (DOCUMENT, json.dumps({"entities": [ANNA]}) + '"old"]}'),
        (DOCUMENT, json.dumps({"entities": [7, ANNA]})),
    ],
)
def test_the_good_part_is_imported_and_the_file_kept_beside(ctx, tmp_path, caplog, form, text):
    path = tmp_path / "file.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = path.read_bytes()
    with caplog.at_level(logging.WARNING):
        Mirror(path, form).sync(ctx)
    assert names(ctx) == ["Anna"]
    assert (tmp_path / "file.json.damaged").read_bytes() == before
    assert "kept as file.json.damaged" in caplog.text
    assert form.write([], []) != path.read_bytes() != before
    assert list(form.read(path.read_text())) == list(form.read(form.write(*read_graph_parts(ctx)).decode()))


def read_graph_parts(ctx):
    graph = read_graph(ctx)
    return graph.entities, graph.relations


def test_a_file_with_nothing_good_in_it_is_kept_beside(ctx, mirror, path):
    write(path, before="not a graph at all")
    mirror.sync(ctx)
    assert path.with_name("memory.jsonl.damaged").read_text() == "not a graph at all"
    assert names(ctx) == []


@pytest.mark.parametrize(
    "content, told",
    [
        ({"memories": [{"text": "precious"}]}, "the file: of an unknown type"),
        ({"entities": {"a": {"entityType": "k"}}, "relations": []}, "entities: not a list"),
        ({"entities": [], "relations": "a knows b"}, "relations: not a list"),
        ({"type": "note", "text": "precious"}, "the file: of an unknown type"),
    ],
)
def test_a_document_of_another_shape_is_kept_beside(ctx, tmp_path, caplog, content, told):
    path = tmp_path / "memory.json"
    write(path, content)
    with caplog.at_level(logging.WARNING):
        Mirror(path, DOCUMENT).sync(ctx)
    assert json.loads((tmp_path / "memory.json.damaged").read_text()) == content
    assert f"skipped {told}. The file as it was is kept" in caplog.text


def test_lines_where_a_document_should_be_are_imported(ctx, tmp_path):
    for number, records in enumerate(([ANNA], [BOB, KNOWS])):
        path = tmp_path / f"{number}.json"
        write(path, *records)
        Mirror(path, DOCUMENT).sync(ctx)
    assert names(ctx) == ["Anna", "Bob"] and len(read_graph(ctx).relations) == 1
    assert list(json.loads(path.read_text())) == ["entities", "relations"]
    assert not list(tmp_path.glob("*.damaged"))


@pytest.mark.parametrize(
    "form, records, told",
    [
        (LINES, [{**ANNA, "createdAt": "today"}], "line 1: no place for createdAt"),
        (LINES, [ANNA, {**KNOWS, "weight": 1, "by": 2}], "line 2: no place for weight, by"),
        (DOCUMENT, [{"entities": [{**ANNA, "createdAt": "today"}]}], "entities.0: no place for createdAt"),
        (DOCUMENT, [{"entities": [ANNA], "relations": [{**KNOWS, "weight": 1}]}], "relations.0: no place"),
        (DOCUMENT, [{"version": 2, "entities": [ANNA]}], "the file: no place for version"),
    ],
)
def test_what_has_no_place_here_is_kept_beside(ctx, tmp_path, caplog, form, records, told):
    path = tmp_path / "memory.json"
    write(path, *records)
    before = path.read_bytes()
    with caplog.at_level(logging.WARNING):
        Mirror(path, form).sync(ctx)
    assert names(ctx) == ["Anna"] and path.read_bytes() != before
    assert (tmp_path / "memory.json.damaged").read_bytes() == before
    assert told in caplog.text


def test_what_was_kept_is_not_kept_again(ctx, fresh, path):
    """By another server on the same file, or by ours when the same comes again."""
    damaged = {**ANNA, "createdAt": "today"}
    there = replace(ctx, store=fresh("other"))
    for here in (ctx, there, ctx):
        write(path, damaged)
        Mirror(path, LINES).sync(here)
    assert in_its_folder(path) == ["memory.jsonl", "memory.jsonl.damaged"]
    write(path, damaged, BOB)
    Mirror(path, LINES).sync(ctx)
    assert in_its_folder(path) == ["memory.jsonl", "memory.jsonl.damaged", "memory.jsonl.damaged1"]


def test_who_writes_more_than_we_keep_again_and_again_leaves_few_copies(ctx, mirror, path, caplog):
    for number in range(MOST_COPIES + 5):
        write(path, {**ANNA, "createdAt": number})
        with caplog.at_level(logging.WARNING):
            mirror.sync(ctx)
    assert len(in_its_folder(path)) == 1 + MOST_COPIES
    assert "Enough such files are kept beside it" in caplog.text
    path.write_text("{")
    mirror.sync(ctx)
    assert len(in_its_folder(path)) == 2 + MOST_COPIES, "what is damaged is kept in any case"


def test_only_the_first_flaws_are_reported(ctx, mirror, path, caplog):
    write(path, *range(12))
    with caplog.at_level(logging.WARNING):
        mirror.sync(ctx)
    assert "line 5: of an unknown type and 7 more" in caplog.text and "line 6" not in caplog.text


# -- what stands in the way


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes mean something else here")
def test_a_folder_that_cannot_be_made_is_reported_and_not_fatal(ctx, tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    with caplog.at_level(logging.WARNING), mirrored(ctx, Mirror(tmp_path / "file" / "x.jsonl", LINES)):
        make(ctx, "Anna", "kind")
    assert names(ctx) == ["Anna"]
    assert "cannot be kept up to date" in caplog.text


def test_a_file_that_is_a_folder_is_reported_and_not_fatal(ctx, tmp_path, caplog):
    with caplog.at_level(logging.WARNING), mirrored(ctx, Mirror(tmp_path, LINES)):
        make(ctx, "Anna", "kind")
    assert "cannot be kept up to date" in caplog.text


class WatchedMirror(Mirror):
    """A mirror of which one can wait until it was tried some times."""

    tried = 0

    def __init__(self, path: Path):
        super().__init__(path, LINES)
        self.was_tried = threading.Event()

    def sync(self, ctx):
        """Count the try."""
        self.tried += 1
        if self.tried == 5:
            self.was_tried.set()
        super().sync(ctx)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder in which nobody can make a file")
@pytest.mark.parametrize("place", ["/proc/memory.jsonl", "/proc/nowhere/memory.jsonl"])
def test_what_stands_in_the_way_is_reported_once(ctx, place, caplog, monkeypatch):
    monkeypatch.setattr(mirror_loop, "LOOK_SECONDS", 0.001)
    mirror = WatchedMirror(Path(place))
    make(ctx, "Anna", "kind")
    with caplog.at_level(logging.WARNING), mirrored(ctx, mirror):
        assert mirror.was_tried.wait(60)
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        f"{place} cannot be kept up to date"
    ]


def test_what_stands_in_the_way_again_is_told_again(ctx, path, caplog):
    keeper = mirror_loop.Keeper(ctx, Mirror(path, LINES))
    make(ctx, "Anna", "kind")
    for _ in range(2):
        path.parent.write_text("in the way")
        keeper.sync()
        path.parent.unlink()
        keeper.sync()
        path.unlink()
        path.parent.rmdir()
    assert caplog.text.count("cannot be kept up to date") == 2


def test_a_file_that_could_not_be_written_is_written_when_it_can(ctx, mirror, path):
    path.parent.write_text("in the way")
    make(ctx, "Anna", "kind")
    with pytest.raises(OSError):
        mirror.sync(ctx)
    path.parent.unlink()
    mirror.sync(ctx)
    assert shown(path) == [ANNA]


def test_a_change_between_reading_and_writing_is_not_overwritten(ctx, path):
    mirror = Mirror(path, disturbed(lambda: write(path, ANNA, BOB)))
    make(ctx, "Carl")
    mirror.sync(ctx)
    assert shown(path) == [ANNA, BOB], "what the other wrote is still there"
    mirror.sync(ctx)
    assert names(ctx) == ["Carl", "Anna", "Bob"]
    assert [one["name"] for one in shown(path)] == ["Carl", "Anna", "Bob"]


def disturbed(disturb):
    """Lines, but something happens while they are written for the first time."""
    once = [disturb]

    def written(*graph):
        content = write_lines(*graph)
        if once:
            once.pop()()
        return content

    return MirrorForm(read_lines, written)


# -- two of them


def test_two_mirrors_on_one_file_and_store_agree(ctx, path):
    one, other = Mirror(path, LINES), Mirror(path, LINES)
    make(ctx, "Anna", "kind")
    for mirror in (one, other, one):
        mirror.sync(ctx)
    make(ctx, "Bob", "tall")
    other.sync(ctx)
    delete(ctx, ["Anna"])
    for mirror in (one, other, one, other):
        mirror.sync(ctx)
    assert shown(path) == [BOB] and names(ctx) == ["Bob"]
    last = written_at(path)
    for mirror in (one, other):
        mirror.sync(ctx)
    assert written_at(path) == last, "they are at rest"


def test_a_server_that_was_overtaken_does_not_bring_back_what_went_meanwhile(ctx, path):
    other = Mirror(path, LINES)

    def overtake():
        delete(ctx, ["Bob"])
        other.sync(ctx)

    one = Mirror(path, disturbed(overtake))
    make(ctx, "Anna", "kind")
    make(ctx, "Bob", "tall")
    for mirror in (one, other, one, other):
        mirror.sync(ctx)
    assert shown(path) == [ANNA] and names(ctx) == ["Anna"]


def test_a_file_that_an_overtaken_server_wrote_is_updated(ctx, mirror, path):
    make(ctx, "Anna", "kind")
    mirror.sync(ctx)
    stale = path.read_bytes()
    make(ctx, "Bob", "tall")
    mirror.sync(ctx)
    path.write_bytes(stale)
    mirror.sync(ctx)
    assert shown(path) == [ANNA, BOB]


def test_two_stores_on_one_file_come_to_know_the_same(ctx, fresh, path):
    there = replace(ctx, store=fresh("other"))
    one, other = Mirror(path, LINES), Mirror(path, LINES)
    make(ctx, "Anna", "kind")
    make(there, "Bob", "tall")
    for _ in range(3):
        one.sync(ctx)
        other.sync(there)
    assert names(ctx) == ["Anna", "Bob"] and names(there) == ["Bob", "Anna"]
    last = written_at(path)
    one.sync(ctx)
    other.sync(there)
    assert written_at(path) == last, "though each has an order of its own"


# -- while a server runs


def test_a_mirror_is_complete_when_the_server_has_ended(ctx, path):
    write(path, ANNA)
    with mirrored(ctx, Mirror(path, LINES)):
        assert names(ctx) == ["Anna"], "before anything else happens"
        make(ctx, "Bob", "tall")
    assert shown(path) == [ANNA, BOB]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no file is called so")
def test_a_file_whose_name_is_not_utf_8_is_kept_too(ctx, tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.jsonl")
    with mirrored(ctx, Mirror(path, LINES)):
        make(ctx, "Anna", "kind")
    assert shown(path) == [ANNA]


def test_no_mirror_is_nothing(ctx):
    with mirrored(ctx, None):
        make(ctx, "Anna")
    assert names(ctx) == ["Anna"]


def test_edit_right_after_the_mirror_wrote_is_imported(ctx, mirror, path, monkeypatch):
    def replace_and_lose_the_race(part, target):
        put_in_place(part, target)
        write(path, ANNA, BOB)

    make(ctx, "Anna", "kind")
    monkeypatch.setattr("mnemic.transfer.mirror.put_in_place", replace_and_lose_the_race)
    mirror.sync(ctx)
    monkeypatch.undo()
    mirror.sync(ctx)
    assert names(ctx) == ["Anna", "Bob"]
