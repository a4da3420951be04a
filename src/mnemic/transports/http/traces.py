"""OpenTelemetry traces of requests, sent by OTLP over HTTP to the collector that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.errors import Unavailable

if TYPE_CHECKING:
    from mnemic.transports.http.observer import Exchange


class Tracer:
    """A span for each request, sent in batches in the background."""

    def __init__(self, endpoint: str):
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError:
            raise Unavailable(
                "otlp_endpoint: traces need the extra `otel`: pip install 'mnemic[otel]'."
            ) from None
        exporter = OTLPSpanExporter(endpoint=endpoint.rstrip("/") + "/v1/traces")
        self._provider = TracerProvider(resource=Resource.create({"service.name": "mnemic"}))
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("mnemic")

    def observe(self, exchange: Exchange) -> None:
        """Record a finished request, as a child of the caller's span if it sent one."""
        from opentelemetry.trace import SpanKind, Status, StatusCode
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        span = self._tracer.start_span(
            f"{exchange.method} {exchange.route}",
            context=TraceContextTextMapPropagator().extract({"traceparent": exchange.trace_parent}),
            kind=SpanKind.SERVER,
            start_time=exchange.began_ns,
            attributes={
                "http.request.method": exchange.method,
                "http.route": exchange.route,
                "http.response.status_code": exchange.status,
                "enduser.id": exchange.actor,
            },
        )
        if exchange.status >= 500:
            span.set_status(Status(StatusCode.ERROR))
        span.end(end_time=exchange.began_ns + int(exchange.seconds * 1e9))

    def close(self) -> None:
        """Send the remaining traces and stop."""
        self._provider.shutdown()
