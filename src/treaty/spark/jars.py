"""Fetching the jars that Spark is extended with, once; sessions then start from the files.

`python -m treaty.spark.jars` does it ahead of time.
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
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from treaty.errors import NotFound, TreatyError, Unavailable
from treaty.spark.java import find_java

ReportStep = Callable[[str], None]

_FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_DOWNLOADING = "downloading "
_REASONS = (
    re.compile(r"Server access error(?!.*spark-packages).*"),
    re.compile(r"Host \S+ not found(?!.*spark-packages).*"),
    re.compile(r"(?:unresolved dependency|download failed).*"),
    re.compile(r".*(?:Exception|[Ee]rror).*"),
)
"""What Ivy says when something is wrong, the most telling first; the second place it asks has nothing of ours."""
_NEXT = (
    "check the network and run it again; behind a mirror, name its Ivy settings file in TREATY_SPARK_IVY_SETTINGS "
    "or in spark.jars.ivySettings of spark-defaults.conf"
)


def default_jar_folder() -> Path:
    """Return where jars are kept unless somebody says otherwise: below the user's cache."""
    if said := os.environ.get("TREATY_SPARK_JARS"):
        return Path(said)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "treaty" / "jars"


def find_jars(
    packages: Collection[Package], folder: Path | None = None, ivy_settings: Path | None = None
) -> list[Path]:
    """Return the jars of packages, fetched if they are not there yet.

    What the packages rest on themselves is small and comes along; what else was fetched does not, since Spark starts
    faster without it.
    """
    if not packages:
        return []
    others = {other.jar for other in Package if other not in packages}
    return sorted(jar for jar in fetch_jars(folder, ivy_settings).glob("*.jar") if jar.name not in others)


def fetch_jars(folder: Path | None = None, ivy_settings: Path | None = None, say: ReportStep | None = None) -> Path:
    """Fetch all jars unless they are there, and return the folder they are in."""
    kept = _kept_in((folder or default_jar_folder()).expanduser().absolute())
    if kept.is_dir():
        return kept
    say = say or _on_the_terminal
    say(f"fetching the jars that Spark needs into {kept}, once")
    with _beside(kept) as place:
        _resolve(place, ivy_settings, say)
        _put(place / "jars", kept)
    return kept


def _kept_in(folder: Path) -> Path:
    """Return a folder that another list of packages does not share."""
    return folder / hashlib.sha256("\n".join(Package).encode()).hexdigest()[:16]


@contextmanager
def _beside(kept: Path) -> Iterator[Path]:
    """Make a folder beside the one that is meant, so that nobody ever sees half of it."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=".fetching-", dir=kept.parent))
    except OSError as error:
        reason = f"cannot keep jars in {kept.parent}: {error.strerror}"
        raise Unavailable(f"{reason}; name another folder in TREATY_SPARK_JARS") from None
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _resolve(place: Path, ivy_settings: Path | None, say: ReportStep) -> None:
    """Let Spark's own Ivy resolve the packages: it does so before it starts any program, here the smallest there is."""
    command = [str(_spark_submit()), "--master", "local[1]", "--driver-java-options", _FAST]
    command += ["--packages", ",".join(Package), "--conf", f"spark.jars.ivy={place}"]
    if settings := ivy_settings or os.environ.get("TREATY_SPARK_IVY_SETTINGS"):
        command += ["--conf", f"spark.jars.ivySettings={_there(Path(settings))}"]
    command += ["--class", "org.apache.ivy.Main", "spark-internal", "-version"]
    environment = {**os.environ, "JAVA_HOME": str(find_java().home)}
    with subprocess.Popen(  # noqa: S603
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as spark:
        lines = [_told(line.rstrip(), say) for line in spark.stdout or ()]
    missing = [package for package in Package if not (place / "jars" / package.jar).is_file()]
    if spark.returncode or missing:
        what = ", ".join(missing or Package)
        raise Unavailable(f"cannot fetch {what}: {_reason(lines)}; {_NEXT}")


def _told(line: str, say: ReportStep) -> str:
    if line.startswith(_DOWNLOADING):
        say("  " + line.split()[1].rpartition("/")[2])
    return line


def _reason(lines: list[str]) -> str:
    found = (mark.search(line) for mark in _REASONS for line in lines)
    return next((one[0].rstrip("] ") for one in found if one), "no reason was given")


def _there(file: Path) -> Path:
    if not file.is_file():
        raise NotFound(f"no Ivy settings file at {file}")
    return file.absolute()


def _put(jars: Path, kept: Path) -> None:
    try:
        jars.rename(kept)
    except OSError:
        if not kept.is_dir():  # else somebody else was faster, with the same jars
            raise


def _spark_submit() -> Path:
    try:
        import pyspark
    except ImportError:
        raise Unavailable("this needs Spark, which is not installed: pip install 'treaty[spark]'") from None
    return Path(pyspark.__file__).parent / "bin" / "spark-submit"


def _on_the_terminal(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Fetch the jars, and print the folder they are in."""
    parser = argparse.ArgumentParser(prog="python -m treaty.spark.jars", description=main.__doc__)
    parser.add_argument("--folder", type=Path, help=f"keep them below this folder instead of {default_jar_folder()}")
    parser.add_argument("--ivy-settings", type=Path, help="an Ivy settings file, for example with a mirror")
    said = parser.parse_args()
    try:
        print(fetch_jars(said.folder, said.ivy_settings))
    except TreatyError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()


class Package(StrEnum):
    """One thing that Spark does not bring along."""

    ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0"
    AVRO = "org.apache.spark:spark-avro_2.13:4.0.0"
    SQLITE = "org.xerial:sqlite-jdbc:3.53.4.0"
    POSTGRESQL = "org.postgresql:postgresql:42.7.14"

    @property
    def jar(self) -> str:
        """The file that Ivy makes of it."""
        group, artifact, version = self.value.split(":")
        return f"{group}_{artifact}-{version}.jar"


DRIVERS = {"sqlite": Package.SQLITE, "postgresql": Package.POSTGRESQL}
"""The databases whose drivers are fetched, by what stands after `jdbc:`; other drivers are the user's to bring."""


def driver_packages(url: str) -> frozenset[Package]:
    """Return the driver that a JDBC URL needs, or nothing where it is not one of ours."""
    kind = url.removeprefix("jdbc:").partition(":")[0].lower()
    return frozenset({DRIVERS[kind]} if kind in DRIVERS else ())
