"""Background work makes way for calls in progress, but is never starved by them."""

from __future__ import annotations

import threading
import time

from mnemic.core.activity import Activity


def seconds_waited(activity: Activity, at_most: float) -> float:
    started = time.monotonic()
    activity.wait_until_quiet(at_most)
    return time.monotonic() - started


def test_without_calls_nobody_waits():
    assert seconds_waited(Activity(), 5.0) < 1.0


def test_background_work_waits_until_the_last_call_has_ended():
    activity, ended = Activity(), []

    def call(seconds):
        with activity.call():
            begun.release()
            time.sleep(seconds)
            ended.append(seconds)

    begun = threading.Semaphore(0)
    calls = [threading.Thread(target=call, args=(seconds,)) for seconds in (0.02, 0.1)]
    for one in calls:
        one.start()
        begun.acquire()
    activity.wait_until_quiet(30.0)
    assert ended == [0.02, 0.1]
    for one in calls:
        one.join()


def test_constant_calls_hold_background_work_up_for_a_limited_time():
    activity = Activity()
    with activity.call():
        assert 0.05 <= seconds_waited(activity, 0.05) < 5.0


def test_a_call_that_fails_has_ended():
    activity = Activity()
    try:
        with activity.call():
            raise ValueError
    except ValueError:
        pass
    assert seconds_waited(activity, 5.0) < 1.0
