"""A guide for each consumer: what to change, with its own fields only."""

from __future__ import annotations

import json
from datetime import date

import yaml

from tests.documents import CASES, contract
from treaty.compatibility.migration import Fidelity, MigrationPath, migration_path
from treaty.consumers.impact import Effect
from treaty.consumers.migration_guides import Guide, build_guides
from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.loader import contract_from
from treaty.contracts.versions import Line

STORY = yaml.safe_load((CASES / "migrations" / "customers.yaml").read_text(encoding="utf-8"))
LINE = Line("customers", 1)
NAMES = ("customer_id", "full_name", "mail", "points", "fax", "status", "street", "zip", "sku", "amount")


def _path() -> MigrationPath:
    return migration_path(contract_from(STORY["before"]), contract_from(STORY["after"]))


def _guide(*fields: str, by: date | None = None) -> Guide:
    reader = Subscription("reader", LINE, ConsumerClass.OPERATIONAL_REPORTING, parse_fields(fields))
    (guide,) = build_guides(_path(), [reader], by)
    return guide


def test_a_guide_names_only_the_fields_its_consumer_reads() -> None:
    guide = _guide("mail", "address.zip")

    said = json.dumps(guide.as_data())
    assert [one.before for one in guide.fields] == ["mail", "address.zip"]
    assert [name for name in NAMES if name in said] == ["mail", "zip"]


def test_guide_shows_old_and_new_values() -> None:
    (field,) = _guide("mail").fields

    assert (field.before, field.after_text, field.fidelity) == ("mail", "email string", Fidelity.EXACT)
    assert field.todo == ("read email instead of mail",)
    assert field.changes == ("field 'mail' was renamed to 'email'",)


def test_guide_names_removed_fields() -> None:
    (field,) = _guide("fax").fields

    assert (field.after_text, field.todo) == ("nothing", ("removed: stop reading it",))


def test_a_split_field_is_made_from_its_parts_with_the_authors_note() -> None:
    (field,) = _guide("full_name").fields

    assert field.after_text == "first_name string, last_name string"
    assert field.todo[-1] == "compare both names instead of one text"


def test_object_includes_all_of_its_fields() -> None:
    guide = _guide("orders")

    assert ([one.before for one in guide.fields], guide.unchanged) == (["orders[].sku"], ("orders[].amount",))


def test_who_is_not_touched_only_reads_another_line() -> None:
    guide = _guide("address.street")

    assert (guide.effect, guide.fields, guide.unchanged) == (Effect.SAFE, (), ("address.street",))


def test_consumer_without_fields_gets_every_field() -> None:
    guide = _guide()

    assert (guide.effect, guide.subscription.fields_known) == (Effect.UNKNOWN, False)
    assert len(guide.fields) + len(guide.unchanged) == 10


def test_a_field_that_the_line_never_had_is_named() -> None:
    assert _guide("mail", "phone").not_there == ("phone",)


def test_example_runs_if_no_field_is_left() -> None:
    (example,) = _guide("fax").examples

    assert "  1 -- no fields left to read\n" in example.sql_after
    assert "selectExpr(\n    '1',  # no fields left to read\n)" in example.pyspark_after


def test_the_examples_read_the_same_columns_from_either_line() -> None:
    (example,) = _guide("address.zip", "points").examples

    assert example.sql_before == "SELECT\n  `points`,\n  `address`\nFROM `customers_v1`.`customers`"
    assert example.sql_after == (
        "SELECT\n  CAST(`points` AS BIGINT) AS `points`,\n"
        "  CASE WHEN `address` IS NULL THEN NULL ELSE named_struct('zip', `address`.`postcode`) END AS `address`\n"
        "FROM `customers_v2`.`customers`"
    )
    assert example.pyspark_before.startswith("spark.table('`customers_v1`.`customers`').selectExpr(")


def test_a_guide_says_by_when_and_whom_to_ask() -> None:
    guide = _guide("mail", by=date(2026, 5, 1))

    assert (guide.by, guide.window, guide.owner) == (date(2026, 5, 1), "60 d", "crm")
    assert guide.link == "https://wiki.example/customers-2"


def test_those_who_must_act_come_first() -> None:
    readers = [
        Subscription(name, LINE, ConsumerClass.OPERATIONAL_REPORTING, parse_fields(fields))
        for name, fields in (("a", ["address.street"]), ("b", []), ("c", ["mail"]))
    ]

    assert [one.consumer for one in build_guides(_path(), readers)] == ["c", "b", "a"]


def test_other_terms_of_a_field_are_something_to_mind() -> None:
    before = contract([{"name": "w", "logicalType": "number", "unit": "kg"}])
    after = contract({"version": "2.0.0", "fields": [{"name": "w", "logicalType": "number", "unit": "g"}]})
    reader = Subscription("scale", Line("orders", 1), ConsumerClass.DECISION_AUTOMATION, parse_fields(["w"]))

    (guide,) = build_guides(migration_path(before, after), [reader])

    assert guide.fields[0].todo == ("check: field 'w' unit changed: kg -> g",)
