"""Ollama as a language model."""

from __future__ import annotations


class Ollama:
    """A model that an Ollama server runs."""

    def __init__(self, url: str, model: str):
        self.name = model
        self._url = url

    def is_reachable(self) -> bool:
        """See LanguageModel."""
        raise NotImplementedError

    def ask(self, prompt: str) -> str:
        """See LanguageModel."""
        raise NotImplementedError
