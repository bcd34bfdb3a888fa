"""Contract versions: strict MAJOR.MINOR.PATCH, bumps, lines and ranges."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from treaty.errors import InvalidDocument

if TYPE_CHECKING:
    from semver import Version

_STRICT = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)")
_RANGE = re.compile(
    r"(?P<op>[\^~=]?)(?P<major>0|[1-9][0-9]*)(?:\.(?P<minor>0|[1-9][0-9]*|x))?(?:\.(?P<patch>0|[1-9][0-9]*|x))?"
)
_LINE = re.compile(r"(?P<contract>.+)@(?P<major>0|[1-9][0-9]{0,8})", re.DOTALL)
MAX_VERSION_LENGTH = 64
UNVERSIONED = "0.0.0"
"""The version of a contract that was read from a schema that states none."""


class Bump(IntEnum):
    """The part of a version that is increased."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3

    def __str__(self) -> str:
        return self.name

    @classmethod
    def parse(cls, text: str) -> Bump:
        """Parse the name of a bump, ignoring case."""
        try:
            return cls[text.upper()]
        except KeyError:
            choices = ", ".join(bump.name.lower() for bump in cls)
            raise InvalidDocument(f"unknown bump {text!r}; use one of: {choices}") from None


def parse_version(text: str) -> Version:
    """Parse a MAJOR.MINOR.PATCH version; raises InvalidDocument."""
    version = try_parse_version(text)
    if version is None:
        shown = text[:MAX_VERSION_LENGTH]
        raise InvalidDocument(f"{shown!r} is not a version; write MAJOR.MINOR.PATCH, for example 1.2.0")
    return version


@lru_cache(1_000)
def try_parse_version(text: str) -> Version | None:
    """Parse a MAJOR.MINOR.PATCH version, or return None if the text is not one."""
    if not is_version(text):
        return None
    from semver import Version  # imported late to keep the start of commands fast

    return Version(*map(int, text.split(".")))


def is_version(text: str) -> bool:
    """Return whether a text is a MAJOR.MINOR.PATCH version."""
    return len(text) <= MAX_VERSION_LENGTH and _STRICT.fullmatch(text) is not None


def bump_between(before: Version, after: Version) -> Bump:
    """Return which part of the version was increased; NONE if it did not increase."""
    if after <= before:
        return Bump.NONE
    if after.major != before.major:
        return Bump.MAJOR
    return Bump.MINOR if after.minor != before.minor else Bump.PATCH


def next_version(version: Version, bump: Bump) -> Version:
    """Return the version after a bump."""
    match bump:
        case Bump.MAJOR:
            return version.bump_major()
        case Bump.MINOR:
            return version.bump_minor()
        case Bump.PATCH:
            return version.bump_patch()
        case _:
            return version


@dataclass(frozen=True, slots=True)
class VersionRange:
    """A range such as ``^1.2``, ``~1.2``, ``1.x`` or ``=1.2.3``: at least `low` and below `high`."""

    text: str
    low: Version
    high: Version

    def __contains__(self, version: Version) -> bool:
        return self.low <= version < self.high

    def __str__(self) -> str:
        return self.text


def parse_range(text: str) -> VersionRange:
    """Parse a range; ``1`` and ``1.2`` mean ``1.x`` and ``1.2.x``, and ``1.2.3`` means ``=1.2.3``."""
    found = _RANGE.fullmatch(text) if len(text) <= MAX_VERSION_LENGTH else None
    if found is None or (found["op"] and "x" in (found["minor"], found["patch"])) or _gap(found):
        raise _bad_range(text)
    from semver import Version

    major, minor, patch = (
        int(part) if part not in (None, "x") else None for part in found.group("major", "minor", "patch")
    )
    low = Version(major or 0, minor or 0, patch or 0)
    match found["op"]:
        case "=":
            if patch is None:
                raise _bad_range(text)
            high = low.bump_patch()
        case "^":
            high = _after_leading(low, minor, patch)
        case "~":
            high = low.bump_major() if minor is None else low.bump_minor()
        case _:
            high = low.bump_major() if minor is None else low.bump_minor() if patch is None else low.bump_patch()
    return VersionRange(text, low, high)


def _after_leading(low: Version, minor: int | None, patch: int | None) -> Version:
    """Return the upper bound of a caret range: the next value of the first part that is not zero."""
    if low.major or minor is None:
        return low.bump_major()
    if low.minor or patch is None:
        return low.bump_minor()
    return low.bump_patch()


def _gap(found: re.Match[str]) -> bool:
    return found["minor"] == "x" and found["patch"] not in (None, "x")


def _bad_range(text: str) -> InvalidDocument:
    return InvalidDocument(f"{text[:MAX_VERSION_LENGTH]!r} is not a version range; write ^1.2, ~1.2, 1.x or =1.2.3")


@dataclass(frozen=True, slots=True, order=True)
class Line:
    """The versions of a contract that share a MAJOR, such as ``orders@1``; each has its own namespace."""

    contract: str
    major: int

    def __str__(self) -> str:
        return f"{self.contract}@{self.major}"

    @property
    def namespace(self) -> str:
        """The name of the line in table and topic names, such as ``orders_v1``."""
        return f"{re.sub('[^0-9A-Za-z_]', '_', self.contract)}_v{self.major}"


def parse_line(text: str) -> Line:
    """Parse a line such as ``orders@1``."""
    line = try_parse_line(text)
    if line is None:
        raise InvalidDocument(f"{text!r} is not a line; write it like orders@1")
    return line


def try_parse_line(text: str) -> Line | None:
    """Parse a line such as ``orders@1``, or return None if the text is not one."""
    match = _LINE.fullmatch(text)
    return Line(match["contract"], int(match["major"])) if match else None
