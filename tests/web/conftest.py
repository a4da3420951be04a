"""A real Chromium over a real daemon with a real store and the real model."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from dashboard import Dashboard
from playwright.sync_api import Browser, expect, sync_playwright
from server_process import serving
from support import open_store

from mnemic.app import engines
from mnemic.core.context import Context
from mnemic.embedding.local import LocalEmbedder

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT_MS = 30_000
"""The machine may be busy; nothing here measures time."""


def chromium() -> str:
    """The installed browser."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.fail(
            "No Chromium was found: install it (`apt-get install chromium`) or set CHROMIUM to its path."
        )
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a file. It ends with them: its event loop would hinder those of others."""
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@pytest.fixture
def ctx(tmp_path: Path, model: LocalEmbedder) -> Iterator[Context]:
    """An empty store with the real model and the real clock."""
    store = open_store("sqlite", tmp_path, "mnemic")
    store.use_models(model.name)
    yield Context(store=store, engines=engines(), embedder=model, actor="tester")
    store.close()


@pytest.fixture
def dashboard(browser: Browser, ctx: Context) -> Iterator[Dashboard]:
    """The dashboard of `ctx` in a window of its own."""
    with serving(ctx) as address:
        context = browser.new_context(
            viewport={"width": 1280, "height": 900}, locale="en-GB", timezone_id="UTC"
        )
        context.set_default_timeout(TIMEOUT_MS)
        shown = Dashboard(context, address, ctx)
        yield shown
        context.close()
        shown.assert_clean()
