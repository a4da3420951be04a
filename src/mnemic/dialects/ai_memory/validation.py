"""What ai-memory accepts: its limits, and the sentence that says which one was broken.

Plain functions without models, so that the command line can use them without loading any.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import orjson

from mnemic.core.memories import NEVER, Note, Revision
from mnemic.errors import Invalid
from mnemic.model.enums import Tier
from mnemic.model.limits import CONFIDENCE, MAX_STATEMENT_BYTES, PRIORITY, not_itself
from mnemic.model.time import SECOND, Moment, parse_moment
from mnemic.transfer.document_entry import CONTROL
from mnemic.transfer.document_entry import RELATIONS as RELATIONS

MAX_TITLE = 512
MAX_CONTENT = MAX_STATEMENT_BYTES
MAX_NAMESPACE = 128
MAX_ID = 128
MAX_TAGS = 50
MAX_TAG = 128
MAX_SOURCE = 128
MAX_METADATA = 65_536
MAX_DEPTH = 32
MAX_TTL_SECS = 31_536_000
MAX_CONSOLIDATED = 100
MAX_OFFSET = 2**62
FORMATS = ("json", "toon", "toon_compact")
SOURCES = ("user", "claude", "hook", "api", "cli", "import", "consolidation", "system")

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _refuse(field: str, sentence: str) -> NoReturn:
    raise Invalid(sentence, field)


def _text(value: Any, field: str) -> str:
    if not isinstance(value, str):
        _refuse(field, f"{field} must be a string")
    if CONTROL.search(value):
        _refuse(field, f"{field} cannot contain null bytes or control characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        _refuse(field, f"{field} is not valid Unicode")
    return value


def title(value: Any) -> str:
    """*value* as a title."""
    text = _text(value, "title")
    if not text.strip():
        _refuse("title", "title cannot be empty")
    if len(text.encode()) > MAX_TITLE:
        _refuse("title", f"title exceeds max length of {MAX_TITLE} bytes")
    return text


def content(value: Any, field: str = "content") -> str:
    """*value* as the body of a memory."""
    text = _text(value, field)
    if not text.strip():
        _refuse(field, f"{field} cannot be empty")
    if len(text.encode()) > MAX_CONTENT:
        _refuse(field, f"{field} exceeds max size of {MAX_CONTENT} bytes")
    return text


def namespace(value: Any, field: str = "namespace") -> str:
    """*value* as the name of a namespace that is written to."""
    text = known_namespace(value, field)
    if len(text.encode()) > MAX_NAMESPACE:
        _refuse(field, f"{field} exceeds max length of {MAX_NAMESPACE} bytes")
    if "/" in text or "\\" in text:
        _refuse(field, f"{field} cannot contain slashes or null bytes")
    if any(character.isspace() for character in text):
        _refuse(field, f"{field} cannot contain spaces (use hyphens or underscores)")
    return text


def known_namespace(value: Any, field: str = "namespace") -> str:
    """*value* as the name of a namespace that is read, which another dialect may have written to."""
    text = _text(value, field)
    if not text.strip():
        _refuse(field, f"{field} cannot be empty")
    return text


def source(value: Any) -> str:
    """*value* as where a memory comes from: one of a closed set."""
    text = _text(value, "source")
    if text not in SOURCES:
        _refuse("source", f"invalid source '{text[:40]}' — must be one of: {', '.join(SOURCES)}")
    return text


def tags(value: Any) -> tuple[str, ...]:
    """*value* as tags, each once."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        _refuse("tags", "tags must be a list of strings")
    if len(value) > MAX_TAGS:
        _refuse("tags", f"too many tags (max {MAX_TAGS})")
    for item in value:
        if not _text(item, "tags").strip():
            _refuse("tags", "tags cannot contain empty strings")
        if len(item.encode()) > MAX_TAG:
            _refuse("tags", f"tag exceeds max length of {MAX_TAG} bytes")
    return tuple(dict.fromkeys(value))


def identifier(value: Any, field: str = "id") -> str:
    """*value* as the id of a memory or the beginning of one."""
    text = _text(value, field).strip()
    if not text:
        _refuse(field, f"{field} cannot be empty")
    if len(text.encode()) > MAX_ID:
        _refuse(field, f"{field} exceeds max length of {MAX_ID} bytes")
    return text


def tier(value: Any) -> Tier:
    """*value* as a tier of memory."""
    try:
        return Tier(value)
    except ValueError:
        _refuse("tier", f"invalid tier: {str(value)[:40]} (use short, mid or long)")


def priority(value: Any) -> int:
    """*value* as a priority from 1 to 10."""
    number = integer(value, "priority")
    if not PRIORITY.low <= number <= PRIORITY.high:
        _refuse("priority", f"priority must be between 1 and 10 (got {str(number)[:20]})")
    return number


def confidence(value: Any) -> float:
    """*value* as a confidence from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        _refuse("confidence", "confidence must be a finite number")
    if not CONFIDENCE.low <= value <= CONFIDENCE.high:
        _refuse("confidence", f"confidence must be between 0.0 and 1.0 (got {str(value)[:20]})")
    return float(value)


def metadata(value: Any) -> Mapping[str, object]:
    """*value* as a memory's metadata: an object that is neither large nor deep."""
    if not isinstance(value, Mapping):
        _refuse("metadata", "metadata must be a JSON object")
    if _depth(value) > MAX_DEPTH:
        _refuse("metadata", f"metadata exceeds max depth of {MAX_DEPTH}")
    try:
        size = len(orjson.dumps(dict(value)))
    except (TypeError, ValueError):
        _refuse("metadata", "metadata must be plain JSON")
    if size > MAX_METADATA:
        _refuse("metadata", f"metadata exceeds max size of {MAX_METADATA} bytes (got {size})")
    return value


def _depth(value: Any, limit: int = MAX_DEPTH + 1) -> int:
    if limit == 0 or not isinstance(value, (Mapping, list)):
        return 0
    parts = value.values() if isinstance(value, Mapping) else value
    return 1 + max((_depth(part, limit - 1) for part in parts), default=0)


def moment(value: Any, field: str, now: Moment) -> Moment:
    """*value* as a moment to search from or until: RFC 3339, a date, or a span before now."""
    text = _text(value, field)
    try:
        return parse_moment(text, field, now)
    except Invalid:
        _refuse(
            field, f"{field} is not a valid time: '{text[:40]}' (use RFC3339, a date or a span such as 7d)"
        )


def expires_at(value: Any, now: Moment) -> Moment:
    """*value* as the moment at which a memory ends, which must lie ahead."""
    text = _text(value, "expires_at")
    try:
        # Python reads more than RFC 3339 allows, and a small `z` not at all.
        end = parse_moment(text.upper(), "expires_at", now) if _RFC3339.fullmatch(text) else None
    except Invalid:
        end = None
    if end is None:
        _refuse("expires_at", f"expires_at is not valid RFC3339: '{text[:40]}'")
    if end <= now:
        _refuse("expires_at", "expires_at is in the past")
    return end


def new_end(value: Any, now: Moment) -> Moment:
    """*value* as the moment at which a memory is to end from now on; an empty text takes the end away."""
    return NEVER if value == "" else expires_at(value, now)


def ttl_secs(value: Any) -> Moment:
    """*value* as a length of life, in seconds, of at most a year."""
    seconds = integer(value, "ttl_secs")
    if seconds <= 0:
        _refuse("ttl_secs", f"ttl_secs must be positive (got {str(seconds)[:20]})")
    if seconds > MAX_TTL_SECS:
        _refuse("ttl_secs", "ttl_secs exceeds maximum of 1 year")
    return seconds * SECOND


def relation(value: Any) -> str:
    """*value* as the type of a link."""
    text = _text(value, "relation")
    if text not in RELATIONS:
        _refuse("relation", f"invalid relation '{text[:40]}' — must be one of: {', '.join(RELATIONS)}")
    return text


def query(value: Any, field: str = "query") -> str:
    """*value* as a search text."""
    text = _text(value, field)
    if not text.strip():
        _refuse(field, f"{field} is required")
    if len(text.encode()) > MAX_CONTENT:
        _refuse(field, f"{field} exceeds max size of {MAX_CONTENT} bytes")
    return text


def wanted_tags(value: Any) -> tuple[str, ...]:
    """*value* as the tag, or the tags, of which a memory must have one."""
    return tags([value] if isinstance(value, str) else value)


def integer(value: Any, field: str) -> int:
    """*value* as a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        _refuse(field, f"{field} must be an integer")
    return value


def limit(value: Any, most: int) -> int:
    """*value* as a result count, clamped to 1 to *most*."""
    return max(1, min(integer(value, "limit"), most))


def offset(value: Any) -> int:
    """*value* as the number of results to pass over."""
    return max(0, min(integer(value, "offset"), MAX_OFFSET))


def older_than_days(value: Any) -> int:
    """*value* as an age in days."""
    days = integer(value, "older_than_days")
    if days < 0:
        _refuse("older_than_days", f"older_than_days must be non-negative (got {str(days)[:20]})")
    return days


def flag(value: Any, field: str) -> bool:
    """*value* as yes or no."""
    if not isinstance(value, bool):
        _refuse(field, f"{field} must be true or false")
    return value


def output(value: Any) -> str:
    """*value* as the format of an answer."""
    if value not in FORMATS:
        _refuse(
            "format", f"invalid format: {str(value)[:40]} (use {', '.join(FORMATS[:-1])} or {FORMATS[-1]})"
        )
    return str(value)


def consolidated(value: Any) -> tuple[str, ...]:
    """*value* as the ids of memories to make one of."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        _refuse("ids", "ids must be a list of strings")
    found = tuple(dict.fromkeys(identifier(item, "ids") for item in value))
    if len(found) < 2:
        _refuse("ids", "need at least 2 memory IDs to consolidate")
    if len(found) > MAX_CONSOLIDATED:
        _refuse("ids", f"cannot consolidate more than {MAX_CONSOLIDATED} memories at once")
    return found


def _without_null(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of *given* that say something: null counts as not given."""
    return {name: value for name, value in given.items() if value is not None}


def _with_title_and_content(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a memory that say something; these two must."""
    fields = _without_null(given)
    for name in ("title", "content"):
        if name not in fields:
            _refuse(name, f"{name} is required")
    return fields


def note(given: Mapping[str, Any], now: Moment, *, default_source: str) -> Note:
    """The memory that *given* describes, every field checked. Missing or null fields get their defaults."""
    fields = _with_title_and_content(given)
    return Note(
        text=content(fields["content"]),
        name=title(fields["title"]),
        tags=tags(fields.get("tags", ())),
        namespace=namespace(fields["namespace"]) if "namespace" in fields else None,
        tier=tier(fields.get("tier", "mid")),
        ttl=ttl_secs(fields["ttl_secs"]) if "ttl_secs" in fields else None,
        expires_at=expires_at(fields["expires_at"], now) if "expires_at" in fields else None,
        confidence=confidence(fields.get("confidence", 1.0)),
        priority=priority(fields.get("priority", 5)),
        source=source(fields.get("source", default_source)),
        metadata=metadata(fields.get("metadata", {})),
    )


def entry(given: Mapping[str, Any]) -> None:
    """Invalid if a memory in a JSON document breaks a rule.

    Its source may be any: mined and consolidated memories have others, and so have those of our other dialects.
    An entry with `statements` is one that Mnemic wrote because it does not fit ai-memory's rules for texts.
    """
    fields = _with_title_and_content(given)
    if "id" in fields:
        identifier(fields["id"])
    if not isinstance(fields.get("statements"), list):
        title(fields["title"])
        content(fields["content"])
        namespace(fields.get("namespace", "global"))
        tags(fields.get("tags", ()))
    elif not isinstance(fields["title"], str) or not fields["title"].strip():
        _refuse("title", "title cannot be empty")
    if len(_text(fields.get("source", ""), "source").encode()) > MAX_SOURCE:
        _refuse("source", f"source exceeds max length of {MAX_SOURCE} bytes")
    tier(fields.get("tier", "mid"))
    priority(fields.get("priority", 5))
    confidence(fields.get("confidence", 1.0))
    metadata(fields.get("metadata", {}))


def link(given: Mapping[str, Any]) -> None:
    """Invalid if a link in a JSON document leads from a memory to itself.

    Relations that ai-memory does not know come from other dialects, and in some of these it may.
    """
    related = given.get("relation") or "related_to"
    if related in RELATIONS:
        not_itself(given.get("source_id"), given.get("target_id"), "target_id")


def revision(given: Mapping[str, Any], now: Moment) -> Revision:
    """The changes that *given* asks for, every field checked. An empty `expires_at` takes the end away."""
    fields = _without_null(given)
    return Revision(
        text=content(fields["content"]) if "content" in fields else None,
        name=title(fields["title"]) if "title" in fields else None,
        tags=tags(fields["tags"]) if "tags" in fields else None,
        namespace=namespace(fields["namespace"]) if "namespace" in fields else None,
        tier=tier(fields["tier"]) if "tier" in fields else None,
        expires_at=new_end(fields["expires_at"], now) if "expires_at" in fields else None,
        confidence=confidence(fields["confidence"]) if "confidence" in fields else None,
        priority=priority(fields["priority"]) if "priority" in fields else None,
        metadata=metadata(fields["metadata"]) if "metadata" in fields else None,
    )
