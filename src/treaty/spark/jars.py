"""Download the jars that extend Spark, without those that Spark includes. Sessions start from the local files.

Run `python -m treaty.spark.jars` to download them ahead of time.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from treaty.errors import NotFound, TreatyError, Unavailable
from treaty.spark.java import find_java

ReportStep = Callable[[str], None]

_JVM_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_DOWNLOAD_PREFIX = "downloading "
_ERROR_PATTERNS = (
    re.compile(r"Server access error(?!.*spark-packages).*"),
    re.compile(r"Host \S+ not found(?!.*spark-packages).*"),
    re.compile(r"(?:unresolved dependency|download failed).*"),
    re.compile(r".*(?:Exception|[Ee]rror).*"),
)
"""Error messages of Ivy, most specific first. Ivy also searches spark-packages, which has none of these jars."""
_HINT = (
    "check the network and try again; behind a mirror, set TREATY_SPARK_IVY_SETTINGS to its Ivy settings file, "
    "or set spark.jars.ivySettings in spark-defaults.conf"
)


def default_jar_folder() -> Path:
    """Return the default folder for jars: TREATY_SPARK_JARS, or a folder in the user's cache."""
    if folder := os.environ.get("TREATY_SPARK_JARS"):
        return Path(folder)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "treaty" / "jars"


def find_jars(
    packages: Collection[Package], folder: Path | None = None, ivy_settings: Path | None = None
) -> list[Path]:
    """Return the jars of packages; download them if they are missing.

    Their dependencies are small and always included, except those of Kafka. Other downloaded packages are not, because
    Spark starts faster without them.
    """
    if not packages:
        return []
    others = {other.jar for other in Package if other not in packages}
    if Package.KAFKA not in packages:
        others |= {jar.name for pattern in _KAFKA_JARS for jar in fetch_jars(folder, ivy_settings).glob(pattern)}
    return sorted(jar for jar in fetch_jars(folder, ivy_settings).glob("*.jar") if jar.name not in others)


def fetch_jars(
    folder: Path | None = None,
    ivy_settings: Path | None = None,
    report: ReportStep | None = None,
    packages: Collection[str] = (),
) -> Path:
    """Download the jars of a session unless they exist; return their folder.

    With `packages`, by Maven coordinates, the folder has all that they need, also jars that Spark includes.
    """
    for_session = not packages
    packages = packages or tuple(Package)
    target = _versioned_folder((folder or default_jar_folder()).expanduser().absolute(), packages)
    if target.is_dir():
        return target
    report = report or print_to_stderr
    report(f"downloading the jars for Spark to {target} (once)")
    with download_to(target) as jars:
        _resolve(jars, packages, ivy_settings, report)
        if for_session:
            _remove_included(jars)
    return target


@contextmanager
def download_to(target: Path) -> Iterator[Path]:
    """Yield a folder `jars` for a download, and move it to the target at the end, so that the target is complete."""
    with _temporary_sibling(target) as place:
        yield place / "jars"
        _move_into_place(place / "jars", target)


def _versioned_folder(folder: Path, packages: Collection[str]) -> Path:
    """Return a folder that is specific to the list of packages."""
    return folder / hashlib.sha256("\n".join(packages).encode()).hexdigest()[:16]


@contextmanager
def _temporary_sibling(target: Path) -> Iterator[Path]:
    """Create a temporary folder next to the target, so that the target is never incomplete."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=".fetching-", dir=target.parent))
    except OSError as error:
        reason = f"cannot store jars in {target.parent}: {error.strerror}"
        raise Unavailable(f"{reason}; set TREATY_SPARK_JARS to another folder") from None
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _resolve(jars: Path, packages: Collection[str], ivy_settings: Path | None, report: ReportStep) -> None:
    """Resolve the packages with Spark's Ivy, by submitting a trivial program with `--packages`."""
    command = [str(_spark_folder() / "bin" / "spark-submit"), "--master", "local[1]"]
    command += ["--driver-java-options", _JVM_OPTIONS]
    command += ["--packages", ",".join(packages), "--conf", f"spark.jars.ivy={jars.parent}"]
    if settings := find_ivy_settings(ivy_settings):
        command += ["--conf", f"spark.jars.ivySettings={settings}"]
    command += ["--class", "org.apache.ivy.Main", "spark-internal", "-version"]
    run_ivy(command, {package: jars / jar_name(package) for package in packages}, report)


def _remove_included(jars: Path) -> None:
    """Delete the jars that Spark includes, in whatever version."""
    included = {_artifact(jar.name) for jar in (_spark_folder() / "jars").glob("*.jar")}
    for jar in jars.glob("*.jar"):
        if _artifact(jar.name.partition("_")[2]) in included:
            jar.unlink()


def _artifact(jar: str) -> str:
    """Return the name of a jar without its version."""
    return re.split(r"-[0-9]", jar, maxsplit=1)[0]


def find_ivy_settings(file: Path | None = None) -> Path | None:
    """Return a settings file of Ivy, or the one that the environment names; it must exist."""
    settings = file or os.environ.get("TREATY_SPARK_IVY_SETTINGS")
    return _existing_file(Path(settings)) if settings else None


def ivy_program() -> list[str]:
    """Return the command that runs the Ivy that Spark includes."""
    jars = _spark_folder() / "jars"
    return [str(find_java().program), "-jar", str(next(jars.glob("ivy-*.jar")))]


def run_ivy(command: Sequence[str], expected: Mapping[str, Path], report: ReportStep) -> None:
    """Run a command that downloads jars; each of the expected packages must then have its file."""
    environment = {**os.environ, "JAVA_HOME": str(find_java().home)}
    with subprocess.Popen(  # noqa: S603
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as program:
        lines = [_report_download(line.rstrip(), report) for line in program.stdout or ()]
    missing = [package for package, file in expected.items() if not file.is_file()]
    if program.returncode or missing:
        what = ", ".join(missing or expected)
        raise Unavailable(f"cannot download {what}: {_reason(lines)}; {_HINT}")


def _report_download(line: str, report: ReportStep) -> str:
    if line.startswith(_DOWNLOAD_PREFIX):
        report("  " + line.split()[1].rpartition("/")[2])
    return line


def _reason(lines: list[str]) -> str:
    matches = (pattern.search(line) for pattern in _ERROR_PATTERNS for line in lines)
    return next((match[0].rstrip("] ") for match in matches if match), "unknown reason")


def _existing_file(file: Path) -> Path:
    if not file.is_file():
        raise NotFound(f"Ivy settings file {file} not found")
    return file.absolute()


def _move_into_place(jars: Path, target: Path) -> None:
    try:
        jars.rename(target)
    except OSError:
        if not target.is_dir():  # otherwise another process created the same folder
            raise


def _spark_folder() -> Path:
    try:
        import pyspark
    except ImportError:
        raise Unavailable("PySpark is not installed; run: pip install 'treaty[spark]'") from None
    return Path(pyspark.__file__).parent


def print_to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Download the jars and print their folder."""
    parser = argparse.ArgumentParser(prog="python -m treaty.spark.jars", description=main.__doc__)
    parser.add_argument("--folder", type=Path, help=f"store the jars in this folder (default: {default_jar_folder()})")
    parser.add_argument("--ivy-settings", type=Path, help="Ivy settings file, for example with a mirror")
    arguments = parser.parse_args()
    try:
        print(fetch_jars(arguments.folder, arguments.ivy_settings))
    except TreatyError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None


def jar_name(package: str) -> str:
    """Return the file name of the jar of a package, by its Maven coordinates."""
    group, artifact, version = package.split(":")
    return f"{group}_{artifact}-{version}.jar"


class Package(StrEnum):
    """A package that Spark does not include, by its Maven coordinates."""

    ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0"
    AVRO = "org.apache.spark:spark-avro_2.13:4.0.0"
    SQLITE = "org.xerial:sqlite-jdbc:3.53.4.0"
    POSTGRESQL = "org.postgresql:postgresql:42.7.14"
    KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"

    @property
    def jar(self) -> str:
        """The file name of the jar."""
        return jar_name(self.value)


_KAFKA_JARS = ("org.apache.kafka_*.jar", "org.apache.spark_spark-token-provider-kafka*.jar", "*_commons-pool2-*.jar")
"""What only the package for Kafka depends on."""

DRIVERS = {"sqlite": Package.SQLITE, "postgresql": Package.POSTGRESQL}
"""Databases whose drivers are downloaded, by the name after `jdbc:`; users provide other drivers themselves."""


def driver_packages(url: str) -> frozenset[Package]:
    """Return the driver package of a JDBC URL; empty for other databases."""
    kind = url.removeprefix("jdbc:").partition(":")[0].lower()
    return frozenset({DRIVERS[kind]} if kind in DRIVERS else ())


if __name__ == "__main__":
    main()
