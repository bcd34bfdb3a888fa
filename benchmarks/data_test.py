"""How long a test of one CSV file takes, from start to exit, against datacontract-cli on the same file and contract."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from benchmarks.peers import WORK, peer_binary
from benchmarks.timing import command, medians, table

_PEER = "datacontract-cli[duckdb]==1.2.8"
_ROWS = 5_000
_ROUNDS = 5
_CONTRACT = """\
kind: DataContract
apiVersion: v3.0.2
id: invoices
name: invoices
version: 1.0.0
status: active
servers:
  - {server: local, type: local, path: DATA, format: csv, delimiter: ","}
schema:
  - name: invoices
    properties:
      - name: invoice_number
        logicalType: string
        physicalType: string
        required: true
        unique: true
        primaryKey: true
        primaryKeyPosition: 1
      - {name: customer_id, logicalType: integer, physicalType: bigint, required: true}
      - {name: issued_at, logicalType: date, physicalType: timestamp, required: true}
      - name: net_amount
        logicalType: number
        physicalType: "decimal(12,2)"
        required: true
        logicalTypeOptions: {minimum: 0}
      - name: tax_rate
        logicalType: number
        physicalType: "decimal(5,2)"
        required: true
        logicalTypeOptions: {minimum: 0, maximum: 1}
      - name: currency
        logicalType: string
        physicalType: string
        required: true
        logicalTypeOptions: {pattern: "^[A-Z]{3}$"}
      - name: quantity
        logicalType: integer
        physicalType: int
        required: true
        logicalTypeOptions: {minimum: 1}
"""


def run() -> str:
    """Measure the same test cold and on the shared Spark, in turns with the peer."""
    peer = peer_binary("datacontract-cli-duckdb", _PEER, "datacontract")
    ours = str(Path(sys.executable).with_name("treaty"))
    folder = WORK / "data-test"
    folder.mkdir(parents=True, exist_ok=True)
    data, contract = folder / "invoices.csv", folder / "invoices.yaml"
    data.write_text(_invoices())
    contract.write_text(_CONTRACT.replace("DATA", str(data)))
    test = (ours, "test", str(contract), str(data))
    cold = (*test, "--master", "local[*]")
    with _shared_spark(ours):
        taken = medians({"shared": command(*test), "peer": command(peer, "test", str(contract))}, _ROUNDS)
    taken |= medians({"cold": command(*cold)}, _ROUNDS)
    rows = [
        ("treaty test, shared Spark (`treaty spark up`)", f"{taken['shared']:.1f} s", "2.5 s"),
        ("treaty test, cold", f"{taken['cold']:.1f} s", "6 s"),
        (f"`{_PEER}` test", f"{taken['peer']:.1f} s", ""),
    ]
    return table((f"{_ROWS:,} rows of CSV, 7 columns", "start to exit", "goal"), rows)


def _invoices() -> str:
    numbers, first = random.Random(7), datetime(2026, 1, 1)  # noqa: S311
    lines = ["invoice_number,customer_id,issued_at,net_amount,tax_rate,currency,quantity"]
    for row in range(_ROWS):
        issued = (first + timedelta(minutes=7 * row)).isoformat()
        amount, customer = numbers.randint(100, 90_000) / 100, numbers.randint(1_000, 1_900)
        lines.append(f"INV-{100_000 + row},{customer},{issued},{amount:.2f},0.19,EUR,{numbers.randint(1, 9)}")
    return "\n".join(lines) + "\n"


@contextmanager
def _shared_spark(treaty: str) -> Iterator[None]:
    """Keep the shared Spark of the user running meanwhile; one that runs already is left as it is."""
    was_running = subprocess.run([treaty, "spark", "status"], capture_output=True, check=False).returncode == 0
    subprocess.run([treaty, "spark", "up"], capture_output=True, check=True)
    try:
        yield
    finally:
        if not was_running:
            subprocess.run([treaty, "spark", "down"], capture_output=True, check=True)
