"""In-process cache of schemas by id. A schema never changes, so that nothing in it is ever invalid."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

from treaty.registry.store.subjects import StoredSchema
from treaty.schema_registry.model import ParsedSchema

V = TypeVar("V")
MAX_PARSED = 2_000
MAX_STORED = 20_000
LOCKS = 256


class _Recent(Generic[V]):
    """The values that were used last, up to a number."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[tuple[str, int], V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[str, int]) -> V | None:
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: tuple[str, int], value: V) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)


class SchemaCache:
    """Schemas that were read before: as they are stored, and parsed."""

    def __init__(self) -> None:
        self._stored: _Recent[StoredSchema] = _Recent(MAX_STORED)
        self._parsed: _Recent[ParsedSchema] = _Recent(MAX_PARSED)
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    def registering(self, subject: str) -> threading.Lock:
        """Return the lock of a subject: in one process, its schemas are registered one after the other."""
        return self._locks[hash(subject) % LOCKS]

    def stored(self, context: str, identity: int) -> StoredSchema | None:
        """Return a schema as it is stored."""
        return self._stored.get((context, identity))

    def add_stored(self, schema: StoredSchema) -> None:
        """Add a schema that is durable."""
        self._stored.put((schema.context, schema.id), schema)

    def parsed(self, context: str, identity: int) -> ParsedSchema | None:
        """Return a parsed schema."""
        return self._parsed.get((context, identity))

    def add_parsed(self, context: str, identity: int, schema: ParsedSchema) -> None:
        """Add a parsed schema that is durable."""
        self._parsed.put((context, identity), schema)
