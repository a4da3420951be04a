"""Search in the browser."""

from __future__ import annotations

import pytest
from dashboard import Dashboard
from playwright.sync_api import expect


@pytest.fixture
def stocked(dashboard: Dashboard) -> Dashboard:
    """A few memories of two projects."""
    dashboard.remember("We deploy on Fridays after the release meeting", title="Deploys", tags=["deploy"])
    dashboard.remember("The build runs on the CI machine in Frankfurt", namespace="acme", kind="fact")
    dashboard.remember("Tea is served at four in the kitchen", namespace="acme")
    return dashboard


def test_finds_as_one_types_from_any_page(stocked):
    page = stocked.open("history")
    expect(stocked.search_box).to_have_count(1)
    stocked.search_box.press_sequentially("when do we deploy")
    expect(page.get_by_role("heading", name="Deploys")).to_be_visible()
    assert "q=when+do+we+deploy" in page.url


def test_looking_is_no_use_and_no_recall(stocked):
    page = stocked.open("browse")
    stocked.search_box.press_sequentially("when do we deploy")
    page.get_by_role("heading", name="Deploys").get_by_role("link").click()
    page.get_by_role("link", name="Changes").click()
    page.locator(".timeline").wait_for()
    stocked.settled()
    deploys = stocked.call("open", ids=["Deploys"], record=False)["memories"][0]
    assert deploys["access_count"] == 0
    assert stocked.call("analytics")["recalls"]["count"] == 0
    assert {change["operation"] for change in stocked.call("history")["changes"]} == {"remember"}


def test_slash_goes_to_the_search_box(stocked):
    page = stocked.open("search")
    stocked.heading("Search").wait_for()
    page.keyboard.press("/")
    expect(stocked.search_box).to_be_focused()


def test_a_hit_shows_relevance_and_the_terms_of_its_score(stocked):
    page = stocked.open("search?q=when+do+we+deploy")
    expect(page.get_by_label("Relevance").first).to_be_visible()
    page.get_by_text("Why this score").first.click()
    expect(page.get_by_role("heading", name="Terms of the score").first).to_be_visible()
    expect(page.locator(".terms dt").first).to_be_visible()


def test_nothing_relevant_is_an_answer(stocked):
    stocked.open("search?q=What+is+the+VPN+password+of+the+Osaka+office")
    stocked.sees("Nothing relevant")


def test_explains_why_a_memory_was_not_found(stocked):
    page = stocked.open("search?q=when+do+we+deploy")
    page.get_by_text("Why was a memory not found?").click()
    page.get_by_label("Memory", exact=True).fill("3")
    stocked.button("Explain").click()
    stocked.sees("Not found")
    assert "why=3" in page.url


def test_a_filter_in_the_address_counts(stocked):
    page = stocked.open("search?q=kitchen+build+deploy&namespace=acme")
    expect(page.get_by_role("button", name="Remove filter Namespace: acme")).to_be_visible()
    stocked.sees("CI machine")
    expect(page.get_by_role("heading", name="Deploys")).to_have_count(0)


def test_has_no_serious_accessibility_problem(stocked):
    page = stocked.open("search?q=when+do+we+deploy")
    page.get_by_text("Why this score").first.click()
    stocked.sees("Deploys")
    assert stocked.violations() == []
