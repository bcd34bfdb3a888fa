"""Fields with a rule of every kind, a row that keeps all rules, and values that each break one."""

from __future__ import annotations

from typing import Any

FIELDS: list[dict[str, Any]] = [
    {"name": "id", "physicalType": "varchar(3)", "logicalType": "string", "primaryKey": True},
    {"name": "small", "logicalType": "integer", "logicalTypeOptions": {"format": "i16"}},
    {"name": "count", "logicalType": "integer"},
    {"name": "huge", "logicalType": "integer", "logicalTypeOptions": {"format": "u64", "multipleOf": 3}},
    {"name": "total", "logicalType": "number", "physicalType": "decimal(10,2)", "logicalTypeOptions": {"minimum": 0}},
    {"name": "rate", "logicalType": "number", "logicalTypeOptions": {"format": "f32"}},
    {"name": "day", "logicalType": "date"},
    {"name": "clock", "logicalType": "time"},
    {"name": "at", "logicalType": "timestamp"},
    {"name": "local", "logicalType": "timestamp", "logicalTypeOptions": {"timezone": False}},
    {"name": "raw", "physicalType": "binary"},
    {"name": "mail", "logicalType": "string", "logicalTypeOptions": {"format": "email", "pattern": "example[.]org$"}},
    {"name": "state", "logicalType": "string", "quality": [
        {"metric": "invalidValues", "arguments": {"validValues": ["a", "b"]}, "mustBe": 0}]},
    {"name": "tags", "logicalType": "array", "logicalTypeOptions": {"uniqueItems": True}, "items": {
        "logicalType": "string", "logicalTypeOptions": {"maxLength": 2}}},
    {"name": "prices", "logicalType": "map", "map": {
        "key": {"logicalType": "integer"}, "value": {"logicalType": "number"}}},
    {"name": "embedding", "logicalType": "vector", "logicalTypeOptions": {"dimensions": 2}},
]  # fmt: skip
GOOD: dict[str, Any] = {
    "id": "abc",
    "small": 32767,
    "count": 1,
    "huge": 18446744073709551615,
    "total": 19.99,
    "rate": 0.5,
    "day": "2024-02-29",
    "clock": "10:00:00",
    "at": "2024-01-01T10:00:00+01:00",
    "local": "2024-01-01T10:00:00.5",
    "raw": "YWI=",
    "mail": "a@example.org",
    "state": None,
    "tags": ["x", "y"],
    "prices": {"1": 2.5},
    "embedding": [0.1, 0.2],
}
BAD: list[tuple[str, Any]] = [
    ("id", "abcd"),
    ("id", None),
    ("small", 32768),
    ("small", "1"),
    ("count", 2147483648),
    ("huge", -3),
    ("huge", 4),
    ("total", 100000000),
    ("total", -0.01),
    ("rate", 1e39),
    ("day", "2023-02-29"),
    ("day", "2024-01-01T00:00:00Z"),
    ("clock", "25:00:00"),
    ("at", "2024-01-01T10:00:00"),
    ("local", "2024-01-01T10:00:00Z"),
    ("raw", "not base64!"),
    ("mail", "a@example.com"),
    ("mail", "@example.org"),
    ("state", "c"),
    ("tags", ["x", "x"]),
    ("tags", ["long"]),
    ("prices", {"x": 1}),
    ("prices", {"1": "x"}),
    ("embedding", [0.1]),
]
