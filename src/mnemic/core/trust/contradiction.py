"""Whether two texts exclude each other, sentence by sentence, with the reason."""

from __future__ import annotations

from functools import lru_cache

from mnemic.core.trust.comparison import Relation
from mnemic.core.trust.judgement import judge, propositions

LONGEST = 2_000
"""So many characters of each text are compared: whoever contradicts a longer one is found by `verify`."""


@lru_cache(maxsize=1024)
def contradiction_between(one: str, other: str) -> str | None:
    """Why the two texts cannot both be true, or None if they can as far as the rules tell."""
    if one == other:
        return None
    return _found(one, other) or _found(other, one)


def _found(claim: str, known: str) -> str | None:
    judgement = judge(propositions(claim[:LONGEST]), known[:LONGEST])
    if judgement.relation is not Relation.CONTRADICTS:
        return None
    return judgement.reason.replace("memory says", "one says").replace("the claim says", "the other says")
