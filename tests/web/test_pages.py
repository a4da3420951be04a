"""Every page, light and dark, wide and on a phone: no serious accessibility problem, nothing cut off."""

from __future__ import annotations

import pytest
from dashboard import Dashboard
from playwright.sync_api import expect

PAGES = (
    "search?q=when+do+we+deploy&why=2",
    "search?q=what+is+the+fax+number+of+the+Osaka+office",
    "browse?kind=note",
    "browse?view=cards",
    "memory/1",
    "memory/1?edit=1",
    "memory/1?tab=versions",
    "history",
    "history?view=compare&since=1d",
    "sessions",
    "sessions/1",
    "graph",
    "review?kind=duplicates",
    "live",
    "analytics",
    "playground?ask=deploy&compare=true",
    "admin",
    "admin/clients",
    "admin/tokens",
    "admin/namespaces",
    "admin/transfer",
    "admin/backups",
    "admin/checks",
)


@pytest.fixture
def stocked(dashboard: Dashboard) -> Dashboard:
    """Something for every page to show."""
    dashboard.remember("We deploy on Fridays after the release meeting", title="Deploys", tags=["deploy"])
    dashboard.remember("The build runs on the CI machine in Frankfurt", namespace="acme", kind="fact")
    dashboard.remember("The build runs on the CI machine in Frankfurt!", namespace="acme", force=True)
    dashboard.call("link", source="1", target="2", type="depends_on", reason="CI runs first")
    dashboard.call("session", action="start", topic="Release")
    dashboard.call("session", action="log", user="When do we deploy?", agent="On Fridays.")
    dashboard.call("recall", query="when do we deploy?")
    dashboard.expected = ("GPU stall due to ReadPixels",)  # a remark of the software renderer
    return dashboard


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_page_has_a_serious_accessibility_problem(stocked: Dashboard, theme: str, width: int):
    page = stocked.page
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    wrong = {}
    for path in PAGES:
        stocked.open(path)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        stocked.settled()
        if found := stocked.violations():
            wrong[path] = list(found)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wrong[f"{path} is wider than the window"] = []
    assert wrong == {}
