"""The columns of the orders as SQL over the row number: valid values, and the faults written over them."""

from __future__ import annotations

from dataclasses import dataclass

PRISTINE_KEY = "pmod(n, 400) not in (7, 8, 9)"
"""Rows whose key no other row is given."""
_NEWEST = "timestamp'2026-10-01 00:00:00'"


@dataclass(frozen=True)
class Fault:
    """A rule, how many rows in 10,000 are drawn to break it, the value that does, and which rows may take it."""

    rule: str
    rate: int
    value: str
    where: str = "true"


@dataclass(frozen=True)
class Column:
    """A column: its type, its clean value as SQL over the row number `n`, and its faults."""

    name: str
    type: str
    clean: str
    faults: tuple[Fault, ...] = ()

    @property
    def lots(self) -> list[tuple[Fault, str]]:
        """Each fault with the condition under which a row has it; no row has two in one column."""
        found, low = [], 0
        for fault in self.faults:
            found.append(
                (fault, f"(lot_{self.name} >= {low} and lot_{self.name} < {low + fault.rate} and {fault.where})")
            )
            low += fault.rate
        return found

    @property
    def value(self) -> str:
        """The value as SQL, faults included."""
        cases = " ".join(f"when {lot} then {fault.value}" for fault, lot in self.lots)
        return f"cast({f'case {cases} else {self.clean} end' if cases else self.clean} as {self.type}) as {self.name}"


def draw(name: str, below: int) -> str:
    """Draw a number from the row number, as SQL: always the same for a row and a name."""
    return f"pmod(xxhash64(n, '{name}'), {below})"


def _pick(name: str, *values: str) -> str:
    listed = ", ".join(f"'{value}'" for value in values)
    return f"element_at(array({listed}), cast({draw(name, len(values))} as int) + 1)"


_PERSON = draw("customer", 400_000)
_EMAIL = (
    f"concat({_pick('given', 'anna', 'jose', 'wei', 'fatima', 'olu', 'maria')}, '.', {_PERSON}, '@', "
    f"{_pick('host', 'example', 'mail-service', 'post', 'company', 'university')}, '.com')"
)
_PRICE = f"cast(({draw('price', 50_000)} + 1) / 100 as decimal(12, 2))"
_ORDERED = f"({_NEWEST} - make_dt_interval(0, 0, 0, {draw('ordered', 31_536_000)}))"
_SHIPPED = f"if({draw('shipped', 10)} < 3, null, {_ORDERED} + make_dt_interval(0, cast({draw('way', 300)} as int) + 1))"

COLUMNS = (
    Column(
        "order_id",
        "string",
        "concat('ORD-', lpad(cast(key as string), 10, '0'))",
        (
            Fault("required:order_id", 10, "null", PRISTINE_KEY),
            Fault("pattern:order_id", 20, "concat('ord_', key)", PRISTINE_KEY),
        ),
    ),
    Column(
        "customer_id",
        "string",
        f"concat('CUST-', lpad(cast({_PERSON} as string), 8, '0'))",
        (Fault("required:customer_id", 20, "null"),),
    ),
    Column(
        "email",
        "string",
        _EMAIL,
        (
            Fault("required:email", 20, "null"),
            Fault("pattern:email", 15, f"concat('user', {_PERSON}, '.example.com')"),
            Fault("pattern:email", 15, f"concat('user ', {_PERSON}, '@example.com')"),
            Fault("pattern:email", 10, f"concat('user', {_PERSON}, '@example.c')"),
        ),
    ),
    Column("country", "string", _pick("country", "DE", "FR", "US", "GB", "CH", "SE", "NL", "ES", "IT", "PL")),
    Column(
        "currency",
        "string",
        _pick("currency", "EUR", "USD", "GBP", "CHF", "SEK"),
        (Fault("enum:currency", 30, "'EURO'"),),
    ),
    Column(
        "status",
        "string",
        _pick("status", "new", "paid", "shipped", "delivered", "cancelled"),
        (Fault("required:status", 10, "null"), Fault("enum:status", 30, "'unknown'")),
    ),
    Column(
        "channel",
        "string",
        _pick("channel", "web", "app", "store", "phone"),
        (Fault("enum:channel", 40, "'Web'"),),
    ),
    Column(
        "quantity",
        "int",
        f"{draw('quantity', 20)} + 1",
        (
            Fault("required:quantity", 10, "null"),
            Fault("range:quantity", 20, "0"),
            Fault("range:quantity", 20, "5000"),
        ),
    ),
    Column("unit_price", "decimal(12,2)", _PRICE, (Fault("range:unit_price", 20, f"-{_PRICE}"),)),
    Column(
        "total",
        "decimal(14,2)",
        f"{_PRICE} * ({draw('quantity', 20)} + 1)",
        (
            Fault("required:total", 10, "null"),
            Fault("range:total", 30, "5000000.00"),
            Fault("sql:total_covers_unit_price", 20, f"{_PRICE} - 0.01", "lot_unit_price >= 20"),
        ),
    ),
    Column("ordered_at", "timestamp", _ORDERED, (Fault("required:ordered_at", 20, "null"),)),
    Column(
        "shipped_at",
        "timestamp",
        _SHIPPED,
        (Fault("sql:shipped_after_ordered", 30, f"{_ORDERED} - interval 1 hour", "lot_ordered_at >= 20"),),
    ),
)
