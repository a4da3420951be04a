"""Names in a text: what counts as one, and what has its capital only for where it stands."""

from __future__ import annotations

import time

import pytest

from mnemic.search.proper_names import name_words, names


@pytest.mark.parametrize(
    "text, found",
    [
        ("We met Anna Berg in New York.", {"anna berg", "new york"}),
        ("Steam the milk. Then pour it.\n- Wait a while", set()),
        ("The API of GitHub is slow", {"api", "github"}),
        ("NASA launched it", {"nasa"}),
        ("The New York Times wrote", {"new york times"}),
        ("I'm sure It was Zürich", {"zürich"}),
        ("set max_retries and fetchAll in core/lore.py", {"max_retries", "fetchall", "core/lore.py"}),
        ("ticket XK-4471 on 2026-05-19", {"xk-4471", "2026-05-19"}),
        ("it takes 12 ms and 3.5 kg, or 40%", {"12 ms", "3.5 kg", "40%"}),
        ('called "hybrid search" or `uv run`', {"hybrid search", "uv run"}),
        ("on 3 March 2025", {"3 march 2025", "march"}),
        ("", set()),
    ],
)
def test_names_are_known_by_how_they_are_written(text, found):
    assert names(text) == found


def test_relatives_are_no_names():
    assert name_words("What did Grandpa give Mum and Anna in Oslo?") == {"anna", "oslo"}


@pytest.mark.parametrize("piece", ["a/", "1,", "A ", "a1-", "_a", "aA", "x.", '"', "A'"])
def test_names_are_found_in_bounded_time(piece):
    begun = time.process_time()
    names(piece * 30_000)
    assert time.process_time() - begun < 2
