"""Followers of the journal: transactions are not committed in the order of their numbers."""

from __future__ import annotations

import threading

import pytest
from support import START, a_draft, put

from mnemic.model.access import Scope
from mnemic.model.change import BEGINNING
from mnemic.model.filter import Filter
from mnemic.model.time import HOUR
from mnemic.storage.base import Writer
from mnemic.storage.queries import best_words

pytestmark = pytest.mark.only_on("postgres")


def found(store, word: str) -> list[int]:
    return [number for number, _ in best_words(store.read(), [word], Filter(), limit=10)]


class Slow:
    """A transaction that has written in one namespace and waits to be committed."""

    def __init__(self, store, namespace: str, text: str):
        self._has_written, self._may_end = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, args=(store, namespace, text))
        self._thread.start()
        assert self._has_written.wait(30)

    def _run(self, store, namespace: str, text: str) -> None:
        def work(tx: Writer) -> None:
            tx.insert(a_draft(text, namespace=namespace), uid="00000000-0000-4000-8000-000000000001")
            self._has_written.set()
            assert self._may_end.wait(30)

        store.change(Scope(None, (namespace,)), "remember", "slow", START, work)

    def commit(self) -> None:
        self._may_end.set()
        self._thread.join()


def in_namespace(store, namespace: str, text: str) -> None:
    work = lambda tx: tx.insert(  # noqa: E731
        a_draft(text, namespace=namespace), uid="00000000-0000-4000-8000-000000000002"
    )
    store.change(Scope(None, (namespace,)), "remember", "quick", START, work)


def test_a_slow_transaction_with_a_smaller_number_is_not_missed_by_a_follower(fresh):
    store, other = fresh(), fresh()
    slow = Slow(other, "slow", "the slow one")
    in_namespace(store, "quick", "the quick one")
    # Everybody sees it, but a follower would go on from it and miss what has the smaller number.
    assert [change.actor for change in store.read().journal()] == ["quick"]
    assert list(store.read().changes(BEGINNING)) == [] and store.newest() == BEGINNING
    slow.commit()
    followed = list(store.read().changes(BEGINNING))
    assert [change.actor for change in followed] == ["slow", "quick"]
    assert [change.sequence for change in followed] == [1, 2]
    assert store.newest() == followed[-1].position and list(store.read().changes(store.newest())) == []


def test_a_follower_that_goes_on_from_each_change_sees_every_one_once(fresh):
    store, other = fresh(), fresh()
    put(store, a_draft("first"))
    seen = list(store.read().changes(BEGINNING))
    slow = Slow(other, "slow", "the slow one")
    in_namespace(store, "quick", "the quick one")
    seen += store.read().changes(seen[-1].position)
    slow.commit()
    seen += store.read().changes(seen[-1].position)
    assert [change.actor for change in seen] == ["tester", "slow", "quick"]


def test_the_index_finds_what_a_slow_transaction_commits_after_others(fresh):
    store, other = fresh(), fresh()
    put(store, a_draft("a heron"))
    assert found(store, "heron") == [1]
    slow = Slow(other, "slow", "the late kingfisher")
    in_namespace(store, "quick", "a quick swallow")
    assert len(found(store, "swallow")) == 1 and found(store, "kingfisher") == []
    slow.commit()
    assert len(found(store, "kingfisher")) == 1 and len(found(store, "swallow")) == 1


def test_a_wait_ends_with_a_change_in_another_process(fresh):
    store, other = fresh(), fresh()
    before = store.newest()
    heard: list[object] = []
    waiting = threading.Thread(target=lambda: heard.append(store.wait(before, 30)))
    waiting.start()
    put(other, a_draft("news"))
    waiting.join()
    assert heard == [other.newest()] and heard != [before]


def test_changes_of_different_namespaces_do_not_wait_for_each_other(fresh):
    store, other = fresh(), fresh()
    slow = Slow(other, "slow", "the slow one")
    in_namespace(store, "quick", "the quick one")
    assert len(found(store, "quick")) == 1
    slow.commit()


def test_moments_go_on_from_those_of_another_daemon_whose_clock_is_ahead(fresh):
    ahead, behind = fresh(), fresh()
    put(ahead, a_draft("A heron"), at=START + HOUR)
    ahead.close()  # which tells the others what they have not been told
    put(behind, a_draft("A pond"))
    assert [change.at for change in behind.read().journal()] == [START + HOUR] * 2
