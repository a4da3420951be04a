"""The graph of memories as a map: graph."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.core import graph_map
from mnemic.core.context import Context
from mnemic.core.graph_map import MOST_NODES, GraphMap
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.as_of import AsOf, at
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import Everywhere, Reference, Request, Tags

MOST_AROUND = 1_000


class GraphRequest(Request):
    """A namespace, or the neighbourhood of one memory."""

    id: Annotated[
        Reference | None,
        Field(description="only around this memory, by id, uid or title"),
        Positional("MEMORY"),
    ] = None
    depth: Annotated[int, Field(description="how many links away from it", ge=1, le=10)] = 2
    namespace: Everywhere = None
    types: Annotated[Tags | None, Field(description="only these link types")] = None
    limit: Annotated[int, Field(description="most memories, the best linked first", ge=1, le=MOST_NODES)] = (
        MOST_NODES
    )
    as_of: Annotated[AsOf, Field(description="as it stood then")] = None


class GraphReply(Shape):
    """Memories and links as short rows.

    A row of `nodes` is [id, title, kind, namespace, cluster], one of `links` is [source, target, type, weight]. Source
    and target are places in `nodes`; kind, namespace and type are places in `kinds`, `namespaces` and `types`.
    """

    nodes: list[tuple[int, str, int, int, int]]
    links: list[tuple[int, int, int, float]]
    kinds: list[str]
    namespaces: list[str]
    types: list[str]
    type_counts: dict[str, int]
    clusters: list[int]
    """The size of each cluster, the largest first."""
    left_out: int | None = None


@MNEMIC.command(
    cli="graph",
    title="Graph",
    examples=[Example("", {"namespace": "global"}), Example("around a memory", {"id": "12", "depth": 2})],
)
def graph(ctx: Context, request: GraphRequest) -> GraphReply:
    """Show how memories are linked: a whole namespace in clusters, or what is around one memory."""
    ctx = at(ctx, request.as_of)
    if request.id is None:
        return _shown(graph_map.whole(ctx, request.namespace, request.types, limit=request.limit))
    limit = min(request.limit, MOST_AROUND)
    return _shown(graph_map.around(ctx, request.id, request.types, request.depth, limit=limit))


def _shown(found: GraphMap) -> GraphReply:
    places = {node.id: place for place, node in enumerate(found.nodes)}
    kinds = {kind: place for place, kind in enumerate(dict.fromkeys(node.kind for node in found.nodes))}
    spaces = {name: place for place, name in enumerate(dict.fromkeys(node.namespace for node in found.nodes))}
    types = {name: place for place, name in enumerate(found.types)}
    sizes = [0] * (max(found.clusters.values(), default=-1) + 1)
    for cluster in found.clusters.values():
        sizes[cluster] += 1
    return GraphReply.model_construct(
        None,
        nodes=[
            (node.id, node.title, kinds[node.kind], spaces[node.namespace], found.clusters[node.id])
            for node in found.nodes
        ],
        links=[
            (places[link.source_id], places[link.target_id], types[link.type], link.weight)
            for link in found.links
            if link.source_id in places and link.target_id in places
        ],
        kinds=list(kinds),
        namespaces=list(spaces),
        types=list(types),
        type_counts=dict(found.types),
        clusters=sizes,
        left_out=found.left_out or None,
    )
