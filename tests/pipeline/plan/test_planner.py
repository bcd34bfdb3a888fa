"""The plan of a project: steps, order, modes, lineage and problems."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.pipeline.plan.shop import (
    ORDERS,
    SALES,
    SHOP,
    _field,
    contracts,
    key,
    sql,
    with_product,
    with_publication,
    with_reconciliation,
)
from treaty.contracts.findings import Severity
from treaty.pipeline.plan import Key, Mode, Plan, plan, select
from treaty.pipeline.plan.planner import sort_by_dependency
from treaty.pipeline.project.declarations import (
    Attribute,
    Claim,
    Files,
    Form,
    Format,
    Project,
    Redacted,
    Redaction,
    Served,
    Source,
)


def planned(project: Project = SHOP, **changed: Any) -> Plan:
    return plan(project, contracts(**changed))


def test_steps_follow_their_inputs() -> None:
    found = planned()

    assert [step.table for step in found.steps] == [
        "raw.customer_changed",
        "raw.paid",
        "raw.placed",
        "events.customer_changed",
        "events.paid",
        "events.placed",
        "products.customers",
        "products.orders",
        "products.payments",
        "reconciliation.balance",
        "publications.late_sales_v1",
        "publications.partner_v1",
        "publications.sales_v1",
        "publications.sales_now_v1",
    ]
    assert found.errors == ()


def test_each_step_has_a_mode_with_a_reason() -> None:
    found = {step.name: step for step in planned().steps}

    assert {name: (step.mode, step.mode_reason) for name, step in found.items()} == {
        "customer_changed": (Mode.APPEND, "each raw row is one event"),
        "paid": (Mode.APPEND, "each raw row is one event"),
        "placed": (Mode.APPEND, "each raw row is one event"),
        "customers": (Mode.KEYED, "the latest event of each customer_id"),
        "orders": (Mode.KEYED, "the query computes each order_id independently"),
        "payments": (Mode.KEYED, "the latest event of each payment_id"),
        "balance": (Mode.KEYED, "every claim computes each order_id independently"),
        "late_sales": (Mode.FULL, "delayed rows become visible with time, even without new data"),
        "partner": (Mode.KEYED, "each row comes from one row of balance"),
        "sales": (Mode.KEYED, "the query computes each order_id independently"),
        "sales_now": (Mode.FULL, "a view is computed when it is read"),
    }
    assert found["orders"].reads == ("events.placed", "products.customers")
    assert found["orders"].key == Key(("order_id",), {"events.placed": ("order_id",)})
    assert found["balance"].key == Key(
        ("order_id",),
        {
            "products.orders": ("order_id",),
            "products.payments": ("order_id",),
            "reconciliation.balance_acceptances": ("order_id",),
        },
    )
    assert found["sales"].key is not None
    assert set(found["sales"].key.inputs) == {"reconciliation.balance", "products.payments", "products.orders"}


MIXED = "SELECT max(order_id) AS order_id, sum(paid) AS total FROM payments GROUP BY payment_id"
WHOLE = [
    (
        with_product("orders", sql=sql("o", "SELECT customer_id AS order_id, amount FROM placed")),
        {},
        "orders",
        "order_id is not an unchanged output column",
    ),
    (
        with_product(
            "orders", sql=sql("o", "SELECT order_id AS id, max(order_id) AS order_id FROM placed GROUP BY order_id")
        ),
        {},
        "orders",
        "renames order_id",
    ),
    (
        SHOP,
        {
            "placed": [
                key("event_id"),
                _field("customer_id"),
                _field("amount", "money"),
                _field("placed_at", "timestamp"),
            ]
        },
        "orders",
        "cannot be parsed",
    ),
    (
        with_product("payments", deleted_when=None),
        {"payments": [key("id"), _field("paid", "money")]},
        "payments",
        "paid has no id",
    ),
    (with_publication("sales", sql=sql("s", MIXED)), {}, "sales", "GROUP BY does not contain order_id"),
    (
        SHOP,
        {"payments": [key("payment_id"), _field("order_id"), _field("paid", "money")]},
        "sales",
        "its inputs share no required key",
    ),
    (
        SHOP,
        {"payments": [key("payment_id"), _field("order_id", "integer", required=True), _field("paid", "money")]},
        "sales",
        "its inputs share no required key",
    ),
    (
        with_publication("partner", redacted=(Redacted("order_id", Redaction.HASH),)),
        {},
        "partner",
        "order_id is redacted",
    ),
    (with_publication("partner", form=Form.FEED), {}, "partner", "a feed is always written in full"),
    (SHOP, {"partner": [key("paid"), _field("city")]}, "partner", "its contract has no order_id"),
    (
        SHOP,
        {"partner": [_field("order_id", "integer", required=True, primaryKey=True)]},
        "partner",
        "order_id has different types",
    ),
    (
        with_reconciliation(claims=(Claim("placed", "orders"), Claim("received", "payments", sql("c", MIXED)))),
        {},
        "balance",
        "claim received: its GROUP BY",
    ),
    (
        with_reconciliation(
            claims=(
                Claim("placed", "orders"),
                Claim("received", "customers", sql("c", "SELECT customer_id AS order_id, seq AS total FROM customers")),
            )
        ),
        {},
        "balance",
        "customers, the product of claim received, has no order_id",
    ),
]


@pytest.mark.parametrize(
    ("project", "changed", "name", "reason"), WHOLE, ids=lambda value: value if isinstance(value, str) else ""
)
def test_full_step_has_a_reason(project: Project, changed: dict[str, Any], name: str, reason: str) -> None:
    step = next(one for one in planned(project, **changed).steps if one.name == name and one.layer != "raw")

    assert step.mode is Mode.FULL
    assert step.key is None
    assert reason in step.mode_reason


PROBLEMS = [
    (
        with_product("orders", sql=sql("orders", "SELECT customer_id AS order_id, amount FROM placed")),
        {},
        "key-lost",
        "orders: the key column order_id is computed from placed.customer_id, not from placed.order_id",
        "/shop/sql/orders.sql",
    ),
    (
        with_product("orders", sql=sql("orders", "SELECT p.order_id, p.placed_at AS amount FROM placed p")),
        {},
        "type-unmet",
        "orders: amount is timestamp, but orders 1.0.0 requires decimal(12,2): values may be lost",
        "/shop/sql/orders.sql",
    ),
    (
        with_product("orders", sql=sql("orders", "SELECT order_id,\n amuont AS amount, city FROM placed")),
        {},
        "sql-column",
        "there is no column amuont",
        "/shop/sql/orders.sql:2",
    ),
    (
        with_product("orders", sql=sql("orders", "SELECT order_id, amount FROM raw.placed")),
        {},
        "sql-table",
        "raw.placed is not a declared input",
        "/shop/sql/orders.sql:1",
    ),
    (
        with_product(
            "orders", sql=sql("orders", "SELECT order_id, current_timestamp() AS placed_at FROM placed, customers")
        ),
        {},
        "sql-unrepeatable",
        "current_timestamp gives",
        "/shop/sql/orders.sql:1",
    ),
    (
        with_product("orders", sql=sql("orders", "SELECT 1.00 AS amount, c.city FROM placed p, customers c")),
        {},
        "column-missing",
        "orders 1.0.0 requires the column order_id",
        "/shop/orders.yaml:1",
    ),
    (
        with_product("orders", sql=sql("orders", "SELECT order_id, c.city, seq AS rank FROM placed, customers c")),
        {},
        "sql-column",
        "seq is a column of several tables",
        "/shop/sql/orders.sql:1",
    ),
    (
        with_product("payments", deleted_when="is_goen"),
        {},
        "sql-column",
        "there is no column is_goen",
        "/shop/payments.yaml:1",
    ),
    (
        with_product("customers", enrichments=("orders",), sql=sql("c", "SELECT * FROM orders")),
        {},
        "cycle",
        "customers → orders → customers",
        "/shop/customers.yaml:1",
    ),
    (
        SHOP,
        {"orders": [_field("order_id"), *ORDERS[1:]]},
        "key-missing",
        "orders@1 has no primary key",
        "/shop/orders.yaml:1",
    ),
    (
        SHOP,
        {"customers": [key("customer_id"), _field("born", required=True)]},
        "column-missing",
        "requires the column born",
        "/shop/customers.yaml:1",
    ),
    (SHOP, {"sales": {"status": "draft"}}, "contract-not-active", "sales 1.0.0 is draft", "/shop/sales.yaml:1"),
    (
        SHOP,
        {"sales": {"schema": [{"name": "a", "properties": SALES}, {"name": "b", "properties": SALES}]}},
        "contract-objects",
        "has 2 objects",
        "/shop/sales.yaml:1",
    ),
    (
        with_publication("partner", redacted=(Redacted("citty.name", Redaction.NULL),)),
        {},
        "redaction-unknown",
        "redact names citty.name",
        "/shop/partner.yaml:1",
    ),
    (
        with_publication("sales_now", served=Served()),
        {},
        "served-view",
        "a view cannot be served: the read API reads the files of tables",
        "/shop/now.yaml:1",
    ),
    (
        with_publication("partner", served=Served(("town",))),
        {},
        "filter-unknown",
        "serve.filters names town, which the contract does not have",
        "/shop/partner.yaml:1",
    ),
    (
        with_publication("late_sales", sql=sql("late", "SELECT order_id FROM orders")),
        {},
        "delay-unknown",
        "delay counts by placed_at",
        "/shop/late.yaml:1",
    ),
    (
        with_reconciliation(attributes=(Attribute("amount", ("placed",), {"placed": "total"}),)),
        {},
        "column-missing",
        "amount: claim placed has no column total",
        "/shop/balance.yaml:1",
    ),
    (
        with_reconciliation(attributes=(Attribute("is_open", derived="received.totl > 0"),)),
        {},
        "sql-column",
        "there is no column received.totl",
        "/shop/balance.yaml:1",
    ),
    (
        with_reconciliation(
            claims=(
                Claim("placed", "orders"),
                Claim("received", "payments", sql("c", "SELECT sum(paid) AS total FROM payments")),
            )
        ),
        {},
        "key-missing",
        "claim received has no key column order_id",
        "/shop/balance.yaml:1",
    ),
    (
        replace(SHOP, sources=(*SHOP.sources[1:], replace(SHOP.sources[0], identity=("id",)))),
        {},
        "identity-unknown",
        "identity names id",
        "/shop/placed.yaml:1",
    ),
]


@pytest.mark.parametrize(
    ("project", "changed", "finding", "message", "place"), PROBLEMS, ids=[one[2] for one in PROBLEMS]
)
def test_problems_are_found_before_anything_runs(
    project: Project, changed: dict[str, Any], finding: str, message: str, place: str
) -> None:
    found = planned(project, **changed).errors

    assert [one for one in found if one.id == finding and message in one.message and str(one.place) == place], found


@pytest.mark.parametrize(
    ("query", "warnings"),
    [
        ("SELECT * EXCEPT (event_id, seq, customer_id) FROM placed", []),
        ("SELECT p.* EXCEPT (event_id, seq, customer_id) FROM placed p WHERE _arrived_at IS NOT NULL", []),
        ("SELECT order_id, sum(amount) AS amount FROM placed GROUP BY 1", ["type-unmet"]),
        ("SELECT max(customer_id) AS order_id, amount FROM placed GROUP BY order_id, amount", []),
    ],
)
def test_platform_columns_are_no_problem_and_more_digits_are_a_warning(query: str, warnings: list[str]) -> None:
    found = planned(with_product("orders", sql=sql("o", query)))

    mine = [one.id for one in found.problems if "/shop/sql/o.sql" in str(one.place) or "orders:" in one.message]
    assert [finding for finding in mine if finding != "input-unused"] == warnings


def test_warnings_do_not_prevent_a_run() -> None:
    unused = with_publication(
        "partner", sql=sql("p", "SELECT order_id, paid, amount FROM balance"), inputs=("balance", "orders")
    )

    found = planned(unused, orders={"status": "deprecated"})

    assert found.errors == ()
    assert {one.severity for one in found.problems} == {Severity.WARNING}
    assert "orders 1.0.0 is deprecated" in " ".join(one.message for one in found.problems)
    assert {(one.id, one.severity) for one in found.problems if one.id.startswith(("input", "column"))} == {
        ("input-unused", Severity.WARNING),
        ("column-unknown", Severity.WARNING),
    }


def test_lineage_reaches_the_fields_of_events() -> None:
    found = planned()

    def listed(columns: Any) -> dict[str, list[str]]:
        return {name: sorted(f"{one.input}.{one.column}" for one in there) for name, there in columns.items()}

    assert listed(found.lineage["sales"]) == {
        "order_id": ["balance.order_id"],
        "paid": ["payments.paid"],
        "city": ["orders.city"],
    }
    assert listed(found.lineage["balance"])["is_open"] == ["orders.amount", "payments.paid"]
    assert listed(found.traced("sales")) == {
        "order_id": ["paid.order_id", "placed.order_id"],
        "paid": ["paid.paid"],
        "city": ["customer_changed.city"],
    }
    assert listed(found.traced("partner")) == {
        "order_id": ["paid.order_id", "placed.order_id"],
        "paid": ["paid.paid"],
        "city": [],
    }


@pytest.mark.parametrize(
    ("wanted", "tables"),
    [
        (["sales"], ["publications.sales_v1"]),
        (["placed"], ["raw.placed", "events.placed"]),
        (["raw.placed"], ["raw.placed"]),
        (["+customers"], ["raw.customer_changed", "events.customer_changed", "products.customers"]),
        (
            ["payments+"],
            [
                "products.payments",
                "reconciliation.balance",
                "publications.partner_v1",
                "publications.sales_v1",
                "publications.sales_now_v1",
            ],
        ),
        (["late_sales", "sales_now"], ["publications.late_sales_v1", "publications.sales_now_v1"]),
    ],
)
def test_steps_are_selected_by_name_with_upstream_or_downstream(wanted: list[str], tables: list[str]) -> None:
    assert [step.table for step in select(planned().steps, wanted)] == tables


def test_upstream_and_downstream_can_be_combined() -> None:
    chosen = {step.table for step in select(planned().steps, ["+orders+"])}

    assert {"raw.placed", "products.customers", "publications.sales_v1", "publications.late_sales_v1"} <= chosen
    assert not chosen & {"raw.paid", "products.payments"}


def test_misspelled_name_gets_a_suggestion() -> None:
    from treaty.errors import NotFound

    with pytest.raises(NotFound, match="has no 'salse'; did you mean 'sales'"):
        select(planned().steps, ["salse+"])


def test_moving_a_source_does_not_change_its_digest() -> None:
    moved = replace(SHOP, folder=SHOP.folder.parent / "elsewhere")
    elsewhere = Files("s3a://elsewhere/*", Format.JSONL)
    sources = tuple(Source(one.name, one.line, elsewhere, one.identity) for one in SHOP.sources)

    here = {step.table: step.digest for step in planned().steps}
    there = {step.table: step.digest for step in planned(replace(moved, sources=sources)).steps}

    assert here == there


@pytest.mark.parametrize(
    ("reads", "order", "circle"),
    [
        ({}, (), ()),
        ({"b": (), "a": ()}, ("a", "b"), ()),
        ({"a": ("b",), "b": ("c",), "c": ()}, ("c", "b", "a"), ()),
        ({"a": ("elsewhere",)}, ("a",), ()),
        ({"a": ("b",), "b": ("a",), "c": ()}, ("c",), ("a", "b")),
        ({"a": ("a",)}, (), ("a",)),
        ({"x": ("a",), "a": ("b",), "b": ("c",), "c": ("b",)}, (), ("b", "c")),
    ],
)
def test_names_are_sorted_by_dependency(
    reads: dict[str, tuple[str, ...]], order: tuple[str, ...], circle: tuple[str, ...]
) -> None:
    assert sort_by_dependency(reads) == (order, circle)


def test_only_being_served_changes_how_rows_are_stored_not_the_columns_with_filters() -> None:
    digests = [
        next(step.digest for step in planned(project).steps if step.name == "partner")
        for project in (
            SHOP,
            with_publication("partner", served=Served()),
            with_publication("partner", served=Served(("order_id",))),
        )
    ]

    assert digests[0] != digests[1]
    assert digests[1] == digests[2]
