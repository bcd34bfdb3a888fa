"""Writes the versions and changelog entries that a review requires."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from treaty.cli.render.review.phrases import is_changelog_entry
from treaty.contracts.text import Limits
from treaty.errors import Unavailable
from treaty.review import ContractReview, ContractState, Review
from treaty.review.fixes import Fixed, fix


@dataclass(frozen=True)
class FixResult:
    """The version that was written to a file, or the reason why the file was not changed."""

    path: str
    version: str | None
    reason: str | None = None

    def __str__(self) -> str:
        return f"{self.path}: version {self.version}" if self.version else f"{self.path}: not changed: {self.reason}"


def fix_all(review: Review, root: Path, limits: Limits) -> Iterator[FixResult]:
    """Fix every changed contract, and yield the result for each file that needed a fix."""
    changed = [one for one in review.contracts if one.standing is ContractState.CHANGED and one.format is None]
    for one in changed:
        if (result := _fix(one, root / one.path, limits)) is not None:
            yield result


def _fix(one: ContractReview, file: Path, limits: Limits) -> FixResult | None:
    version = _target_version(one)
    if version is None:
        return FixResult(one.path, None, "its versions are not MAJOR.MINOR.PATCH")
    content = file.read_bytes()
    fixed = fix(content, version, _changelog_entry(one), limits)
    if not isinstance(fixed, Fixed):
        return FixResult(one.path, None, fixed.reason)
    if fixed.content == content:
        return None
    _write(file, fixed.content)
    return FixResult(one.path, version)


def _target_version(one: ContractReview) -> str | None:
    """Return the declared version if it is high enough, or else the required one."""
    verdict = one.verdict
    if one.required_version is None or verdict is None:
        return one.after if verdict and verdict.required_version else None
    return one.after if one.version_is_enough else one.required_version


def _changelog_entry(one: ContractReview) -> list[str]:
    """Return the changes of the contract, largest bump first, without the new changelog entry itself."""
    judged = one.verdict.judged if one.verdict else ()
    changes = [item for item in judged if item.grade.bump and not is_changelog_entry(item)]
    changes.sort(key=lambda item: -item.grade.bump)
    return list(dict.fromkeys(item.message for item in changes))


def _write(file: Path, content: bytes) -> None:
    """Replace a file atomically, with its permissions."""
    temporary = file.with_name(f".{file.name}.treaty")
    try:
        temporary.write_bytes(content)
        temporary.chmod(file.stat().st_mode & 0o7777)
        os.replace(temporary, file)  # noqa: PTH105 - one step, over what is there
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None
