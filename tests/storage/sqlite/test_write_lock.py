"""Writers wait in a queue, and none waits for one that will never end."""

from __future__ import annotations

import threading

import pytest

from mnemic.storage.sqlite import write_lock
from mnemic.storage.sqlite.write_lock import SUFFIX, Turns


@pytest.fixture
def two(tmp_path):
    """Two holders of the same lock, as two processes would have it."""
    one, other = Turns(tmp_path / "m.db"), Turns(tmp_path / "m.db")
    yield one, other
    one.close()
    other.close()


def test_the_second_waits_for_the_first(two):
    one, other = two
    entered = threading.Event()

    def second():
        with other:
            entered.set()

    with one:
        thread = threading.Thread(target=second)
        thread.start()
        assert not entered.wait(0.2)
    thread.join(10)
    assert entered.is_set()


def test_a_thread_may_take_its_turn_again(two):
    one, other = two
    with one, one:
        pass
    with other:
        pass


def test_a_turn_that_is_taken_need_not_be_waited_for(two):
    one, other = two
    with one:
        assert not other.try_acquire()
        assert one.try_acquire(), "one's own may be taken again"
        one.release()
        assert not other.try_acquire()
    assert other.try_acquire()
    assert not one.try_acquire()
    other.release()
    assert one.try_acquire()
    one.release()


def test_a_wait_that_is_too_long_ends_and_leaves_no_lock_behind(two, monkeypatch):
    monkeypatch.setattr(write_lock, "QUEUE_SECONDS", 0.1)
    one, other = two
    with one, other:
        pass
    # The wait that was given up gets the lock now, and must give it back at once.
    monkeypatch.setattr(write_lock, "QUEUE_SECONDS", 10)
    third = Turns(other._path.with_name("m.db"))
    with third:
        pass
    third.close()


def test_a_folder_that_cannot_be_written_is_no_hindrance(tmp_path):
    lock = Turns(tmp_path / "missing" / "m.db")
    with lock:
        pass
    lock.close()


def test_no_file_is_made_for_a_reader(tmp_path):
    lock = Turns(tmp_path / "m.db")
    lock.close()
    assert not (tmp_path / f"m.db{SUFFIX}").exists()
