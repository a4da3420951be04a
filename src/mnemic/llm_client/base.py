"""What a language model promises: an answer to a question, or Unavailable."""

from __future__ import annotations

from typing import Protocol


class LanguageModel(Protocol):
    """A model that answers in plain text. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """What the model is called where it lives."""

    def is_reachable(self) -> bool:
        """Whether it can be asked now. Looked up once and remembered for a while, so asking often costs nothing."""

    def ask(self, prompt: str) -> str:
        """Its answer to *prompt*, trimmed; Unavailable if none comes in time."""

    def close(self) -> None:
        """Close connections. Safe to call twice."""
