"""The contract and rows of the cases of rule SQL, and parsing of a rule on that contract."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from tests.documents import CASES, contract
from treaty.contracts.paths import parse_path
from treaty.contracts.text import read_document
from treaty.sql.checked_sql import RuleSql, RuleTarget
from treaty.sql.rules import parse_rule

FOLDER = CASES / "sql_rules"
_NOON = datetime(2026, 3, 1, 12)
_THINGS: dict[str, tuple[Any, ...]] = {
    "id": ("int", 1, 2, 3, 4),
    "owner_id": ("int", 1, 1, 2, None),
    "n": ("int", 3, -7, 0, None),
    "big": ("bigint", 5_000_000_000, -1, 0, None),
    "price_eur": ("decimal(10,2)", Decimal("12.50"), Decimal("-0.01"), Decimal("0.00"), None),
    "share": ("double", 0.25, -1.5, 0.0, None),
    "text": ("string", "Alpha beta", "it's 100% \\ _ok_\n", "größe 😀", None),
    "code": ("string", "AB-12", "", "12,5", None),
    "odd `name": ("string", "odd", "", "a`b", None),
    "flag": ("boolean", True, False, True, None),
    "day": ("date", date(2026, 2, 28), date(1999, 12, 31), date(2026, 1, 1), None),
    "at": ("timestamp", _NOON, _NOON, datetime(2026, 1, 1), None),
    "later": ("timestamp", datetime(2026, 3, 2, 1, 30), datetime(2026, 2, 1), datetime(2026, 1, 1), None),
    "json": ("string", '{"a": {"b": 7}}', "[1, 2]", "no json", None),
    "date": ("date", date(2026, 3, 1), date(2024, 2, 29), date(2026, 12, 31), None),
    "list": ("array<int>", [3, 1, 2], [], [5], None),
    "words": ("array<string>", ["x", "y"], [None, "z"], ["ß", ""], None),
    "pairs": ("array<struct<a: int, b: string>>", [(1, "one"), (2, None)], [], [(7, "seven")], None),
    "names": ("map<string, string>", {"en": "thing", "de": "Ding"}, {}, {"en": ""}, None),
    "part": ("struct<a: int, b: struct<c_1: string>>", (4, ("deep",)), (None, (None,)), (9, None), None),
    "open": ("struct<x: int>", (1,), (0,), (2,), None),
}
COLUMNS = ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, (kind, *_) in _THINGS.items())
ROWS = list(zip(*(values for _, *values in _THINGS.values()), strict=True))
OWNERS: list[tuple[Any, ...]] = [(1, "DE", date(2020, 1, 1)), (3, "FR", None)]


def cases(name: str) -> Any:
    """Return the cases of a file."""
    file = FOLDER / f"{name}.yaml"
    return read_document(file.read_bytes(), file.name).data["cases"]


THINGS = contract(read_document((FOLDER / "contract.yaml").read_bytes(), "contract.yaml").data)


def parse(sql: str, field: str | None = None) -> RuleSql:
    """Parse the SQL of a rule on the object `things`."""
    return parse_rule(sql, RuleTarget.of(THINGS, THINGS.schema[0], parse_path(field) if field else None))
