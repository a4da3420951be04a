"""What a language model adds: terms, tags, contradictions, summaries; and what rules can say without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from mnemic.core.context import Context
from mnemic.model.memory import Memory


class Author(StrEnum):
    """Who gave an answer: the language model, or our own rules in its place."""

    MODEL = "model"
    RULES = "rules"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Words that were proposed, and by whom."""

    words: tuple[str, ...]
    author: Author


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether two memories contradict each other, and who says so."""

    contradicts: bool
    author: Author


@dataclass(frozen=True, slots=True)
class Summary:
    """One text for several memories, and who wrote it."""

    text: str
    author: Author


def expand(ctx: Context, query: str) -> tuple[str, ...]:
    """Terms related to *query*, as the language model proposes them; Unavailable without one."""
    raise NotImplementedError


def tags_for(ctx: Context, memory: Memory) -> Suggestion:
    """Lower-case tags for a memory, at most eight: the model's, else its key terms. Changes nothing.

    Unavailable at a feature tier without a language model.
    """
    raise NotImplementedError


def contradiction(ctx: Context, one: Memory, other: Memory) -> Verdict:
    """Whether two memories contradict each other: the model's word, else what rules can tell.

    Unavailable at a feature tier without a language model.
    """
    raise NotImplementedError


def summarise(ctx: Context, memories: Sequence[Memory]) -> Summary:
    """One text that keeps the facts of all: the model's, else their contents joined.

    Unavailable at a feature tier without a language model.
    """
    raise NotImplementedError
