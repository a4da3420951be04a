"""Hostile content, a lost connection and two windows."""

from __future__ import annotations

import pytest
from dashboard import Dashboard
from playwright.sync_api import expect

SCRIPT = "<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script>"
RTL = "\u202eהחלטנו לפרוס ביום שני\u202c 🦊👩‍👩‍👧‍👦"


@pytest.fixture
def hostile(dashboard: Dashboard) -> Dashboard:
    """Memories that try to be more than text."""
    dashboard.remember(
        f"{SCRIPT} is what the attacker wrote", title=SCRIPT, tags=["<b>bold</b>"], kind="<i>kind</i>"
    )
    dashboard.remember("word " * 13_000 + "end", title="A long text")
    dashboard.remember(RTL, title=RTL)
    dashboard.call("session", action="start", topic=SCRIPT)
    dashboard.call("link", source="1", target="2", type="<u>type</u>", reason=SCRIPT)
    dashboard.call("recall", query=SCRIPT)
    dashboard.expected = ("GPU stall due to ReadPixels",)  # a remark of the software renderer
    return dashboard


@pytest.mark.parametrize(
    "path",
    [
        "search?q=what+the+attacker+wrote",
        "browse",
        "browse?view=cards",
        "memory/1",
        "memory/2",
        "memory/3",
        "history",
        "sessions",
        "sessions/1",
        "graph",
        "analytics",
        "playground?ask=what+the+attacker+wrote&compare=true",
        "review?kind=poisoned",
    ],
)
def test_stored_text_is_only_ever_text(hostile, path):
    page = hostile.open(path)
    hostile.settled()
    assert page.locator("main img, main script, main b, main i, main u").count() == 0
    assert page.title() != "pwned"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_lost_connection_is_said_and_found_again(dashboard):
    dashboard.remember("Tea is at four", title="Tea")
    page = dashboard.open("browse")
    expect(page.locator("tbody tr")).to_have_count(1)
    dashboard.expected = ("Failed to load resource",)
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_role("button", name="Title").click()
    expect(page.get_by_text("Connection lost")).to_be_visible()
    page.unroute("**/api/**")
    expect(page.get_by_text("Connection lost")).to_have_count(0, timeout=30_000)
    expect(page.locator("tbody tr")).to_have_count(1)


def test_a_second_window_sees_the_change_of_the_first_when_it_is_looked_at(dashboard):
    dashboard.remember("Tea is at four", title="Tea")
    page = dashboard.open("memory/1")
    dashboard.sees("Tea is at four")
    dashboard.call("revise", id="1", text="Tea is at five")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    dashboard.sees("Tea is at five")
