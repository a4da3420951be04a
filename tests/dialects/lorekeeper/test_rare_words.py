"""How much of what a text tells another holds."""

from __future__ import annotations

import pytest
from support import a_draft, put

from mnemic.dialects.lorekeeper.rare_words import rare_words


def share(store, text, body):
    reader = store.read()
    return rare_words(reader, text, None).share_in(body)


def test_all_words_in_any_form_are_the_whole(store):
    put(store, a_draft("herons fish in ponds"))
    assert share(store, "The heron fishes in the pond", "herons fish in ponds, they say") == pytest.approx(1)
    assert share(store, "heron", "apple") == 0 == share(store, "", "apple")


def test_a_rare_word_tells_more_than_a_frequent_one(store):
    put(store, *(a_draft(f"heron {number}") for number in range(20)), a_draft("pond"))
    assert share(store, "heron pond", "a heron") < 0.5 < share(store, "heron pond", "a pond")
