"""How a request's field is written on the command line, and what a written value means."""

from __future__ import annotations

import enum
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

import click

from mnemic.console.input_values import from_json, must_be_text, read_stdin, split
from mnemic.dialects.framework import Flags, Hidden, Metavar, Positional

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo


class ValueType(enum.Enum):
    """How the text of a value is read."""

    TEXT = "TEXT"
    SWITCH = ""
    WHOLE = "N"
    NUMBER = "X"
    CHOICE = "CHOICE"
    REFERENCE = "MEMORY"
    """A number or a name, sent as it is written: the core tells them apart."""
    COUNT = "[N]"
    """A switch that may be given a number: `--suggest` or `--suggest 5`."""
    JSON = "JSON"


@dataclass(frozen=True, slots=True)
class Written:
    """One field of a request as the command line writes it."""

    name: str
    kind: ValueType
    is_list: bool
    is_required: bool
    default: Any
    flags: tuple[str, ...]
    positional: Positional | None
    choices: tuple[str, ...] = ()
    help: str = ""
    metavar: str | None = None
    may_be_piped: bool = False
    """Whether `-` reads standard input."""

    @property
    def takes_words(self) -> bool:
        """True for a text that needs no quotes: all the words that are left."""
        return self.positional is not None and self.kind is ValueType.TEXT and not self.is_list

    @property
    def label(self) -> str:
        """The name a person knows this field by."""
        return self.positional.metavar if self.positional else max(self.flags, key=len)

    def reads_pipe(self, given: Mapping[str, Any]) -> bool:
        """Whether the argument is read from a pipe: neither it nor a substitute was *given*."""
        if self.positional is None or not self.positional.stdin or self.name in given:
            return False
        return given.keys().isdisjoint(self.positional.unless)

    def parameter(self) -> click.Parameter:
        """This field as a parameter of a command."""
        if self.positional is not None:
            nargs = -1 if self.is_list or self.takes_words else 1
            about = ", ".join(self.choices) + (f" {self.help}" if self.choices and self.help else self.help)
            return click.Argument(
                [self.name],
                type=click.Choice(self.choices) if self.choices else click.STRING,
                metavar=_usage(self, nargs),
                nargs=nargs,
                required=self.is_required and not self.positional.stdin,
                help=about or None,
            )
        if self.kind is ValueType.SWITCH:
            return click.Option([*self._switches(), self.name], is_flag=True, default=None, help=self.help)
        if self.kind is ValueType.COUNT:
            optional: dict[str, Any] = {"is_flag": False, "flag_value": "true", "metavar": self.kind.value}
            return click.Option([*self.flags, self.name], help=self.help, **optional)
        is_choice = bool(self.choices) and not self.is_list
        return click.Option(
            [*self.flags, self.name],
            multiple=self.is_list,
            type=click.Choice(self.choices) if is_choice else click.STRING,
            metavar=None if is_choice else self._metavar(),
            required=self.is_required,
            help=self.help,
        )

    def _metavar(self) -> str:
        one = self.metavar or "|".join(self.choices) or self.kind.value
        return f"{one},..." if self.is_list else one

    def _switches(self) -> list[str]:
        if self.default is False:
            return list(self.flags)
        long = max(self.flags, key=len)
        return [*(flag for flag in self.flags if flag != long), "/".join(self._faces(long))]

    def _faces(self, long: str) -> tuple[str, str]:
        """The words that switch it on and off; a flag may name both."""
        yes, _, no = long.partition("/")
        return yes, no or f"--no-{yes.removeprefix('--')}"

    def value(self, given: Any) -> Any:
        """What the request is given for what was written."""
        for text in given if isinstance(given, tuple) else (given,):
            must_be_text(text, self.name)
        if self.takes_words:
            return self._text(" ".join(given))
        if self.is_list and self.positional is None:
            parts = given if self.kind is ValueType.JSON else [part for text in given for part in split(text)]
            return [self._one(part) for part in parts]
        return [self._one(part) for part in given] if self.is_list else self._one(given)

    def _one(self, text: Any) -> Any:
        match self.kind:
            case ValueType.JSON | ValueType.COUNT:
                return from_json(text, self.name)
            case ValueType.TEXT:
                return self._text(text)
        return text

    def _text(self, text: str) -> str:
        if text == "-" and self.may_be_piped:
            return read_stdin(self.name).rstrip("\n")
        return text

    def written(self, value: Any) -> list[str]:
        """The words that say *value*: the opposite of `value`."""
        if self.kind is ValueType.COUNT and value is True:
            return [max(self.flags, key=len)]
        if self.kind is ValueType.SWITCH:
            yes, no = self._faces(max(self.flags, key=len))
            return [yes if value else no]
        if self.positional is not None:
            return [str(item) for item in (value if self.is_list else [value])]
        text = ",".join(map(str, value)) if self.is_list else str(value)
        return [max(self.flags, key=len), text]


def _usage(field: Written, nargs: int) -> str:
    shown = field.positional.metavar if field.positional else field.name.upper()
    shown = shown + "..." if nargs == -1 else shown
    return shown if field.is_required else f"[{shown}]"


def written_fields(request: type[BaseModel]) -> list[Written]:
    """The fields of *request* that the command line offers, in order."""
    fields = (written_field(name, info) for name, info in request.model_fields.items())
    return [field for field in fields if field is not None]


def written_field(name: str, info: FieldInfo) -> Written | None:
    """How the field *name* is written, or None if it is hidden."""
    hints = [*info.metadata, *_hints(info.annotation)]
    if any(isinstance(hint, Hidden) for hint in hints):
        return None
    positional = next((hint for hint in hints if isinstance(hint, Positional)), None)
    flags = next((hint for hint in hints if isinstance(hint, Flags)), None)
    kind, is_list, choices = _kind(info.annotation)
    return Written(
        name=name,
        kind=kind,
        is_list=is_list,
        is_required=info.is_required(),
        default=info.get_default(),
        flags=flags.names if flags else (f"--{name.replace('_', '-')}",),
        positional=positional,
        choices=choices,
        help=_help(info, hints),
        metavar=_metavar(flags, hints, info.annotation),
        may_be_piped=any(hint.stdin for hint in (positional, flags) if hint is not None),
    )


def _metavar(flags: Flags | None, hints: Sequence[Any], annotation: Any) -> str | None:
    """Metavar of a value in the help: from the flags, else from the type or its item type."""
    if flags is not None and flags.metavar:
        return flags.metavar
    inside = [hint for plain in _plain(annotation) for item in get_args(plain) for hint in _hints(item)]
    return next((hint.word for hint in (*hints, *inside) if isinstance(hint, Metavar)), None)


def _hints(annotation: Any) -> Iterator[Any]:
    """Annotations anywhere below *annotation*, outermost first, not inside lists."""
    if get_origin(annotation) is Annotated:
        for hint in annotation.__metadata__:
            yield from getattr(hint, "metadata", (hint,))  # a Field() inside a union holds its bounds there
        yield from _hints(annotation.__origin__)
    elif _is_union(annotation):
        for part in get_args(annotation):
            yield from _hints(part)


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) in (Union, types.UnionType)


def _plain(annotation: Any) -> list[Any]:
    """The alternatives of *annotation* without annotations and without None."""
    if get_origin(annotation) is Annotated:
        return _plain(annotation.__origin__)
    if _is_union(annotation):
        return [plain for part in get_args(annotation) for plain in _plain(part)]
    return [] if annotation is type(None) else [annotation]


def _kind(annotation: Any) -> tuple[ValueType, bool, tuple[str, ...]]:
    """How values of *annotation* are read, whether there are several, and the choices of a closed set."""
    plain = _plain(annotation)
    if len(plain) == 1 and get_origin(plain[0]) is list:
        kind, _, choices = _kind(get_args(plain[0])[0])
        return kind, True, choices
    if len(plain) > 1:
        return _UNIONS.get(frozenset(plain), ValueType.JSON), False, ()
    return _KINDS.get(plain[0]) or _closed(plain[0])


_KINDS: dict[Any, tuple[ValueType, bool, tuple[str, ...]]] = {
    bool: (ValueType.SWITCH, False, ()),
    int: (ValueType.WHOLE, False, ()),
    float: (ValueType.NUMBER, False, ()),
    str: (ValueType.TEXT, False, ()),
}


_UNIONS = {frozenset({int, str}): ValueType.REFERENCE, frozenset({int, bool}): ValueType.COUNT}


def _closed(plain: Any) -> tuple[ValueType, bool, tuple[str, ...]]:
    if isinstance(plain, type) and issubclass(plain, enum.Enum):
        return ValueType.CHOICE, False, tuple(str(member.value) for member in plain)
    return ValueType.JSON, False, ()


def _help(info: FieldInfo, hints: Sequence[Any]) -> str:
    """Help text: description, bounds and default."""
    text, default = _described(info)
    bounds = {name: getattr(hint, name) for hint in hints for name in ("ge", "le") if hasattr(hint, name)}
    parts = [text]
    if len(bounds) == 2:
        parts.append(f"({_number(bounds['ge'])} to {_number(bounds['le'])})")
    if default:
        parts.append(f"[default: {default}]")
    return " ".join(part for part in parts if part)


def _described(info: FieldInfo) -> tuple[str, str]:
    """What the field is for, and its default, which the description may tell in brackets at its end."""
    text, _, told = (info.description or "").partition(" (default: ")
    default = told.removesuffix(")")
    if default in UNSAID or default.startswith("see "):
        default = ""
    held = info.get_default()
    if not info.is_required() and held not in (None, False, "", [], {}):
        default = str(held)
    is_value = text.partition(" ")[0].endswith(":")  # `global: …` explains a value, which is written small
    return (text if is_value else text[:1].upper() + text[1:]), default


def _number(bound: float) -> str:
    return f"{bound:,}" if isinstance(bound, int) else f"{bound:g}"


UNSAID = frozenset({"any", "none", "nothing"})
"""Defaults that an option need not mention: leaving it out says as much."""
