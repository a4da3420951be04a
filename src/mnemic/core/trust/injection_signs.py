"""The signs of poisoning in a text: what was written to steer the agent who reads it.

The rules are few and careful, since a memory that speaks of prompts, code or commands is no attack. Each sign has a
weight; a text is suspicious from weight 2 on, and every kind of sign counts once:

- *override* (2): an order to ignore, forget or stop following earlier instructions, rules or the system prompt.
- *hidden* (2): invisible characters: tags, runs of zero-width signs or variation selectors, words with such signs
  inside, and marks that turn the direction of writing in a text without any letter that is written that way.
- *encoded* (2): base64 or hexadecimal that reads as text with a sign of its own.
- *exfiltration* (2): an order to send all secrets, or the conversation as a placeholder, to an address; (1) an address
  with a placeholder for the conversation or for secrets.
- *secrecy* (1): something to be kept from the user. *authority* (1): a text that calls itself a message of the system
  or of the developers, or gives the reader a new identity. *trigger* (1): what to do when this is read or recalled.
- *tool* (1): an order to call a tool, run a command or download something and run it. *markup* (1): the marks by which
  a chat or a tool call is written.

What stands in quotation marks or in code, or in a sentence that speaks of such attacks, is a mention and no sign. So
the rules find the careless and not the cunning, who would write such a sentence around it.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ENOUGH = 2
SHOWN, LOOKED_AROUND = 120, 300
"""Characters shown of a suspicious passage, and characters around it that are inspected."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What makes a text suspicious: which rule, how heavy it is, and the stretch of text."""

    rule: str
    weight: int
    text: str


def inspect(text: str) -> tuple[Sign, ...]:
    """The signs of poisoning in *text*, one of each kind, heaviest first; none if they are not enough."""
    return enough(_all_signs(text))


def enough(signs: Sequence[Sign]) -> tuple[Sign, ...]:
    """The heaviest of each kind of *signs*, heaviest first; none if they weigh too little together."""
    heaviest: dict[str, Sign] = {}
    for sign in sorted(signs, key=lambda sign: -sign.weight):
        heaviest.setdefault(sign.rule, sign)
    return tuple(heaviest.values()) if sum(one.weight for one in heaviest.values()) >= ENOUGH else ()


def _all_signs(text: str) -> list[Sign]:
    hidden = [] if text.isascii() else list(_hidden(text))
    plain = text if text.isascii() else _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    return [*hidden, *_spoken(plain), *_encoded(plain)]


# Every repetition is bounded, since whoever poisons a memory would also like to stop the scan.
_ORDER = (
    r"(?:^|[.,!?:;>*#\-\]\)\u2013\u2014]\s{0,4}|\n\s{0,4}|\b(?:please|now|must|should|shall|then|and|always|immediately|"
    r"just|also|(?:need|have|are|want\syou)\sto)\s{1,4})"
)
"""What precedes an order: the beginning of a sentence or line, or a word that makes it one."""
_BEFORE = " .,!?:;>*#-])\u2013\u2014\n\t"
"""What belongs to the sentence before, and is not shown."""
_SECRETS = (
    r"(?:api keys?|passwords?|credentials|secrets|tokens|private keys?|environment variables|memories|conversations?|"
    r"chat history|messages)"
)


@dataclass(frozen=True, slots=True)
class _Pattern:
    """How a sign is written; a text without any of the *needed* words, in small letters, need not be searched."""

    rule: str
    weight: int
    needed: tuple[str, ...]
    expression: re.Pattern[str]


def _pattern(rule: str, weight: int, needed: str, *parts: str) -> _Pattern:
    flags = re.IGNORECASE | re.MULTILINE
    return _Pattern(rule, weight, tuple(needed.split("|")), re.compile("".join(parts), flags))


_PATTERNS = (
    _pattern(
        "override",
        2,
        "ignore|disregard|forget|discard|follow|obey",
        _ORDER,
        r"(?:ignore|disregard|forget|discard|do not follow|don['’]t follow|stop following|do not obey)\s{1,4}",
        r"(?:(?:all|any|every|of|the|your|my|these|those|everything in)\s{1,4}){0,4}",
        r"(?:(?:previous|prior|earlier|above|preceding|existing|original|former|other)\s{1,4}(?:\w{1,20}\s{1,4}){0,2}?",
        r"(?:instructions?|prompts?|rules|guidelines|directives|orders|commands)",
        r"|(?:system|developer|safety)\s{1,4}(?:prompts?|instructions?|messages?|rules|guidelines)",
        r"|(?:instructions?|rules|guidelines|directives)\s{1,4}(?:(?:that|which|you|were|was|are|have|been)\s{1,4}){0,4}",
        r"(?:above|before|given|received|so far))",
    ),
    _pattern(
        "exfiltration",
        2,
        "://|www.|@",
        _ORDER,
        r"(?:send|post|upload|forward|transmit|leak|exfiltrate|append|e-?mail|submit)\s{1,4}",
        rf"(?:all|every|any|the user['’]s)\s[^.\n]{{0,60}}?\b{_SECRETS}\b[^\n]{{0,80}}?(?:https?://|www\.|\S@\w)",
    ),
    _pattern(
        "exfiltration",
        2,
        "](http",
        r"\]\(https?://[^)\s]{0,200}?[{<\[%$]\w{0,20}?",
        r"(?:conversation|history|secret|password|credential|memor(?:y|ies)|system_?prompt|chat)",
    ),
    _pattern(
        "exfiltration",
        1,
        "http",
        r"https?://[^\s\"'`]{0,200}?(?:\{|<|\[|%7b)\s?(?:full_|all_|the_|user_)?",
        r"(?:conversation|chat_?history|secrets?|passwords?|credentials|memories|system_?prompt|env(?:ironment)?\b|env_)",
    ),
    _pattern(
        "secrecy",
        1,
        "user|human|operator|owner",
        r"(?:\b(?:do not|don['’]t|never)\s{1,4}(?:tell|inform|mention|reveal|show|warn|alert|notify)\b[^.\n]{0,40}?",
        r"|\bwithout\s{1,4}(?:telling|informing|asking|notifying|alerting)\s{1,4})",
        r"\b(?:the\s{1,4})?(?:user|human|operator|owner)\b",
    ),
    _pattern(
        "authority",
        1,
        "system|developer|admin|instruction|prompt|you are n| mode ",
        r"(?:\bsystem\s(?:override|update)\s?[:!]|\bnew\s(?:system\s)?(?:instructions?|prompt)\s?:",
        r"|\bthis is an?\s(?:\w{1,20}\s)?(?:system|developer|admin(?:istrator)?)\s",
        r"(?:message|override|instruction|prompt)",
        r"|^[ \t]{0,8}[\[<]?(?:system|developer)[\]>]?\s?:\s{0,4}(?:you|ignore|always|never|from now on)\b",
        r"|\byou are (?:now|no longer)\s(?:an?\s)?",
        r"(?:dan\b|in (?:developer|god|debug) mode|unrestricted|jailbroken|bound)",
        r"|\b(?:developer|god|unrestricted) mode (?:is )?(?:now )?(?:enabled|activated|on)\b)",
    ),
    _pattern(
        "trigger",
        1,
        " this",
        r"\b(?:when(?:ever)?|if|once|after|as soon as)\s(?:you|the (?:agent|assistant|model|ai)|an (?:agent|ai))\s",
        r"(?:have\s)?(?:reads?|sees?|recalls?|retrieves?|loads?|process(?:es)?)\sthis\b",
    ),
    _pattern(
        "tool",
        1,
        "tool|function|run |execute|curl|wget",
        _ORDER,
        r"(?:silently\s)?(?:(?:call|invoke|use)\sthe\s[`\w.-]{1,40}\s(?:tool|function)\b",
        r"|(?:run|execute)\s(?:the\s)?(?:following|this|command|shell|script)\b",
        r"|(?:(?:run|execute|use|call)\s)?`?(?:curl|wget)\s[^\n|]{1,200}\|\s?(?:sudo\s)?(?:ba|z)?sh\b)",
    ),
    _pattern(
        "markup",
        1,
        "<|[inst|[/inst",
        r"<\|(?:im_start|im_end|system|assistant|user|start_header_id)\|>|\[/?INST\]|<<SYS>>",
        r"|</?(?:function_calls|tool_call|invoke\sname|antml:)",
    ),
)
_MENTION = re.compile(
    r"\b(?:injections?|jailbreaks?|attack(?:s|ers?)?|poison(?:ing|ed)?|phishing|malicious|adversarial|red[- ]team\w*|"
    r"detect(?:s|ion|ed)?|flag(?:s|ged)?|filters?|such as|phrases? like|e\.g\.|for example)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n")
_QUOTES = {'"': '"', "“": "”", "«": "»", "`": "`", "‘": "’", "„": "“", "'": "'"}


def _spoken(text: str) -> Iterator[Sign]:
    """What the words themselves betray."""
    small = text.lower()
    for pattern in _PATTERNS:
        if any(word in small for word in pattern.needed):
            said = (found for found in pattern.expression.finditer(text) if not _is_mention(text, found))
            if used := next(said, None):
                yield Sign(pattern.rule, pattern.weight, stretch(used[0].lstrip(_BEFORE)))


def _is_mention(text: str, found: re.Match[str]) -> bool:
    """Whether the match is quoted, is code, or is in a sentence about such attacks."""
    if text.count("```", 0, found.start()) % 2:
        return True
    before = text[max(0, found.start() - LOOKED_AROUND) : found.start() + 1]
    behind = text[found.end() : found.end() + LOOKED_AROUND]
    sentence = _SENTENCE_END.split(before)[-1] + found[0] + _SENTENCE_END.split(behind)[0]
    return bool(_MENTION.search(sentence)) or _is_quoted(before, behind)


def _is_quoted(before: str, behind: str) -> bool:
    """Whether a quotation that began on this line is still open here, and closes behind."""
    begun, ended = before.rpartition("\n")[2], behind.partition("\n")[0]
    return any(_is_open(begun, *signs) and signs[1] in ended for signs in _QUOTES.items())


def _is_open(line: str, opening: str, closing: str) -> bool:
    if opening != closing:
        return line.count(opening) > line.count(closing)
    sign = re.escape(opening)  # between two letters it is an apostrophe
    return len(re.findall(rf"(?<!\w){sign}|{sign}(?!\w)", line)) % 2 == 1


def stretch(text: str) -> str:
    """*text* on one line, shortened, with invisible characters as code points."""
    seen = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in " ".join(text.split()))
    return seen if len(seen) <= SHOWN else seen[: SHOWN - 1] + "…"


_UNSEEN = re.compile(r"[\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_FLAG = re.compile(r"\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")
"""The flags of England, Scotland and Wales are written with tags, and rightly so."""
_TAGS = re.compile(r"[\U000e0000-\U000e007f]+")
_RUN = re.compile(r"[\u200b-\u200d\u2060-\u2064\ufeff]{8,}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_IN_A_WORD = re.compile(r"[A-Za-z]{1,20}[\u200b\u2060\ufeff][A-Za-z]{1,20}")
_TURNED = re.compile(r"[\u202a-\u202e\u2066-\u2069]")


def _hidden(text: str) -> Iterator[Sign]:
    """Invisible characters that serve no purpose in the text."""
    without_flags = _FLAG.sub("", text)
    if tags := _TAGS.search(without_flags):
        said = "".join(chr(ord(char) - 0xE0000) for char in tags[0] if 0xE0020 <= ord(char) <= 0xE007E)
        yield Sign("hidden", 2, stretch(f"tags: {said}"))
    elif run := _RUN.search(text):
        yield Sign("hidden", 2, stretch(run[0]))
    elif len(broken := _IN_A_WORD.findall(text)) > 1:
        yield Sign("hidden", 2, stretch(broken[0]))
    elif (turned := _TURNED.search(text)) and not any(
        unicodedata.bidirectional(char) in ("R", "AL") for char in text
    ):
        yield Sign("hidden", 2, stretch(text[max(0, turned.start() - 20) : turned.end() + 20]))


_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{32,}={0,2}(?![A-Za-z0-9+/=_-])")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){24,}(?![0-9A-Za-z])")
MOST_BLOBS = 20


def _encoded(text: str) -> Iterator[Sign]:
    """Blobs that read as text which has a sign itself."""
    blobs = [found[0] for pattern in (_HEX, _BASE64) for found in pattern.finditer(text)]
    for blob in blobs[:MOST_BLOBS]:
        decoded = _decoded(blob)
        if decoded and (sign := next(_spoken(decoded), None)):
            yield Sign("encoded", 2, sign.text)


def _decoded(blob: str) -> str | None:
    """What *blob* says, if it is text."""
    try:
        if _HEX.fullmatch(blob):
            raw = bytes.fromhex(blob)
        else:
            plain = blob.rstrip("=").translate(str.maketrans("-_", "+/"))
            raw = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        said = raw.decode()
    except (binascii.Error, ValueError):
        return None
    return said if all(char.isprintable() or char.isspace() for char in said) else None
