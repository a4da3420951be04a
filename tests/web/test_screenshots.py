"""The pictures of the documentation: `MNEMIC_SCREENSHOTS=1 pytest tests/web/test_screenshots.py` takes them again."""

from __future__ import annotations

import os
from pathlib import Path

from dashboard import Dashboard
from playwright.sync_api import expect

IMAGES = Path(__file__).parents[2] / "docs/images"
MEMORIES = (
    (
        "We deploy the API on Mondays at 10:00 UTC, after the release meeting; never on Fridays.",
        "Deploy day",
        "deploy",
    ),
    (
        "Database migrations are never edited after they were merged: write a new one.",
        "Migrations",
        "database",
    ),
    ("PostgreSQL 17 runs on db-1 and db-2 in Frankfurt; db-2 is the standby.", "Database hosts", "database"),
    ("Mira prefers small pull requests and answers reviews in the morning.", "Mira on reviews", "people"),
    (
        "Feature flags live in flags.toml; a flag older than 90 days is removed or renewed.",
        "Flags",
        "process",
    ),
    ("The payment webhook retries five times with a growing delay.", "Webhook retries", "payments"),
)


def test_pictures_show_what_the_documents_say(dashboard: Dashboard):
    for text, title, tag in MEMORIES:
        dashboard.remember(text, title=title, tags=[tag], namespace="acme")
    page = dashboard.open("search?q=when+do+we+deploy")
    page.get_by_text("Why this score").first.click()
    expect(page.get_by_role("heading", name="Terms of the score").first).to_be_visible()
    take(dashboard, "search.png")
    dashboard.open("browse")
    expect(page.locator("tbody tr")).to_have_count(len(MEMORIES))
    take(dashboard, "browse.png")
    dashboard.open("history")
    page.locator(".change").first.wait_for()
    take(dashboard, "history.png")


def take(dashboard: Dashboard, name: str) -> None:
    """Write the picture *name*, if pictures are asked for."""
    if os.environ.get("MNEMIC_SCREENSHOTS"):
        dashboard.page.screenshot(path=IMAGES / name)
    assert (IMAGES / name).is_file()
