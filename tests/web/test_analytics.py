"""The analytics page: plots, questions asked in vain, memories of use."""

from __future__ import annotations

from playwright.sync_api import expect


def test_shows_what_was_asked_in_vain(dashboard):
    dashboard.remember("The release is on Monday", tags=["release"], namespace="work")
    dashboard.call("recall", query="when is the release?", namespace="work")
    dashboard.call("recall", query="who feeds the zebra in Timbuktu?", namespace="work")
    page = dashboard.open("analytics")
    dashboard.heading("Analytics").wait_for()
    dashboard.heading("Asked in vain").wait_for()
    vain = page.locator("section").filter(has=dashboard.heading("Asked in vain"))
    expect(vain.get_by_role("link")).to_have_text(["who feeds the zebra in Timbuktu?"])
    most = page.locator("section").filter(has=dashboard.heading("Most used"))
    expect(most.get_by_role("link", name="The release is on Monday")).to_be_visible()
    for plot in ("Memories stored", "Stored by day, one year", "Recalls by day", "Median time of a recall"):
        expect(page.get_by_role("img", name=plot)).to_be_visible()
    assert dashboard.violations() == []


def test_a_namespace_narrows_it(dashboard):
    dashboard.remember("Ours", namespace="ours")
    dashboard.remember("Theirs", namespace="theirs")
    page = dashboard.open("analytics?namespace=ours")
    by_namespace = page.locator("section").filter(has=dashboard.heading("By namespace"))
    expect(by_namespace.get_by_role("link")).to_have_text(["ours"])


def test_an_empty_store_says_so(dashboard):
    dashboard.open("analytics")
    dashboard.sees("Nothing is stored yet")
