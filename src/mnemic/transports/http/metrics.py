"""Prometheus metrics of the daemon: requests by route, latency, size of the store and its backlog."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from starlette.responses import Response

from mnemic.dialects.execution import guarded
from mnemic.errors import Denied
from mnemic.transports.http.auth import CALLER, CONTEXT

if TYPE_CHECKING:
    from starlette.requests import Request

    from mnemic.core.context import Context
    from mnemic.transports.http.observer import Exchange

SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Bucket bounds of the latency histogram."""
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class Metrics:
    """Counters of one daemon, and the store's figures as of each scrape."""

    def __init__(self, ctx: Context):
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._registry.register(StoreFigures(ctx))
        self._requests = Counter(
            "mnemic_requests", "Requests answered.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "mnemic_request_seconds",
            "Time from the request to the end of its response.",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )

    def observe(self, exchange: Exchange) -> None:
        """Count a finished request."""
        method = exchange.method if exchange.method in METHODS else "other"
        self._requests.labels(method, exchange.route, exchange.status).inc()
        self._seconds.labels(exchange.route).observe(exchange.seconds)

    async def scrape(self, request: Request) -> Response:
        """The metrics in Prometheus' text format, for callers who may see every namespace."""
        if request.scope[CONTEXT].granted is not None:
            raise Denied("Metrics are about all namespaces; this token may not see them all.")
        body = await request.scope[CALLER].run(guarded, generate_latest, self._registry)
        return Response(body, media_type=CONTENT_TYPE_LATEST)


class StoreFigures(Collector):
    """Figures of the store, read at each scrape."""

    def __init__(self, ctx: Context):
        self._ctx = ctx

    def describe(self) -> Iterable[Metric]:
        """Nothing in advance: the store is read when it is scraped, not when the daemon starts."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Memories by state, statements that wait for vectors, bytes on disk."""
        from mnemic.core.stats import overview

        found = overview(self._ctx)
        memories = GaugeMetricFamily("mnemic_memories", "Memories by state.", labels=("state",))
        for state, count in found.by_state.items():
            memories.add_metric((state,), count)
        yield memories
        yield GaugeMetricFamily(
            "mnemic_pending_vectors", "Statements that wait for their vectors.", value=found.pending
        )
        yield GaugeMetricFamily("mnemic_store_bytes", "Size of the store on disk.", value=found.size_bytes)
