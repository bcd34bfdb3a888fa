"""The examples have no lint findings, except for the one that shows poor contracts."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from treaty.compatibility import diff, judge
from treaty.contracts import Contract, load
from treaty.governance.lint import LintSettings, lint

EXAMPLES = Path(__file__).parents[2] / "examples"
RETAIL = EXAMPLES / "retail"
PUBLICATIONS = RETAIL / "contracts" / "publications"
GOOD = sorted(
    path
    for path in EXAMPLES.rglob("*.yaml")
    if ".poor." not in path.name
    and path.name != "treaty.yaml"
    and not {"pipeline", "promises", "demo"} & set(path.relative_to(EXAMPLES).parts)
    and ("revenue_migration" not in path.parts or path.parent.name == "contracts")
)
"""Contracts and changes of contracts. Declarations of pipelines, and the short files of promises with their deliberate
mistakes, are tested elsewhere.
"""


def _contract(path: Path) -> Contract:
    return load(path.read_bytes(), str(path)).contract


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.name)
def test_an_example_has_no_lint_findings(path: Path) -> None:
    report = lint(load(path.read_bytes(), str(path)), LintSettings(), date(2026, 1, 1))

    assert report.findings == ()
    assert report.score == 100


def test_the_poor_example_has_the_expected_findings() -> None:
    (path,) = EXAMPLES.rglob("*.poor.yaml")

    report = lint(load(path.read_bytes(), str(path)), LintSettings(), date(2026, 1, 1))

    shown = {finding.id for finding in report.findings}
    assert {
        "description-missing",
        "description-circular",
        "name-bare",
        "internal-leaked",
        "pii-unclassified",
        "event-over-wide",
        "owner-unreachable",
    } <= shown
    assert report.score == 0


@pytest.mark.parametrize(
    "name",
    [
        "fulfillment_order_ready",
        "finance_recognized_sale",
        "customer_order_timeline",
        "marketplace_partner_order_export",
    ],
)
def test_a_consumer_contract_states_what_it_promises(name: str) -> None:
    contract = _contract(PUBLICATIONS / f"retail.publications.{name}.yaml")
    blocks = contract.treaty

    assert contract.owners[0].contact
    assert contract.sla
    assert blocks.ordering is not None
    assert blocks.delivery is not None
    assert blocks.latency is not None
    assert blocks.intended_consumers
    assert blocks.change_policy is not None
    assert blocks.lineage


def test_the_second_finance_line_has_a_migration_plan() -> None:
    first, second = (
        _contract(PUBLICATIONS / f"retail.publications.finance_recognized_sale{part}.yaml") for part in ("", ".v2")
    )

    verdict = judge(diff(first, second))

    assert not verdict.compatible
    assert verdict.admissible
    assert "field_renamed" in {item.change.kind for item in verdict.judged}


def test_the_demo_changes_get_the_verdict_in_their_names() -> None:
    finance = _contract(PUBLICATIONS / "retail.publications.finance_recognized_sale.yaml")
    timeline = _contract(PUBLICATIONS / "retail.publications.customer_order_timeline.yaml")

    refused = judge(diff(finance, _contract(RETAIL / "changes" / "finance_recognized_sale.refused.yaml")))
    compatible = judge(diff(timeline, _contract(RETAIL / "changes" / "customer_order_timeline.compatible.yaml")))

    assert {finding.id for finding in refused.errors} == {
        "version_bump_too_small",
        "field_removed",
        "field_required_added",
        "field_enum_shrunk",
    }
    assert compatible.admissible
    assert compatible.findings == ()
