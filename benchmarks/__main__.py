"""Run every benchmark, or those that are named, and print their tables as Markdown."""

from __future__ import annotations

import sys

from benchmarks import (
    catalog,
    certify,
    check,
    codecs,
    cold_start,
    data_test,
    enforce,
    graph,
    judge,
    latency,
    lineage,
    meaning_drift,
    parallel,
    pipeline,
    registry,
    schema_registry,
    serving,
)

BENCHMARKS = {
    "judge": judge.run,
    "cold-start": cold_start.run,
    "data-test": data_test.run,
    "check": check.run,
    "registry": registry.run,
    "lineage": lineage.run,
    "schema-registry": schema_registry.run,
    "graph": graph.run,
    "catalog": catalog.run,
    "enforce": enforce.run,
    "pipeline": pipeline.run,
    "serving": serving.run,
    "meaning_drift": meaning_drift.run,
    "codecs": codecs.run,
    "certify": certify.run,
    "latency": latency.run,
    "parallel": parallel.run,
}


def main(names: list[str]) -> None:
    """Run benchmarks by name; all of them without one."""
    for name in names or list(BENCHMARKS):
        if name not in BENCHMARKS:
            sys.exit(f"no benchmark {name!r}; use: {', '.join(BENCHMARKS)}")
        print(f"\n## {name}\n", flush=True)
        print(BENCHMARKS[name](), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
