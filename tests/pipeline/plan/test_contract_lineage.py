"""The lineage between contracts that a project's SQL computes."""

from __future__ import annotations

from dataclasses import replace

from tests.pipeline.plan.shop import SHOP, contracts, sql, with_product
from treaty.contracts.versions import Line
from treaty.pipeline.plan import plan
from treaty.pipeline.plan.contract_lineage import contract_lineage, data_layers
from treaty.pipeline.project.declarations import Jdbc, Project, Source


def lineage_of(name: str, project: Project = SHOP) -> dict[str, tuple[list[str], dict[str, list[str]]]]:
    """Return the fields used otherwise and the mappings, by upstream."""
    upstreams = contract_lineage(plan(project, contracts())).get(Line(name, 1), ())
    return {
        made.upstream.contract: (
            [str(field) for field in made.fields],
            {str(mapping.target): [str(source) for source in mapping.sources] for mapping in made.mappings},
        )
        for made in upstreams
    }


def test_columns_of_a_query_are_mapped_and_keys_of_joins_and_groups_affect_every_column() -> None:
    assert lineage_of("orders") == {
        "customers": (["customer_id"], {"city": ["city"]}),
        "placed": (
            ["customer_id", "order_id"],
            {"order_id": ["order_id"], "amount": ["amount"], "placed_at": ["placed_at"]},
        ),
    }


def test_product_without_sql_maps_fields_by_name_and_uses_the_condition_of_deleted_rows() -> None:
    assert lineage_of("payments") == {
        "paid": (["is_gone"], {"payment_id": ["payment_id"], "order_id": ["order_id"], "paid": ["paid"]})
    }


def test_derived_attribute_of_a_reconciliation_comes_from_every_claim_it_reads() -> None:
    assert lineage_of("balance") == {
        "orders": ([], {"order_id": ["order_id"], "amount": ["amount"], "is_open": ["amount"]}),
        "payments": (["order_id"], {"order_id": ["order_id"], "paid": ["paid"], "is_open": ["paid"]}),
    }


def test_step_whose_sql_cannot_be_parsed_is_left_out() -> None:
    assert lineage_of("orders", with_product("orders", sql=sql("orders", "SELECT nothing FROM nowhere"))) == {}


def test_each_line_has_the_layer_of_its_declaration() -> None:
    feed = Source("ledger", Line("ledger", 1), Jdbc("jdbc:postgresql://db/shop", "ledger", "id"))

    layers = data_layers(replace(SHOP, sources=(*SHOP.sources, feed)))

    named = {"customer_changed", "ledger", "customers", "balance", "late_sales"}
    assert {line.contract: layer.value for line, layer in layers.items() if line.contract in named} == {
        "customer_changed": "raw",
        "ledger": "change_feed",
        "customers": "product",
        "balance": "reconciliation",
        "late_sales": "publication",
    }
