"""Finding a Java that Spark runs on; `python -m treaty.spark.java` says which one that is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from treaty.errors import TreatyError, Unavailable

OLDEST_JAVA, NEWEST_JAVA = 17, 21
"""The versions of Java that Spark 4.0 runs on; the newer ones took away what its file systems need."""

_HOME = re.compile(r"^ *java\.home = (.+)$", re.MULTILINE)
_VERSION = re.compile(r"^ *java\.specification\.version = (?:1\.)?([0-9]+)", re.MULTILINE)
_INSTALLED = ("/usr/lib/jvm/*/bin/java", "/Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java")
_PATIENCE = 30
_NEXT = (
    "install Java 17 (Debian and Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17), "
    "or set JAVA_HOME to where it is"
)


@dataclass(frozen=True)
class Java:
    """One Java: its folder and its version."""

    home: Path
    version: int

    @property
    def program(self) -> Path:
        """The program that starts it."""
        return self.home / "bin" / "java"

    @property
    def fits(self) -> bool:
        """Whether Spark runs on it."""
        return OLDEST_JAVA <= self.version <= NEWEST_JAVA


def find_java(environment: Mapping[str, str] | None = None, installed: Sequence[str] = _INSTALLED) -> Java:
    """Return the first Java that Spark runs on: JAVA_HOME, the one on the path, or an installed one."""
    seen: dict[Path, Java] = {}
    for program in _programs(os.environ if environment is None else environment, installed):
        java = _java(program)
        if java is not None and java.fits:
            return java
        if java is not None:
            seen.setdefault(java.home, java)
    if not seen:
        raise Unavailable(f"Spark needs Java {OLDEST_JAVA} to {NEWEST_JAVA}, and there is none; {_NEXT}")
    found = ", ".join(f"Java {java.version} in {java.home}" for java in seen.values())
    raise Unavailable(f"Spark needs Java {OLDEST_JAVA} to {NEWEST_JAVA}, and there is only {found}; {_NEXT}")


def _programs(environment: Mapping[str, str], installed: Sequence[str]) -> Iterator[Path]:
    if home := environment.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java", path=environment.get("PATH", "")):
        yield Path(on_path)
    for pattern in installed:
        yield from sorted(Path("/").glob(pattern.removeprefix("/")))


def _java(program: Path) -> Java | None:
    """Ask a program for its home and version; on many machines it is a link or a script far from there."""
    question = [str(program), "-XshowSettings:properties", "-version"]
    try:
        asked = subprocess.run(question, capture_output=True, text=True, timeout=_PATIENCE, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    home, version = _HOME.search(asked.stderr), _VERSION.search(asked.stderr)
    return Java(Path(home[1]), int(version[1])) if home and version and asked.returncode == 0 else None


def main() -> None:
    """Say which Java Spark would use, or what to install."""
    try:
        java = find_java()
    except TreatyError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    print(f"Java {java.version} in {java.home}")


if __name__ == "__main__":
    main()
