"""Sessions in the browser."""

from __future__ import annotations

import pytest
from dashboard import Dashboard
from playwright.sync_api import expect


@pytest.fixture
def worked(dashboard: Dashboard) -> Dashboard:
    """A session with a turn, a memory, a recall, a reflection and an end."""
    dashboard.call("session", action="start", topic="Release process")
    dashboard.remember("We deploy on Mondays", title="Deploys")
    dashboard.call("session", action="log", user="When do we deploy?", agent="On Mondays.")
    dashboard.call("recall", query="when do we deploy?")
    dashboard.call("reflect", text="Deploys come up in every session", about="Deploys")
    dashboard.call("session", action="end", summary="Deploys moved to Mondays")
    return dashboard


def test_lists_sessions_and_shows_what_one_holds(worked):
    page = worked.open("sessions")
    worked.heading("Sessions").wait_for()
    page.get_by_role("link", name="Release process").click()
    worked.heading("Release process").wait_for()
    worked.sees("When do we deploy?")
    for title in ("Turns", "Episode", "Stored in this session", "Recalled in this session", "Reflections"):
        expect(worked.heading(title)).to_be_visible()
    expect(page.get_by_role("link", name="Deploys come up in every session")).to_be_visible()
    assert worked.violations() == []


def test_an_empty_list_says_how_sessions_begin(dashboard):
    dashboard.open("sessions")
    dashboard.sees("No sessions")
