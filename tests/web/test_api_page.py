"""The API page in the browser."""

from __future__ import annotations

import pytest
from dashboard import Dashboard
from playwright.sync_api import Locator, expect


@pytest.fixture
def recall(dashboard: Dashboard) -> Locator:
    """The operation `recall` of the native dialect, found by the search and opened."""
    page = dashboard.page
    page.goto(f"{dashboard.address}/api/v1/docs")
    expect(page.locator(".opblock-tag").first).to_be_visible()
    page.get_by_label("Search operations").fill("tools/mnemic/recall")
    expect(page.locator(".opblock-tag")).to_have_count(1)
    page.get_by_role("button", name="Expand operation").click()
    operation = page.locator(".opblock").first
    operation.locator(".opblock-summary-control").click()
    return operation


def test_finds_an_operation_and_shows_its_schema(recall):
    expect(recall.locator(".opblock-summary-path")).to_contain_text("recall")
    recall.get_by_role("tab", name="Schema").first.click()
    expect(recall.get_by_text("min_relevance").first).to_be_visible()


def test_tries_an_operation(recall):
    recall.get_by_role("button", name="Try it out").click()
    recall.locator("textarea").fill('{"query": "Where do we deploy?"}')
    recall.get_by_role("button", name="Execute").click()
    expect(recall.locator(".live-responses-table")).to_contain_text("Nothing relevant is known")
