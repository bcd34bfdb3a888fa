"""The contenders: what each needs installed and which cases it supports."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from benchmarks.peers import peer_binary

SPARK = "pyspark==4.0.5"
OLDER_SPARK = "pyspark==3.5.8"


@dataclass(frozen=True)
class Entry:
    """A contender by name, its file, its cases and, for a peer, the packages of its own environment."""

    name: str
    module: str
    cases: tuple[str, ...]
    packages: str = ""

    @property
    def python(self) -> str:
        """The interpreter that has what the contender needs; a peer's is installed the first time."""
        if not self.packages:
            return sys.executable
        return peer_binary(f"enforce-{self.name}", self.packages, "python")


ENTRIES = (
    Entry("treaty", "treaty", ("check", "split")),
    Entry("hand-written", "hand_written", ("check", "split", "copy")),
    Entry(
        "datacontract-cli",
        "datacontract_cli",
        ("check", "failing rows"),
        f"datacontract-cli[dataframe]==1.2.8 {SPARK}",
    ),
    Entry(
        "great-expectations",
        "great_expectations",
        ("check", "failing rows"),
        f"great_expectations==1.24.1 {SPARK}",
    ),
    Entry("soda", "soda", ("check", "failing rows"), f"soda-core-spark-df==3.5.6 {OLDER_SPARK} setuptools<81"),
    Entry("cuallee", "cuallee", ("check",), f"cuallee==0.15.4 {SPARK}"),
    Entry("deequ", "deequ", ("check",), f"pydeequ==1.4.0 {OLDER_SPARK} setuptools<81"),
)
