"""Where a key is stored: copies are followed through SQL, computed values are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.projects import laid_out
from tests.pipeline.run import kiosk
from treaty.errors import InvalidDocument
from treaty.pipeline.erasure.key_columns import find_key_columns, resolve_key
from treaty.pipeline.plan import Plan, plan
from treaty.pipeline.project import read_project


def _plan(folder: Path, **files: str) -> Plan:
    changed = {name.replace("__", "/").replace("_sql", ".sql"): text for name, text in files.items()}
    laid_out(folder, {**kiosk.FILES, **changed})
    return plan(read_project(folder), kiosk.contracts())


def _columns(planned: Plan, contract: str, *key: str) -> dict[str, str]:
    found = find_key_columns(planned, resolve_key(planned, kiosk.contracts(), contract, key))
    return {name: " ".join(path for paths in fields.values() for path in paths) for name, fields in found.items()}


EVERYWHERE = dict.fromkeys(("ordered", "paid", "orders", "payments", "sales", "books"), "order_id")


@pytest.mark.parametrize("contract", ["kiosk.sales", "kiosk.orders@1", "books", "kiosk.ordered"])
def test_a_key_is_followed_up_and_down_from_any_contract(tmp_path: Path, contract: str) -> None:
    assert _columns(_plan(tmp_path), contract, "A") == EVERYWHERE


def test_a_key_is_followed_through_renamed_columns_and_subqueries(tmp_path: Path) -> None:
    sql = """WITH received AS (SELECT order_id AS number, amount FROM paid)
SELECT number AS order_id, sum(amount) AS amount, count(*) AS payments FROM received GROUP BY number"""
    assert _columns(_plan(tmp_path, payments_sql=sql), "kiosk.sales", "A") == EVERYWHERE


def test_a_computed_value_is_not_the_key(tmp_path: Path) -> None:
    sql = "SELECT upper(order_id) AS order_id, sum(amount) AS amount, count(*) AS payments FROM paid GROUP BY 1"
    columns = _columns(_plan(tmp_path, payments_sql=sql), "kiosk.sales", "A")
    assert columns == {name: column for name, column in EVERYWHERE.items() if name != "paid"}


def test_a_field_that_is_no_key_can_be_named(tmp_path: Path) -> None:
    assert _columns(_plan(tmp_path), "kiosk.paid", "till=t1") == {"paid": "till"}


@pytest.mark.parametrize(
    ("contract", "key", "message"),
    [
        ("kiosk.sales", ["A", "B"], "'A' names no field of kiosk.sales; its key has the fields order_id"),
        ("kiosk.sales", ["ordr_id=A"], "kiosk.sales has no field 'ordr_id'; did you mean 'order_id'?"),
        ("kiosk.sales", ["abc=="], "for a value with '=' in it, write order_id=abc=="),
        ("kiosk.sales", [], "the key of kiosk.sales is not complete; add --key FIELD=VALUE for: order_id"),
    ],
)
def test_a_key_that_does_not_fit_the_contract(tmp_path: Path, contract: str, key: list[str], message: str) -> None:
    with pytest.raises(InvalidDocument) as error:
        resolve_key(_plan(tmp_path), kiosk.contracts(), contract, key)
    assert message in str(error.value)
