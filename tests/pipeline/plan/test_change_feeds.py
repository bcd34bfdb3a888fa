"""Change feeds in a plan: labelled as such, and never taken for a business contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.documents import contract
from tests.pipeline.plan.shop import FOLDER, key, sql
from treaty.contracts.values import FrozenMap
from treaty.contracts.versions import Line
from treaty.pipeline.plan import plan
from treaty.pipeline.plan.contract_lineage import data_layers
from treaty.pipeline.project.declarations import ChangeFeed, Files, Format, Product, Project, Publication, Source
from treaty.pipeline.project.project_reader import add_implied_products

_NAME = {"name": "name", "logicalType": "string"}
_GONE = {"name": "is_gone", "logicalType": "boolean"}
_LSN = {"name": "lsn", "logicalType": "integer", "logicalTypeOptions": {"format": "i64"}}
_ROWS = [{"name": "id", "logicalType": "string", "required": True}, _NAME, _LSN]
_FIELDS = {"rows": _ROWS, "customers": [key("id"), _NAME, _GONE], "listed": [key("id"), _NAME]}
_ORDERING: dict[str, Any] = {"key": ["id"], "sequence": "lsn"}
FEED = Source(
    "rows",
    Line("rows", 1),
    Files("/shop/rows/*.jsonl", Format.JSONL),
    change_feed=ChangeFeed(envelope=FrozenMap({"lsn": "source.lsn"})),
    at="sources/rows.yaml:1",
)
CUSTOMERS = Product(
    "customers", Line("customers", 1), ("rows",), deletion_mark="is_gone", at="products/customers.yaml:1"
)
LISTED = Publication("listed", Line("listed", 1), ("customers",), "listed_v1", at="publications/listed.yaml:1")


def _problems(
    source: Source = FEED,
    product: Product | None = CUSTOMERS,
    publication: Publication = LISTED,
    ordering: dict[str, Any] | None = _ORDERING,
    *,
    rows_key: bool = False,
) -> list[tuple[str, str, str]]:
    """Return severity, id and message of the problems that change feeds have."""
    products = () if product is None else (product,)
    project = add_implied_products(Project(FOLDER, (source,), products, (), (publication,)))
    documents = {name: {"ordering": ordering} if name == "rows" and ordering else {} for name in _FIELDS}
    fields_of = {**_FIELDS, "rows": [key("id"), _NAME, _LSN]} if rows_key else _FIELDS
    contracts = {
        Line(name, 1): contract({"id": name, "schema": [{"name": name, "properties": fields}], **documents[name]})
        for name, fields in fields_of.items()
    }
    found = plan(project, contracts).problems
    own = ("change-feed", "envelope", "deletion-mark")
    return [(item.severity.value, item.id, item.message) for item in found if item.id.startswith(own)]


def test_product_between_a_feed_and_its_publication_is_fine() -> None:
    assert _problems() == []


def test_publication_of_a_feed_with_no_product_between_is_a_warning() -> None:
    message = "listed: reads rows, a change feed, not a business contract, with no product between"

    assert _problems(product=None, publication=replace(LISTED, inputs=("rows",), line=Line("rows", 1))) == [
        ("warning", "change-feed-published", message)
    ]


def test_feed_without_a_key_cannot_delete() -> None:
    assert _problems(ordering=None) == [
        ("error", "change-feed-order", "rows: rows 1.0.0 has no key, so that deletes cannot be told apart")
    ]


def test_feed_without_a_sequence_is_ordered_by_arrival() -> None:
    assert _problems(ordering=None, rows_key=True) == [
        ("warning", "change-feed-order", "rows: rows 1.0.0 has no sequence; changes are ordered by arrival")
    ]


def test_envelope_provides_fields_of_the_contract() -> None:
    feed = replace(FEED, change_feed=ChangeFeed(envelope=FrozenMap({"position": "source.lsn"})))

    assert _problems(feed) == [
        ("error", "envelope-unknown", "rows: envelope names position, which is not a field of rows 1.0.0")
    ]


def test_query_that_does_not_read_the_operation_is_warned_of_deleted_rows() -> None:
    query = sql("customers", "SELECT id, max(name) AS name, false AS is_gone FROM rows GROUP BY id")
    product = replace(CUSTOMERS, deletion_mark=None, sql=query)
    message = "customers: its query does not read _operation, so that deleted rows of rows stay in it"

    assert _problems(product=product) == [("warning", "change-feed-deletes", message)]

    reading = "SELECT id, max(name) AS name, max_by(_operation = 'delete', lsn) AS is_gone FROM rows GROUP BY id"
    assert _problems(product=replace(product, sql=sql("customers", reading))) == []


def test_mark_of_deleted_keys_is_a_boolean_field() -> None:
    message = "customers: on_delete marks name, which is not a boolean field of customers 1.0.0"

    assert _problems(product=replace(CUSTOMERS, deletion_mark="name")) == [("error", "deletion-mark-unknown", message)]


def test_mark_has_no_effect_without_a_feed() -> None:
    message = "customers: on_delete has no effect, since its source is no change feed"

    assert _problems(replace(FEED, change_feed=None)) == [("warning", "deletion-mark-unknown", message)]


def test_line_of_a_feed_is_in_the_layer_of_change_feeds() -> None:
    layers = data_layers(Project(FOLDER, (FEED,), (CUSTOMERS,)))

    assert {line.contract: layer.value for line, layer in layers.items()} == {
        "rows": "change_feed",
        "customers": "product",
    }
