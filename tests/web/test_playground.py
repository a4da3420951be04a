"""The playground in the browser."""

from __future__ import annotations

from playwright.sync_api import expect


def test_shows_what_an_agent_would_get_at_two_settings(dashboard):
    dashboard.remember("We deploy on Mondays", namespace="acme")
    dashboard.remember("The deploy needs two approvals", namespace="other")
    page = dashboard.open("playground?compare=true&b_namespace=acme")
    page.get_by_label("Question").fill("deploy approvals on Mondays")
    dashboard.button("Ask").click()
    replies = page.locator("pre.text")
    expect(replies).to_have_count(2)
    expect(replies.first).to_contain_text("two approvals")
    expect(replies.nth(1)).not_to_contain_text("two approvals")
    expect(page.get_by_text("tokens").nth(1)).to_be_visible()
    assert "ask=deploy" in page.url
    assert dashboard.violations() == []
