"""Render generated events as JSON lines: CloudEvents in structured mode, or the events alone."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from treaty.events.generator import GeneratedEvent

SOURCE = "/treaty/events/generate"


def render_payload(event: GeneratedEvent) -> str:
    """Return the event itself as JSON, without optional fields that are null."""
    return event.payload if event.payload is not None else json.dumps(_present(event.values), ensure_ascii=False)


def render_cloud_event(event: GeneratedEvent) -> str:
    """Return an event as a CloudEvent; a payload that is not JSON becomes a text in `data`."""
    envelope = {
        "specversion": "1.0",
        "id": event.id,
        "source": SOURCE,
        "type": event.type,
        "subject": event.key,
        "time": _json(event.sent_at),
        "datacontenttype": "application/json",
        "partitionkey": event.partition_key,
        "data": _present(event.values) if event.payload is None else event.payload,
    }
    return json.dumps(envelope, ensure_ascii=False)


def render_plain(event: GeneratedEvent, type_field: str | None = None) -> str:
    """Return the event alone, with its type in a field if one is named."""
    if type_field is None or event.payload is not None:
        return render_payload(event)
    return json.dumps({type_field: event.type, **_present(event.values)}, ensure_ascii=False)


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _json(value) for name, value in values.items() if value is not None}


def _json(value: Any) -> Any:
    if isinstance(value, datetime):
        text = value.isoformat(
            timespec="microseconds" if value.microsecond % 1_000 else "milliseconds" if value.microsecond else "seconds"
        )
        return text.replace("+00:00", "Z") if value.tzinfo is UTC else text
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return (
            int(value)
            if value == value.to_integral_value()
            else float(value)
            if Decimal(repr(float(value))) == value
            else str(value)
        )
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return _present(value)
    if isinstance(value, (list, tuple)):
        return [_json(one) for one in value]
    return value
