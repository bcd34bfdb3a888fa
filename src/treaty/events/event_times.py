"""Which field of a contract has the time of the event, from which lag and timeliness are measured."""

from __future__ import annotations

from collections.abc import Sequence

from treaty.contracts.model import Contract, Field

SEMANTIC_TYPE = "event time"
_LEVELS = (("latency", "ly"), ("freshness",))
_DEFAULT_PERCENTILE, _ALL = 95.0, 100.0


def event_time_field(contract: Contract) -> Field | None:
    """Return the field with the time of the event; None if the contract does not say which one it is.

    It is the element of the service level for latency or freshness, else the field of semantic type `event time`, else
    the only required timestamp of an event contract.
    """
    for names in _LEVELS:
        if (element := _element(contract, names)) is not None:
            return _named(contract, element)
    times = [field for field in _fields(contract) if _is_timestamp(field)]
    typed = [field for field in times if _is_event_time(field)]
    required = [field for field in times if field.is_required and contract.treaty.event is not None]
    return typed[0] if typed else required[0] if len(required) == 1 else None


def freshness_field(contract: Contract) -> Field | None:
    """Return the timestamp that the freshness of a contract is measured by; None if it is the publication."""
    element = _element(contract, ("freshness",))
    return None if element is None else _named(contract, element)


def promised_percentile(contract: Contract) -> float:
    """Return the percentile at which lag is compared with the promise; a promise without one is about all rows."""
    latency = contract.treaty.latency
    if latency is not None and latency.percentile:
        return latency.percentile
    is_promised = latency is not None and latency.within
    levels = {str(level.get("property", "")).lower() for level in contract.sla or ()}
    return _ALL if is_promised or levels & set(_LEVELS[0]) else _DEFAULT_PERCENTILE


def _fields(contract: Contract) -> tuple[Field, ...]:
    return contract.schema[0].fields if contract.schema else ()


def _element(contract: Contract, names: Sequence[str]) -> str | None:
    levels = (level for level in contract.sla or () if str(level.get("property", "")).lower() in names)
    return next((str(level["element"]) for level in levels if level.get("element")), None)


def _named(contract: Contract, element: str) -> Field | None:
    name = element.strip().rpartition(".")[2]
    fields = (field for field in _fields(contract) if name in (field.name, field.physical_name))
    return next((field for field in fields if _is_timestamp(field)), None)


def _is_timestamp(field: Field) -> bool:
    return field.type is not None and field.type.name == "timestamp"


def _is_event_time(field: Field) -> bool:
    return str(field.treaty.get("semantic_type", "")).replace("_", " ").strip().lower() == SEMANTIC_TYPE
