"""Words of the vocabulary that differ from another by one letter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from mnemic.storage import tokenizer
from mnemic.storage.edit_distance import (
    LONGEST,
    LOOKED_AT,
    SHORTEST,
    is_written,
    one_edit,
    one_edit_away,
    plain,
)
from mnemic.storage.postgres import memories, words
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.namespace_filter import NamespaceFilter, numbered
from mnemic.storage.postgres.rows import column
from mnemic.storage.tokenizer import NAMESPACE_MARK, STEM_MARK

if TYPE_CHECKING:
    from mnemic.storage.source import Scope

TERMS_FROM = """
SELECT DISTINCT token FROM term t WHERE {here[t]} AND token >= %(head)s AND token < %(head)s || chr(1114111)
ORDER BY token
"""
THESE_TERMS = """
SELECT DISTINCT token FROM term t WHERE {here[t]} AND token = ANY(%(tokens)s::text[]) ORDER BY token
"""
OF_LENGTH = """
SELECT DISTINCT token FROM term t WHERE {here[t]} AND length(token) BETWEEN %(least)s AND %(most)s ORDER BY token
"""
HOLDING = f"""
SELECT memory_id FROM words w WHERE {{here[w]}} AND tokens @> %(tokens)s::text[] ORDER BY memory_id LIMIT {LOOKED_AT}
"""
Counted = Callable[[list[str]], dict[str, int]]
"""In how many memories of a scope each of some words stands."""


def spellings(db: Executor, term: str, scope: Scope, counted: Counted) -> Iterator[str]:
    """Words one letter away from *term* that memories of *scope* hold, most frequent first.

    A typo rarely hits the first letter, so the words that share it come before all the others.
    """
    word = plain(term)
    if not SHORTEST <= len(word) <= LONGEST:
        return
    here = db.here if scope is None else numbered(scope)
    token = "".join(words.tokens(tokenizer.normalized(word)))
    if word.isascii() and word.isalnum():
        spelled = _stems_of(one_edit_away(word))
        found = _known(db, spelled, word[:2], here, counted)
    else:
        # English stems are of ASCII letters, and other scripts have too many letters to try each.
        near = [one for one in _of_length(db, token, here) if one_edit(token, one)]
        spelled = dict(zip(near, near, strict=True))
        found = _held(near, spelled, counted)
    for other in sorted(found, key=lambda one: (one[0] != word[0], -found[one], one)):
        if one_edit(token, other) or _is_written(db, spelled[other], word, here):
            yield spelled[other]


def _stems_of(spellings: Iterable[str]) -> dict[str, str]:
    """The stems of *spellings*, each with one that has it. The index holds stems; a typo can be far from its own."""
    ordered = sorted(spellings, reverse=True)
    stems = zip(words.tokens(tokenizer.normalized(" ".join(ordered))), ordered, strict=True)
    return {token: spelling for token, spelling in stems if len(token) > 2}


def _known(
    db: Executor, spelled: Mapping[str, str], head: str, here: NamespaceFilter, counted: Counted
) -> dict[str, int]:
    """The stems in *spelled* that are held, with their counts; if any begin with *head*, only those."""
    alike = [
        term
        for term in column(db, TERMS_FROM.format(here=here), {"head": head, **here.values})
        if term in spelled
    ]
    if held := _held(alike, spelled, counted):
        return held
    others = [token for token in spelled if not token.startswith(head)]
    return _held(
        column(db, THESE_TERMS.format(here=here), {"tokens": others, **here.values}), spelled, counted
    )


def _held(tokens: list[str], spelled: Mapping[str, str], counted: Counted) -> dict[str, int]:
    """Those of *tokens* that are held, with their counts. They are counted as spelled: a stem has another stem."""
    counts = counted([spelled[token] for token in tokens])
    return {token: count for token in tokens if (count := counts[spelled[token]])}


def _of_length(db: Executor, token: str, here: NamespaceFilter) -> list[str]:
    values = {"least": len(token) - 1, "most": len(token) + 1, **here.values}
    return [
        near
        for near in column(db, OF_LENGTH.format(here=here), values)
        if near[0] not in (NAMESPACE_MARK, STEM_MARK)
    ]


def _is_written(db: Executor, spelling: str, word: str, here: NamespaceFilter) -> bool:
    """Whether the first memories with the stem of *spelling* have a word one letter away from *word*."""
    tokens = words.tokens(tokenizer.normalized(spelling))
    holding = memories.many(db, column(db, HOLDING.format(here=here), {"tokens": tokens, **here.values}))
    return is_written(word, holding)
