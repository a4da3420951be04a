"""A browser window on the dashboard, with what every test checks of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import BrowserContext, Locator, Page, expect

from mnemic.core.context import Context

AXE = Path(__file__).parents[1] / "web/vendor/axe.min.js"
SERIOUS = ("serious", "critical")


class Dashboard:
    """A window on the dashboard at *address*, and the store behind it."""

    def __init__(self, context: BrowserContext, address: str, ctx: Context):
        self.context = context
        self.address = address
        self.ctx = ctx
        self.problems: list[str] = []
        self.expected: tuple[str, ...] = ()
        """Parts of messages that a test provokes."""
        self.page = self.window()

    def window(self) -> Page:
        """Another window."""
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("console", self._heard)
        page.on("request", self._requested)
        return page

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text}")

    def _requested(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.problems.append(f"request elsewhere: {request.url}")

    def assert_clean(self) -> None:
        """Nothing went wrong in the browser, no policy was broken and nothing was asked of others."""
        left = [one for one in self.problems if not any(part in one for part in self.expected)]
        assert left == [], left

    def open(self, path: str = "", page: Page | None = None) -> Page:
        """Go to the page *path*, as in `browse?kind=fact`."""
        page = page or self.page
        page.goto(f"{self.address}/#/{path}")
        return page

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool or a command as somebody else would."""
        address = f"{self.address}/api/v1/tools/mnemic/{tool}"
        answered = httpx.post(address, json=arguments, timeout=60, headers={"Mnemic-Client": "agent"})
        assert answered.status_code == 200, answered.text
        return dict(answered.json())

    def remember(self, text: str, **fields: Any) -> int:
        """Store a memory; its number."""
        return int(self.call("remember", text=text, **fields)["stored"][0]["id"])

    @property
    def search_box(self) -> Locator:
        """The one search box."""
        return self.page.get_by_role("searchbox")

    def button(self, name: str) -> Locator:
        """The button of exactly this name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def heading(self, name: str) -> Locator:
        """The heading of exactly this name."""
        return self.page.get_by_role("heading", name=name, exact=True)

    def sees(self, text: str, page: Page | None = None) -> None:
        """Wait until *text* is shown."""
        expect((page or self.page).get_by_text(text).first).to_be_visible()

    def settled(self) -> None:
        """Wait until nothing is being fetched for the page."""
        self.page.locator("main > *").first.wait_for()
        expect(self.page.locator(".waiting, [aria-busy=true]")).to_have_count(0)

    def violations(self, page: Page | None = None) -> Sequence[str]:
        """What axe finds that is serious."""
        page = page or self.page
        # The content security policy forbids inline scripts, so the test evaluates it from outside the page.
        page.evaluate(AXE.read_text(encoding="utf-8") + "\n;0")
        found = page.evaluate(
            "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']})"
        )
        return [
            f"{one['id']}: {node['target']} {node['failureSummary']}"
            for one in found["violations"]
            if one["impact"] in SERIOUS
            for node in one["nodes"]
        ]
