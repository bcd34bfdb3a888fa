"""OpenTelemetry traces of servers and runs, configured by the usual OTEL_* variables.

Without them nothing of OpenTelemetry is imported, and spans cost a function call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from treaty.errors import InvalidDocument, MissingExtra

if TYPE_CHECKING:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

Attribute = str | int | float | bool

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL = "http/protobuf"
_EXPORTERS = ("otlp", "console", "none")
_tracer: trace.Tracer | None = None


def exporter_name(environment: Mapping[str, str]) -> str | None:
    """Return the exporter that variables ask for: otlp or console; None if there are to be no traces."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    default = "otlp" if any(environment.get(name) for name in _ENDPOINTS) else "none"
    name = environment.get("OTEL_TRACES_EXPORTER", "").strip().lower() or default
    if name not in _EXPORTERS:
        raise InvalidDocument(f"OTEL_TRACES_EXPORTER must be one of: {', '.join(_EXPORTERS)}, not {name[:40]!r}")
    protocol = next((environment[variable] for variable in _PROTOCOLS if environment.get(variable)), _PROTOCOL)
    if name == "otlp" and protocol != _PROTOCOL:
        variable = next(variable for variable in _PROTOCOLS if environment.get(variable))
        raise InvalidDocument(
            f"{variable} must be {_PROTOCOL}, not {protocol[:40]!r}; collectors receive it on port 4318"
        )
    return None if name == "none" else name


@contextmanager
def tracing(
    service: str, *, parent: Mapping[str, str] | None = None, redact: Callable[[str], str] = str
) -> Iterator[None]:
    """Record and export spans during the context, if variables ask for it.

    `parent` may have a TRACEPARENT that the spans continue; `redact` removes secrets from paths of requests, whose
    queries are never recorded. A tracer provider that an agent has set up is used with its own exporters.
    """
    global _tracer
    name = exporter_name(os.environ)
    if name is None or _tracer is not None:
        yield
        return
    try:
        from opentelemetry import context, propagate, trace

        current = trace.get_tracer_provider()
        own = _provider(service, name, redact) if isinstance(current, trace.ProxyTracerProvider) else None
    except ModuleNotFoundError:
        raise MissingExtra("a trace exporter", "tracing") from None
    if own is not None:
        trace.set_tracer_provider(own)
    _tracer = trace.get_tracer("treaty")
    carrier = {key.lower(): value for key, value in (parent or {}).items() if key in ("TRACEPARENT", "TRACESTATE")}
    attached = context.attach(propagate.extract(carrier))
    try:
        yield
    finally:
        context.detach(attached)
        _tracer = None
        if own is not None:
            own.shutdown()


def is_tracing() -> bool:
    """Return whether spans are recorded now."""
    return _tracer is not None


def flush_spans() -> None:
    """Export the spans that have ended; for processes that may be killed after this."""
    if _tracer is None:
        return
    from opentelemetry import trace

    flush = getattr(trace.get_tracer_provider(), "force_flush", None)
    if flush is not None:
        flush()


class CurrentSpan:
    """The span of a context; without tracing it does nothing."""

    def __init__(self, span: trace.Span | None = None) -> None:
        self._span = span

    def set(self, **attributes: Attribute) -> None:
        """Set attributes, whose names get the prefix `treaty.`."""
        if self._span is not None:
            self._span.set_attributes(_prefixed(attributes))

    def add_event(self, name: str) -> None:
        """Add an event that happens now."""
        if self._span is not None:
            self._span.add_event(name)

    def fail(self, reason: str) -> None:
        """Mark the span as failed."""
        if self._span is not None:
            from opentelemetry.trace import StatusCode

            self._span.set_status(StatusCode.ERROR, reason)


_NO_SPAN = CurrentSpan()


@contextmanager
def span(name: str, **attributes: Attribute) -> Iterator[CurrentSpan]:
    """Record what happens in the context as a span; attributes get the prefix `treaty.`.

    An exception marks the span as failed by its type. Its message is not recorded, since it may contain data.
    """
    if _tracer is None:
        yield _NO_SPAN
        return
    started = _tracer.start_as_current_span(
        name, attributes=_prefixed(attributes), record_exception=False, set_status_on_exception=False
    )
    with started as recorded:
        current = CurrentSpan(recorded)
        try:
            yield current
        except BaseException as error:
            current.fail(type(error).__name__)
            raise


def current_span() -> CurrentSpan:
    """Return the span that this thread is in."""
    if _tracer is None:
        return _NO_SPAN
    from opentelemetry import trace

    return CurrentSpan(trace.get_current_span())


def trace_headers() -> dict[str, str]:
    """Return the headers that let a server continue the trace; none without tracing."""
    headers: dict[str, str] = {}
    if _tracer is not None:
        from opentelemetry import propagate

        propagate.inject(headers)
    return headers


def _prefixed(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    return {f"treaty.{name}": value for name, value in attributes.items()}


def _provider(service: str, exporter: str, redact: Callable[[str], str]) -> TracerProvider:
    """Return a provider with the sampler, resource and limits of the variables; it exports in the background."""
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.name": service}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(_redaction(redact))
    provider.add_span_processor(BatchSpanProcessor(_exporter(exporter)))
    return provider


def _redaction(redact: Callable[[str], str]) -> SpanProcessor:
    """Return a processor that removes the queries of requests and the secrets in their paths."""
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import Span, SpanProcessor

    class Redaction(SpanProcessor):
        def on_start(self, span: Span, parent_context: Context | None = None) -> None:
            attributes = span.attributes or {}
            if "url.query" in attributes:
                span.set_attribute("url.query", "REDACTED")
            if "url.path" in attributes:
                span.set_attribute("url.path", redact(str(attributes["url.path"])))

    return Redaction()


def _exporter(name: str) -> SpanExporter:
    if name == "console":
        import sys

        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr, formatter=_format_line)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


def _format_line(recorded: ReadableSpan) -> str:
    return f"{recorded.to_json(indent=None)}\n"
