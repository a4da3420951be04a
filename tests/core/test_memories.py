"""Keeping, finding by name, changing and letting go."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import START, a_query, faults, kept, last_number, position_of, write

from mnemic.core.expiry import expire
from mnemic.core.memories import (
    Fate,
    Note,
    Revision,
    find,
    forget,
    forget_matching,
    open_all,
    remember,
    restore,
    revise,
    supersede,
    tier_for,
)
from mnemic.core.recall import recall
from mnemic.core.traversal import explore
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.model.change import Subject
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ANY_EDGE, ChangeFilter, Filter
from mnemic.model.graph import EdgeDraft
from mnemic.model.memory import title_of
from mnemic.model.session import Session
from mnemic.model.time import DAY, HOUR, LATEST, MINUTE, YEAR
from mnemic.storage.queries import count, each_memory, memory_numbered


def titles(hits):
    return [hit.memory.title for hit in hits]


def recalled(ctx, text, **wanted):
    return titles(recall(ctx, a_query(text, now=ctx.now(), **wanted)).hits)


def everything(ctx):
    reader = ctx.store.read()
    return list(each_memory(reader)), list(reader.edges(ANY_EDGE)), last_number(ctx.store)


# -- titles


@pytest.mark.parametrize(
    "text, title",
    [
        ("One. Two.", "One."),
        ("  trim  ", "trim"),
        ("é" * 90, "é" * 80),
        ("\n\n  First line\nsecond line", "First line"),
        ("Is it? Yes!", "Is it?"),
        ("v1.2 is out. Rejoice.", "v1.2 is out."),
        ("J. K. writes, e.g. novels. More.", "J. K. writes, e.g. novels."),
        ("no end", "no end"),
        ("...", "..."),
        ("今天天气很好。明天也是。", "今天天气很好。"),
        ("本当？うん", "本当？"),
        ("字" * 90, "字" * 80),
        ("word " * 40, "word " * 15 + "word"),
        ("a " + "b" * 100, "a " + "b" * 78),
        ("x" * 80 + ".", "x" * 80),
        ("x" * 80 + "  more", "x" * 80),
        ("x" * 80 + "\nmore", "x" * 80),
        ("x" * 79 + ". More", "x" * 79 + "."),
        ("x" * 70 + " " + "y" * 10, "x" * 70),
    ],
)
def test_a_title_is_the_first_sentence(text, title):
    assert title_of(text) == title
    assert len(title) <= 80


# -- remember


def test_a_remembered_memory_can_be_read(ctx):
    note = Note(
        text="We deploy on Fridays. Always.",
        kind="fact",
        tags=("ops", "ops", "ci"),
        namespace="work",
        confidence=0.5,
        priority=8,
        source="Anna",
        session="monday",
        metadata={"k": 1},
    )
    [one] = remember(ctx, [note]).kept
    memory = one.memory
    assert memory == memory_numbered(ctx.store.read(), memory.id)
    assert memory.title == "We deploy on Fridays." and memory.content == note.text
    assert memory.tags == ("ops", "ci"), "each tag once"
    assert (memory.namespace, memory.kind, memory.confidence, memory.priority) == ("work", "fact", 0.5, 8)
    assert (memory.source, memory.metadata, memory.tier) == ("Anna", {"k": 1}, Tier.LONG)
    assert memory.created_at == memory.updated_at == START and memory.expires_at is None
    assert ctx.store.read().sessions() == [
        Session(id=memory.session_id, namespace="work", name="monday", started_at=START)
    ]
    [change] = ctx.store.read().journal(ChangeFilter(subject=Subject.MEMORY))
    assert (change.operation, change.actor) == ("remember", "tester")


def test_the_same_text_is_refused_unless_forced(ctx):
    known = kept(ctx, "The sky is blue")
    outcome = remember(ctx, [Note(text="  the SKY is   blue ")])
    assert outcome.kept == () and [(one.index, one.known.id) for one in outcome.refused] == [(0, known.id)]
    assert "same text" in outcome.refused[0].reason
    assert remember(ctx, [Note(text="The sky is blue", namespace="work")]).kept, (
        "another namespace is another matter"
    )
    [again] = remember(ctx, [Note(text="The sky is blue")], force=True).kept
    assert again.memory.title == known.title == "The sky is blue"


def test_near_duplicates_are_stored_and_reported(ctx):
    known = kept(ctx, "The quarterly review meeting takes place every second Thursday afternoon")
    text = "The quarterly review meeting takes place every second Friday afternoon"
    [one] = remember(ctx, [Note(text=text)]).kept
    assert [(memory.id, likeness > 0.7) for memory, likeness in one.similar] == [(known.id, True)]
    [other] = remember(ctx, [Note(text="Bananas are yellow when they are ripe")]).kept
    assert other.similar == ()
    [elsewhere] = remember(ctx, [Note(text=text, namespace="work")]).kept
    assert elsewhere.similar == (), "only its own namespace is compared"


def test_a_batch_is_one_transaction_and_reports_refusals(ctx):
    kept(ctx, "known")
    outcome = remember(ctx, [Note(text=text) for text in ("new one", "KNOWN", "new two", "new one")])
    assert [one.memory.content for one in outcome.kept] == ["new one", "new two"]
    assert [refusal.index for refusal in outcome.refused] == [1, 3]
    assert {
        change.batch for change in ctx.store.read().journal(ChangeFilter(after=position_of(ctx.store, 1)))
    } == {2}


def test_links_are_made_with_the_memory(ctx):
    target = kept(ctx, "CI runs first", name="CI")
    memory = kept(ctx, "Deploys follow", links=((target.id, "depends_on", 0.5), ("CI", "cites", 1.0)))
    made = [
        (edge.source_id, edge.target_id, edge.type, edge.weight) for edge in ctx.store.read().edges(ANY_EDGE)
    ]
    assert made == [(memory.id, target.id, "depends_on", 0.5), (memory.id, target.id, "cites", 1.0)]
    assert {
        change.batch for change in ctx.store.read().journal(ChangeFilter(after=position_of(ctx.store, 1)))
    } == {2}


@pytest.mark.parametrize("target", [99, "Nowhere", "itself"])
def test_a_link_that_cannot_be_made_leaves_nothing(ctx, target):
    kept(ctx, "first")
    before = everything(ctx)
    notes = [
        Note(text="fine"),
        Note(text="bad", name="itself", links=(("first", "a", 1.0), (target, "b", 1.0))),
    ]
    with pytest.raises((NotFound, Invalid)):
        remember(ctx, notes)
    assert everything(ctx) == before and faults(ctx.store) == []


def test_a_write_wakes_the_embedding_worker(ctx):
    woken = []
    ctx = replace(ctx, wake=lambda: woken.append(True))
    remember(ctx, [Note(text="one")])
    assert woken == [True]
    remember(ctx, [Note(text="one")])
    assert woken == [True], "nothing was kept"


# -- how long


@pytest.mark.parametrize(
    "tier, ttl, expected_tier, life",
    [
        (None, None, Tier.LONG, None),
        (Tier.SHORT, None, Tier.SHORT, 6 * HOUR),
        (Tier.MID, None, Tier.MID, 7 * DAY),
        (Tier.LONG, None, Tier.LONG, None),
        (None, HOUR, Tier.SHORT, HOUR),
        (None, DAY, Tier.SHORT, DAY),
        (None, 7 * DAY, Tier.MID, 7 * DAY),
        (Tier.LONG, MINUTE, Tier.LONG, MINUTE),
        (Tier.SHORT, 30 * DAY, Tier.SHORT, 30 * DAY),
    ],
)
def test_a_tier_or_a_ttl_says_how_long(ctx, tier, ttl, expected_tier, life):
    memory = kept(ctx, "brief", tier=tier, ttl=ttl)
    assert memory.tier is expected_tier
    assert memory.expires_at == (None if life is None else START + life)


def test_a_ttl_never_exceeds_the_calendar(ctx):
    memory = kept(ctx, "nearly forever", ttl=999_999_999 * YEAR)
    assert memory.expires_at == LATEST and tier_for(999_999_999 * YEAR) is Tier.MID


def test_expired_memories_are_hidden_immediately(ctx, clock):
    brief = kept(ctx, "the wifi password is hunter2", name="Wifi", ttl=HOUR)
    friend = kept(ctx, "ask Anna about the network", links=((brief.id, "about", 1.0),))
    clock.advance(minutes=59)
    assert find(ctx, "Wifi").id == brief.id
    clock.advance(minutes=1)
    assert "Wifi" not in recalled(ctx, "wifi password hunter2")
    with pytest.raises(NotFound):
        find(ctx, "Wifi")
    assert find(ctx, brief.id).title == "Wifi", "by number it can be read in whatever state"
    assert [memory.id for memory, _ in explore(ctx, friend.id).memories] == [friend.id]
    [(_, links)] = open_all(ctx, [friend.id]).memories
    assert links == []


def test_expired_memories_free_their_title_immediately(ctx, clock):
    old = kept(ctx, "the wifi password is hunter2", name="Wifi", ttl=HOUR)
    clock.advance(hours=2)
    [new] = remember(ctx, [Note(text="the wifi password is hunter2", name="Wifi")]).kept
    assert new.memory.title == "Wifi" and new.similar == ()
    assert find(ctx, old.id).state is State.ARCHIVED
    other = kept(ctx, "unnamed", name="Other", ttl=3 * HOUR)
    clock.advance(hours=4)
    assert revise(ctx, new.memory.id, Revision(name="Other")).title == "Other"
    with pytest.raises(Conflict, match="taken"):
        restore(ctx, [other.id])


def test_expire_archives_expired_memories(ctx, clock):
    brief, long = kept(ctx, "brief", tier=Tier.SHORT), kept(ctx, "long")
    assert expire(ctx) == 0
    clock.advance(hours=6)
    assert expire(ctx) == 1 and expire(ctx) == 0
    archived = find(ctx, brief.id)
    assert (archived.state, archived.state_reason, archived.state_at) == (State.ARCHIVED, "expired", clock())
    assert find(ctx, long.id) == long
    [back] = restore(ctx, [brief.id])
    assert back.state is State.LIVING and back.expires_at is None, "or it would leave again at once"


# -- finding by name


def test_a_memory_is_found_by_number_uid_prefix_and_title(ctx):
    memory = kept(ctx, "Fridays", name="Deploys")
    kept(ctx, "other")
    for reference in (memory.id, str(memory.id), memory.uid, memory.uid[:8], memory.uid.upper(), "Deploys"):
        assert find(ctx, reference) == memory
    for nothing in (99, "99", "deploys", "Deploy", memory.uid[:3], "", "9" * 30, -1):
        with pytest.raises(NotFound):
            find(ctx, nothing)


def test_a_prefix_that_fits_several_is_not_guessed(ctx):
    uids = iter(["abcd1111-0000-4000-8000-000000000001", "abcd2222-0000-4000-8000-000000000002"])
    ctx = replace(ctx, new_uid=lambda: next(uids))
    one, two = kept(ctx, "one"), kept(ctx, "two")
    with pytest.raises(Conflict, match=f"several memories, among them {one.id} and {two.id}"):
        find(ctx, "abcd")
    assert find(ctx, "abcd1") == one


def test_a_title_is_looked_up_at_home_first(ctx):
    work = kept(ctx, "one", name="Same", namespace="work")
    everywhere = kept(ctx, "two", name="Same")
    home = kept(ctx, "three", name="Same", namespace="home")
    assert find(ctx, "Same") == everywhere, "who has no namespace is at home in global"
    assert find(replace(ctx, namespace="home"), "Same") == home
    assert find(replace(ctx, namespace="garden"), "Same") == everywhere
    assert find(ctx, "Same", "work") == work
    kept(ctx, "four", name="Only", namespace="work")
    assert find(ctx, "Only").content == "four"
    with pytest.raises(NotFound):
        find(replace(ctx, namespace="home"), "Only")


def test_a_title_means_a_living_memory_a_number_any(ctx):
    memory = kept(ctx, "one", name="Here")
    forget(ctx, [memory.id])
    with pytest.raises(NotFound):
        find(ctx, "Here")
    assert find(ctx, memory.uid).state is State.FORGOTTEN


def test_open_returns_links_to_living_memories_and_counts_as_use(ctx, clock):
    one, two, three = kept(ctx, "one"), kept(ctx, "two"), kept(ctx, "three")

    def work(tx):
        edge = tx.insert_edge(EdgeDraft(one.id, two.id, "knows"))
        tx.insert_edge(EdgeDraft(three.id, one.id, "knows"))
        return edge

    edge = write(ctx.store, work, operation="link", actor="tester", at=ctx.now())
    forget(ctx, [three.id])
    clock.advance(hours=1)
    [(second, _), (first, links)] = open_all(ctx, ["two", one.id]).memories
    assert (second.id, first.id, links) == (two.id, one.id, [edge])
    used = find(ctx, one.id)
    assert (used.access_count, used.accessed_at) == (1, clock())
    with pytest.raises(NotFound):
        open_all(ctx, [98, 99])


# -- revise


@pytest.mark.parametrize(
    "revision, expected",
    [
        ({"text": "new"}, {"content": "new", "title": "new"}),
        ({"append": "more"}, {"content": "old\nmore"}),
        ({"text": "new", "append": "more"}, {"content": "new\nmore", "title": "new"}),
        ({"name": "Title"}, {"name": "Title", "title": "Title"}),
        ({"kind": "fact"}, {"kind": "fact"}),
        ({"summary": "short"}, {"summary": "short"}),
        ({"tags": ("a", "b")}, {"tags": ("a", "b")}),
        ({"tags": ()}, {"tags": ()}),
        ({"namespace": "work"}, {"namespace": "work"}),
        ({"tier": Tier.MID}, {"tier": Tier.MID, "expires_at": START + HOUR + 7 * DAY}),
        ({"ttl": DAY}, {"tier": Tier.LONG, "expires_at": START + HOUR + DAY}),
        ({"tier": Tier.LONG}, {"tier": Tier.LONG, "expires_at": None}),
        ({"confidence": 0.0}, {"confidence": 0.0}),
        ({"priority": 1}, {"priority": 1}),
        ({"metadata": {}}, {"metadata": {}}),
    ],
)
def test_each_field_can_be_revised_and_the_others_stay(ctx, clock, revision, expected):
    memory = kept(ctx, "old", tags=("t",), metadata={"k": 1})
    clock.advance(hours=1)
    changed = revise(ctx, memory.id, Revision(**revision))
    assert changed == memory_numbered(ctx.store.read(), memory.id)
    assert {name: getattr(changed, name) for name in expected} == expected
    untouched = {
        "title",
        "kind",
        "summary",
        "tags",
        "namespace",
        "tier",
        "confidence",
        "priority",
        "metadata",
    }
    for name in untouched - expected.keys():
        assert getattr(changed, name) == getattr(memory, name)
    if changed != memory:
        assert changed.updated_at == clock() and changed.created_at == START


def test_a_moved_memory_is_found_where_it_is(ctx):
    memory = kept(ctx, "the boiler is in the cellar")
    revise(ctx, memory.id, Revision(namespace="home"))
    assert recalled(ctx, "boiler", namespaces=("home",)) and not recalled(
        ctx, "boiler", namespaces=("global",)
    )


def test_revising_to_a_title_in_use_is_refused(ctx):
    kept(ctx, "one", name="Taken")
    memory = kept(ctx, "two", name="Free")
    before = everything(ctx)
    with pytest.raises(Conflict, match="'Taken' is taken in namespace 'global'"):
        revise(ctx, memory.id, Revision(name="Taken", text="lost"))
    assert everything(ctx) == before


def test_a_deleted_memory_must_be_restored_before_revision(ctx):
    memory = kept(ctx, "one")
    forget(ctx, [memory.id])
    for attempt in (
        lambda: revise(ctx, memory.id, Revision(text="two")),
        lambda: supersede(ctx, memory.id, "two", None),
    ):
        with pytest.raises(Conflict, match="is forgotten; restore it first"):
            attempt()


# -- supersede


def test_supersede_replaces_a_memory_by_its_correction(ctx, clock):
    old = kept(ctx, "Fridays", name="Deploys", tags=("ops",), priority=8, namespace="work", session="s")
    clock.advance(hours=1)
    new, left = supersede(ctx, old.id, "Mondays", "moved")
    assert (new.title, new.content, new.tags, new.priority, new.namespace) == (
        "Deploys",
        "Mondays",
        ("ops",),
        8,
        "work",
    )
    assert new.session_id == old.session_id and new.uid != old.uid
    assert find(ctx, "Deploys", "work") == new
    assert (left.state, left.state_reason, left.state_at) == (State.SUPERSEDED, "moved", clock())
    assert find(ctx, old.id).content == "Fridays", "still readable"
    assert [hit.memory.id for hit in recall(ctx, a_query("Deploys", now=clock())).hits] == [new.id]
    [edge] = ctx.store.read().edges(ANY_EDGE)
    assert (edge.source_id, edge.target_id, edge.type, edge.reason) == (new.id, old.id, "supersedes", "moved")


def test_a_known_memory_becomes_the_correction_instead_of_standing_twice(ctx):
    old, new = kept(ctx, "We deploy on Fridays"), kept(ctx, "We deploy on Mondays")
    found, left = supersede(ctx, old.id, "we deploy on  Mondays", "told in autumn")
    assert (found.id, left.state) == (new.id, State.SUPERSEDED)
    [edge] = ctx.store.read().edges(ANY_EDGE)
    assert (edge.source_id, edge.target_id, edge.type) == (new.id, old.id, "supersedes")
    again, _ = supersede(ctx, new.id, "We deploy on MONDAYS", None)
    assert again.id != new.id and again.content == "We deploy on MONDAYS"


def test_a_title_that_was_made_is_made_anew(ctx):
    old = kept(ctx, "We deploy on Fridays")
    new, _ = supersede(ctx, old.id, "We deploy on Mondays", None)
    assert new.title == "We deploy on Mondays"


def test_an_expired_memory_cannot_be_superseded(ctx, clock):
    old = kept(ctx, "Fridays", name="Deploys", ttl=HOUR)
    clock.advance(hours=2)
    with pytest.raises(Conflict, match="archived; restore it first"):
        supersede(ctx, old.id, "Mondays", None)
    assert count(ctx.store.read()) == 0 and find(ctx, old.id).content == "Fridays"


# -- forget and restore


def test_forget_hides_and_restore_reverts(ctx, clock):
    memory = kept(ctx, "the heron stands in the pond", name="Heron")
    [gone] = forget(ctx, ["Heron"], reason="flew away")
    assert (gone.state, gone.state_reason, gone.state_at) == (State.FORGOTTEN, "flew away", START)
    assert recalled(ctx, "heron pond") == []
    assert forget(ctx, [memory.id]) == [], "it has left already"
    clock.advance(hours=1)
    [back] = restore(ctx, [memory.id])
    assert (back.state, back.state_reason, back.state_at, back.content) == (
        State.LIVING,
        None,
        None,
        memory.content,
    )
    assert recalled(ctx, "heron pond") == ["Heron"]
    sequence = last_number(ctx.store)
    assert [one.id for one in restore(ctx, [memory.id])] == [memory.id], "what lives stays as it is"
    assert last_number(ctx.store) == sequence


def test_a_dry_run_deletes_nothing(ctx):
    memory = kept(ctx, "one")
    before = everything(ctx)
    for fate in Fate:
        assert forget(ctx, [memory.id], dry_run=True, fate=fate) == [memory]
        assert forget_matching(ctx, Filter(), dry_run=True, fate=fate) == [memory]
    assert everything(ctx) == before


def test_a_list_is_forgotten_whole_or_not_at_all(ctx):
    one, two = kept(ctx, "one"), kept(ctx, "two")
    before = everything(ctx)
    with pytest.raises(NotFound):
        forget(ctx, [one.id, 99])
    with pytest.raises(NotFound):
        restore(ctx, [one.id, 99])
    assert everything(ctx) == before
    assert forget(ctx, [one.id, "one", two.id, one.uid]) != [] and count(ctx.store.read()) == 0


@pytest.mark.parametrize(
    "wanted, pattern, gone",
    [
        ({"tags": ("scratch",)}, None, {"a", "b"}),
        ({"namespaces": ("work",)}, None, {"c"}),
        ({"kinds": ("fact",)}, None, {"b"}),
        ({"tier": Tier.MID}, None, {"c"}),
        ({"until": START - 1}, None, {"d"}),
        ({"tags": ("scratch",), "kinds": ("fact",)}, None, {"b"}),
        ({}, "blue", {"a", "d"}),
        ({}, "BLUE thing", {"a"}),
        ({"tags": ("scratch",)}, "blue", {"a"}),
        ({}, "absent", set()),
        ({}, None, {"a", "b", "c", "d"}),
    ],
)
def test_forget_selects_by_filter_and_pattern(ctx, wanted, pattern, gone):
    kept(ctx, "a blue thing", name="a", tags=("scratch",))
    kept(ctx, "a red thing", name="b", tags=("scratch",), kind="fact")
    kept(ctx, "green", name="c", namespace="work", tier=Tier.MID)
    kept(ctx, "blue sky", name="d", created_at=START - DAY)
    forgotten = forget_matching(ctx, Filter(**wanted), pattern=pattern, reason="tidy")
    assert {memory.title for memory in forgotten} == gone
    assert {
        memory.title for memory in each_memory(ctx.store.read()) if memory.state is State.FORGOTTEN
    } == gone


def test_a_pattern_spares_what_lacks_one_of_its_words_however_common_they_are(ctx):
    for number in range(10):
        kept(ctx, f"common entry {number}")
    kept(ctx, "a rare zebra crossing without that word")
    assert forget_matching(ctx, Filter(), pattern="common zebra crossing") == []
    assert forget_matching(ctx, Filter(), pattern="the zebra") == []
    with pytest.raises(Invalid, match="pattern: has no words"):
        forget_matching(ctx, Filter(), pattern="?!")
    assert len(forget_matching(ctx, Filter(), pattern="common")) == 10


def test_a_purge_is_for_good(ctx):
    memory = kept(ctx, "a secret", name="Secret")
    [gone] = forget(ctx, ["Secret"], fate=Fate.PURGED)
    assert gone == memory
    with pytest.raises(NotFound):
        find(ctx, memory.id)
    with pytest.raises(NotFound):
        restore(ctx, [memory.uid])
    left = kept(ctx, "another secret")
    forget(ctx, [left.id])
    assert [one.id for one in forget(ctx, [left.id], fate=Fate.PURGED)] == [left.id], (
        "what was forgotten can be purged"
    )
    assert "secret" not in repr(list(ctx.store.read().journal()))


def test_restoring_onto_a_title_in_use_is_refused_atomically(ctx):
    one, two = kept(ctx, "one", name="Name"), kept(ctx, "two")
    forget(ctx, [one.id, two.id])
    kept(ctx, "three", name="Name")
    before = everything(ctx)
    with pytest.raises(Conflict, match="'Name' is taken"):
        restore(ctx, [two.id, one.id])
    assert everything(ctx) == before
