"""`treaty run` exports spans of the run and its steps, if OTEL_* variables ask for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.otlp_receiver import otlp_collector
from treaty.spark.jars import default_jar_folder

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_run_exports_a_span_with_one_below_it_for_each_step(tmp_path: Path) -> None:
    with otlp_collector() as collector:
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "TREATY_SPARK_JARS": str(default_jar_folder()),
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address,
            "TRACEPARENT": PARENT,
        }
        for command in (["treaty", "init", "shop"], ["treaty", "run", "shop", "--format", "json"]):
            ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert ran.returncode == 0, ran.stdout + ran.stderr
        (run,) = collector.named("treaty.run")
        steps = collector.named("treaty.step")

    assert (run.service, run.parent_id, run.failed) == ("treaty-run", PARENT.split("-")[2], False)
    assert run.attributes == {
        "treaty.project": "shop",
        "treaty.run": json.loads(ran.stdout)["run"],
        "treaty.succeeded": True,
    }
    assert {span.parent_id for span in steps} == {run.span_id}
    assert {span.trace_id for span in (run, *steps)} == {PARENT.split("-")[1]}
    assert {span.attributes["treaty.outcome"] for span in steps} == {"done"}
    product = next(span for span in steps if span.attributes["treaty.layer"] == "products")
    assert product.events == ("started", "staged", "written", "audited", "published", "ended")
