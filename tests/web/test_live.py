"""The live page: what others write and recall appears without asking."""

from __future__ import annotations

from playwright.sync_api import expect


def test_changes_and_recalls_of_others_appear(dashboard):
    page = dashboard.open("live")
    dashboard.sees("Connected")
    dashboard.remember("The release is on Monday", namespace="work")
    dashboard.call("recall", query="when is the release?", namespace="work")
    events = page.get_by_role("list", name="Events").get_by_role("listitem")
    expect(events).to_have_count(2)
    expect(page.get_by_role("link", name="The release is on Monday")).to_be_visible()
    expect(events.filter(has_text="when is the release?")).to_contain_text("agent")
    assert dashboard.violations() == []


def test_events_can_be_narrowed_to_a_project_and_paused(dashboard):
    page = dashboard.open("live")
    dashboard.sees("Connected")
    dashboard.remember("Ours", namespace="ours")
    dashboard.remember("Theirs", namespace="theirs")
    events = page.get_by_role("list", name="Events").get_by_role("listitem")
    expect(events).to_have_count(2)
    page.get_by_label("Namespace").select_option("ours")
    expect(events).to_have_count(1)
    dashboard.button("Pause").click()
    dashboard.sees("Not connected")
    dashboard.button("Clear").click()
    dashboard.sees("Nothing has happened yet")
