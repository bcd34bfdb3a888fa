"""Archives of the classes that Spark loads when it starts, so that Java maps them instead of parsing jars.

Run `python -m treaty.spark.class_archive` to create them; set-up does. Java checks an archive against its own version
and the class path, and ignores one that does not fit.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from treaty.errors import TreatyError, Unavailable
from treaty.spark.jars import Package, default_jar_folder

_IGNORED_MISMATCH = "-Xshare:auto -Xlog:disable -Xlog:all=error:stderr"
_DUMP_AT_EXIT = "-XX:ArchiveClassesAtExit="
_TIMEOUT_S = 300
_DUMP_TIMEOUT_S = 300
_POLL_INTERVAL_S = 0.2
_MAGIC_BYTES = 4
ARCHIVED_PACKAGES: tuple[frozenset[Package], ...] = (
    frozenset(),
    frozenset({Package.ICEBERG, Package.SQLITE}),
)
"""The packages of the usual sessions: files alone, and a project with a local lake."""


def archive_options(jars: Sequence[Path]) -> str:
    """Return the JVM options that use the archive for these extra jars; empty if there is none."""
    file = archive_file(jars)
    return f"-XX:SharedArchiveFile={file} {_IGNORED_MISMATCH}" if file.is_file() else ""


def archive_file(jars: Sequence[Path]) -> Path:
    """Return the file of the archive for the installed Spark with these extra jars."""
    import pyspark

    parts = [pyspark.__version__, str(Path(pyspark.__file__).parent), *map(str, jars)]
    name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return default_jar_folder().expanduser().absolute().parent / "classes" / f"{name}.jsa"


def create_archive(packages: Collection[Package]) -> Path:
    """Run a short session in another process, whose classes Java archives when it exits; return the file."""
    from treaty.spark.jars import find_jars

    target = archive_file(find_jars(packages))
    if target.is_file():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"cannot create {target.parent}: {error.strerror}") from None
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        dump = Path(folder, target.name)
        command = [sys.executable, "-m", __spec__.name, "--load", str(dump), *packages]
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)  # noqa: S603
        except subprocess.TimeoutExpired:
            raise Unavailable(f"Spark did not end within {_TIMEOUT_S} s; its classes are not archived") from None
        if result.returncode:
            raise Unavailable(f"the classes of Spark are not archived: {result.stderr.strip().splitlines()[-1]}")
        _wait_until_written(dump)
        dump.replace(target)
    return target


def _wait_until_written(dump: Path) -> None:
    """Wait for Java, which outlives the session: it writes the header of an archive last."""
    waited_until = time.monotonic() + _DUMP_TIMEOUT_S
    while time.monotonic() < waited_until:
        if dump.is_file():
            with dump.open("rb") as file:
                if any(file.read(_MAGIC_BYTES)):
                    return
        time.sleep(_POLL_INTERVAL_S)
    raise Unavailable(f"Java wrote no archive of the classes of Spark within {_DUMP_TIMEOUT_S} s")


def load_classes(dump: Path, packages: Collection[Package]) -> None:
    """Read and check a few rows, so that Java loads the classes of a usual command; Java writes the archive at exit."""
    from treaty.contracts import contract_from
    from treaty.spark.enforcement import enforce
    from treaty.spark.readers import open_data, parse_source
    from treaty.spark.session import spark_session
    from treaty.spark.session_options import IcebergCatalog, SparkOptions

    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "orders.csv")
        data.write_text("order_id,placed_at,total\n1,2026-01-01T00:00:00Z,1.50\n1,,-1\n", encoding="utf-8")
        lake = IcebergCatalog(f"jdbc:sqlite:{folder}/catalog.db", f"file://{folder}/lake")
        options = SparkOptions(
            packages=frozenset(packages),
            catalog=lake if Package.ICEBERG in packages else None,
            conf={"spark.driver.extraJavaOptions": f"{_DUMP_AT_EXIT}{dump}"},
        )
        session = spark_session(options)
        frame = open_data(session, parse_source(str(data))).frame
        checked = enforce(frame, contract_from(_SAMPLE))
        checked.measures()
        if options.catalog is not None:
            session.sql(f"CREATE NAMESPACE IF NOT EXISTS {lake.name}.sample")
            checked.valid.writeTo(f"{lake.name}.sample.orders").create()
            session.table(f"{lake.name}.sample.orders").count()
        session.stop()


_SAMPLE = {
    "kind": "DataContract",
    "apiVersion": "v3.2.0",
    "id": "orders",
    "version": "1.0.0",
    "status": "active",
    "schema": [
        {
            "name": "orders",
            "properties": [
                {"name": "order_id", "logicalType": "string", "primaryKey": True},
                {"name": "placed_at", "logicalType": "timestamp"},
                {"name": "total", "logicalType": "number", "logicalTypeOptions": {"minimum": 0}},
            ],
        }
    ],
}


def main() -> None:
    """Archive the classes of the usual sessions; without archives Spark starts more slowly, which is no failure."""
    parser = argparse.ArgumentParser(prog="python -m treaty.spark.class_archive", description=main.__doc__)
    parser.add_argument("--load", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("packages", nargs="*", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.load:
        load_classes(arguments.load, [Package(package) for package in arguments.packages])
        return
    for packages in ARCHIVED_PACKAGES:
        try:
            print(create_archive(packages))
        except TreatyError as error:
            print(f"warning: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
