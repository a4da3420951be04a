"""Rows of `words` and `term`: the tokens of each living memory, made as SQLite's words index makes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain
from typing import NamedTuple

import orjson

from mnemic.model.memory import Memory
from mnemic.storage import index_tokens
from mnemic.storage.indexed_words import BODY, PARTS, STEMS, SUMMARY, TAGS, TITLE, indexed_words
from mnemic.storage.postgres.connection import Executor, Held
from mnemic.storage.postgres.rows import routed, row
from mnemic.storage.source import Phrase
from mnemic.storage.tokenizer import STEM_MARK

FIELDS = (BODY, TITLE, SUMMARY, TAGS, PARTS, STEMS)
"""The weight of a token in each field, in the order in which `places` has them."""
COLUMNS = ("namespace_id", "memory_id", "length", "tokens", "times", "places")
"""The columns of a row: where it belongs, and its words."""
TAKE_OUT = """
DELETE FROM words WHERE namespace_id = %(space)s AND memory_id = %(id)s
"""
# What nobody holds any more, of the tokens of a memory that is purged.
DROP_TERMS = """
DELETE FROM term t WHERE t.namespace_id = %(space)s AND t.token = ANY(%(tokens)s::text[]) AND NOT EXISTS (
  SELECT 1 FROM words w WHERE w.namespace_id = %(space)s AND w.memory_id != %(id)s AND w.tokens @> ARRAY[t.token])
"""
A_STEM = f"""
SELECT 1 FROM term t WHERE {{here[t]}} AND token >= '{STEM_MARK}' AND token < '{STEM_MARK}' || chr(1114111) LIMIT 1
"""
SEPARATOR = chr(31)
"""No part of any token."""
LONGEST_TOKEN = 2_000
"""Bytes of a token that an index takes as its key; a longer one is kept by its beginning."""


def tokens(form: str) -> list[str]:
    """The tokens of a text in the form it is indexed in."""
    found = index_tokens.tokens(form)
    if max(map(len, found), default=0) * 4 <= LONGEST_TOKEN:
        return found
    return [_short(token) for token in found]


def _short(token: str) -> str:
    if len(token) * 4 <= LONGEST_TOKEN:
        return token
    return token.encode()[:LONGEST_TOKEN].decode(errors="ignore")


class WordRow(NamedTuple):
    """What the row of a memory holds."""

    length: int
    tokens: list[str]
    times: list[float]
    places: list[int]


def of(memory: Memory) -> WordRow:
    """The words of *memory*."""
    title, summary, tags, body, parts, stems = indexed_words(memory)
    fields = [tokens(text) if text else [] for text in (body, title, summary, tags, parts, stems)]
    numbers = {token: place for place, token in enumerate(dict.fromkeys(chain.from_iterable(fields)), 1)}
    times = [0.0] * len(numbers)
    places: list[int] = []
    for found, weight in zip(fields, FIELDS, strict=True):
        for token, count in Counter(found).items() if found else ():
            times[numbers[token] - 1] += count * weight
        places += map(numbers.__getitem__, found)
        places.append(0)
    length = 1 + sum(map(len, fields))  # SQLite counts the word for the namespace
    return WordRow(length, list(numbers), times, places)


def copy_row(memory: Memory, namespace_id: int) -> tuple[int, int, int, str, str, str]:
    """The words of *memory* as a row of COLUMNS for COPY.

    Arrays are written here: of the time that a copy of a store takes, the driver would spend a third on them.
    """
    length, found, times, places = of(memory)
    # A token is made of letters, digits and symbols: nothing in it has to be quoted.
    tokens = '{"' + '","'.join(found) + '"}' if found else "{}"
    return namespace_id, memory.id, length, tokens, _numbers(times), _numbers(places)


def _numbers(some: Sequence[float]) -> str:
    return f"{{{orjson.dumps(some)[1:-1].decode()}}}"


def put(db: Held, memory: Memory, namespace_id: int, known: Collection[str], added: set[str]) -> None:
    """Index the words of a living memory, instead of those it had; terms that are neither *known* nor *added* too."""
    words = of(memory)
    row = {
        "namespace_id": namespace_id,
        "memory_id": memory.id,
        "length": words.length,
        "tokens": SEPARATOR.join(words.tokens),
        "times": _numbers(words.times),
        "places": _numbers(words.places),
    }
    db.insert("words", row)
    for token in words.tokens:
        if token not in known and token not in added:
            db.insert("term", {"namespace_id": namespace_id, "token": token})
            added.add(token)


def holds_stems(db: Executor) -> bool:
    """Whether the index has any: as long as all is English it has not."""
    return row(db, *routed(db, A_STEM, {})) is not None


def phrase_times(phrase: Phrase, tokens: Sequence[str], places: Sequence[int]) -> float:
    """How often the tokens of *phrase* follow one another in a memory, weighted by field."""
    numbers = [tokens.index(token) + 1 for token in phrase]
    field, times = 0, 0.0
    for start, place in enumerate(places):
        if place == 0:
            field += 1
        elif place == numbers[0] and list(places[start : start + len(numbers)]) == numbers:
            times += FIELDS[field]
    return times
