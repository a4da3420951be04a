"""The filter on `namespace_id`, the distribution key, in every statement: a cluster routes it to one server by that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ONE, SOME = "{{}}.namespace_id = %({0})s::integer", "{{}}.namespace_id = ANY(%({0})s::integer[])"
# For a namespace that nobody has looked up, or that is not there yet.
NAMED = "{{}}.namespace_id IN (SELECT n.id FROM namespace n WHERE n.name = ANY(%({0})s::text[]))"


class NamespaceFilter:
    """The namespaces that statements are about; `{here[m]}` in one is the predicate that rows of `m` are theirs.

    One namespace is written with `=`: that holds for every table that is joined by it too.
    """

    def __init__(
        self, known: Mapping[str, int], condition: str = "TRUE", values: Mapping[str, Any] | None = None
    ):
        self._known = known
        self._condition = condition
        self.values = dict(values or {})
        """The parameters of the conditions."""

    def __getitem__(self, alias: str) -> str:
        return self._condition.format(alias)

    @property
    def number(self) -> int | None:
        """The id of the one namespace that it is, if it is known."""
        [value] = self.values.values() or [None]
        return value if isinstance(value, int) else None

    @property
    def written_out(self) -> NamespaceFilter:
        """The same with the number of a single namespace in the statement: then its plan is kept."""
        return (
            self
            if self.number is None
            else NamespaceFilter(self._known, f"{{}}.namespace_id = {self.number}")
        )

    @property
    def everywhere(self) -> NamespaceFilter:
        """All namespaces of the store."""
        return NamespaceFilter(self._known)

    def within(self, names: Sequence[str] | None) -> NamespaceFilter:
        """Some of these namespaces, in conditions that can stand beside these; all if *names* is None."""
        return self if names is None else named(names, self._known, "namespaces")


ANYWHERE = NamespaceFilter({})
"""The whole store."""


def named(names: Sequence[str] | None, known: Mapping[str, int], parameter: str = "here") -> NamespaceFilter:
    """The namespaces of these names, or all; *known* has the ids of those that were looked up."""
    if names is None:
        return NamespaceFilter(known)
    if all(name in known for name in names):
        return numbered([known[name] for name in dict.fromkeys(names)], parameter, known)
    return NamespaceFilter(known, NAMED.format(parameter), {parameter: list(names)})


def numbered(
    numbers: Sequence[int], parameter: str = "spaces", known: Mapping[str, int] | None = None
) -> NamespaceFilter:
    """The namespaces with these ids."""
    template, value = (ONE, numbers[0]) if len(numbers) == 1 else (SOME, list(numbers))
    return NamespaceFilter({} if known is None else known, template.format(parameter), {parameter: value})
