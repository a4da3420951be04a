"""The kinds of text that requests are made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field


def storable(text: str) -> str:
    """*text*, or ValueError if a database could not give it back as it is."""
    if "\0" in text:
        raise ValueError("contains a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("contains half of a surrogate pair, which is no character") from None
    return text


Words = Annotated[str, AfterValidator(storable)]
SomeWords = Annotated[str, Field(min_length=1), AfterValidator(storable)]
