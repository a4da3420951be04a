"""What the tools are given: each kind of argument with the rule that checks it and the schema that describes it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, PlainValidator, WithJsonSchema

from mnemic.dialects.ai_memory import validation
from mnemic.dialects.framework import Shape
from mnemic.model.enums import Tier

MOST_RECALLED = 50
MOST_LISTED = 200
MOST_ARCHIVED = 1_000


def _tidy(schema: dict[str, Any]) -> None:
    """Leave null out of *schema*: it counts as not given, so it says nothing about an argument."""
    for part in schema.get("properties", {}).values():
        choices = [choice for choice in part.pop("anyOf", ()) if choice != {"type": "null"}]
        if len(choices) == 1:
            part.update({**choices[0], **part})
        elif choices:
            part["anyOf"] = choices
        if part.get("default", ...) is None:
            del part["default"]


class Arguments(Shape):
    """Arguments of a tool; unknown ones are ignored."""

    model_config = ConfigDict(extra="ignore", json_schema_extra=_tidy)


class NoArguments(Arguments):
    """No arguments."""


def described(type: str, description: str, **more: Any) -> WithJsonSchema:
    """What a schema says of an argument."""
    return WithJsonSchema({"type": type, "description": description, **more})


def checked(rule: Callable[..., Any], *more: Any) -> PlainValidator:
    """Validator of an argument; its sentence is the whole error message."""
    # Not `rule` itself: of a function with a second argument, pydantic would take that for its own.
    return PlainValidator(lambda value: rule(value, *more))


_TEXT = functools.partial(described, "string")
_TIERS = [str(tier) for tier in Tier]

Title = Annotated[
    str, checked(validation.title), _TEXT("short title, unique in its namespace", maxLength=512)
]
Content = Annotated[str, checked(validation.content), _TEXT("what to remember, at most 64 KB")]
Namespace = Annotated[
    str, checked(validation.namespace), _TEXT("namespace, such as the project's name", maxLength=128)
]
KnownNamespace = Annotated[str, checked(validation.known_namespace), _TEXT("only this namespace")]
TierName = Annotated[
    Tier,
    checked(validation.tier),
    _TEXT("how long it lives: short 6 hours, mid 7 days, long for ever", enum=_TIERS),
]
WantedTier = Annotated[Tier, checked(validation.tier), _TEXT("only this tier", enum=_TIERS)]
Tags = Annotated[
    tuple[str, ...],
    checked(validation.tags),
    described("array", "tags to find it by", items={"type": "string"}, maxItems=validation.MAX_TAGS),
]
Priority = Annotated[
    int, checked(validation.priority), described("integer", "importance, 1 to 10", minimum=1, maximum=10)
]
Confidence = Annotated[
    float, checked(validation.confidence), described("number", "certainty, 0 to 1", minimum=0.0, maximum=1.0)
]
Source = Annotated[
    str, checked(validation.source), _TEXT("where it comes from", enum=list(validation.SOURCES))
]
Metadata = Annotated[
    Mapping[str, object], checked(validation.metadata), described("object", "any JSON object, at most 64 KB")
]
Id = Annotated[str, checked(validation.identifier), _TEXT("id of the memory, or a unique beginning of it")]
Format = Annotated[
    str,
    checked(validation.output),
    _TEXT("toon_compact saves most tokens, json has everything", enum=list(validation.FORMATS)),
]


def a_limit(most: int) -> tuple[PlainValidator, WithJsonSchema]:
    """The rule and the schema of a number of results, of which there are at most *most*."""
    return checked(validation.limit, most), described("integer", "most results", minimum=1, maximum=most)


Ids = Annotated[
    tuple[str, ...],
    checked(validation.consolidated),
    described(
        "array",
        "ids of the memories",
        items={"type": "string"},
        minItems=2,
        maxItems=validation.MAX_CONSOLIDATED,
    ),
]
Relation = Annotated[
    str,
    checked(validation.relation),
    _TEXT("what the source is to the target", enum=list(validation.RELATIONS)),
]
Summary = Annotated[
    str,
    checked(validation.content, "summary"),
    _TEXT("content of the new memory; smart tiers write it if missing"),
]
# Moments are checked where the clock is at hand.
End = Annotated[Any, _TEXT("RFC 3339 moment at which it ends; empty: never")]
When = Annotated[Any, _TEXT("RFC 3339 moment, or a date")]
Sought = Annotated[str, checked(validation.query, "context"), _TEXT("what you want to remember about")]
Words = Annotated[str, checked(validation.query), _TEXT("words that must all occur")]
Pattern = Annotated[str, checked(validation.query, "pattern"), _TEXT("only memories with all of these words")]
WantedTags = Annotated[
    tuple[str, ...],
    checked(validation.wanted_tags),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
            "description": "only memories with this tag",
        }
    ),
]
Parent = Annotated[
    str,
    checked(validation.namespace, "parent"),
    _TEXT("namespace whose standard holds as well", maxLength=128),
]
Age = Annotated[
    int,
    checked(validation.older_than_days),
    described("integer", "only what is older than so many days", minimum=0),
]
Offset = Annotated[int, checked(validation.offset), described("integer", "results to pass over", minimum=0)]


_RECALLED, _LISTED, _ARCHIVED = map(a_limit, (MOST_RECALLED, MOST_LISTED, MOST_ARCHIVED))
RecallLimit = Annotated[int, *_RECALLED]
ListLimit = Annotated[int, *_LISTED]
ArchiveLimit = Annotated[int, *_ARCHIVED]
DryRun = Annotated[
    bool, checked(validation.flag, "dry_run"), described("boolean", "only count, change nothing")
]


class IdArguments(Arguments):
    """A single memory."""

    id: Id
