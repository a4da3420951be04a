"""Conversations as Claude, ChatGPT and Slack export them."""

from __future__ import annotations

import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import Invalid
from mnemic.transfer.conversation_files import Broken, Conversation, ExportForm, Message, read
from mnemic.transfer.downloaded_export import opened

CLAUDE = {
    "uuid": "c1",
    "name": "Choosing a database",
    "created_at": "2025-03-01T10:00:00.250000Z",
    "chat_messages": [
        {"sender": "human", "text": "Which database?", "created_at": "2025-03-01T10:00:00Z"},
        {
            "sender": "assistant",
            "text": "",
            "content": [{"type": "text", "text": "PostgreSQL."}, {"type": "tool_use"}],
        },
        {"sender": "human", "text": "", "content": []},
    ],
}
AT = 1_740_823_200_000_000


def node(number, parent, role, text, at, **more):
    message = {"author": {"role": role}, "create_time": at, "content": {"parts": [text]}, **more}
    return {"id": number, "parent": parent, "message": message}


def tree(**more):
    """A conversation with a second try at the answer, told last first."""
    nodes = [
        node("b2", "q", "assistant", "Soak it.", 1740823203.0),
        node("b1", "q", "assistant", "Rinse it.", 1740823202.0),
        node("q", "s", "user", "How do I cook rice?", 1740823201.0),
        node("s", "root", "system", "You are helpful", None),
        {"id": "root", "parent": None, "message": None},
    ]
    return {
        "id": "g1",
        "title": "Rice",
        "create_time": 1740823200.5,
        "mapping": {each["id"]: each for each in nodes},
        **more,
    }


def files(**contents):
    """An export of files, given as text or as what they hold, by their stems."""

    def reader(content):
        data = content if isinstance(content, (str, bytes)) else json.dumps(content)
        return lambda: data.encode() if isinstance(data, str) else data

    return {f"{name}.json": reader(content) for name, content in contents.items()}


def claude(content, form=ExportForm.CLAUDE):
    return list(read(form, files(conversations=content)))


def said(conversation):
    return [(message.role, message.text) for message in conversation.messages]


# -- Claude


def test_a_claude_conversation_is_read():
    [talk] = claude([CLAUDE])
    assert talk == Conversation(
        id="c1",
        title="Choosing a database",
        created_at=AT + 250_000,
        messages=(Message("user", "Which database?"), Message("assistant", "PostgreSQL.")),
    )


@pytest.mark.parametrize(
    "content",
    [
        [CLAUDE, CLAUDE],
        json.dumps(CLAUDE) + "\n\n" + json.dumps(CLAUDE),
        "\ufeff" + json.dumps([CLAUDE, CLAUDE], indent=2),
        {"conversations": [CLAUDE, CLAUDE]},
    ],
)
def test_an_array_and_lines_are_the_same(content):
    assert [talk.id for talk in claude(content)] == ["c1", "c1"]


def test_a_single_conversation_is_an_export():
    assert [talk.id for talk in claude(CLAUDE)] == ["c1"]


def test_other_names_of_the_fields_are_known():
    [talk] = claude(
        [
            {
                "id": 5,
                "title": " a\nb ",
                "messages": [{"role": "user", "content": "Hi\x07", "timestamp": AT // 1000}],
            }
        ]
    )
    assert talk == Conversation(id="5", title="a b", created_at=AT, messages=(Message("user", "Hi"),))


def test_a_claude_conversation_may_be_a_tree():
    assert said(claude([tree(current_node="b1")])[0]) == [
        ("user", "How do I cook rice?"),
        ("assistant", "Rinse it."),
    ]


@pytest.mark.parametrize(
    "content, flaws",
    [
        ("no JSON at all\nneither here", ["conversations.json: not JSON"]),
        (b"\xff\xfe\x00", ["conversations.json: not JSON"]),
        ("", ["conversations.json: not JSON"]),
        ("[" * 100_000, ["conversations.json: not JSON"]),
        ([5], ["conversations.json, entry 1: not a conversation"]),
        ([{"name": "x"}], ["conversations.json, entry 1: not a conversation as this format has it"]),
        (
            [{"chat_messages": 5}],
            ["conversations.json, entry 1: not a conversation as this format has it"],
        ),
        (
            [{"chat_messages": ["x"]}],
            ["conversations.json, entry 1: not a conversation as this format has it"],
        ),
    ],
)
def test_what_is_broken_is_reported(content, flaws):
    assert [str(flaw) for flaw in claude(content)] == flaws


def test_what_is_broken_does_not_take_the_rest_with_it():
    lines = f"{json.dumps(CLAUDE)}\n{{broken\n{json.dumps(CLAUDE)}"
    found = claude(lines)
    assert [type(item) for item in found] == [Conversation, Conversation, Broken]
    assert str(found[2]) == "conversations.json, line 2: not JSON"


def test_half_characters_are_replaced():
    [talk] = claude(json.dumps([{"chat_messages": [{"sender": "human", "text": "a \ud83d b"}]}]))
    assert talk.messages[0].text == "a ? b"


def test_of_a_folder_only_conversations_are_read():
    export = files(conversations=[CLAUDE], users=[{"uuid": "u"}], projects=[{"uuid": "p"}])
    assert [talk.id for talk in read(ExportForm.CLAUDE, export)] == ["c1"]
    other = files(mine=[CLAUDE], users=[{"uuid": "u"}])
    assert [talk.id for talk in read(ExportForm.CLAUDE, other)] == ["c1"]


def test_an_export_without_files_is_reported():
    for form in ExportForm:
        assert [str(item) for item in read(form, {})] == ["the export: there is no JSON in it"]


@pytest.mark.parametrize("time", [None, "", "yesterday", -5, 1e30, float("inf"), True, [], "9999999"])
def test_a_time_that_is_none_is_left_out(time):
    [talk] = claude(json.dumps([{"created_at": time, "chat_messages": []}]))
    assert talk.created_at in (None, 9_999_999_000_000)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["chat_messages", "mapping", "message", "author", "role", "content", "parts", "text", "user", "ts", "uuid",
             "title", "current_node", "parent", "create_time", "thread_ts", "user_profile", "id", "profile", "subtype"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.sampled_from(ExportForm), st.lists(json_values, max_size=4), st.lists(json_values, max_size=2))
def test_nothing_makes_it_fail(form, entries, people):
    export = files(**{"general/2025-01-01": entries, "users": people, "conversations": entries})
    for found in read(form, export):
        assert isinstance(found, (Conversation, Broken))


# -- ChatGPT


def test_the_current_branch_is_followed():
    assert said(claude([tree(current_node="b1")], ExportForm.CHATGPT)[0])[1:] == [("assistant", "Rinse it.")]
    assert said(claude([tree(current_node="b2")], ExportForm.CHATGPT)[0])[1:] == [("assistant", "Soak it.")]


@pytest.mark.parametrize("current", [None, "gone", 5])
def test_without_one_all_messages_come_by_time(current):
    [talk] = claude([tree(current_node=current)], ExportForm.CHATGPT)
    assert [text for _, text in said(talk)] == ["How do I cook rice?", "Rinse it.", "Soak it."]
    assert (talk.id, talk.title, talk.created_at) == ("g1", "Rice", AT + 500_000)


def test_a_tree_that_bites_its_tail_ends():
    nodes = {"a": node("a", "b", "user", "Hi", 1.0), "b": node("b", "a", "assistant", "Ho", 2.0)}
    [talk] = claude([{"mapping": nodes, "current_node": "b"}], ExportForm.CHATGPT)
    assert [text for _, text in said(talk)] == ["Hi", "Ho"]


def test_what_was_not_shown_is_left_out():
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    nodes = {
        "a": node("a", None, "user", "My instructions", 1.0, **hidden),
        "b": node("b", "a", "user", {"asset_pointer": "file"}, 2.0),
        "c": node("c", "b", "user", {"text": "spoken"}, 3.0),
    }
    [talk] = claude([{"mapping": nodes, "current_node": "c"}], ExportForm.CHATGPT)
    assert said(talk) == [("user", "spoken")]


def test_a_large_export_comes_in_numbered_files():
    export = files(
        **{"conversations-000": [tree()], "conversations-001": [tree(id="g2")], "user": {"id": "u"}}
    )
    assert [talk.id for talk in read(ExportForm.CHATGPT, export)] == ["g1", "g2"]


# -- Slack


DAY_ONE = [
    {"type": "message", "user": "U1", "text": "API &lt;down&gt;", "ts": "1740823200.000100"},
    {"type": "message", "user": "U2", "text": "<@U1> looking", "ts": "1740823300.000100"},
    {
        "type": "message",
        "subtype": "channel_join",
        "user": "U3",
        "text": "has joined",
        "ts": "1740823201.000000",
    },
]
DAY_TWO = [
    {
        "type": "message",
        "user": "U9",
        "text": "late answer",
        "ts": "1740909600.1",
        "thread_ts": "1740823200.000100",
    },
    {"type": "message", "username": "robot", "text": "green", "ts": "1740909601.1", "subtype": "bot_message"},
    {"user": "U8", "text": "hi <@U8|h>", "ts": "1740909602.1", "user_profile": {"real_name": "Hal"}},
]
PEOPLE = [
    {"id": "U1", "name": "ann", "profile": {"display_name": "Ann"}},
    {"id": "U2", "name": "bob", "profile": {"display_name": ""}},
]


def test_a_slack_channel_is_a_conversation():
    export = files(
        **{
            "incidents/2025-03-02": DAY_TWO,
            "incidents/2025-03-01": DAY_ONE,
            "users": PEOPLE,
            "channels": [{"name": "incidents", "text": "not a message"}],
        }
    )
    [talk] = read(ExportForm.SLACK, export)
    assert (talk.id, talk.title, talk.created_at) == ("incidents", "#incidents", AT + 100)
    assert said(talk) == [
        ("Ann", "API <down>"),
        ("U9", "late answer"),
        ("bob", "@Ann looking"),
        ("robot", "green"),
        ("Hal", "hi @h"),
    ]


def test_without_users_their_ids_stand():
    [talk] = read(ExportForm.SLACK, files(**{"workspace/a/2025-03-01": DAY_ONE, "workspace/a/notes": [{}]}))
    assert said(talk) == [("U1", "API <down>"), ("U2", "@U1 looking")]


def test_broken_days_are_reported_and_the_others_read():
    export = files(**{"a/2025-03-01": DAY_ONE, "a/2025-03-02": "{", "b/2025-03-01": [5]})
    found = list(read(ExportForm.SLACK, export))
    assert [str(item) for item in found if isinstance(item, Broken)] == [
        "a/2025-03-02.json: not JSON",
        "b/2025-03-01.json, entry 1: not a message",
    ]
    assert [len(item.messages) for item in found if isinstance(item, Conversation)] == [2, 0]


# -- files, folders and zips


def write(folder, **contents):
    for name, content in contents.items():
        path = folder / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return folder


def test_an_export_is_a_file_a_folder_or_a_zip(tmp_path):
    folder = write(tmp_path / "export", conversations=[CLAUDE], users=[{}])
    (folder / "picture.png").write_bytes(b"png")
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(folder / "conversations.json", "data/conversations.json")
        archive.writestr("__MACOSX/._conversations.json", b"\x00")
        archive.writestr("data/", b"")
    for path in (folder, folder / "conversations.json", packed):
        with opened(path) as export:
            assert [talk.id for talk in read(ExportForm.CLAUDE, export)] == ["c1"]


def test_the_folder_of_a_channel_is_an_export_too(tmp_path):
    write(tmp_path / "incidents", **{"2025-03-01": DAY_ONE, "2025-03-02": DAY_TWO})
    with opened(tmp_path / "incidents") as export:
        [talk] = read(ExportForm.SLACK, export)
    assert talk.title == "#incidents" and len(talk.messages) == 5


def test_a_damaged_zip_is_reported(tmp_path):
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("conversations.json", json.dumps([CLAUDE]))
    data = bytearray(packed.read_bytes())
    data[60:70] = b"\xff" * 10
    packed.write_bytes(data)
    with opened(packed) as export:
        [flaw] = read(ExportForm.CLAUDE, export)
        with pytest.raises(Invalid):
            export["conversations.json"]()
    assert "cannot be unpacked" in str(flaw)


def test_attached_files_are_counted():
    claude = {
        "uuid": "1",
        "chat_messages": [
            {"sender": "human", "text": "See", "attachments": [{"file_name": "a.txt"}], "files": []},
            {"sender": "human", "text": "And", "files": [{"file_name": "b.png"}, {"file_name": "c.png"}]},
        ],
    }
    message = {"author": {"role": "user"}, "metadata": {"attachments": [{"id": "f"}]}}
    chatgpt = {
        "id": "2",
        "mapping": {
            "a": {"message": {**message, "content": {"parts": ["Look", {"asset_pointer": "file://1"}]}}},
            "b": {"message": {"author": {"role": "user"}, "content": {"parts": ["No file"]}}},
        },
    }
    slack = [{"type": "message", "user": "U1", "text": "Here", "ts": "1.0", "files": [{"id": "F1"}]}]

    def found(form, content):
        [talk] = read(form, {"export.json": lambda: json.dumps(content).encode()})
        return talk.attachments

    assert found(ExportForm.CLAUDE, [claude]) == 3
    assert found(ExportForm.CHATGPT, [chatgpt]) == 1
    assert found(ExportForm.SLACK, slack) == 1
