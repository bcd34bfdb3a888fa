"""Table properties and column comments from a contract."""

from __future__ import annotations

from treaty.contracts import load
from treaty.pipeline.tables import table_properties, with_comments
from treaty.spark.schema import select_object, struct_type

CONTRACT = """
apiVersion: v3.2.0
kind: DataContract
id: retail.products.orders
version: 1.2.0
status: active
name: Orders
description: {purpose: "Orders as\\n  they were placed.", limitations: No baskets.}
owners: [{team: Order Capture, contact: "#orders"}, {team: Shop}]
source_authority: The order system
delivery: {guarantee: at_least_once, statement: Rows may come twice.}
ordering: {key: [order_id], sequence: version}
latency: {profile: near_real_time, within: 15 min}
change_policy: {compatibility: full, notice: 90 d}
deprecation: {announced: "2026-01-01", sunset_date: "2026-12-31", replacement: retail.products.orders@2}
intended_consumers: [{name: finance, purpose: Books}, {name: ops}]
exclusions: [{what: Payments, why: They have their own.}]
slaProperties: [{property: freshness, value: 4, unit: h, element: orders.placed_at}]
schema:
  - name: orders
    properties:
      - {name: order_id, logicalType: string, primaryKey: true, primaryKeyPosition: 1, description: "Which   order."}
      - {name: placed_at, logicalType: timestamp, required: true, businessName: Time of order}
      - {name: email, logicalType: string, classification: restricted}
      - name: buyer
        logicalType: object
        description: Who buys.
        properties: [{name: country, logicalType: string, description: Where they live.}]
"""


def test_table_properties_describe_the_contract() -> None:
    contract = load(CONTRACT, "orders.yaml").contract
    assert table_properties(contract) == {
        "treaty.contract": "retail.products.orders",
        "treaty.version": "1.2.0",
        "treaty.status": "active",
        "treaty.name": "Orders",
        "treaty.owner": "Order Capture (#orders); Shop",
        "treaty.meaning": "Orders as they were placed.",
        "treaty.limitations": "No baskets.",
        "treaty.source-authority": "The order system",
        "treaty.identity-keys": "order_id",
        "treaty.freshness": "4 h by orders.placed_at",
        "treaty.ordering": "by version for each order_id",
        "treaty.delivery": "at_least_once; Rows may come twice.",
        "treaty.latency": "near_real_time; 15 min",
        "treaty.change-policy": "full; 90 d",
        "treaty.deprecation": "2026-01-01; 2026-12-31; retail.products.orders@2",
        "treaty.intended-consumers": "finance: Books; ops",
        "treaty.exclusions": "Payments",
        "treaty.classifications": '{"email": "restricted"}',
    }
    columns = with_comments(struct_type(select_object(contract)), contract)
    assert {item.name: item.metadata.get("comment") for item in columns} == {
        "order_id": "Which order.",
        "placed_at": "Time of order",
        "email": None,
        "buyer": "Who buys.",
    }
    assert columns["buyer"].dataType["country"].metadata == {"comment": "Where they live."}  # type: ignore[index]
