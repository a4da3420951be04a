"""How a request becomes parameters of a command: over a small dialect with every kind of field."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import Annotated, Any

import click
import pytest
from pydantic import Field

from mnemic.cli.derive import arguments, command_for, command_line
from mnemic.cli.parameters import written_fields
from mnemic.console.run import Run
from mnemic.core.context import Context
from mnemic.dialects.framework import Dialect, Example, Flags, Hidden, Operation, Positional, Shape

TOY = Dialect(name="toy", title="Toy", instructions="")


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Part(Shape):
    name: str


Number = Annotated[int, Field(ge=1)] | str


class PaintRequest(Shape):
    text: Annotated[str, Positional("TEXT", stdin=True)]
    colour: Colour = Colour.RED
    shades: list[Colour] | None = None
    tags: Annotated[list[str], Field(default_factory=list)]
    width: Annotated[int | None, Field(ge=1, le=9, description="how wide")] = None
    glow: float = 0.5
    dry: bool = False
    wet: bool = True
    shiny: bool | None = None
    near: Number | None = None
    parts: Annotated[list[Part], Field(default_factory=list)]
    extra: Annotated[dict[str, object], Field(default_factory=dict)]
    space: Annotated[str | None, Flags("-s", "--space")] = None
    secret: Annotated[str, Hidden()] = ""


class PaintReply(Shape):
    got: dict[str, Any]


@TOY.operation(
    title="Paint",
    cli="paint",
    examples=[
        Example("", {"text": "a fence", "tags": ["x", "y"], "dry": True, "near": "12"}),
        Example("", {"text": "it", "wet": False, "width": 3}),
        Example("", {"text": "it", "secret": "no"}),
    ],
)
def paint(ctx: Context, request: PaintRequest) -> PaintReply:
    """Paint a thing. Second sentence."""
    return PaintReply(got=request.model_dump())


class FindRequest(Shape):
    ids: Annotated[list[Number], Field(min_length=1), Positional("THING")]


@TOY.operation(title="Find", cli="find")
def find(ctx: Context, request: FindRequest) -> PaintReply:
    """Find things."""
    return PaintReply(got={})


def given(operation: Operation, *words: str) -> dict[str, Any]:
    """What the operation is given when *words* are typed."""
    command = command_for(operation)
    ctx = command.make_context(command.name, list(words), obj=Run())
    return arguments(ctx, written_fields(operation.request))


PAINT, FIND = TOY.operations["paint"], TOY.operations["find"]


@pytest.mark.parametrize(
    "words, expected",
    [
        ("fence", {"text": "fence"}),
        ("a long fence", {"text": "a long fence"}),
        ("-- -5 degrees", {"text": "-5 degrees"}),
        ("x --colour blue", {"text": "x", "colour": "blue"}),
        ("x --shades red,blue --shades red", {"text": "x", "shades": ["red", "blue", "red"]}),
        ("x --tags a,b --tags ' c , ,d'", {"text": "x", "tags": ["a", "b", "c", "d"]}),
        ("x --width 3 --glow 1e-1", {"text": "x", "width": "3", "glow": "1e-1"}),
        ("x --dry --no-wet --no-shiny", {"text": "x", "dry": True, "wet": False, "shiny": False}),
        ("x --wet --shiny", {"text": "x", "wet": True, "shiny": True}),
        ("x --near 12", {"text": "x", "near": "12"}),
        (
            """x --parts '{"name": "a, b"}' --extra '{"k": [1]}'""",
            {"text": "x", "parts": [{"name": "a, b"}], "extra": {"k": [1]}},
        ),
        ("x -s here", {"text": "x", "space": "here"}),
        ("--json x --db y", {"text": "x"}),
    ],
)
def test_words_become_arguments(words, expected):
    assert given(PAINT, *shlex.split(words)) == expected


@pytest.mark.parametrize("words", ["a b", "'two words' 3"])
def test_a_list_takes_all_words(words):
    assert given(FIND, *shlex.split(words)) == {"ids": shlex.split(words)}


@pytest.mark.parametrize("words", ["x --colour green", "x --secret s", "x --nonsense", "--tags"])
def test_an_unlisted_choice_is_refused(words):
    with pytest.raises(click.UsageError):
        given(PAINT, *shlex.split(words))


def test_the_arguments_make_the_request():
    words = """x --shades red --width 3 --glow 1e-1 --no-wet --parts '{"name": "a"}'"""
    request = PAINT.parse(given(PAINT, *shlex.split(words)))
    assert (request.width, request.glow, request.wet, request.parts) == (3, 0.1, False, [Part(name="a")])
    assert request.model_fields_set == {"text", "shades", "width", "glow", "wet", "parts"}


def test_every_example_that_can_be_typed_means_what_it_says():
    fields = written_fields(PAINT.request)
    for example in PAINT.examples[:2]:
        line = command_line(PAINT, example, fields)
        _, command, *words = shlex.split(line)
        assert command == "paint"
        assert PAINT.parse(given(PAINT, *words)) == PAINT.parse(example.arguments)
    assert command_line(PAINT, PAINT.examples[2], fields) is None


def test_help_shows_bounds_defaults_choices_and_examples():
    command = command_for(PAINT)
    text = command.get_help(click.Context(command, info_name="paint", terminal_width=100))
    for words in (
        "Paint a thing. Second sentence.",
        "TEXT...",
        "How wide (1 to 9)",
        "[red|blue]",
        "--shades red|blue,...",
        "[default: 0.5]",
        "-s, --space TEXT",
        "--wet / --no-wet",
        "mnemic paint 'a fence' --tags x,y --dry --near 12",
        "--json",
    ):
        assert words in text, words
    assert "secret" not in text
