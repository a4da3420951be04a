"""The API page in the browser."""

from __future__ import annotations

from playwright.sync_api import expect


def test_lists_operations_and_finds_one(dashboard):
    page = dashboard.page
    page.goto(f"{dashboard.address}/api/v1/docs")
    expect(page.locator(".opblock-tag").first).to_be_visible()
    page.get_by_label("Search operations").fill("tools/mnemic/recall")
    expect(page.locator(".opblock-tag")).to_have_count(1)
    page.locator(".opblock-tag button").first.click() if page.locator(".opblock").count() == 0 else None
    expect(page.locator(".opblock-summary-path").first).to_contain_text("recall")
