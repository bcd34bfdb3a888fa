"""The promotion gate: what the status of a contract allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documents import CASES, contract
from treaty.contracts import Place, Severity
from treaty.contracts.versions import Line
from treaty.governance.lifecycle import Status
from treaty.pipeline.project.declarations import Files, Format, Product, Project, Publication, Source
from treaty.pipeline.project.promotion import HINTS, PUBLISHED, UPSTREAM, check_project_status, refusal

STATUSES: list[dict[str, Any]] = yaml.safe_load((CASES / "pipeline_projects" / "statuses.yaml").read_text())
FIELDS = [{"name": "id", "logicalType": "string"}]
ORDERS = Line("orders", 1)
PLACE = "publications/orders.yaml:3"
PUBLISHED_ORDERS = Project(Path(), publications=(Publication("orders", ORDERS, ("made",), "orders_v1", at=PLACE),))
ORDERS_UPSTREAM = Project(
    Path(),
    sources=(Source("came", ORDERS, Files("*.jsonl", Format.JSONL), at="sources/came.yaml:1"),),
    products=(Product("made", ORDERS, ("came",), at="products/made.yaml:1"),),
)


@pytest.mark.parametrize("case", STATUSES, ids=lambda case: str(case["status"]))
def test_severity_of_a_status_by_layer(case: dict[str, Any]) -> None:
    judged = contract({"fields": FIELDS, "status": case["status"]})

    published = check_project_status(PUBLISHED_ORDERS, {ORDERS: judged})
    upstream = check_project_status(ORDERS_UPSTREAM, {ORDERS: judged})

    assert [one.severity for one in published] == [case["published"]] * (case["published"] is not None)
    assert [one.severity for one in upstream] == [case["upstream"]] * (2 if case["upstream"] else 0)
    for one in published:
        assert case["says"] in one.message
        assert case["hint"] in (one.hint or "")
        assert one.place == Place("publications/orders.yaml", 3)
    assert [str(one.place) for one in upstream] in ([], ["sources/came.yaml:1", "products/made.yaml:1"])


@pytest.mark.parametrize("case", STATUSES, ids=lambda case: str(case["status"]))
def test_only_errors_are_refusals(case: dict[str, Any]) -> None:
    found = refusal(contract({"fields": FIELDS, "status": case["status"]}), Place("here.yaml", 1))

    assert (found is not None) == (case["published"] == "error")
    assert found is None or (found.severity, found.place) == (Severity.ERROR, Place("here.yaml", 1))


def test_every_status_has_a_severity_and_a_hint() -> None:
    weighing = {status for status in Status if PUBLISHED[status] or UPSTREAM[status]}

    assert set(PUBLISHED) == set(UPSTREAM) == set(Status)
    assert set(HINTS) == weighing
