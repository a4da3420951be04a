"""Cues of lasting statements: the words by which somebody says that something is to hold from now on.

They are kept by language in `data/`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RULE, DECISION, FACT, CORRECTION = "rule", "decision", "fact", "correction"
CONFIDENCE = {RULE: 0.7, DECISION: 0.7, FACT: 0.8, CORRECTION: 0.5}
"""How sure a captured statement is before anybody has reviewed it."""
LANGUAGES = ("en", "de", "fr", "es", "ja", "zh")
QUESTION = re.compile(r"[?？]\s*$|(?:吗|呢|ですか|ますか|でしょうか)[。.]?\s*$")
_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Cue:
    """A pattern found in sentences that state something of this kind."""

    kind: str
    pattern: re.Pattern[str]


@cache
def cues() -> tuple[Cue, ...]:
    """The cues of all languages, compiled when first needed; a rule that is to be remembered counts as a rule."""
    found = [
        Cue(one["kind"], re.compile(one["pattern"], re.IGNORECASE))
        for language in LANGUAGES
        for one in tomllib.loads((_DATA / f"{language}.toml").read_text(encoding="utf-8"))["cue"]
    ]
    return tuple(sorted(found, key=lambda cue: cue.kind == FACT))


UNSAID = re.compile(
    r"\b(?:do|did|can|could|don'?t|can'?t|cannot|didn'?t) (?:you |i |we )?(?:even )?remember\b"
    r"|\bi (?:don'?t )?remember\b|\bremember(?:ed)? (?:when|how|the time)\b"
    r"|\bnever ?mind\b|\bas always\b|\balmost (?:always|never)\b|\bnot (?:always|sure)\b"
    r"|\bhave(?:n'?t| not) (?:yet )?(?:decided|agreed)\b"
    r"|\b(?:if|whether|unless|until|before) we(?:'ve| have)? (?:decide|agree)"
    r"|\bwarum\b|\bwieso\b|\bpourquoi\b|\bpor qué\b|\bwie immer\b|\bcomme toujours\b|\bcomo siempre\b"
    r"|^(?:why|how|what|when|where|which|who|should|shall|would|could|can|do(?! not\b)|does|did|is|are"
    r"|was|were|have|has|will) "
    r"|\bdecided to (?:stop|leave|quit|call it|take a break)\b",
    re.IGNORECASE,
)
"""Sentences that hold a cue and state nothing lasting: questions, recollections, what is still open."""
