"""A small dialect for tests with prompts, resources and every kind of failure."""

from __future__ import annotations

import os
import sys
import threading
from typing import Annotated

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from mnemic import errors
from mnemic.core.context import Context
from mnemic.dialects.framework import Dialect, Example, Prompt, Resource, Shape, WholeBody

SECRET = "SELECT secret FROM /home/someone"


def _read(ctx: Context, parts: object) -> str:
    raise RuntimeError(SECRET)


TOY = Dialect(
    name="toy",
    title="Toy",
    instructions="Play.",
    prompts=(
        Prompt(
            name="say",
            title="Say",
            description="Says it.",
            arguments=("what",),
            write=lambda given: str(given),
        ),
    ),
    resources=(
        Resource(
            template="toy://fixed", name="fixed", title="F", description="", mime="text/plain", read=_read
        ),
    ),
)


class GreetRequest(Shape):
    """Whom to greet."""

    name: str
    times: Annotated[int, Field(ge=1, le=3)] = 1
    tags: list[str] | None = None


class GreetReply(Shape):
    """The greeting."""

    greeting: str
    tags: list[str] | None = None


@TOY.operation(
    title="Greet",
    read_only=True,
    http=("GET /greet/{name}", "POST /greet"),
    examples=[Example("once", {"name": "you"}), Example("loudly", {"name": "you", "times": 3})],
)
def greet(ctx: Context, request: GreetRequest) -> GreetReply:
    """Greet someone."""
    return GreetReply(
        greeting=" ".join(["Hello", *[request.name] * request.times]), tags=request.tags or None
    )


class Sum(TypedDict):
    """A sum and what it is made of."""

    sum: int
    of: list[int]


class AddRequest(Shape):
    """Numbers, in an object."""

    model_config = ConfigDict(extra="ignore")

    numbers: list[int] = []


class AddAllRequest(Shape):
    """Numbers, and nothing else in the body."""

    numbers: Annotated[list[int], WholeBody()]


@TOY.endpoint("POST /add", title="Add", status=201, examples=[Example("two", {"numbers": [1, 2]})])
def add(ctx: Context, request: AddRequest) -> Sum:
    """Add numbers."""
    return {"sum": sum(request.numbers), "of": request.numbers}


@TOY.endpoint("GET /add/all", "PUT /add/all", title="Add all")
def add_all(ctx: Context, request: AddAllRequest) -> Sum:
    """Add all numbers."""
    return {"sum": sum(request.numbers), "of": request.numbers}


class FailRequest(Shape):
    """Which error to raise."""

    error: str


class Nothing(Shape):
    """Nothing at all."""


@TOY.operation(title="Fail")
def fail(ctx: Context, request: FailRequest) -> Nothing:
    """Fail as asked."""
    raise getattr(errors, request.error)("as you wished")


@TOY.operation(title="Crash")
def crash(ctx: Context, request: Nothing) -> Nothing:
    """Break in a way nobody foresaw."""
    raise RuntimeError(SECRET)


@TOY.operation(title="Shout")
def shout(ctx: Context, request: Nothing) -> Nothing:
    """Write to standard output in every way there is."""
    print("printed")
    sys.stdout.write("written\n")
    os.write(1, b"raw\n")
    os.system("echo child")
    return Nothing()


class WhoReply(Shape):
    """A name."""

    actor: str


@TOY.operation(title="Who")
def who(ctx: Context, request: Nothing) -> WhoReply:
    """On whose behalf this is done."""
    return WhoReply(actor=ctx.actor)


held = threading.Event()
"""Set to let `hold` go."""


@TOY.operation(title="Hold")
def hold(ctx: Context, request: Nothing) -> Nothing:
    """Wait until the test says so."""
    assert held.wait(30)
    return Nothing()
