"""Data of a project as values: two exceptions of the commercial order, and two quarantined rows of placed orders."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from treaty.catalog.project_data import (
    Cell,
    Dataset,
    ExceptionPage,
    ExceptionQuery,
    ExceptionRow,
    ProjectData,
    Quarantine,
    QuarantinedRow,
    Reason,
)
from treaty.errors import NotFound

RECONCILIATION = Dataset("commercial_order", "retail.reconciliation.commercial_order")
SOURCE = Dataset("order_placed", "retail.orders.order_placed")
_CLAIMS = {
    "claims": {
        "captured": {"product": "order_capture", "values": {"order_gross_amount": "59.90", "currency_code": "EUR"}},
        "settled": {"product": "payment_settlement", "values": {"settled_amount": "54.90"}},
        "returned": {"product": "returns", "values": None},
    },
    "attributes": {"variance": "5.00"},
}
EXCEPTIONS = (
    ExceptionRow(
        "commercial_order",
        "ORD-1",
        "paid_amount_matches",
        "conflict",
        "the settled amount differs from the ordered amount",
        _CLAIMS,
        "Commercial Order Reconciliation",
        "open",
        datetime(2026, 2, 20, 5, tzinfo=UTC),
        datetime(2026, 3, 2, 5, tzinfo=UTC),
        889_200,
    ),
    ExceptionRow(
        "commercial_order",
        "ORD-2",
        "payment_present",
        "missing",
        "no payment arrived within two days",
        {"claims": {"captured": {"product": "order_capture", "values": {"order_gross_amount": "12.00"}}}},
        "Payment Settlement",
        "accepted",
        datetime(2026, 3, 1, 5, tzinfo=UTC),
        datetime(2026, 3, 2, 5, tzinfo=UTC),
        111_600,
        "ana",
        "paid by voucher",
    ),
)
ROWS = (
    QuarantinedRow(
        (
            Cell("order_id", "ORD-7"),
            Cell("order_placed_at", None, ("is required",)),
            Cell("sales_channel", "fax", ("must be one of: ecommerce, store, marketplace",)),
        ),
        ("order_placed_at is required", "sales_channel is 'fax', but must be one of: ecommerce, store, marketplace"),
        "line 28 of landing/retail.orders.order_placed/part-0001.jsonl",
        30,
        '{"order_id": "ORD-7", "sales_channel": "fax"}',
    ),
    QuarantinedRow((), ("the row is malformed",), "line 31 of landing/part-0001.jsonl", 30, "{not json"),
)


class SampleProjectData(ProjectData):
    """Keeps exceptions and rows in memory, and applies filters as the tables do."""

    def __init__(self) -> None:
        self.rows = list(EXCEPTIONS)

    def reconciliations(self) -> tuple[Dataset, ...]:
        return (RECONCILIATION,)

    def sources(self) -> tuple[Dataset, ...]:
        return (SOURCE,)

    def exceptions(
        self, query: ExceptionQuery, now: datetime, *, cursor: str | None = None, limit: int = 50
    ) -> ExceptionPage:
        wanted = [
            row
            for row in self.rows
            if query.state in (None, row.state)
            and query.reason_class in (None, row.reason_class)
            and query.owner in (None, row.owner)
            and (query.older_than is None or now - row.first_seen > query.older_than)
        ]
        return ExceptionPage(tuple(wanted[:limit]))

    def find_exception(self, reconciliation: str, key: str, assertion: str, now: datetime) -> ExceptionRow:
        for row in self.rows:
            if (row.reconciliation, row.key, row.assertion) == (reconciliation, key, assertion):
                return row
        raise NotFound(f"{key!r} has no exception {assertion!r}")

    def accept_exception(self, row: ExceptionRow, *, reason: str, actor: str, now: datetime) -> None:
        self.rows[self.rows.index(row)] = replace(row, state="accepted", accepted_by=actor, accepted_reason=reason)

    def quarantine(self, source: str, *, rule: str | None = None, limit: int = 50) -> Quarantine:
        reasons = (
            Reason("required:order_placed_at", "is required", 1, ((None, 1),)),
            Reason("enum:sales_channel", "must be one of: ecommerce, store, marketplace", 1, (("fax", 1),)),
            Reason("malformed", "cannot be parsed", 1),
        )
        rows = {None: ROWS, "malformed": ROWS[1:]}.get(rule, ROWS[:1])
        return Quarantine(2, reasons, rows[:limit])
