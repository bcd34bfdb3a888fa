"""The documentation names every key, and its example is a valid project."""

from __future__ import annotations

import re
from pathlib import Path

from tests.pipeline.projects import laid_out
from treaty.pipeline.project import declaration_readers, delivery_reader, read_project, reconciliation_reader
from treaty.pipeline.project.declarations import Format, OnConflict, ReasonClass

REFERENCE = (Path(__file__).parents[3] / "docs" / "pipeline.md").read_text(encoding="utf-8")
DECLARING = REFERENCE.partition("\n## Declaring a project\n")[2].partition("\n## ")[0]
FILES = re.compile(r"```(?:yaml|sql)\n(?:#|--) (?P<path>\S+\.(?:yaml|sql))\n(?P<text>.*?)```", re.DOTALL)
KEYS = {
    *declaration_readers.SOURCE_KEYS,
    *declaration_readers.JDBC_KEYS,
    *declaration_readers.OPTIONS,
    *declaration_readers.PRODUCT_KEYS,
    *reconciliation_reader.RECONCILIATION_KEYS,
    *reconciliation_reader.CLAIM_KEYS,
    *reconciliation_reader.ASSERTION_KEYS,
    *reconciliation_reader.ATTRIBUTE_KEYS,
    *declaration_readers.PUBLICATION_KEYS,
    *delivery_reader.FEED_KEYS,
    *delivery_reader.DELIVERY_KEYS,
    *OnConflict,
    *ReasonClass,
    *Format,
}


def test_every_key_and_choice_is_documented() -> None:
    assert sorted(key for key in KEYS if f"`{key}`" not in DECLARING) == []


def test_example_in_the_reference_is_a_project(tmp_path: Path) -> None:
    files = {found["path"]: found["text"] for found in FILES.finditer(DECLARING)}

    project = read_project(laid_out(tmp_path, files))

    assert [one.name for one in project] == [
        "order_placed",
        "payment_settled",
        "orders",
        "payments",
        "order_money",
        "paid_order",
    ]
    assert project.publications[0].table == "paid_order_v2"
