"""The words of a text in the form in which the indexes of all engines compare them."""

from __future__ import annotations

import threading
from functools import cache

import apsw

from mnemic.storage.sqlite import fts
from mnemic.storage.tokenizer import normalized


class _Tokenizer(threading.local):
    """SQLite's tokenizer, which the index of PostgreSQL uses too; a connection for each thread."""

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")


@cache
def _tokenizer() -> _Tokenizer:
    return _Tokenizer()


def tokens(form: str) -> list[str]:
    """The tokens of a text in the form it is indexed in."""
    return fts.tokens(_tokenizer().connection, form)


def stems(text: str) -> list[str]:
    """The words of *text* in order, in the form an index compares them in."""
    return tokens(normalized(text))
