"""Write errors: the run names the table and the cause, publishes nothing of it, and the next run completes."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path

from tests.faults.processes import WAVES, Premises, open_premises
from tests.pipeline.run.kiosk import deliver

_LARGEST_FILE = 2 * 1024 * 1024
_LARGE = WAVES + 1


def test_write_error_is_reported_and_the_next_run_completes(undisturbed: Premises, tmp_path: Path) -> None:
    kiosk = open_premises(tmp_path / "kiosk", WAVES)
    # the data cannot be compressed, so the file is larger than this process may write
    noise = base64.b64encode(random.Random(1).randbytes(2 * _LARGEST_FILE)).decode()  # noqa: S311
    deliver(kiosk.folder, "ordered", _LARGE, [noise])

    code, output, errors = kiosk.run(largest_file=_LARGEST_FILE)

    steps = {step["table"]: step for step in json.loads(output)["steps"]}
    assert (code, errors) == (1, "")
    assert steps["raw.ordered"]["outcome"] == "failed"
    (reason,) = steps["raw.ordered"]["reasons"]
    assert "raw.ordered" in reason
    assert "File too large" in reason
    assert steps["publications.books_v1"]["outcome"] == "skipped since upstream failed"
    assert steps["products.payments"]["outcome"] == "done"
    tables = kiosk.tables()
    assert tables["raw.ordered"].current_snapshot() is None
    assert not tables.keys() & {"events.ordered", "products.orders", "reconciliation.sales", "publications.books_v1"}

    code, output, errors = kiosk.run()

    assert (code, errors) == (0, ""), output
    large = f"{_LARGE:04}.jsonl"
    rows = {table: [row for row in rows if large not in row] for table, rows in kiosk.rows().items()}
    assert rows == undisturbed.rows()
