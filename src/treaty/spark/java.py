"""Find a Java version that Spark supports. `python -m treaty.spark.java` prints it."""

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
"""The Java versions that Spark 4.0 supports; newer versions removed an API that its file systems need."""

_HOME = re.compile(r"^ *java\.home = (.+)$", re.MULTILINE)
_VERSION = re.compile(r"^ *java\.specification\.version = (?:1\.)?([0-9]+)", re.MULTILINE)
_INSTALLED = ("/usr/lib/jvm/*/bin/java", "/Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java")
_TIMEOUT_S = 30
_HINT = (
    "install Java 17 (Debian and Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17), "
    "or set JAVA_HOME to its folder"
)


@dataclass(frozen=True)
class Java:
    """A Java installation."""

    home: Path
    version: int

    @property
    def program(self) -> Path:
        """The `java` executable."""
        return self.home / "bin" / "java"

    @property
    def is_supported(self) -> bool:
        """Whether Spark supports this version."""
        return OLDEST_JAVA <= self.version <= NEWEST_JAVA


def find_java(environment: Mapping[str, str] | None = None, installed: Sequence[str] = _INSTALLED) -> Java:
    """Return the first supported Java from JAVA_HOME, PATH and the usual installation folders."""
    seen: dict[Path, Java] = {}
    for program in _programs(os.environ if environment is None else environment, installed):
        java = _java(program)
        if java is not None and java.is_supported:
            return java
        if java is not None:
            seen.setdefault(java.home, java)
    if not seen:
        raise Unavailable(f"Spark needs Java {OLDEST_JAVA} to {NEWEST_JAVA}, but none was found; {_HINT}")
    unsupported = ", ".join(f"Java {java.version} in {java.home}" for java in seen.values())
    raise Unavailable(f"Spark needs Java {OLDEST_JAVA} to {NEWEST_JAVA}, but found only {unsupported}; {_HINT}")


def _programs(environment: Mapping[str, str], installed: Sequence[str]) -> Iterator[Path]:
    if home := environment.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java", path=environment.get("PATH", "")):
        yield Path(on_path)
    for pattern in installed:
        yield from sorted(Path("/").glob(pattern.removeprefix("/")))


def _java(program: Path) -> Java | None:
    """Ask an executable for its home and version, since it is often a link or script elsewhere."""
    command = [str(program), "-XshowSettings:properties", "-version"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    home, version = _HOME.search(result.stderr), _VERSION.search(result.stderr)
    return Java(Path(home[1]), int(version[1])) if home and version and result.returncode == 0 else None


def main() -> None:
    """Print the Java that Spark would use, or what to install."""
    try:
        java = find_java()
    except TreatyError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    print(f"Java {java.version} in {java.home}")


if __name__ == "__main__":
    main()
