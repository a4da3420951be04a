"""Browse, open, change and take back in the browser."""

from __future__ import annotations

import pytest
from dashboard import Dashboard
from local_daemon import until
from playwright.sync_api import expect
from support import a_draft, put


@pytest.fixture
def stocked(dashboard: Dashboard) -> Dashboard:
    """Three memories of two projects; the newest is the last."""
    dashboard.remember("We deploy on Fridays after the release meeting", title="Deploys", tags=["deploy"])
    dashboard.remember("The build runs on the CI machine in Frankfurt", namespace="acme", kind="fact")
    dashboard.remember("Tea is served at four in the kitchen", namespace="acme")
    return dashboard


def rows(dashboard: Dashboard):
    return dashboard.page.locator("tbody tr")


def text_of(dashboard: Dashboard, reference: str) -> str:
    return str(dashboard.call("open", ids=[reference])["memories"][0]["text"])


def test_find_edit_save_undo(stocked):
    page = stocked.open("search")
    stocked.search_box.fill("when do we deploy")
    page.get_by_role("link", name="Deploys").click()
    stocked.button("Edit").click()
    page.get_by_label("Text", exact=True).fill("We deploy on Mondays")
    stocked.button("Save").click()
    stocked.button("Undo").wait_for()
    assert text_of(stocked, "Deploys") == "We deploy on Mondays"
    stocked.sees("We deploy on Mondays")
    stocked.button("Undo").click()
    stocked.sees("We deploy on Fridays after the release meeting")
    assert text_of(stocked, "Deploys").startswith("We deploy on Fridays")
    changes = stocked.call("history", id="Deploys")["changes"]
    assert [change["actor"] for change in changes[:2]] == ["dashboard", "dashboard"]


def test_every_field_can_be_changed(stocked):
    page = stocked.open("memory/2?edit=1")
    for label, value in {
        "Title": "Build machine",
        "Tags": "ci, build",
        "Kind": "note",
        "Namespace": "infra",
        "Priority": "8",
        "Confidence": "0.7",
    }.items():
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_label("Tier").select_option("mid")
    stocked.button("Save").click()
    stocked.heading("Build machine").wait_for()
    memory = stocked.call("open", ids=["2"])["memories"][0]
    assert (memory["namespace"], memory["kind"], memory["priority"], memory["tier"]) == (
        "infra",
        "note",
        8,
        "mid",
    )
    assert (sorted(memory["tags"]), memory["confidence"]) == (["build", "ci"], 0.7)


def test_a_bad_value_is_explained_and_nothing_is_lost(stocked):
    page = stocked.open("memory/2?edit=1")
    page.get_by_label("Text", exact=True).fill("The build runs in Berlin")
    page.get_by_label("Expires after").fill("soon")
    stocked.expected = ("400",)
    stocked.button("Save").click()
    expect(page.get_by_role("alert")).to_contain_text("ttl")
    expect(page.get_by_label("Text", exact=True)).to_have_value("The build runs in Berlin")


def test_a_correction_keeps_the_old_version(stocked):
    page = stocked.open("memory/1?edit=1")
    page.get_by_label("Text", exact=True).fill("We deploy on Mondays")
    page.get_by_label("The old text was true once").check()
    stocked.button("Save").click()
    stocked.button("Undo").wait_for()
    page.get_by_role("link", name="Versions").click()
    stocked.sees("superseded")
    assert stocked.call("open", ids=["1"])["memories"][0]["state"] == "superseded"


def test_keys_move_select_open_and_delete(stocked):
    page = stocked.open("browse")
    expect(rows(stocked)).to_have_count(3)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(rows(stocked).nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("#")
    expect(rows(stocked)).to_have_count(2)
    stocked.button("Undo").click()
    expect(rows(stocked)).to_have_count(3)
    page.keyboard.press("k")
    page.keyboard.press("e")
    expect(page.get_by_label("Text", exact=True)).to_have_value("Tea is served at four in the kitchen")


def test_columns_sort_on_the_server(stocked):
    page = stocked.open("browse")
    page.get_by_role("button", name="Title").click()
    expect(rows(stocked).first).to_contain_text("Deploys")
    page.get_by_role("button", name="Title").click()
    expect(rows(stocked).first).to_contain_text("The build")
    assert "order=title" in page.url and "reverse=true" in page.url


def test_bulk_tag_move_delete_and_restore(stocked):
    page = stocked.open("browse")
    page.get_by_label("Select all rows of this page").check()
    stocked.button("Tag").click()
    page.get_by_label("Tags to add").fill("reviewed, team")
    page.get_by_role("dialog").get_by_role("button", name="Tag", exact=True).click()
    stocked.sees("Tagged 3 memories.")
    assert stocked.call("list", tags=["reviewed"])["total"] == 3
    stocked.button("Undo").click()
    stocked.sees("Undone.")
    expect(page.locator("tbody .tag", has_text="reviewed")).to_have_count(0)
    page.get_by_label("Select all rows of this page").check()
    stocked.button("Delete").click()
    stocked.sees("No memories")
    stocked.open("browse?state=forgotten")
    page.get_by_label("Select all rows of this page").check()
    stocked.button("Restore").click()
    stocked.sees("Restored 3 memories.")
    assert stocked.call("stats")["total"] == 3


def test_cards_can_be_selected_and_changed_together(stocked):
    page = stocked.open("browse?view=cards")
    page.get_by_label("Select Deploys").check()
    page.get_by_label("Select Tea is served").check()
    stocked.sees("2 selected")
    stocked.button("Move").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Namespace").fill("infra")
    dialog.get_by_role("button", name="Move", exact=True).click()
    stocked.sees("Moved 2 memories")
    assert stocked.call("list", namespace="infra")["total"] == 2
    stocked.button("Undo").click()
    stocked.sees("Undone.")
    assert stocked.call("list", namespace="infra")["total"] == 0


def test_merge_two_and_take_it_back(stocked):
    other = stocked.remember("The release meeting is before we deploy", title="Release meeting")
    page = stocked.open("browse?order=title")
    for name in ("Deploys", "Release meeting"):
        page.get_by_label(f"Select {name}").check()
    stocked.button("Merge").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Deploys").check()
    expect(dialog.get_by_text("The release meeting is before we deploy")).to_be_visible()
    dialog.get_by_role("button", name="Merge", exact=True).click()
    stocked.sees("Merged 1 memory.")
    assert "release meeting is before" in text_of(stocked, "Deploys")
    stocked.button("Undo").click()
    stocked.sees("Undone.")
    assert "release meeting is before" not in text_of(stocked, "Deploys")
    assert text_of(stocked, str(other)).startswith("The release meeting")


def test_split_archive_and_restore_can_be_taken_back(stocked):
    themes = ("The tea shop sells blend {}", "Server {} runs the database", "Football match {} was lost")
    texts = tuple(themes[number % 3].format(number) for number in range(24))
    number = put(stocked.ctx.store, a_draft("", title="Many things", texts=texts))[0].id
    page = stocked.open(f"memory/{number}")
    stocked.button("Archive").click()
    stocked.button("Restore").click()
    stocked.sees("Restored 1 memory.")
    stocked.button("Undo").click()
    stocked.button("Restore").wait_for()
    assert stocked.call("open", ids=[str(number)])["memories"][0]["state"] == "archived"
    stocked.button("Restore").click()
    stocked.button("Split").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).not_to_have_count(0)
    total = stocked.call("list")["total"]
    dialog.get_by_role("button", name="Split", exact=True).click()
    stocked.sees("Undo")
    expect(dialog).to_have_count(0)
    assert stocked.call("list")["total"] > total
    stocked.button("Undo").click()
    until(lambda: stocked.call("list")["total"] == total)  # "Undone." is still shown for the first undo


def test_link_two_and_end_the_link(stocked):
    page = stocked.open("memory/1")
    stocked.button("Link").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("To", exact=True).fill("2")
    dialog.get_by_label("Type of the link").fill("depends_on")
    dialog.get_by_role("button", name="Link", exact=True).click()
    expect(page.get_by_text("depends_on →")).to_be_visible()
    stocked.button("End this link").click()
    expect(stocked.button("End this link")).to_have_count(0)
    stocked.button("Undo").click()
    expect(stocked.button("End this link")).to_be_visible()


def test_two_windows_do_not_overwrite_each_other(stocked):
    page = stocked.open("memory/1?edit=1")
    page.get_by_label("Text", exact=True).fill("We deploy on Mondays")
    stocked.call("revise", id="1", text="We deploy on Tuesdays")
    stocked.button("Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Someone else changed this memory")
    assert text_of(stocked, "1") == "We deploy on Tuesdays"
    stocked.button("Save").click()
    stocked.button("Undo").wait_for()
    assert text_of(stocked, "1") == "We deploy on Mondays"


def test_a_new_memory_is_stored(stocked):
    page = stocked.open("browse?view=cards")
    stocked.button("New memory").click()
    page.get_by_role("dialog").get_by_label("Text", exact=True).fill("Lunch is at noon")
    stocked.button("Save").click()
    expect(page.get_by_role("link", name="Lunch is at noon")).to_be_visible()
