"""The review queue in the browser: decide with one key, and take it back."""

from __future__ import annotations

import pytest
from dashboard import Dashboard
from playwright.sync_api import expect

from mnemic.core.access import TokenRequest, create_token


@pytest.fixture
def captured(dashboard: Dashboard) -> Dashboard:
    """Two captured memories that nobody has reviewed."""
    for text in ("We always deploy on Mondays", "Never push to main without a review"):
        dashboard.remember(text, source="captured", tags=["captured"])
    return dashboard


def waiting(dashboard: Dashboard):
    return dashboard.page.get_by_role("list", name="Captured").get_by_role("listitem")


def test_one_key_accepts_and_undo_takes_it_back(captured):
    captured.open("review")
    captured.heading("Review").wait_for()
    expect(waiting(captured)).to_have_count(2)
    assert captured.violations() == []
    captured.page.keyboard.press("j")
    captured.page.keyboard.press("a")
    expect(waiting(captured)).to_have_count(1)
    assert captured.call("list", tags=["captured"])["total"] == 1
    captured.button("Undo").click()
    expect(waiting(captured)).to_have_count(2)


def test_one_key_rejects(captured):
    captured.open("review")
    expect(waiting(captured)).to_have_count(2)
    captured.page.keyboard.press("r")
    expect(waiting(captured)).to_have_count(1)
    assert captured.call("list", state="forgotten")["total"] == 1


def test_duplicates_are_merged_from_here(dashboard):
    dashboard.remember("The deployment of the web shop runs every Friday afternoon at four")
    dashboard.remember(
        "The deployment of the web shop runs every Friday afternoon at four o'clock", force=True
    )
    page = dashboard.open("review?kind=duplicates")
    dashboard.button("Merge them").click()
    dashboard.sees("Nothing to decide")
    assert dashboard.call("list")["total"] == 1
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(dashboard.button("Merge them")).to_be_visible()


@pytest.mark.parametrize("kind", ["conflicts", "expiring", "poisoned", "unused", "links"])
def test_every_kind_can_be_empty(dashboard, kind):
    dashboard.open(f"review?kind={kind}")
    dashboard.sees("Nothing to decide")


def test_a_reading_token_decides_nothing(captured, ctx):
    secret = create_token(ctx, TokenRequest(name="reader", can_write=False))
    page = captured.open("review")
    page.get_by_label("Token").fill(secret)
    captured.button("Log in").click()
    expect(waiting(captured)).to_have_count(2)
    expect(captured.button("Keep it")).to_have_count(0)
    captured.expected = ("401",)
