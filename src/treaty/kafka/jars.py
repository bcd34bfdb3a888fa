"""Download the jars of a Kafka broker, apart from those of Spark.

Run `python -m treaty.kafka.jars` to download them ahead of time.
"""

from __future__ import annotations

import sys
from pathlib import Path

from treaty.errors import TreatyError
from treaty.spark.jars import (
    ReportStep,
    default_jar_folder,
    download_to,
    find_ivy_settings,
    ivy_program,
    print_to_stderr,
    run_ivy,
)

VERSION = "4.3.1"
GROUP, ARTIFACT = "org.apache.kafka", "kafka_2.13"


def fetch_broker_jars(report: ReportStep | None = None) -> Path:
    """Download the jars of the broker unless they exist; return their folder."""
    target = default_jar_folder().expanduser().absolute() / f"kafka-{VERSION}"
    if target.is_dir():
        return target
    report = report or print_to_stderr
    report(f"downloading the jars of Kafka {VERSION} to {target} (once)")
    with download_to(target) as jars:
        command = [*ivy_program(), "-m2compatible", "-dependency", GROUP, ARTIFACT, VERSION]
        command += ["-confs", "default", "-types", "jar", "bundle"]
        if settings := find_ivy_settings():
            command += ["-settings", str(settings)]
        command += ["-cache", str(jars.parent / "cache")]
        command += ["-retrieve", f"{jars}/[artifact]-[revision](-[classifier]).[ext]"]
        run_ivy(command, {f"{GROUP}:{ARTIFACT}:{VERSION}": jars / f"{ARTIFACT}-{VERSION}.jar"}, report)
    return target


def main() -> None:
    """Download the jars and print their folder."""
    try:
        print(fetch_broker_jars())
    except TreatyError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
