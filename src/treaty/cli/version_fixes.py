"""Writing the versions and changelog entries that a review asks for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from treaty.cli.render.review.phrases import says_so_itself
from treaty.contracts.text import Limits
from treaty.errors import Unavailable
from treaty.review import ContractReview, ContractState, Review
from treaty.review.fixes import Fixed, fix


@dataclass(frozen=True)
class Done:
    """What became of one file: the version that was written, or why it was left as it is."""

    path: str
    version: str | None
    reason: str | None = None

    def __str__(self) -> str:
        return f"{self.path}: version {self.version}" if self.version else f"{self.path}: left as it is: {self.reason}"


def fix_all(review: Review, root: Path, limits: Limits) -> Iterator[Done]:
    """Fix every contract of ours that changed, and say what became of each file that is not right yet."""
    changed = [one for one in review.contracts if one.standing is ContractState.CHANGED and one.format is None]
    for one in changed:
        if (done := _fix(one, root / one.path, limits)) is not None:
            yield done


def _fix(one: ContractReview, file: Path, limits: Limits) -> Done | None:
    version = _version(one)
    if version is None:
        return Done(one.path, None, "its versions are not MAJOR.MINOR.PATCH, so there is no next one")
    content = file.read_bytes()
    fixed = fix(content, version, _entry(one), limits)
    if not isinstance(fixed, Fixed):
        return Done(one.path, None, fixed.reason)
    if fixed.content == content:
        return None
    _write(file, fixed.content)
    return Done(one.path, version)


def _version(one: ContractReview) -> str | None:
    """Return the declared version where it is enough, else the one that is needed."""
    verdict = one.verdict
    if one.required_version is None or verdict is None:
        return one.after if verdict and verdict.required_version else None
    return one.after if one.version_is_enough else one.required_version


def _entry(one: ContractReview) -> list[str]:
    """Return the changes of the contract, the heaviest first; that the changelog grows is no news."""
    judged = one.verdict.judged if one.verdict else ()
    told = [item for item in judged if item.grade.bump and not says_so_itself(item)]
    told.sort(key=lambda item: -item.grade.bump)
    return list(dict.fromkeys(item.message for item in told))


def _write(file: Path, content: bytes) -> None:
    """Write a file whole or not at all, with the rights it had."""
    beside = file.with_name(f".{file.name}.treaty")
    try:
        beside.write_bytes(content)
        beside.chmod(file.stat().st_mode & 0o7777)
        os.replace(beside, file)  # noqa: PTH105 - one step, over what is there
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None
