"""The graph in the browser: picture and list, paths and consequences."""

from __future__ import annotations

import pytest
from dashboard import Dashboard
from playwright.sync_api import expect


@pytest.fixture
def linked(dashboard: Dashboard) -> Dashboard:
    """A chain of three linked memories, and a pair in another namespace."""
    for text, title in (
        ("The release needs a green build", "Release"),
        ("The build runs on the CI machine", "Build"),
        ("The CI machine stands in Berlin", "Machine"),
    ):
        dashboard.remember(text, title=title, namespace="work")
    dashboard.remember("Tea is at four", title="Tea", namespace="home")
    dashboard.remember(
        "Biscuits come with tea <script>alert(1)</script>", title="<b>Biscuits</b>", namespace="home"
    )
    dashboard.call("link", source="1", target="2", type="depends_on")
    dashboard.call("link", source="2", target="3", type="depends_on")
    dashboard.call("link", source="5", target="4", type="goes_with")
    dashboard.expected = ("GPU stall due to ReadPixels",)  # a remark of the software renderer
    return dashboard


def test_shows_everything_as_a_picture_and_as_a_list(linked):
    page = linked.open("graph")
    linked.heading("Graph").wait_for()
    linked.sees("5 memories, 3 links")
    listed = page.get_by_role("region", name="Memories")
    expect(listed.get_by_role("listitem")).to_have_count(5)
    expect(page.locator(".graph-canvas canvas").first).to_be_visible()
    expect(page.get_by_text("depends_on").first).to_be_visible()
    assert linked.violations() == []


def test_a_namespace_narrows_it(linked):
    page = linked.open("graph?namespace=home")
    linked.sees("2 memories, 1 link")
    expect(page.get_by_role("button", name="<b>Biscuits</b>")).to_be_visible()


def test_what_depends_on_a_memory_and_the_path_to_another(linked):
    page = linked.open("graph")
    page.get_by_role("region", name="Memories").get_by_role("button", name="Machine").click()
    chosen = page.get_by_role("region", name="Chosen memory")
    chosen.get_by_role("button", name="What depends on it").click()
    linked.sees("2 memories depend on it.")
    expect(page.get_by_role("region", name="Memories").get_by_role("listitem")).to_have_count(3)
    chosen.get_by_label("Path to").fill("Release")
    chosen.get_by_role("button", name="Find").click()
    linked.sees("Machine → Build → Release")
    chosen.get_by_role("button", name="Show everything again").click()
    expect(page.get_by_role("region", name="Memories").get_by_role("listitem")).to_have_count(5)
    chosen.get_by_label("Path to").fill("Tea")
    chosen.get_by_role("button", name="Find").click()
    linked.sees("There is no path.")


def test_the_surroundings_of_a_memory(linked):
    page = linked.open("graph")
    page.get_by_label("Around a memory").fill("Release")
    page.get_by_role("button", name="Show", exact=True).click()
    linked.sees("3 memories, 2 links")
    page.get_by_label("Links away").select_option("1")
    linked.sees("2 memories, 1 link")
    page.get_by_role("button", name="Whole namespace").click()
    linked.sees("5 memories, 3 links")


def test_a_link_type_can_be_hidden(linked):
    page = linked.open("graph")
    box = page.get_by_role("checkbox", name="goes_with")
    expect(box).to_be_checked()
    box.uncheck()
    expect(box).not_to_be_checked()


def test_without_links_it_says_so(dashboard):
    dashboard.open("graph")
    dashboard.sees("No links")
