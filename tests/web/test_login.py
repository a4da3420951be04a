"""Login in the browser: the whole store, a reader, and a token of one namespace."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dashboard import Dashboard
from playwright.sync_api import expect
from server_process import serving

from mnemic.core.access import TokenRequest, create_token
from mnemic.core.memories import Note, remember
from mnemic.transports.http.auth import AuthPolicy


@pytest.fixture
def locked(browser, ctx) -> Iterator[Dashboard]:
    """A dashboard that asks for a token, with memories of two namespaces."""
    for namespace, text in (("acme", "Acme deploys on Fridays"), ("secret", "The merger is in May")):
        remember(ctx, [Note(text=text, namespace=namespace)])
    with serving(ctx, AuthPolicy("127.0.0.1", "open sesame")) as address:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        shown = Dashboard(context, address, ctx)
        shown.expected = ("401",)
        yield shown
        context.close()
        shown.assert_clean()


def log_in(dashboard: Dashboard, token: str) -> None:
    dashboard.page.get_by_label("Token").fill(token)
    dashboard.button("Log in").click()


def test_asks_for_a_token_and_goes_where_one_wanted(locked):
    page = locked.open("browse")
    token = page.get_by_label("Token")
    expect(token).to_have_attribute("type", "password")
    assert locked.violations() == []
    log_in(locked, "open barley")
    locked.sees("This token grants nothing here.")
    log_in(locked, "open sesame")
    locked.heading("Browse").wait_for()
    expect(page.locator("tbody tr")).to_have_count(2)
    page.reload()
    locked.heading("Browse").wait_for()
    assert page.evaluate("document.cookie") == ""
    locked.button("Log out").click()
    expect(page.get_by_label("Token")).to_be_visible()


def test_a_limited_token_sees_nothing_of_others(locked):
    page = locked.open("browse")
    log_in(locked, create_token(locked.ctx, TokenRequest(name="contractor", namespaces=("acme",))))
    locked.sees("Acme deploys on Fridays")
    for path in ("browse?state=any", "search?q=when+is+the+merger", "history", "memory/2", "sessions"):
        locked.expected = ("401", "404")
        locked.open(path)
        locked.settled()
        assert "merger is in May" not in page.inner_text("body")
        assert "secret" not in page.inner_text("main")
    expect(page.get_by_role("link", name="Admin")).to_have_count(0)


def test_a_reader_sees_no_buttons_that_change(locked):
    page = locked.open("memory/1")
    log_in(locked, create_token(locked.ctx, TokenRequest(name="reader", can_write=False)))
    locked.sees("Acme deploys on Fridays")
    locked.sees("Read only")
    for name in ("Edit", "Delete", "Archive", "Link", "Merge", "Split"):
        expect(locked.button(name)).to_have_count(0)
    page.keyboard.press("e")
    expect(page.get_by_label("Text", exact=True)).to_have_count(0)
    locked.open("browse")
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.get_by_role("checkbox")).to_have_count(0)
    expect(locked.button("New memory")).to_have_count(0)
    locked.open("history")
    page.locator(".change").first.wait_for()
    expect(locked.button("Undo")).to_have_count(0)
