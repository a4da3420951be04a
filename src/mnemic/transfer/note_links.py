"""Links between the notes of a mirror: what `[[…]]` names, and what a memory's links are called."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from mnemic.core import titles
from mnemic.core.context import Context
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import EdgeDraft, EdgePatch
from mnemic.model.memory import Memory
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import edge_between, numbers
from mnemic.transfer.file_names import file_name
from mnemic.transfer.folder_state import FileState
from mnemic.transfer.markdown import RELATED
from mnemic.transfer.markdown_note import pointers


class LinkNames:
    """Names of notes, as links give them: the file's name, with its folder where several have that."""

    def __init__(self, files: Mapping[str, FileState]):
        paths = {name.rpartition(".")[0]: state.parts for name, state in files.items() if state.parts}
        stems = Counter(path.rpartition("/")[2].casefold() for path in paths)
        self._names: dict[str, str] = {}
        self._uids: dict[str, str] = {}
        for path, parts in paths.items():
            stem = path.rpartition("/")[2]
            first = parts[0].uid
            self._uids[path.casefold()] = first
            self._uids.setdefault(stem.casefold(), first)
            name = stem if stems[stem.casefold()] == 1 else path
            self._names |= {
                part.uid: f"{name}#{part.heading}" if part.uid != first else name for part in parts
            }

    def name(self, memory: Memory) -> str | None:
        """What a link to *memory* says; None if no file shows it."""
        if memory.state is State.NAMED:
            return file_name(memory.title, memory.uid[:8])
        return self._names.get(memory.uid)

    def uid(self, name: str) -> str | None:
        """The uid of the memory whose file is called so."""
        return self._uids.get(name.strip().removesuffix(".md").casefold())

    def are_same(self, names: Iterable[str], others: Iterable[str]) -> bool:
        """Whether two lists name the same notes."""
        return {self.uid(name) or name for name in names} == {self.uid(name) or name for name in others}

    def number(self, tx: Writer, ctx: Context, namespace: str, name: str) -> int:
        """The number of what a link to *name* points to; of a placeholder if nothing is called so."""
        uid = self.uid(name)
        known = numbers(tx, [uid]).get(uid) if uid else None
        return known or titles.target(tx, ctx, namespace, name)


def change_links(
    tx: Writer,
    ctx: Context,
    memory: Memory,
    said: Mapping[str, Sequence[str]],
    before: Mapping[str, Sequence[str]],
    names: LinkNames,
) -> None:
    """Make the links of *memory* that its note names and did not name *before*; end those it names no more."""
    for type in {*said, *before}:
        new, old = set(said.get(type, ())), set(before.get(type, ()))
        for name in sorted(new - old):
            target = names.number(tx, ctx, memory.namespace, name)
            if target != memory.id and edge_between(tx, memory.id, target, type) is None:
                tx.insert_edge(EdgeDraft(memory.id, target, type))
        for name in sorted(old - new):
            target = names.number(tx, ctx, memory.namespace, name)
            edge = edge_between(tx, memory.id, target, type)
            if edge and not names.are_same([name], new & {name}):
                tx.update_edge(edge, EdgePatch(valid_to=ctx.now()))


def links_shown(
    reader: Reader, memories: Sequence[Memory], names: LinkNames
) -> dict[int, dict[str, list[str]]]:
    """The names of what each memory links to, by its number and the type of the link."""
    edges = reader.edges(EdgeFilter(sources=tuple(memory.id for memory in memories), is_current=True))
    ends = {memory.id: memory for memory in reader.get(sorted({edge.target_id for edge in edges}))}
    shown: dict[int, dict[str, list[str]]] = defaultdict(dict)
    for edge in edges:
        name = names.name(ends[edge.target_id]) if edge.target_id in ends else None
        if name and name not in shown[edge.source_id].setdefault(edge.type, []):
            shown[edge.source_id][edge.type].append(name)
    return shown


def with_pointers(links: Mapping[str, list[str]], text: str) -> dict[str, list[str]]:
    """*links* and those that a text makes with `[[…]]`."""
    named = [pointer.page for pointer in pointers(text) if pointer.page]
    both = sorted({*links.get(RELATED, ()), *named})
    return {**links, **({RELATED: both} if both else {})}
