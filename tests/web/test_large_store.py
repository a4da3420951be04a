"""A store of 100,000 memories in the browser: paged, sorted, narrowed and searched by the daemon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dashboard import Dashboard
from playwright.sync_api import expect
from support import START, a_draft, open_store, put

from mnemic.app import engines
from mnemic.core.context import Context
from mnemic.model.memory import Draft

COUNT, BATCH = 100_000, 10_000
PAGES = ("cart", "login", "search", "invoice")


def draft(number: int) -> Draft:
    """Memory *number*, one of many alike."""
    text = f"Ticket {number}: the {PAGES[number % 4]} page of build {number // 7} is slow"
    kind = ("fact", "decision", "note")[number % 3]
    return a_draft(
        text, title=f"Ticket {number:06}", kind=kind, tags=(f"tag{number % 20}",), namespace=f"p{number % 10}"
    )


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[Context]:
    """A store of 100,000 memories without vectors."""
    store = open_store("sqlite", tmp_path, "mnemic", durable=False)
    for first in range(0, COUNT, BATCH):
        put(store, *map(draft, range(first, first + BATCH)), at=START + first)
    yield Context(store=store, engines=engines(), embedder=None, actor="tester")
    store.close()


def test_is_browsed_sorted_narrowed_and_searched(dashboard: Dashboard):
    page = dashboard.open("browse")
    first = page.locator("tbody tr").first
    expect(page.get_by_text("of 100,000")).to_be_visible()
    page.get_by_role("button", name="Title").click()
    expect(first).to_contain_text("Ticket 000000")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("51–100 of 100,000")).to_be_visible()
    expect(first).to_contain_text("Ticket 000050")
    dashboard.open("browse?namespace=p3&kind=note&sort=title")
    expect(page.get_by_text("of 3,333")).to_be_visible()
    dashboard.button("Filters").click()
    expect(page.locator("datalist option[value=decision]")).to_be_attached()
    dashboard.search_box.fill("ticket 77777")
    expect(page.get_by_role("heading", name="Ticket 077777")).to_be_visible()
    assert page.locator("main *").count() < 5_000, "the page holds what it shows, not the store"
