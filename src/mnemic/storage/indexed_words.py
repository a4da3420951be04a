"""The words of a memory as every engine indexes them: by field, with the weight of each."""

from __future__ import annotations

from typing import NamedTuple

from mnemic.model.memory import Memory, is_beginning
from mnemic.storage import tokenizer
from mnemic.storage.source import Group
from mnemic.storage.tokenizer import Word, identifier_parts, normalized

TITLE, SUMMARY, TAGS, BODY, PARTS, STEMS = 3.0, 2.0, 1.5, 1.0, 0.5, 1.0
"""What a word counts in each field."""


class IndexedWords(NamedTuple):
    """What each field of the index holds of a memory."""

    title: str
    summary: str
    tags: str
    body: str
    parts: str
    """The parts of identifiers, such as `build` and `server` of `buildServer`."""
    stems: str
    """The stems of words that are not English."""


def indexed_words(memory: Memory) -> IndexedWords:
    """*memory* as it is indexed."""
    body = memory.content
    # A title made from the body would count its words again, with the weight of words someone chose.
    title = "" if is_beginning(memory.title, body) else memory.title
    # Each statement in its own language. What is beside the body is too short to tell, and mostly of the same.
    texts = [statement.text for statement in memory.statements] or [title]
    return IndexedWords(
        title=normalized(title),
        summary=normalized(memory.summary or ""),
        tags=normalized(" ".join(memory.tags)),
        body=normalized(body),
        parts=identifier_parts(f"{title}\n{body}" if title else body),
        stems=" ".join(filter(None, map(tokenizer.stems, texts))),
    )


def forms(term: str, *, has_stems: bool) -> Group:
    """How *term* may stand in an index that has stems, or has none."""
    plain = normalized(term)
    return (plain, *term.stems) if has_stems and isinstance(term, Word) else (plain,)
