"""Tokens and grants: a caller sees and does what they were given, whatever the verb."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import START, a_query, everything, kept, last_number, living, write

from mnemic.core import access
from mnemic.core.graph import end_link, link
from mnemic.core.history import as_of, difference, history, undo, undo_since
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
)
from mnemic.core.recall import recall
from mnemic.core.stats import overview
from mnemic.core.traversal import explore, path
from mnemic.core.trust.verify import verify
from mnemic.errors import Conflict, Denied, NotFound
from mnemic.model.access import Grant
from mnemic.model.filter import Filter
from mnemic.model.graph import EdgeDraft
from mnemic.model.time import HOUR


@pytest.fixture
def theirs(ctx):
    """A memory in a namespace the guest may not see, between two that they may."""
    kept(ctx, "our first heron", name="first", namespace="ours")
    secret = kept(ctx, "their secret heron", name="secret", namespace="theirs")
    kept(ctx, "our last heron", name="last", namespace="ours")

    def work(tx):
        tx.insert_edge(EdgeDraft(1, 2, "knows"))
        tx.insert_edge(EdgeDraft(2, 3, "knows"))

    write(ctx.store, work, operation="link", actor="tester", at=ctx.now())
    return secret


@pytest.fixture
def guest(ctx, theirs):
    return ctx.limited_to(Grant(("ours",)))


VERBS = {
    "find": lambda ctx, one: find(ctx, one),
    "open": lambda ctx, one: open_all(ctx, [one]),
    "revise": lambda ctx, one: revise(ctx, one, Revision(text="changed")),
    "supersede": lambda ctx, one: supersede(ctx, one, "changed", None),
    "forget": lambda ctx, one: forget(ctx, [one]),
    "purge": lambda ctx, one: forget(ctx, [one], fate=Fate.PURGED),
    "restore": lambda ctx, one: restore(ctx, [one]),
    "link to": lambda ctx, one: link(ctx, 1, one, "knows"),
    "link from": lambda ctx, one: link(ctx, one, 1, "knows"),
    "end link": lambda ctx, one: end_link(ctx, 1, one, "knows"),
    "explore": lambda ctx, one: explore(ctx, one),
    "path": lambda ctx, one: path(ctx, 1, one),
    "history": lambda ctx, one: history(ctx, reference=one),
    "undo": lambda ctx, one: undo(ctx, 2),
    "undo a link": lambda ctx, one: undo(ctx, 4),
    "remember with a link": lambda ctx, one: remember(ctx, [Note(text="new", links=((one, "knows", 1.0),))]),
    "open then": lambda ctx, one: open_all(as_of(ctx, START), [one]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_memories_outside_the_grant_are_not_found(ctx, guest, theirs, verb):
    before = everything(ctx.store)
    for reference in (theirs.id, theirs.uid, theirs.uid[:8], "secret"):
        with pytest.raises(NotFound):
            VERBS[verb](guest, reference)
    assert everything(ctx.store) == before


def test_searches_and_traversals_skip_memories_outside_the_grant(ctx, guest):
    found = recall(guest, replace(a_query("secret heron", namespaces=guest.scope()), min_relevance=0.0))
    assert {hit.memory.title for hit in found.hits} == {"first", "last"}
    assert [memory.title for memory, _ in explore(guest, 1, depth=3).memories] == ["first"]
    assert explore(guest, 1, depth=3).edges == () and path(guest, 1, 3).memories == ()
    [(_, links)] = open_all(guest, [1]).memories
    assert links == []
    assert verify(guest, "their secret heron").status != "verified"
    assert all("secret" not in item.memory.content for item in verify(guest, "their secret heron").evidence)
    assert {change.subject_id for change in history(guest)} == {1, 3}
    assert overview(guest).by_namespace == {"ours": 2} and overview(guest).by_state == {"living": 2}


def test_a_filter_reaches_no_further_than_the_grant(ctx, guest):
    assert forget_matching(guest, Filter(namespaces=("theirs",))) == []
    assert [memory.title for memory in forget_matching(guest, Filter(), pattern="heron")] == ["first", "last"]
    assert find(ctx, "secret").title == "secret"


def test_a_uid_prefix_reveals_nothing_outside_the_grant(ctx, theirs):
    twin = theirs.uid[:8] + "-0000-4000-8000-000000000000"
    ours = write(
        ctx.store,
        lambda tx: tx.import_memory(replace(theirs, id=0, uid=twin, namespace="ours", title="twin")),
        operation="import",
        actor="tester",
        at=ctx.now(),
    )
    assert find(ctx.limited_to(Grant(("ours",))), theirs.uid[:8]).id == ours.id


def test_history_fills_its_limit_despite_changes_outside_the_grant(ctx, guest):
    for number in range(30):
        kept(ctx, f"their noise {number}", namespace="theirs")
    assert len(history(guest, limit=2)) == 2


def test_undo_is_refused_for_a_batch_partly_outside_the_grant(ctx, guest):
    remember(ctx, [Note(text="one for us", namespace="ours"), Note(text="one for them", namespace="theirs")])
    before = everything(ctx.store)
    with pytest.raises(Denied, match="together with others"):
        undo(guest, last_number(ctx.store) - 1)
    assert everything(ctx.store) == before


@pytest.fixture
def moved(ctx, guest, clock):
    """A memory that came from where the guest may not look, in which something was said since."""
    memory = kept(ctx, "the code is 1234", name="code", namespace="theirs")
    revise(ctx, memory.id, Revision(text="the code is 5678"))
    revise(ctx, memory.id, Revision(namespace="ours", text="the code is gone"))
    clock.advance(minutes=1)
    return revise(ctx, memory.id, Revision(text="there is no code"))


def test_what_was_said_elsewhere_stays_there(ctx, guest, moved):
    last = last_number(ctx.store)
    for changes in (history(guest, reference=moved.id), history(guest, limit=1)):
        assert [change.sequence for change in changes] == [last]
    told = difference(guest, START - HOUR, ctx.now())
    assert "the code is 5678" not in repr(told) and "1234" not in repr(told)
    assert len(history(ctx, reference=moved.id)) == 4


def test_no_undo_leads_out_of_what_was_given(ctx, guest, moved):
    last = last_number(ctx.store)
    for sequence in (last - 1, last - 2, last - 3):
        with pytest.raises(NotFound, match="No change"):
            undo(guest, sequence)
    undo_since(guest, START - HOUR)
    assert find(ctx, moved.id).namespace == "ours"
    assert find(ctx, moved.id).content == "the code is gone"


def test_what_came_back_shows_what_was_done_here(ctx, guest):
    for namespace in ("theirs", "ours"):
        revise(ctx, 1, Revision(namespace=namespace))
    assert [change.sequence for change in history(guest, reference=1)] == [1]


def test_everything_since_a_moment_means_ones_own(ctx, guest, clock):
    moment = clock.advance(minutes=1)
    kept(ctx, "their later one", namespace="theirs")
    mine = kept(guest, "our later one", links=((1, "follows", 1.0),))
    assert mine.namespace == "ours", "the only namespace given is home"
    undo_since(guest, moment)
    titles = {memory["title"] for memory in living(ctx.store)[0].values()}
    assert titles == {"first", "secret", "last", "their later one"}


@pytest.mark.parametrize(
    "write",
    [
        lambda ctx: remember(ctx, [Note(text="new", namespace="theirs")]),
        lambda ctx: remember(ctx, [Note(text="fine"), Note(text="new", namespace="theirs")]),
        lambda ctx: revise(ctx, 1, Revision(namespace="theirs")),
        lambda ctx: overview(ctx, "theirs"),
    ],
)
def test_a_namespace_that_was_not_given_is_denied(ctx, guest, write):
    before = everything(ctx.store)
    with pytest.raises(Denied, match="may not use 'theirs'"):
        write(guest)
    assert everything(ctx.store) == before


def test_links_outside_the_grant_are_not_counted(ctx, guest):
    assert (overview(guest).links, overview(guest, "ours").links) == (0, 0)
    link(guest, 1, 3, "knows")
    assert (overview(guest).links, overview(guest, "ours").links) == (1, 1)
    assert (overview(ctx).links, overview(ctx, "ours").links, overview(ctx, "theirs").links) == (3, 3, 2)


def test_a_grant_of_several_namespaces_counts_them_all(ctx, theirs):
    kept(ctx, "elsewhere", namespace="third")
    both = ctx.limited_to(Grant(("ours", "theirs")))
    assert overview(both).by_namespace == {"ours": 2, "theirs": 1}
    assert overview(both, "theirs").total == 1
    assert overview(ctx).total == 4


WRITES = {
    "remember": lambda ctx: remember(ctx, [Note(text="new")]),
    "revise": lambda ctx: revise(ctx, 1, Revision(text="new")),
    "supersede": lambda ctx: supersede(ctx, 1, "new", None),
    "forget": lambda ctx: forget(ctx, [1]),
    "forget by filter": lambda ctx: forget_matching(ctx, Filter()),
    "purge": lambda ctx: forget(ctx, [1], fate=Fate.PURGED),
    "restore": lambda ctx: restore(ctx, [1]),
    "link": lambda ctx: link(ctx, 1, 2, "likes"),
    "end link": lambda ctx: end_link(ctx, 1, 2, "knows"),
    "undo": lambda ctx: undo(ctx, 1),
    "undo since": lambda ctx: undo_since(ctx, START - HOUR),
    "create token": lambda ctx: access.create_token(ctx, access.TokenRequest(name="more")),
    "revoke token": lambda ctx: access.revoke_token(ctx, "any"),
}


@pytest.mark.parametrize("verb", WRITES)
def test_a_read_only_caller_cannot_write(ctx, theirs, verb):
    before = everything(ctx.store)
    with pytest.raises(Denied, match="may read but not write"):
        WRITES[verb](ctx.limited_to(Grant(None, can_write=False)))
    assert everything(ctx.store) == before


def test_a_read_only_caller_can_read_everything(ctx, theirs):
    reader = ctx.limited_to(Grant(None, can_write=False))
    assert recall(reader, a_query("heron")).hits and find(reader, theirs.id) and history(reader)
    assert overview(reader).total == 3 and verify(reader, "their secret heron").status == "verified"


# -- tokens


def test_a_token_is_shown_once_and_known_by_its_hash(ctx):
    secret = access.create_token(
        ctx, access.TokenRequest(name="laptop", namespaces=("work",), can_write=False)
    )
    assert access.token_for(ctx, secret).grant == Grant(("work",), can_write=False)
    [token] = access.tokens(ctx)
    assert (token.name, token.created_at) == ("laptop", START) and secret not in repr(token)
    for wrong in ("", secret[:-1], secret + "x", secret.upper(), "mn_", "\ud800"):
        assert access.token_for(ctx, wrong) is None
    assert (
        access.create_token(ctx, access.TokenRequest(name="phone", namespaces=None, can_write=True)) != secret
    )
    with pytest.raises(Conflict, match="'laptop' exists"):
        access.create_token(ctx, access.TokenRequest(name="laptop", namespaces=None, can_write=True))


def test_a_revoked_token_opens_nothing(ctx):
    secret = access.create_token(ctx, access.TokenRequest(name="laptop", namespaces=None, can_write=True))
    access.revoke_token(ctx, "laptop")
    assert access.token_for(ctx, secret) is None and access.tokens(ctx) == []
    with pytest.raises(NotFound):
        access.revoke_token(ctx, "laptop")


def test_the_secret_is_not_in_the_file(ctx, tmp_path):
    secret = access.create_token(ctx, access.TokenRequest(name="laptop", namespaces=None, can_write=True))
    assert not [file for file in tmp_path.iterdir() if secret.encode() in file.read_bytes()]
