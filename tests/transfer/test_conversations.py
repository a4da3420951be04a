"""Conversations as memories: one each, and each only once."""

from __future__ import annotations

from itertools import pairwise

import pytest
from support import kept, last_number, write

from mnemic.core.memories import Fate, Revision, forget, restore, revise
from mnemic.model.enums import State, Tier
from mnemic.model.filter import EdgeFilter
from mnemic.model.memory import MemoryPatch
from mnemic.model.time import DAY
from mnemic.storage.fingerprint import digest
from mnemic.storage.queries import each_memory, memory_numbered
from mnemic.transfer import exporter
from mnemic.transfer.conversation_files import Broken, Conversation, Message
from mnemic.transfer.conversations import mine


def talk(*texts, id="c1", title="Choosing a database", created_at=1_740_823_200_000_000):
    roles = ("user", "assistant")
    messages = tuple(Message(roles[place % 2], text) for place, text in enumerate(texts))
    return Conversation(id=id, title=title, created_at=created_at, messages=messages)


LONG = ("Which one?", "PostgreSQL.", "Fine.")


@pytest.fixture
def mined(ctx):
    """Mines conversations into the namespace of Claude."""

    def run(*found, **options):
        return mine(ctx, found, source="mine-claude", namespace="claude-export", **options)

    return run


@pytest.fixture
def memories(ctx):
    """The living memories, by title."""
    return lambda: {
        memory.title: memory for memory in each_memory(ctx.store.read()) if memory.state is State.LIVING
    }


def test_a_conversation_becomes_a_memory(ctx, mined, memories):
    done = mined(talk(*LONG))
    assert (done.total, done.imported, done.skipped, done.errors) == (1, 1, 0, ())
    [memory] = memories().values()
    assert memory.content == "[user]: Which one?\n[assistant]: PostgreSQL.\n[user]: Fine."
    assert (memory.title, memory.namespace, memory.tier) == ("Choosing a database", "claude-export", Tier.MID)
    assert (memory.tags, memory.source) == (("mine-claude",), "mine-claude")
    assert (memory.confidence, memory.priority) == (0.8, 5)
    assert memory.created_at == 1_740_823_200_000_000 and memory.expires_at == ctx.now() + 7 * DAY
    assert memory.metadata == {"conversation_id": "c1", "conversation_digest": str(digest(memory.content))}


def test_a_long_conversation_is_kept_whole_in_linked_pieces(ctx, mined, memories):
    long = talk("Which one?", "word " * 15_000, "x" * 140_000)
    done = mined(long, in_pieces=True, tier=Tier.LONG)
    assert (done.imported, done.errors) == (1, ())
    pieces = list(memories().values())
    assert [piece.title for piece in pieces[:2]] == ["Choosing a database", "Choosing a database (part 2)"]
    assert {piece.tier for piece in pieces} == {Tier.LONG} and len(pieces) > 3
    whole = "".join(piece.content for piece in pieces).replace("\n", "")
    assert whole == f"[user]: Which one?[assistant]: {'word ' * 15_000}[user]: {'x' * 140_000}"
    links = ctx.store.read().edges(EdgeFilter(types=("continues",)))
    assert [(edge.source_id, edge.target_id) for edge in links] == [
        (later.id, earlier.id) for earlier, later in pairwise(pieces)
    ]
    assert mined(long, in_pieces=True, tier=Tier.LONG).imported == 0


def test_a_long_conversation_that_grew_changes_its_last_pieces_alone(ctx, mined, memories):
    said = ("Which one?", "word " * 15_000, "Fine.")
    mined(talk(*said), in_pieces=True)
    before = memories()
    mined(talk(*said, "And now?", "y" * 70_000), in_pieces=True)
    after = memories()
    assert after["Choosing a database"] == before["Choosing a database"]
    assert len(after) > len(before) and any("And now?" in one.content for one in after.values())
    assert len(ctx.store.read().edges(EdgeFilter(types=("continues",)))) == len(after) - 1


def test_short_ones_are_skipped_and_broken_ones_reported(mined, memories):
    done = mined(talk("Hi", "Ho"), Broken("line 2", "not JSON"), talk(*LONG, id="c2"), talk(id="c3"))
    assert (done.total, done.imported, done.skipped, done.errors) == (4, 1, 2, ("line 2: not JSON",))
    assert len(memories()) == 1


def test_what_counts_as_long_can_be_said(mined):
    assert mined(talk("Hi"), talk(id="c2"), min_messages=0).imported == 1
    assert mined(talk(*LONG, id="c3"), min_messages=4).imported == 0


def test_mining_twice_changes_nothing(ctx, mined):
    talks = [talk(*LONG), talk(*LONG, id="c2"), talk(*LONG, id="", title="Without an id")]
    mined(*talks)
    before = last_number(ctx.store)
    again = mined(*talks)
    assert (again.imported, again.skipped, last_number(ctx.store)) == (0, 3, before)


def test_two_of_one_title_both_survive_and_other_memories_too(ctx, mined, memories):
    kept(ctx, "Mine own", name="Choosing a database", namespace="claude-export")
    mined(talk(*LONG), talk(*LONG[::-1], id="c2"))
    found = list(each_memory(ctx.store.read()))
    assert [memory.content.split("\n")[0] for memory in found] == [
        "Mine own",
        "[user]: Which one?",
        "[user]: Fine.",
    ]
    assert [memory.name for memory in found] == ["Choosing a database", None, None]
    assert {memory.title for memory in found} == {"Choosing a database"}


def test_a_conversation_that_has_grown_updates_its_memory(ctx, mined, memories):
    mined(talk(*LONG, id="c2"), talk(*LONG))
    [number] = [memory.id for memory in memories().values() if memory.metadata["conversation_id"] == "c1"]
    write(
        ctx.store,
        lambda tx: tx.update(
            memory_numbered(tx, number),
            MemoryPatch(title="Renamed", tags=("mine",), metadata={"conversation_id": "c1", "x": 1}),
        ),
        operation="revise",
        actor="tester",
        at=ctx.now(),
    )
    assert mined(talk(*LONG, "And now?"), talk(*LONG, id="c2")).imported == 1
    memory = memory_numbered(ctx.store.read(), number)
    assert (memory.title, memory.tags) == ("Renamed", ("mine",))
    assert memory.metadata["x"] == 1 and memory.content.endswith("[assistant]: And now?")
    assert len(memories()) == 2


def test_what_someone_wrote_instead_stays_even_if_the_conversation_grows(ctx, mined, memories):
    mined(talk(*LONG))
    revise(ctx, memories()["Choosing a database"].id, Revision(text="We took PostgreSQL."))
    for talked in (talk(*LONG), talk(*LONG, "And now?")):
        done = mined(talked)
        assert (done.imported, done.skipped) == (0, 1)
    assert memories()["Choosing a database"].content == "We took PostgreSQL."


def test_what_someone_forgot_stays_so_even_if_the_conversation_grows(ctx, clock, mined, memories):
    mined(talk(*LONG))
    forget(ctx, [memories()["Choosing a database"].id])
    clock.advance(days=8)
    assert (mined(talk(*LONG, "And now?")).imported, memories()) == (0, {})


def test_one_that_was_forgotten_and_then_restored_grows_again(ctx, mined, memories):
    mined(talk(*LONG))
    [number] = [memory.id for memory in memories().values()]
    forget(ctx, [number])
    restore(ctx, [number])
    assert (mined(talk(*LONG, "And now?")).imported, len(memories())) == (1, 1)


def test_one_that_has_expired_comes_back_when_it_is_mined_again(clock, mined, memories):
    mined(talk(*LONG))
    clock.advance(days=8)
    assert mined(talk(*LONG)).imported == 1 and len(memories()) == 1


def test_another_namespace_knows_nothing_of_it(ctx, mined, memories):
    mined(talk(*LONG))
    assert mine(ctx, [talk(*LONG)], source="mine-claude", namespace="other").imported == 1
    assert mine(ctx, [talk(*LONG)], source="mine-chatgpt", namespace="claude-export").imported == 1
    assert len(list(each_memory(ctx.store.read()))) == 3


def test_a_dry_run_only_tells(ctx, mined, memories):
    mined(talk(*LONG))
    done = mined(talk(*LONG), talk(*LONG, id="c2"), talk("Hi", id="c3"), dry_run=True)
    assert (done.imported, done.skipped, [plan.messages for plan in done.planned]) == (0, 2, [3])
    assert len(memories()) == 1


@pytest.mark.parametrize(
    "given, title",
    [
        ("x" * 101, "x" * 100),
        ("é" * 51, "é" * 50),
        ("", "Which one?"),
    ],
)
def test_a_title_is_at_most_a_hundred_bytes(mined, memories, given, title):
    mined(talk(*LONG, title=given))
    assert list(memories()) == [title]


def test_without_a_user_the_first_message_is_the_title(ctx, memories):
    said = tuple(Message("Ann", text) for text in ("One\nline", "two", "three"))
    mine(
        ctx,
        [Conversation(id="", title="", created_at=None, messages=said)],
        source="mine-slack",
        namespace="slack-export",
    )
    assert list(memories()) == ["One line"]
    assert memories()["One line"].created_at == ctx.now()


def test_a_long_conversation_stops_before_the_limit_which_is_reported(mined, memories):
    done = mined(
        talk("é" * 20_000, "b" * 25_000, "c" * 1_000), talk("a" * 70_000, "b", "c", id="c2", title="Long")
    )
    stopped, one = (memory.content for memory in memories().values())
    assert stopped.endswith("b" * 25_000) and "c" * 1_000 not in stopped
    assert len(one) == 65_535 and one.startswith("[user]: aaa")
    assert (done.imported, done.skipped) == (2, 0)
    assert done.errors == (
        "Choosing a database: the last 1,009 of 66,031 bytes, for which a memory has no room",
        "Long: the last 4,498 of 70,033 bytes, for which a memory has no room",
    )


def test_room_is_used_to_the_last_byte(mined, memories):
    fits = 65_535 - len("[user]: \n[assistant]: ") - 10
    mined(
        talk("a" * 10, "b" * fits, id="c1"),
        talk("a" * 10, "b" * (fits + 1), id="c2", title="Two"),
        min_messages=2,
    )
    assert [len(memory.content) for memory in memories().values()] == [65_535, len("[user]: ") + 10]


def test_a_conversation_mined_by_an_earlier_version_is_known_by_its_metadata(ctx, mined, memories):
    mined(talk(*LONG))
    [memory] = memories().values()
    forget(ctx, [memory.id], fate=Fate.PURGED)
    told = {"tags": memory.tags, "source": memory.source, "metadata": memory.metadata}
    kept(ctx, memory.content, title=memory.title, namespace=memory.namespace, **told)
    assert mined(talk(*LONG)).imported == 0
    assert mined(talk(*LONG, "And now?")).imported == 1
    assert [one.content[-8:] for one in memories().values()] == ["And now?"]


def test_a_conversation_that_was_purged_comes_back(ctx, mined, memories):
    mined(talk(*LONG))
    forget(ctx, [memories()["Choosing a database"].id], fate=Fate.PURGED)
    assert (mined(talk(*LONG)).imported, len(memories())) == (1, 1)


def test_what_cannot_be_stored_is_reported_and_the_others_are_imported(mined, memories):
    done = mined(talk("Null \0", *LONG, title="Not a text"), talk(*LONG, id="c2"))
    assert [error.partition(":")[0] for error in done.errors] == ["Not a text"]
    assert (done.imported, list(memories())) == (1, ["Choosing a database"])


def test_many_are_stored_in_batches_and_progress_is_reported(ctx, mined, monkeypatch):
    monkeypatch.setattr(exporter, "BATCH", 10)
    told = []
    talks = [talk(*LONG, id=f"c{n}", title=f"Talk {n}") for n in range(25)]
    assert mined(*talks, progress=lambda done, total: told.append((done, total))).imported == 25
    assert told == [(10, 25), (20, 25), (25, 25)]
    assert mined(*talks).imported == 0
