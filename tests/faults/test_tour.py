"""The tour of the retail example runs offline and prints the expected results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from treaty.spark.jars import default_jar_folder

ROOT = Path(__file__).parents[2]
_FINANCE = "retail.publications.finance_recognized_sale"


def test_the_tour_shows_the_consumers_affected_by_a_refused_change(tmp_path: Path) -> None:
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "TREATY_TOUR": str(tmp_path / "left"),
        "NO_COLOR": "1",
        "TREATY_SPARK_JARS": str(default_jar_folder()),
    }

    ran = subprocess.run(
        ["bash", "examples/retail/tour.sh"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr
    for message in (
        "18 documents · 18 registered",
        "group-ledger  external_regulatory · critical · #group-ledger\n     reads recognition_rule_reference",
        "tax-reporting  external_regulatory · critical · tax-data@retail.example",
        "reads financial_recognition_status",
        "finance_recognized_sale 1.3.0 be published?  no",
        "finance_recognized_sale 2.0.0  proposed\n   it waits for the acknowledgement of",
        f"{_FINANCE}@1 → {_FINANCE}@2  open",
        "Guide for tax-reporting",
        "finance_recognized_sale@1 be retired?  no",
        "revenue-dashboard still reads",
        "the audit log is intact",
        "Guide for delivery-planner",
        "proven: exact fields returned unchanged",
        "|        Porto|      2|",
        "legacy feeds, without a contract",
        "186 legacy rows, 157 new rows, 66 differences",
        "can finance cut over from legacy_revenue?  no",
        "legacy_revenue: finance is critical, and its owner has not approved the cut-over",
        "can finance cut over from legacy_revenue?  yes",
        "partners  retired  operational reporting  3 of 3",
        "Built the catalog of 20 contracts",
    ):
        assert message in ran.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["left"]
