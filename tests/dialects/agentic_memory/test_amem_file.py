"""`.amem` files: what AgenticMemory wrote is read, what we write it can read, and no bytes do harm."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.dialects.agentic_memory import amem_file
from mnemic.dialects.agentic_memory.amem_file import Brain, FileLink, Node
from mnemic.errors import Invalid

WHEN = 1_771_466_912_000_000

# Written by hand: two nodes (a skill, and a correction that supersedes it), vectors of two numbers, an index block.
HAND_MADE = bytes.fromhex(
    "414d454d 01000000 02000000 01000000"
    "0200000000000000 0100000000000000 4000000000000000 d000000000000000 f000000000000000 1201000000000000"
    # node 3: skill, 2026-02-19, session 7, confidence 0.5, used twice, its text at 0
    "0300000000000000 04 000000 006805c8234b0600 07000000 0000003f 02000000 40aa14c8234b0600 0000803f"
    "0000000000000000 10000000 0000000000000000 0000 000000000000"
    # node 9: correction, a second later, its text at 16, one link
    "0900000000000000 03 000000 40aa14c8234b0600 07000000 0000803f 00000000 40aa14c8234b0600 0000003f"
    "1000000000000000 12000000 0000000000000000 0100 000000000000"
    # 9 supersedes 3
    "0900000000000000 0300000000000000 03 000000 0000403f 40aa14c8234b0600"
    # "Knots hold!" and "Knots do slip", each its length and one run of literals
    "0b000000 b0 4b6e6f747320686f6c6421"
    "0d000000 d0 4b6e6f747320646f20736c6970"
    # vectors, then a block of an index
    "0000803f 00000000 00000000 00000000"
    "05 0100000000000000 ff"
)


def test_a_file_made_by_hand_is_read():
    brain = amem_file.read(HAND_MADE)
    skill, correction = brain.nodes
    assert skill == Node(
        id=3,
        type="skill",
        text="Knots hold!",
        created_at=WHEN,
        session=7,
        confidence=0.5,
        access_count=2,
        accessed_at=WHEN + 1_000_000,
        decay=1.0,
        vector=struct.pack("<2f", 1, 0),
    )
    assert (correction.id, correction.type, correction.text) == (9, "correction", "Knots do slip")
    assert (correction.decay, correction.vector, brain.dimension) == (0.5, b"", 2)
    assert brain.links == (
        FileLink(source=9, target=3, type="supersedes", weight=0.75, created_at=WHEN + 1_000_000),
    )


def test_what_is_written_has_the_layout_of_the_original():
    brain = amem_file.read(HAND_MADE)
    written = amem_file.write(brain)
    assert written[16:48] == HAND_MADE[16:48]
    assert written[64 : len(written)] == HAND_MADE[64 : len(written)]
    assert written[12:16] == b"\0\0\0\0", "no index is announced, so none is there"
    assert len(HAND_MADE) - len(written) == 10


def test_an_empty_file_is_a_header():
    assert len(amem_file.write(Brain(()))) == 64
    assert amem_file.read(amem_file.write(Brain(()))) == Brain((), ())


FLOATS = st.floats(0, 1, width=32)
SHARES = st.integers(0, 10**6).map(lambda millionths: millionths / 10**6)
MOMENTS = st.integers(0, 4_000_000_000_000_000)


@st.composite
def brains(draw: st.DrawFn) -> Brain:
    dimension = draw(st.sampled_from((0, 3)))
    ids = sorted(draw(st.sets(st.integers(0, amem_file.LARGEST_ID), max_size=6)))
    nodes = tuple(
        Node(
            id=number,
            type=draw(st.sampled_from(amem_file.EVENT_TYPES)),
            text=draw(st.text(max_size=200)),
            created_at=draw(MOMENTS),
            session=draw(st.integers(0, amem_file.LARGEST_SESSION)),
            confidence=draw(SHARES),
            access_count=draw(st.integers(0, 2**32 - 1)),
            accessed_at=draw(st.integers(1, 4_000_000_000_000_000)),
            decay=draw(FLOATS),
            vector=draw(st.sampled_from((b"", b"\1" * 4 * dimension))),
        )
        for number in ids
    )
    ends = st.sampled_from(ids or [0])
    link = st.builds(
        FileLink,
        source=ends,
        target=ends,
        type=st.sampled_from(amem_file.LINK_TYPES),
        weight=SHARES,
        created_at=MOMENTS,
    )
    links = draw(st.lists(link, max_size=8)) if ids else []
    return Brain(nodes, tuple(sorted(links, key=lambda one: (one.source, one.target))), dimension)


@given(brains())
def test_what_is_written_is_read_again(brain: Brain):
    assert amem_file.read(amem_file.write(brain)) == brain


def read_or_refuse(data: bytes) -> None:
    try:
        brain = amem_file.read(data)
    except Invalid as error:
        assert str(error)
    else:
        assert sum(len(node.text) for node in brain.nodes) <= amem_file.LONGEST_TEXT * len(brain.nodes)


@given(brains(), st.data())
def test_bytes_cut_off_or_flipped_never_do_harm(brain: Brain, data: st.DataObject):
    written = bytearray(amem_file.write(brain))
    for _ in range(data.draw(st.integers(0, 4))):
        written[data.draw(st.integers(0, len(written) - 1))] = data.draw(st.integers(0, 255))
    read_or_refuse(bytes(written[: data.draw(st.integers(0, len(written)))]))


def test_every_single_cut_is_refused_or_loses_only_the_index():
    whole = len(amem_file.write(amem_file.read(HAND_MADE)))
    for length in range(len(HAND_MADE)):
        if length >= whole:
            assert amem_file.read(HAND_MADE[:length]) == amem_file.read(HAND_MADE)
        else:
            with pytest.raises(Invalid):
                amem_file.read(HAND_MADE[:length])


@given(st.binary(max_size=300))
def test_any_bytes_behind_the_magic_are_read_or_refused(tail: bytes):
    read_or_refuse(b"AMEM\1\0\0\0" + tail)


def patched(at: int, layout: str, value: float) -> bytes:
    data = bytearray(HAND_MADE)
    struct.pack_into(layout, data, at, value)
    return bytes(data)


@pytest.mark.parametrize(
    "data, told",
    [
        (b"", "does not begin with AMEM"),
        (b"SQLite format 3\0", "does not begin with AMEM"),
        (b"AMEM\1\0\0\0", "header is cut short"),
        (patched(4, "<I", 2), "version 2; only version 1"),
        (patched(4, "<I", 0), "no version"),
        (patched(8, "<I", 2**31), "vectors are said to have"),
        (patched(16, "<Q", 2**62), "nodes lie beyond"),
        (patched(24, "<Q", 2**62), "links lie beyond"),
        (patched(32, "<Q", 8), "nodes lie beyond"),
        (patched(48, "<Q", 2**64 - 1), "texts lie beyond"),
        (patched(56, "<Q", 300), "vectors lie beyond"),
        (patched(64, "<Q", 2**64 - 1), "node 0 has an id"),
        (patched(64, "<Q", 9), "two nodes have the same id"),
        (patched(72, "<B", 6), "node 0 has an id, type"),
        (patched(76, "<Q", 2**63), "time that cannot be"),
        (patched(88, "<f", float("nan")), "node 3 has a confidence"),
        (patched(104, "<f", float("inf")), "confidence or decay"),
        (patched(108, "<Q", 10_000), "text of node 3 lies beyond"),
        (patched(240, "<I", 2**31), "said to have 2147483648 bytes"),
        (patched(240, "<I", 12), "text of node 3"),
        (patched(245, "<B", 255), "text of node 3 is not UTF-8"),
        (patched(216, "<Q", 4), "leads from 9 to 4"),
        (patched(224, "<B", 7), "link 0 has a type"),
        (patched(228, "<f", float("nan")), "link 0 has a type, weight"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(data: bytes, told: str):
    with pytest.raises(Invalid, match=told):
        amem_file.read(data)


def test_a_text_that_unpacks_to_too_much_is_never_unpacked():
    bomb = Brain((Node(id=1, type="fact", text="a" * amem_file.LONGEST_TEXT, created_at=WHEN),), dimension=0)
    written = bytearray(amem_file.write(bomb))
    assert amem_file.read(bytes(written)).nodes[0].text == "a" * amem_file.LONGEST_TEXT
    struct.pack_into("<I", written, 64 + 72, amem_file.LONGEST_TEXT + 1)
    with pytest.raises(Invalid, match="said to have 65537 bytes"):
        amem_file.read(bytes(written))


def test_texts_are_bounded_together(monkeypatch: pytest.MonkeyPatch):
    many = Brain([Node(id=n, type="fact", text="a" * 60_000, created_at=WHEN) for n in range(4)], dimension=0)
    monkeypatch.setattr(amem_file, "MOST_TEXT", 200_000)
    with pytest.raises(Invalid, match="larger together"):
        amem_file.read(amem_file.write(many))


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": "é" * 40_000},
        {"type": "rumour"},
        {"session": 2**32},
        {"created_at": -1},
        {"vector": b"\1\1\1\1"},
    ],
)
def test_what_a_file_cannot_hold_is_not_written(wrong: dict):
    node = Node(id=1, type="fact", text="x", created_at=WHEN)
    with pytest.raises(Invalid):
        amem_file.write(Brain((replace(node, **wrong),)))


def test_links_need_their_ends_and_are_limited_by_node():
    nodes = tuple(Node(id=n, type="fact", text="x", created_at=WHEN) for n in range(2))
    link = FileLink(source=0, target=1, type="supports", created_at=WHEN)
    with pytest.raises(Invalid, match="not there"):
        amem_file.write(Brain(nodes[:1], (link,)))
    amem_file.write(Brain(nodes, (link,) * amem_file.MOST_LINKS))
    with pytest.raises(Invalid, match="more than 4096"):
        amem_file.write(Brain(nodes, (link,) * (amem_file.MOST_LINKS + 1)))
