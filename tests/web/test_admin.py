"""Administration in the browser."""

from __future__ import annotations

import json
import uuid

import pytest
from dashboard import Dashboard
from playwright.sync_api import expect


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own: settings, clients and backups are files in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("MNEMIC_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "MNEMIC_DB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    return folder


def test_settings_are_shown_and_written(dashboard: Dashboard, home):
    page = dashboard.open("admin")
    page.get_by_role("button", name="Set port").click()
    page.get_by_label("port", exact=True).fill("9099")
    dashboard.button("Write").click()
    dashboard.sees("It holds when the daemon starts next")
    assert "port = 9099" in (home / ".config/mnemic/config.toml").read_text()


def test_a_client_is_installed_after_the_change_was_shown(dashboard, home):
    page = dashboard.open("admin/clients")
    page.get_by_role("button", name="Install for Cursor").click()
    expect(page.locator("pre.code")).to_contain_text("mcpServers")
    assert not (home / ".cursor/mcp.json").exists()
    dashboard.button("Apply").click()
    expect(page.get_by_role("button", name="Remove from Cursor")).to_be_visible()
    assert "mnemic" in json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"]


def test_the_first_token_locks_the_daemon_and_logs_this_browser_in(dashboard):
    page = dashboard.open("admin/tokens")
    page.get_by_label("Name", exact=True).fill("owner")
    dashboard.button("Create").click()
    expect(page.locator(".secret")).to_contain_text("mn_")
    page.get_by_label("Name", exact=True).fill("reader")
    page.get_by_label("May change memories").uncheck()
    dashboard.button("Create").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    page.locator("tbody tr", has_text="reader").get_by_role("button", name="Revoke").click()
    expect(page.locator("tbody tr")).to_have_count(1)


def test_an_import_is_previewed_and_can_be_taken_back(dashboard, tmp_path):
    file = tmp_path / "memories.jsonl"
    dashboard.remember("Tea is at four", title="Tea")
    file.write_bytes(renamed(exported(dashboard)))
    page = dashboard.open("admin/transfer")
    page.get_by_label("File").set_input_files(file)
    expect(count_of(page, "New")).to_have_text("1")
    assert dashboard.call("stats")["total"] == 1, "a preview changes nothing"
    dashboard.button("Import").click()
    dashboard.sees("1 imported, 0 known.")
    assert dashboard.call("stats")["total"] == 2
    dashboard.button("Undo").click()
    dashboard.sees("Undone.")
    assert dashboard.call("stats")["total"] == 1


def exported(dashboard: Dashboard) -> bytes:
    """All memories as lines."""
    return bytes(dashboard.page.request.get(f"{dashboard.address}/api/v1/export.jsonl").body())


def renamed(lines: bytes) -> bytes:
    """The same memories as others: with uids and titles of their own."""
    records = [json.loads(line) for line in lines.splitlines()]
    for record in records:
        if record["record"] == "memory":
            record |= {"uid": str(uuid.uuid4()), "title": f"Other {record['title']}", "name": None}
    return b"\n".join(json.dumps(record).encode() for record in records) + b"\n"


def count_of(page, name):
    """The number that the preview of an import says for *name*."""
    return page.locator(".counts > div", has=page.get_by_text(name, exact=True)).locator("dd")


def test_a_preview_says_what_is_known_what_is_new_and_what_conflicts(dashboard, tmp_path):
    for title in ("Tea", "Lunch", "Dinner"):
        dashboard.remember(f"{title} is at four", title=title)
    file = tmp_path / "memories.jsonl"
    lines = exported(dashboard)
    added = renamed(b"".join(line + b"\n" for line in lines.splitlines() if b"Dinner" in line))
    file.write_bytes(lines.replace(b"Lunch is at four", b"Lunch is at one") + added)
    dashboard.call("revise", id="Lunch", text="Lunch is at noon")
    page = dashboard.open("admin/transfer")
    page.get_by_label("File").set_input_files(file)
    expect(count_of(page, "Known already")).to_have_text("2")
    expect(count_of(page, "New")).to_have_text("1")
    expect(count_of(page, "Change one that is known")).to_have_text("1")
    changed = page.get_by_role("region", name="Change one that is known")
    expect(changed.locator("ins")).to_contain_text("one")
    expect(page.get_by_text("Other Dinner")).to_be_visible()
    assert dashboard.violations() == []
    assert dashboard.call("stats")["total"] == 3, "a preview changes nothing"


def test_a_backup_is_made_and_listed(dashboard, home):
    page = dashboard.open("admin/backups")
    dashboard.button("Make a backup").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    assert list(home.rglob("backups/mnemic-*.db"))


def test_a_backup_is_restored_after_it_was_said_what_that_undoes(dashboard, home):
    dashboard.remember("Tea is at four", title="Tea")
    page = dashboard.open("admin/backups")
    dashboard.button("Make a backup").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    dashboard.remember("Lunch is at noon", title="Lunch")
    dashboard.call("forget", ids=["Tea"])
    page.get_by_role("button", name="Restore mnemic-").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 changes were made since then and will be undone.")
    assert dashboard.violations() == []
    dialog.get_by_role("button", name="Restore", exact=True).click()
    dashboard.sees("Backup restored.")
    expect(page.locator("tbody tr")).to_have_count(2)
    assert [one["title"] for one in dashboard.call("list")["memories"]] == ["Tea"]
    dashboard.button("Undo").click()
    dashboard.sees("Undone.")
    assert [one["title"] for one in dashboard.call("list")["memories"]] == ["Lunch"]


def test_checks_say_how_the_store_is(dashboard):
    dashboard.open("admin/checks")
    dashboard.sees("database")
    expect(dashboard.page.locator(".checks .badge.good").first).to_be_visible()


def test_a_standard_is_set(dashboard):
    dashboard.remember("Never edit a migration", title="Rules", namespace="acme")
    page = dashboard.open("admin/namespaces")
    page.get_by_label("Namespace", exact=True).fill("acme")
    page.get_by_label("Number of the memory").fill("1")
    dashboard.button("Set").click()
    expect(page.get_by_role("link", name="Rules")).to_be_visible()


@pytest.mark.parametrize(
    "tab", ["settings", "clients", "tokens", "namespaces", "transfer", "backups", "checks"]
)
def test_has_no_serious_accessibility_problem(dashboard, tab):
    dashboard.open(f"admin/{tab}")
    dashboard.settled()
    assert dashboard.violations() == []
