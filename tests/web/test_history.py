"""History, undo and time travel in the browser."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from dashboard import Dashboard
from playwright.sync_api import expect


@pytest.fixture
def past(dashboard: Dashboard) -> str:
    """A belief that was corrected; the moment before the correction."""
    dashboard.remember("We deploy on Fridays", title="Deploys")
    time.sleep(0.01)
    moment = datetime.now(UTC).isoformat()
    time.sleep(0.01)
    dashboard.call("revise", id="1", text="We deploy on Mondays")
    dashboard.remember("Tea is at four")
    return moment


def test_shows_who_changed_what(dashboard, past):
    page = dashboard.open("history")
    dashboard.heading("History").wait_for()
    change = page.locator(".change", has_text="revise").first
    expect(change).to_contain_text("agent")
    expect(change.locator("del")).to_contain_text("Fridays")
    expect(change.locator("ins")).to_contain_text("Mondays")


def test_any_change_can_be_taken_back(dashboard, past):
    page = dashboard.open("history")
    page.locator(".change", has_text="revise").get_by_role("button", name="Undo").click()
    dashboard.sees("Took back change")
    assert dashboard.call("open", ids=["1"])["memories"][0]["text"] == "We deploy on Fridays"


def test_compares_two_moments(dashboard, past):
    page = dashboard.open(f"history?view=compare&since={past.replace('+', '%2B')}")
    expect(page.get_by_role("heading", name="Added 1")).to_be_visible()
    expect(page.get_by_role("heading", name="Changed 1")).to_be_visible()


def test_the_whole_dashboard_shows_a_past_moment(dashboard, past):
    moment = past.replace("+", "%2B")
    page = dashboard.open(f"memory/1?as_of={moment}")
    dashboard.sees("We deploy on Fridays")
    expect(dashboard.button("Edit")).to_have_count(0)
    dashboard.sees("Nothing can be changed there")
    page.get_by_role("link", name="Browse").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    assert "as_of=" in page.url
    dashboard.search_box.fill("when do we deploy")
    dashboard.sees("We deploy on Fridays")
    dashboard.button("Back to now").first.click()
    dashboard.sees("We deploy on Mondays")
    assert "as_of=" not in page.url


PAST = {
    "search?q=tea+at+four": "Nothing relevant",
    "browse": "1–1 of 1",
    "history": "We deploy on Fridays",
    "memory/1?tab=changes": "We deploy on Fridays",
    "sessions": "No sessions",
    "graph": "No links",
    "analytics": "Memories stored",
    "playground?ask=tea+at+four": "at that time",
    "review": "This page is about the present",
    "live": "This page is about the present",
    "admin": "This page is about the present",
}
"""What each page shows of the past."""


@pytest.mark.parametrize("path", PAST)
def test_every_page_shows_the_past_and_nothing_of_later(dashboard, past, path):
    dashboard.call("recall", query="when is tea?")
    dashboard.call("session", action="start", topic="Later")
    dashboard.call("link", source="1", target="2", type="depends_on")
    joined = "&" if "?" in path else "?"
    page = dashboard.open(f"{path}{joined}as_of={past.replace('+', '%2B')}")
    dashboard.sees(PAST[path])
    dashboard.settled()
    shown = page.inner_text("main")
    assert not [later for later in ("Mondays", "Tea", "Later", "when is tea") if later in shown]
    for name in ("Edit", "Undo", "New memory", "Delete"):
        expect(dashboard.button(name)).to_have_count(0)


def test_the_slider_travels(dashboard, past):
    page = dashboard.open("browse")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_role("button", name="time travel").click()
    slider = page.get_by_role("slider", name="Moment")
    expect(slider).to_be_enabled()
    slider.fill("1")
    dashboard.sees("You are looking at")
    assert "as_of=" in page.url
    page.keyboard.press("Escape")
    expect(slider).to_have_count(0)


def test_has_no_serious_accessibility_problem(dashboard, past):
    page = dashboard.open("history")
    page.locator(".change").first.wait_for()
    page.get_by_role("button", name="time travel").click()
    assert dashboard.violations() == []
