"""What comes in a file is merged with what is known by field and statement; nothing is lost, lowered or doubled."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from support import START, everything, faults, kept, last_number

from mnemic.core.memories import Fate, Revision, forget, revise, supersede
from mnemic.core.standards import set_standard
from mnemic.errors import Denied
from mnemic.model.access import Grant
from mnemic.model.change import Subject
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ANY_EDGE, ChangeFilter, EdgeFilter
from mnemic.model.graph import Direction, EdgePatch
from mnemic.model.memory import MemoryPatch
from mnemic.model.time import DAY, HOUR, iso
from mnemic.storage.queries import count, ids_with_uid, memory_numbered
from mnemic.transfer.document import export_json, import_json
from mnemic.transfer.exporter import BATCH

ID = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


def entry(**fields):
    return {
        "id": ID,
        "title": "T",
        "content": "from elsewhere",
        "namespace": "global",
        "tier": "mid",
        "created_at": iso(START - DAY),
        "updated_at": iso(START - HOUR),
        **fields,
    }


def taken(ctx, *entries, links=(), **more):
    return import_json(ctx, {"memories": list(entries), "links": list(links), **more})


def by_uid(ctx, uid=ID):
    reader = ctx.store.read()
    return reader.get(ids_with_uid(reader, uid, 1))[0]


def figures(done):
    return done.imported, done.skipped, done.errors


def test_a_new_memory_keeps_its_id_times_counters_and_end(ctx):
    given = entry(
        access_count=7,
        last_accessed_at=iso(START - HOUR),
        expires_at=iso(START + DAY),
        priority=9,
        source="Anna",
    )
    assert figures(taken(ctx, given)) == (1, 0, [])
    memory = by_uid(ctx)
    assert (memory.created_at, memory.updated_at, memory.accessed_at) == (
        START - DAY,
        START - HOUR,
        START - HOUR,
    )
    assert (memory.access_count, memory.expires_at, memory.priority) == (7, START + DAY, 9)
    assert (memory.tier, memory.source, memory.state) == (Tier.MID, "Anna", State.LIVING)


@pytest.mark.parametrize("is_known_by", ["id", "title"])
def test_a_newer_file_changes_what_it_says_and_an_older_one_nothing(ctx, is_known_by):
    taken(ctx, entry(tags=["a"], source="old", metadata={"k": 1}))
    id = ID if is_known_by == "id" else OTHER
    newer = entry(id=id, content="newer", tags=["b"], source="new", metadata={}, updated_at=iso(START))
    assert figures(taken(ctx, newer)) == (1, 0, [])
    memory = by_uid(ctx)
    assert (memory.content, memory.tags, memory.source, memory.metadata) == ("newer", ("b",), "new", {})
    assert memory.updated_at == START and count(ctx.store.read()) == 1
    older = entry(id=id, content="older", tags=[], updated_at=iso(START - DAY))
    assert figures(taken(ctx, older)) == (0, 1, [])
    assert by_uid(ctx) == memory


def test_an_older_one_still_raises_what_it_has_more_of(ctx):
    taken(ctx, entry(priority=3, confidence=0.5, access_count=2, expires_at=iso(START + HOUR)))
    older = entry(
        updated_at=iso(START - DAY), content="old", priority=8, confidence=0.9, access_count=5, tier="long"
    )
    assert figures(taken(ctx, older)) == (1, 0, [])
    memory = by_uid(ctx)
    assert (memory.content, memory.updated_at) == ("from elsewhere", START - HOUR)
    assert (memory.priority, memory.confidence, memory.access_count) == (8, 0.9, 5)
    assert (memory.tier, memory.expires_at) == (Tier.LONG, None)


def test_nothing_is_lowered_or_shortened_by_a_newer_one(ctx):
    taken(ctx, entry(priority=8, confidence=0.9, access_count=5, tier="long"))
    taken(
        ctx,
        entry(
            updated_at=iso(START),
            priority=3,
            confidence=0.1,
            access_count=0,
            tier="short",
            expires_at=iso(START + 1),
        ),
    )
    memory = by_uid(ctx)
    assert (memory.priority, memory.confidence, memory.access_count) == (8, 0.9, 5)
    assert (memory.tier, memory.expires_at) == (Tier.LONG, None)


def test_an_end_is_moved_back_only(ctx):
    taken(ctx, entry(expires_at=iso(START + 2 * HOUR)))
    taken(ctx, entry(updated_at=iso(START), expires_at=iso(START + HOUR)))
    assert by_uid(ctx).expires_at == START + 2 * HOUR
    taken(ctx, entry(updated_at=iso(START), expires_at=iso(START + 3 * HOUR)))
    assert by_uid(ctx).expires_at == START + 3 * HOUR


def test_what_an_entry_does_not_mention_stays(ctx):
    memory = kept(
        ctx, "ours", name="T", kind="decision", summary="s", tags=("a",), metadata={"k": 1}, source="me"
    )
    taken(ctx, {"id": memory.uid, "title": "T", "content": "theirs", "updated_at": iso(START + 1)})
    same = by_uid(ctx, memory.uid)
    assert (same.content, same.kind, same.summary, same.tags) == ("theirs", "decision", "s", ("a",))
    assert (same.metadata, same.source) == ({"k": 1}, "me")


def test_a_new_title_comes_along_unless_it_is_taken(ctx):
    taken(ctx, entry(), entry(id=OTHER, title="Taken"))
    taken(ctx, entry(title="Renamed", updated_at=iso(START)))
    assert by_uid(ctx).title == "Renamed"
    assert taken(ctx, entry(title="Taken", content="new", updated_at=iso(START))).errors == []
    assert (by_uid(ctx).title, by_uid(ctx).content) == ("Renamed", "new")
    assert faults(ctx.store) == []


def test_two_of_one_title_in_a_document_become_one(ctx):
    done = taken(ctx, entry(), entry(id=OTHER, content="newer", updated_at=iso(START)))
    assert figures(done) == (2, 0, []) and count(ctx.store.read()) == 1
    assert by_uid(ctx).content == "newer"


@pytest.mark.parametrize("id", [ID, "mem-1"])
def test_the_second_of_two_with_one_id_in_a_document_is_reported(ctx, id):
    done = taken(ctx, entry(id=id), entry(id=id.upper() if id == ID else id, title="Second", content="other"))
    assert figures(done) == (1, 0, ["Second: id: an entry before has the same"])
    assert memory_numbered(ctx.store.read(), 1).title == entry()["title"]


def test_an_id_that_is_no_uuid_is_kept_beside_one_that_is(ctx):
    link = {"source_id": "mem-1", "target_id": 7, "relation": "supersedes"}
    pair = (entry(id="mem-1"), entry(id=7, title="Seven"))
    assert figures(taken(ctx, *pair, links=[link])) == (2, 0, [])
    first = memory_numbered(ctx.store.read(), 1)
    assert uuid.UUID(first.uid).version == 5 and first.metadata == {"original_id": "mem-1"}
    assert [edge.type for edge in ctx.store.read().edges(EdgeFilter(at=(1,), direction=Direction.OUT))] == [
        "supersedes"
    ]
    assert figures(taken(ctx, *pair, links=[link])) == (0, 2, [])
    assert len(list(ctx.store.read().edges(ANY_EDGE))) == 1


def test_links_find_earlier_memories_by_title(ctx):
    ours = kept(ctx, "ours", name="Ours")
    taken(ctx, entry(id=OTHER, title="Ours", updated_at=iso(START - DAY)))
    links = [
        {"source_id": ID, "target_id": ours.uid, "created_at": iso(START - DAY)},
        {"source_id": ID, "target_id": OTHER, "relation": "knows", "weight": 0.5, "reason": "met"},
        {"source_id": ID, "target_id": "nowhere"},
    ]
    done = taken(ctx, entry(), entry(id=OTHER, title="Ours", updated_at=iso(START - DAY)), links=links)
    assert done.errors == ["links.2: no memory has the id 'nowhere'"]
    edges = list(ctx.store.read().edges(ANY_EDGE))
    assert [(edge.type, edge.target_id) for edge in edges] == [("related_to", ours.id), ("knows", ours.id)]
    assert edges[0].created_at == START - DAY and (edges[1].weight, edges[1].reason) == (0.5, "met")


def test_what_has_expired_comes_into_the_archive(ctx):
    given = entry(expires_at=iso(START - 1))
    assert figures(taken(ctx, given)) == (1, 0, [])
    memory = by_uid(ctx)
    assert (memory.state, memory.state_at, memory.content) == (State.ARCHIVED, START, "from elsewhere")
    assert figures(taken(ctx, given)) == (0, 1, [])


def test_what_was_archived_elsewhere_stays_so_and_never_hides_what_lives_here(ctx):
    old = entry(archived_at=iso(START - 5), archive_reason="gc")
    taken(ctx, old)
    memory = by_uid(ctx)
    assert (memory.state, memory.state_at, memory.state_reason) == (State.ARCHIVED, START - 5, "gc")
    taken(ctx, entry(updated_at=iso(START)))
    assert by_uid(ctx).state is State.LIVING
    assert figures(taken(ctx, old)) == (0, 1, []) and by_uid(ctx).state is State.LIVING


def test_what_was_forgotten_here_comes_back(ctx, clock):
    taken(ctx, entry())
    clock.advance(hours=1)
    forget(ctx, [ID])
    assert figures(taken(ctx, entry())) == (1, 0, [])
    memory = by_uid(ctx)
    assert (memory.state, memory.state_at, memory.content) == (State.LIVING, None, "from elsewhere")


def test_what_was_forgotten_here_stays_so_if_that_is_asked_for(ctx, clock):
    taken(ctx, entry())
    clock.advance(hours=1)
    forget(ctx, [ID])
    kept_away = import_json(ctx, {"memories": [entry()]}, revives=False)
    assert figures(kept_away) == (0, 1, []) and by_uid(ctx).state is State.FORGOTTEN
    later = entry(updated_at=iso(clock() + 1), content="changed since")
    assert figures(import_json(ctx, {"memories": [later]}, revives=False)) == (1, 0, [])
    assert (by_uid(ctx).state, by_uid(ctx).content) == (State.LIVING, "changed since")


def test_the_forgotten_whose_title_has_a_new_bearer_joins_it(ctx):
    taken(ctx, entry())
    forget(ctx, [ID])
    bearer = kept(ctx, "ours", name="T")
    assert taken(ctx, entry(updated_at=iso(START + 1))).errors == []
    assert by_uid(ctx).state is State.FORGOTTEN
    assert memory_numbered(ctx.store.read(), bearer.id).content == "from elsewhere"


def test_what_was_corrected_here_stays_corrected(ctx):
    taken(ctx, entry())
    supersede(ctx, ID, "corrected", "wrong")
    assert figures(taken(ctx, entry(updated_at=iso(START + 1)))) == (0, 1, [])
    assert by_uid(ctx).state is State.SUPERSEDED


def test_a_token_sees_nothing_through_ids_of_others(ctx):
    secret = kept(ctx, "secret", namespace="home")
    guest = ctx.limited_to(Grant(("work",)))
    done = taken(
        guest,
        entry(id=secret.uid, namespace="work"),
        entry(namespace="work"),
        links=[{"source_id": ID, "target_id": secret.uid}],
        standards=[{"namespace": "home", "standard_id": ID}],
    )
    assert done.imported == 1 and len(done.errors) == 3
    assert (
        memory_numbered(ctx.store.read(), secret.id) == secret
        and list(ctx.store.read().edges(ANY_EDGE)) == []
    )
    with pytest.raises(Denied):
        taken(ctx.limited_to(Grant(None, can_write=False)), entry())


def test_standards_are_set_where_there_are_none(ctx):
    rules = kept(ctx, "rules", name="Rules", namespace="app")
    set_standard(ctx, "app", rules.id, "base")
    document = export_json(ctx)
    assert document["standards"] == [{"namespace": "app", "standard_id": rules.uid, "parent": "base"}]
    theirs = [
        {"namespace": "app", "standard_id": ID, "parent": None},
        {"namespace": "web", "standard_id": ID, "parent": "app"},
        {"namespace": "bad", "standard_id": "nowhere"},
        {"standard_id": ID},
        5,
    ]
    done = taken(ctx, entry(), standards=theirs)
    assert [error.partition(":")[0] for error in done.errors] == ["standards.2", "standards.3", "standards.4"]
    assert ctx.store.read().standards() == [("app", rules.id, "base"), ("web", rules.id + 1, "app")]


def test_a_large_document_comes_in_pieces_and_tells_how_far_it_is(ctx):
    told = []
    entries = [entry(id=f"m{n}", title=f"T{n}") for n in range(BATCH + 5)]
    entries[3] = {**entries[3], "priority": 99}
    done = import_json(ctx, {"memories": entries}, progress=lambda at, of: told.append((at, of)))
    assert done.imported == BATCH + 4 and len(done.errors) == 1 and done.errors[0].startswith("T3: priority")
    assert told[-1][1] == BATCH + 5 and [at for at, _ in told] == sorted(at for at, _ in told)
    assert len({change.batch for change in ctx.store.read().journal()}) == 2


def test_statements_come_back_as_they_were_unless_the_content_says_otherwise(ctx, fresh, clock):
    memory = kept(ctx, "one", name="E", kind="person")
    revise(ctx, memory.id, Revision(append="two"))
    document = export_json(ctx)
    [told] = document["memories"]
    assert told["statements"] == ["one", "two"] and told["content"] == "one\ntwo"
    elsewhere = replace(ctx, store=fresh("elsewhere"))
    import_json(elsewhere, document)
    assert [said.text for said in by_uid(elsewhere, memory.uid).statements] == ["one", "two"]
    told["content"] = "edited by hand"
    assert import_json(elsewhere, document).imported == 1
    assert [said.text for said in by_uid(elsewhere, memory.uid).statements] == ["edited by hand"]


# -- merge by field and statement


def conflicts(done):
    return [
        (one.conflict.field, one.conflict.here, one.conflict.there, one.conflict.kept)
        for one in done.conflicts
    ]


def past_texts(ctx, uid=ID):
    """Every text that the memory ever had here."""
    reader = ctx.store.read()
    wanted = ChangeFilter(subject=Subject.MEMORY, subject_ids=(by_uid(ctx, uid).id,))
    return {text for one in reader.journal(wanted) for text in (one.after or {}).get("statements", ())}


def lines(*texts):
    return {"content": "\n".join(texts), "statements": list(texts)}


@pytest.mark.parametrize("is_first", [True, False])
def test_two_files_that_changed_different_fields_are_both_taken_in(ctx, clock, is_first):
    taken(ctx, entry(kind="note", summary="s", metadata={"k": 1, "l": 1}, tags=["a"], **lines("one", "two")))
    same = {"summary": "s", "metadata": {"k": 1, "l": 1}, "tags": ["a"]}
    one = entry(
        **{**same, **lines("one", "two", "three"), "kind": "fact", "tags": ["a", "b"]}, updated_at=iso(START)
    )
    two = entry(
        **{**same, **lines("two", "four"), "kind": "note", "summary": "t", "metadata": {"k": 2, "l": 1}},
        updated_at=iso(START + HOUR),
    )
    for given in (one, two) if is_first else (two, one):
        assert taken(ctx, given).conflicts == []
    memory = by_uid(ctx)
    assert (memory.kind, memory.summary, memory.tags) == ("fact", "t", ("a", "b"))
    assert memory.metadata == {"k": 2, "l": 1} and set(memory.texts) == {"two", "three", "four"}
    sequence = last_number(ctx.store)
    for given in (one, two, one):
        assert figures(taken(ctx, given)) == (0, 1, [])
    assert last_number(ctx.store) == sequence and by_uid(ctx) == memory and faults(ctx.store) == []


def test_what_was_edited_here_and_not_in_the_file_stays(ctx, clock):
    given = entry(summary="s", tags=["a"], **lines("one", "two"))
    taken(ctx, given)
    clock.advance(hours=1)
    revise(ctx, ID, Revision(append="ours", summary="mine"))
    touched = {**given, "updated_at": iso(clock() + HOUR)}
    assert figures(taken(ctx, touched)) == (0, 1, [])
    changed = {**touched, **lines("one", "two", "theirs")}
    assert figures(taken(ctx, changed)) == (1, 0, [])
    memory = by_uid(ctx)
    assert (memory.summary, memory.texts) == ("mine", ["one", "two", "ours", "theirs"])
    assert figures(taken(ctx, changed)) == (0, 1, []) and by_uid(ctx) == memory
    again = {**changed, **lines("one", "theirs"), "updated_at": iso(clock() + 2 * HOUR)}
    assert figures(taken(ctx, again)) == (1, 0, [])
    assert (by_uid(ctx).summary, by_uid(ctx).texts) == ("mine", ["one", "ours", "theirs"])


@pytest.mark.parametrize("is_file_later", [True, False])
def test_a_conflict_is_listed_with_both_versions_and_the_loser_is_in_the_history(ctx, clock, is_file_later):
    taken(ctx, entry(content="base", kind="note"))
    clock.advance(hours=2)
    revise(ctx, ID, Revision(text="ours", kind="idea"))
    moment = clock() + HOUR if is_file_later else clock() - HOUR
    given = entry(content="theirs", kind="fact", updated_at=iso(moment))
    done = taken(ctx, given)
    kept = ("fact", ["theirs"]) if is_file_later else ("idea", ["ours"])
    assert conflicts(done) == [("kind", "idea", "fact", kept[0]), ("text", ["ours"], ["theirs"], kept[1])]
    memory = by_uid(ctx)
    assert (memory.kind, memory.texts) == kept
    assert past_texts(ctx) == {"base", "ours", "theirs"}
    assert faults(ctx.store) == []
    again = taken(ctx, given)
    assert (figures(again), again.conflicts) == ((0, 1, []), []) and by_uid(ctx) == memory


def test_a_file_that_goes_on_changing_is_no_conflict(ctx, clock):
    for hours, (text, priority) in enumerate((("a", 5), ("b", 6), ("a", 5), ("c", 7))):
        given = entry(content=text, summary=text, updated_at=iso(START + hours * HOUR), priority=priority)
        done = taken(ctx, given)
        assert (figures(done), done.conflicts) == ((1, 0, []), [])
        assert (by_uid(ctx).content, by_uid(ctx).summary) == (text, text)


def test_a_statement_that_was_deleted_here_is_not_brought_back_by_an_old_file(ctx, clock):
    given = entry(**lines("one", "two"))
    taken(ctx, given)
    clock.advance(hours=1)
    ctx.change("revise", lambda tx: tx.update(by_uid(ctx), MemoryPatch(texts=["two", "three"])))
    assert figures(taken(ctx, given)) == (0, 1, [])
    assert by_uid(ctx).texts == ["two", "three"]


def test_a_link_takes_over_what_changed_in_the_file(ctx, clock):
    pair = (entry(), entry(id=OTHER, title="Other"))
    link = {"source_id": ID, "target_id": OTHER, "relation": "knows", "created_at": iso(START), "weight": 0.5}
    taken(ctx, *pair, links=[{**link, "reason": "met"}])
    [edge] = ctx.store.read().edges(ANY_EDGE)
    ctx.change("link", lambda tx: tx.update_edge(edge, EdgePatch(weight=0.9)))
    taken(ctx, *pair, links=[{**link, "reason": "met again"}])
    [edge] = ctx.store.read().edges(ANY_EDGE)
    assert (edge.weight, edge.reason) == (0.9, "met again")


def test_a_purged_memory_does_not_come_back_from_the_file_of_another_system(ctx):
    taken(ctx, entry())
    forget(ctx, [ID], fate=Fate.PURGED)
    assert figures(import_json(ctx, {"memories": [entry()]}, revives=False)) == (0, 1, [])
    assert count(ctx.store.read()) == 0


@pytest.mark.parametrize(
    "broken", [{"content": "x" * 70_000}, {"title": "t" * 2_000}, {"priority": 99}, {"tags": ["t" * 2_000]}]
)
def test_a_bad_record_names_its_field_and_is_not_half_written(ctx, broken):
    taken(ctx, entry(), entry(id=OTHER, title="Other"))
    before = everything(ctx.store)
    bad = entry(**{"kind": "fact", "updated_at": iso(START), **broken})
    good = entry(id=OTHER, title="Other", kind="fact", updated_at=iso(START))
    done = taken(ctx, bad, good)
    [field] = broken
    [told] = done.errors
    assert {"content": "text", "title": "name"}.get(field, field) in told
    assert by_uid(ctx, OTHER).kind == "fact"
    assert everything(ctx.store)[0][1] == before[0][1]
