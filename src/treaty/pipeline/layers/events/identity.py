"""Which fields tell that an event was delivered before."""

from __future__ import annotations

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument
from treaty.pipeline.declarations import Source
from treaty.pipeline.layers.events.columns import DIGEST
from treaty.spark.schema import column_name, spark_type, the_object
from treaty.spark.value_checks import holds_maps

BY_PAYLOAD = (DIGEST,)
"""The identity of events of which nothing else is known: all that was sent."""


def identity_of(source: Source, contract: Contract) -> tuple[str, ...]:
    """Return the columns of the identity: what the source says, else the key, else the place in the order, else all."""
    fields = {field.name: field for field in the_object(contract).fields}
    names = source.identity or _said_by(contract)
    unknown = [name for name in names if name not in fields]
    if unknown:
        raise InvalidDocument(
            f"{source.at or source.name}: identity has {unknown[0]!r}, which is no field of {contract.id} "
            f"{contract.version}; it has: {', '.join(map(str, fields))}"
        )
    for name in names:
        kind = spark_type(fields[name])
        if kind is not None and holds_maps(kind):
            raise InvalidDocument(
                f"{source.at or source.name}: identity has {name!r}, which holds a map, and maps cannot be compared; "
                "name other fields"
            )
    return tuple(column_name(fields[name]) for name in names) or BY_PAYLOAD


def _said_by(contract: Contract) -> tuple[str, ...]:
    key, ordering = the_object(contract).primary_key, contract.treaty.ordering
    if key or ordering is None or not ordering.key or ordering.sequence is None:
        return key
    return (*ordering.key, ordering.sequence)
