"""Editing a client's configuration: the one member changes, everything else stays to the letter."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.client_config import instruction_block, jsonc, toml, yaml

ENTRY = {"command": "/opt/mnemic", "args": ["mcp"]}
PATH = ("mcpServers", "mnemic")

COMMENTED = """\
{
    // servers I use
    "mcpServers": {
        "files": { "command": "npx", "args": ["a", "b"] } // keep me
        /* and me */
    },
    "theme": "dark", /* trailing comma next */
}
"""

JSON_FILES = [
    "",
    "{}",
    "{ }\n",
    "\ufeff{}",
    '{"mcpServers": {}}',
    '{"mcpServers": {"other": {"command": "x"}}, "z": 1.50}',
    '{"theme":"dark"}',
    '{\n\t"theme": "dark"\n}\n',
    '{\r\n  "mcpServers": {\r\n    "other": {}\r\n  }\r\n}\r\n',
    '{\n  "mcpServers": {\n    "other": {},\n  },\n}\n',
    '{\n  "mcpServers": {\n    "mnemic": {"command": "old"},\n    "other": {}\n  }\n}\n',
    COMMENTED,
]


@pytest.mark.parametrize("text", JSON_FILES)
def test_a_member_is_set_and_the_rest_stays(text):
    edited = jsonc.with_member(text, PATH, ENTRY)
    before = jsonc.read(text) if text.strip("\ufeff \n") else {}
    expected = {**before, "mcpServers": {**before.get("mcpServers", {}), "mnemic": ENTRY}}
    assert jsonc.read(edited) == expected


@pytest.mark.parametrize("text", JSON_FILES)
def test_setting_a_member_twice_changes_nothing_more(text):
    once = jsonc.with_member(text, PATH, ENTRY)
    assert jsonc.with_member(once, PATH, ENTRY) == once


@pytest.mark.parametrize(
    "text", [file for file in JSON_FILES if "mnemic" not in file and "mcpServers" in file]
)
def test_removing_what_was_added_leaves_the_same_value(text):
    back = jsonc.without_member(jsonc.with_member(text, PATH, ENTRY), PATH)
    assert jsonc.read(back) == jsonc.read(text)


def test_comments_and_layout_stay():
    edited = jsonc.with_member(COMMENTED, PATH, ENTRY)
    assert (
        edited
        == """\
{
    // servers I use
    "mcpServers": {
        "files": { "command": "npx", "args": ["a", "b"] }, // keep me
        /* and me */
        "mnemic": {
            "command": "/opt/mnemic",
            "args": [
                "mcp"
            ]
        }
    },
    "theme": "dark", /* trailing comma next */
}
"""
    )
    assert jsonc.without_member(edited, PATH) == COMMENTED


def test_strict_json_stays_strict():
    text = '{\n  "mcpServers": {\n    "other": {}\n  }\n}\n'
    edited = jsonc.with_member(text, PATH, ENTRY)
    assert json.loads(edited)["mcpServers"] == {"other": {}, "mnemic": ENTRY}
    assert jsonc.without_member(edited, PATH) == text


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"mcpServers":{"other":{"command":"x"}},"z":{}}',
        '{"mcpServers": {"other": {} /* mine */}}\n',
        '{\n  "mcpServers": {\n    "other": {}, // mine\n  },\n}\n',
        '{\r\n  "mcpServers": {\r\n    "other": {}\r\n  }\r\n}\r\n',
        '{\n\t"mcpServers": {\n\t}\n}',
    ],
)
def test_what_was_added_and_removed_leaves_no_trace(text):
    edited = jsonc.with_member(text, PATH, ENTRY)
    assert jsonc.read(edited)["mcpServers"]["mnemic"] == ENTRY
    assert edited.count("\n") == 0 or text.count("\n")
    assert jsonc.without_member(edited, PATH) == text


def test_windows_line_ends_stay():
    edited = jsonc.with_member('{\r\n  "a": 1\r\n}\r\n', PATH, ENTRY)
    assert edited.count("\n") == edited.count("\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        '{"a": }',
        '{"a" 1}',
        '{"a": 1 "b": 2}',
        "{",
        '{"a": "\n"}',
        "nonsense",
        '{"mcpServers": 3}',
        "[" * 999,
    ],
)
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(jsonc.JsonError):
        jsonc.with_member(text, PATH, ENTRY)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
documents = st.dictionaries(st.text(max_size=8), values, max_size=4)


@given(
    documents,
    st.dictionaries(st.text(max_size=8), values, max_size=3),
    st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_any_document_keeps_everything_else(document, servers, indent):
    document["mcpServers"] = servers
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    edited = jsonc.with_member(text, PATH, ENTRY)
    assert json.loads(edited) == {**document, "mcpServers": {**servers, "mnemic": ENTRY}}
    servers.pop("mnemic", None)
    assert json.loads(jsonc.without_member(edited, PATH)) == {**document, "mcpServers": servers}


TOML_PATH = ("mcp_servers", "mnemic")
TOML_FILES = [
    "",
    'model = "o4"\n',
    'model = "o4"  # the good one\n\n[mcp_servers.files]\ncommand = "npx"\nargs = ["-y", "x"]\n\n# tail\n',
    '[mcp_servers.mnemic]\ncommand = "old"\n[mcp_servers.mnemic.env]\nA = "1"\n\n# about x\n[x]\ny = 1\n',
    '[ mcp_servers . "mnemic" ]\ncommand = "old"\n',
    'text = """\n[mcp_servers.mnemic]\n"""\r\n',
    'mcp_servers = { files = { command = "npx" } } # mine\nmodel = "o4"\n',
    'mcp_servers.files.command = "npx"\nmcp_servers.mnemic.command = "old"\nmodel = "o4"\n',
    '[mcp_servers]\nmnemic = { command = "old" }\nfiles.command = "npx" # mine\n\n[x]\ny = 1\n',
    '[mcp_servers.mnemic.env]\nA = "1"\n[x]\ny = 1\n[mcp_servers.mnemic]\ncommand = "old"\n',
]


@pytest.mark.parametrize("text", TOML_FILES)
def test_a_table_is_set_and_the_rest_stays(text):
    edited = toml.with_member(text, TOML_PATH, ENTRY)
    before = tomllib.loads(text)
    expected = {**before, "mcp_servers": {**before.get("mcp_servers", {}), "mnemic": ENTRY}}
    assert tomllib.loads(edited) == expected == toml.read(edited)
    assert toml.with_member(edited, TOML_PATH, ENTRY) == edited
    for comment in re.findall("#.*", text):
        assert comment in edited


@pytest.mark.parametrize("text", [file for file in TOML_FILES if "mnemic" not in file])
def test_a_table_that_was_added_can_be_removed(text):
    back = toml.without_member(toml.with_member(text, TOML_PATH, ENTRY), TOML_PATH)
    assert back.strip() == text.strip()


@pytest.mark.parametrize("text", TOML_FILES)
def test_a_table_is_removed_however_it_is_written(text):
    before = tomllib.loads(text)
    before.get("mcp_servers", {}).pop("mnemic", None)
    left = toml.without_member(text, TOML_PATH)
    assert {"mcp_servers": {}, **tomllib.loads(left)} == {"mcp_servers": {}, **before}


def test_a_key_changes_in_its_place_and_keeps_its_comment():
    text = '[mcp_servers.mnemic]\ncommand = "old" # mine\n# more\n[mcp_servers.mnemic.env]\nA = "1"\n'
    edited = toml.with_member(text, (*TOML_PATH, "command"), "new")
    edited = toml.with_member(edited, (*TOML_PATH, "args"), ["mcp"])
    assert edited == (
        '[mcp_servers.mnemic]\ncommand = "new" # mine\n# more\nargs = ["mcp"]\n\n'
        '[mcp_servers.mnemic.env]\nA = "1"\n'
    )


def test_a_comment_above_the_next_table_stays_with_it():
    text = 'a = 1\n\n[mcp_servers.mnemic]\ncommand = "x"\n\n# about x\n[x]\ny = 1\n'
    assert toml.without_member(text, TOML_PATH) == "a = 1\n\n# about x\n[x]\ny = 1\n"


@pytest.mark.parametrize("text", [file for file in TOML_FILES if "\r" not in file and file])
def test_windows_line_ends_and_the_byte_order_mark_stay_in_toml(text):
    windows = "\ufeff" + text.replace("\n", "\r\n")
    for edit in (
        lambda file: toml.with_member(file, TOML_PATH, ENTRY),
        lambda file: toml.without_member(file, TOML_PATH),
    ):
        assert edit(windows) == "\ufeff" + edit(text).replace("\n", "\r\n")


APART = """\
# mine
[mcp_servers.files]
command = "npx"

[[hooks]]
x = 1

[mcp_servers.mnemic]
command = "old" # ours
args = ["a"]

[mcp_servers.mnemic.env]
A = "1"

# the second
[[hooks]]
x = 2
"""


def test_tables_apart_from_each_other_are_edited_in_their_place():
    """tomlkit regroups such a file, so its lines are edited."""
    edited = toml.with_member(APART, (*TOML_PATH, "command"), "new")
    assert edited == APART.replace("old", "new")
    left = toml.without_member(APART, TOML_PATH)
    assert left == APART[: APART.index("[mcp_servers.mnemic]")] + APART[APART.index("# the second") :]
    assert toml.with_member(left, TOML_PATH, ENTRY).startswith(left)


def test_what_was_added_behind_an_array_of_tables_can_be_removed():
    text = '[mcp_servers.files]\ncommand = "npx"\n\n[[profiles]]\nname = "q"\n'
    edited = toml.with_member(text, TOML_PATH, ENTRY)
    assert toml.with_member(edited, (*TOML_PATH, "command"), "/moved").count("/moved") == 1
    assert toml.without_member(edited, TOML_PATH).rstrip("\n") == text.rstrip("\n")


def test_a_file_that_tomlkit_would_regroup_is_refused_without_a_header_of_ours():
    text = '[mcp_servers]\nmnemic.command = "old"\n[[hooks]]\nx = 1\n[mcp_servers.files]\n[[hooks]]\nx = 2\n'
    with pytest.raises(toml.TomlError, match="layout"):
        toml.without_member(text, TOML_PATH)


@pytest.mark.parametrize(
    "text, reason",
    [
        ("a = 1\nb = \n", "line 2"),
        ("a = 1\na = 2\n", "line 2"),
        ("mcp_servers = 3\n", "mcp_servers is not a table"),
        ("[[mcp_servers]]\na = 1\n", "mcp_servers is not a table"),
    ],
)
def test_toml_that_cannot_be_edited_is_refused_with_the_reason(text, reason):
    with pytest.raises(toml.TomlError, match=reason):
        toml.with_member(text, TOML_PATH, ENTRY)


def test_newer_toml_is_read():
    text = 'mcp_servers = {\n  files = { command = "npx" },\n}\n'
    edited = toml.with_member(text, TOML_PATH, ENTRY)
    assert toml.read(edited)["mcp_servers"] == {"files": {"command": "npx"}, "mnemic": ENTRY}


def test_words_that_need_quotes_get_them():
    entry = {"command": 'C:\\a "b"\x7f', "args": ["é"]}
    edited = toml.with_member("", ("mcp_servers", "my mnemic"), entry)
    assert tomllib.loads(edited)["mcp_servers"]["my mnemic"] == entry


def test_an_empty_mapping_of_yaml_gets_a_member():
    text = "extensions:\nmodel: x\n"
    edited = yaml.with_member(text, ("extensions", "mnemic"), ENTRY)
    assert yaml.read(edited) == {"extensions": {"mnemic": ENTRY}, "model": "x"}


def test_a_block_without_its_end_takes_nothing_below_with_it():
    text = f"# Mine\n{instruction_block.BEGIN}\nkept\n"
    installed = instruction_block.with_block(text)
    assert instruction_block.with_block(installed) == installed
    assert instruction_block.without_block(installed).strip() == text.strip()
