"""Whether two texts exclude each other, sentence by sentence, with the reason."""

from __future__ import annotations

from functools import lru_cache

from mnemic.core.trust.comparison import Entailment
from mnemic.core.trust.judgement import judge, propositions

LONGEST = 1_000
"""Characters of each text that are compared; `verify` covers longer ones."""


@lru_cache(maxsize=1024)
def contradiction_between(
    one: str, other: str, one_name: str = "one", other_name: str = "the other"
) -> str | None:
    """Why the two texts cannot both be true, in a sentence that calls them by these names; None if they can."""
    if one == other:
        return None
    return _found(one, other, one_name, other_name) or _found(other, one, other_name, one_name)


def _found(claim: str, known: str, claim_name: str, known_name: str) -> str | None:
    judgement = judge(propositions(claim[:LONGEST]), known[:LONGEST])
    if judgement.relation is not Entailment.CONTRADICTS:
        return None
    return judgement.reason.replace("memory", known_name, 1).replace("the claim", claim_name, 1)
