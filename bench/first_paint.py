"""The dashboard in Chromium, warm: when its first page is painted, and when the memories are shown."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING

from bench.figures import Figure
from bench.run import Bench
from bench.stores import copied
from bench.transports import Daemon

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROUNDS = 9
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def paint(bench: Bench) -> Iterator[Figure]:
    """Wall time from the request to the first paint, and to the rows of the table of memories."""
    from playwright.sync_api import sync_playwright

    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        return
    size = bench.sizes[-1]
    with (
        copied(bench.stores.ours(size)) as path,
        Daemon(path) as daemon,
        sync_playwright() as playwright,
    ):
        window = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        page = window.new_page()
        times = [_opened(page, f"http://127.0.0.1:{daemon.port}") for _ in range(ROUNDS + 1)][1:]
        window.close()
    yield Figure(
        what=f"first paint of the dashboard, warm, {size:,}",
        measured=median(first for first, _ in times),
        row="first paint",
    )
    yield Figure(
        what=f"first 50 memories in the dashboard, warm, {size:,}",
        measured=median(rows for _, rows in times),
    )


def _opened(page: Page, address: str) -> tuple[float, float]:
    """Milliseconds until the page is painted, and until it shows memories."""
    page.goto("about:blank")
    page.goto(f"{address}/#/browse")
    page.locator("tbody tr").nth(49).wait_for()
    rows = page.evaluate("performance.now()")
    return float(page.evaluate(PAINTED) or rows), float(rows)
