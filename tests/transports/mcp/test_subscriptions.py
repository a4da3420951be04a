"""Subscriptions: told once for what changed, of what was asked for, and for as long as it is wanted."""

from __future__ import annotations

from queue import Empty, SimpleQueue

import pytest
from support import a_draft, put

from mnemic.errors import Unavailable
from mnemic.transports.mcp import subscriptions
from mnemic.transports.mcp.subscriptions import Subscriptions


@pytest.fixture
def told():
    return []


@pytest.fixture
def watched(store, told, monkeypatch):
    """Subscriptions that look only when they are asked to."""
    monkeypatch.setattr(Subscriptions, "_watch", lambda self: None)
    made = Subscriptions(store, lambda message: told.append(message["params"]["uri"]))
    yield made
    made.close()


def test_a_change_is_reported_once_however_much_changed(store, watched, told):
    watched.add("a://one")
    put(store, a_draft("one"), a_draft("two"))
    put(store, a_draft("three"))
    watched.look()
    watched.look()
    assert told == ["a://one"]
    put(store, a_draft("four"))
    watched.look()
    assert told == ["a://one"] * 2


def test_a_store_that_cannot_be_asked_has_nothing_to_tell_and_that_is_logged_once(
    store, watched, told, monkeypatch, caplog
):
    def fails():
        raise Unavailable("The database is busy")

    watched.add("a://one")
    for _ in range(2):
        with monkeypatch.context() as broken:
            broken.setattr(store, "newest", fails)
            watched.look()
            watched.look()
        watched.look()
    assert told == []
    assert [record.getMessage() for record in caplog.records] == ["subscriptions: The database is busy"] * 2


def test_earlier_changes_are_not_sent(store, watched, told):
    put(store, a_draft("one"))
    watched.add("a://one")
    watched.look()
    assert told == []


def test_each_address_is_notified_until_it_is_removed(store, watched, told):
    for address in ("b://two", "a://one", "a://one"):
        watched.add(address)
    put(store, a_draft("one"))
    watched.look()
    assert told == ["a://one", "b://two"]
    watched.remove("a://one")
    watched.remove("c://never")
    put(store, a_draft("two"))
    watched.look()
    assert told[2:] == ["b://two"]


def test_changes_while_nothing_was_subscribed_are_not_sent(store, watched, told):
    watched.add("a://one")
    watched.remove("a://one")
    put(store, a_draft("one"))
    watched.add("a://one")
    watched.look()
    assert told == []


def test_changes_by_another_process_are_sent_without_being_asked(store, fresh, monkeypatch):
    monkeypatch.setattr(subscriptions, "PATIENCE_SECONDS", 0.01)
    told: SimpleQueue[str] = SimpleQueue()
    made = Subscriptions(store, lambda message: told.put(message["params"]["uri"]))
    made.add("a://one")
    put(fresh(), a_draft("one"))
    assert told.get(timeout=30) == "a://one"
    made.close()
    put(fresh(), a_draft("two"))
    with pytest.raises(Empty):
        told.get(timeout=0.2)


def test_closing_what_was_never_used_is_nothing(store, told):
    Subscriptions(store, told.append).close()
