"""Lengths of memories, as FTS5 stores them."""

from __future__ import annotations

import pytest

from mnemic.storage.sqlite.index_source import lengths

ONE = bytes([3, 0, 0, 6, 0, 0, 1])
LONGER = bytes([0, 0, 0, 0x81, 0x70, 0, 0, 1])
LONGEST = bytes([0, 0x83, 0x60, 0, 0x81, 0x80, 0x01, 0, 0, 1])


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (b"", []),
        (ONE, [10]),
        (LONGER, [241]),
        (LONGEST, [480 + 16_385 + 1]),
        (ONE + LONGEST + LONGER + ONE, [10, 16_866, 241, 10]),
    ],
)
def test_a_number_takes_as_many_bytes_as_it_needs(sizes, expected):
    assert lengths(sizes).tolist() == expected
