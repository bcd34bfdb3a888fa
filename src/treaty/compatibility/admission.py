"""Which version a new one follows, and what the whole history says to it."""

from __future__ import annotations

from collections.abc import Sequence

from semver import Version

from treaty.compatibility.diffing import diff
from treaty.compatibility.grading import Grading
from treaty.compatibility.judging import NO_GRADING, Verdict, effective_mode, judge, judge_first, merged
from treaty.compatibility.modes import DEFAULT_MODE, Mode
from treaty.contracts.model import Contract

_NO_VERSION = Version(0, 0, 0)


def predecessor(history: Sequence[Contract], candidate: Contract) -> Contract | None:
    """Return the latest version of the candidate's line, else the latest of all."""
    version = candidate.semantic_version
    in_line = [
        one for one in history if one.semantic_version and version and one.semantic_version.major == version.major
    ]
    return max(in_line or list(history), key=_order, default=None)


def admit(
    history: Sequence[Contract], candidate: Contract, mode: Mode = DEFAULT_MODE, grading: Grading = NO_GRADING
) -> Verdict:
    """Judge a candidate against what is registered: its predecessor, or its whole line under a transitive mode."""
    before = predecessor(history, candidate) if history else None
    if before is None:
        return judge_first(candidate, mode)
    verdict = judge(diff(before, candidate), mode, grading)
    if not effective_mode(mode, before, candidate).is_transitive:
        return verdict
    line = _order(before).major
    earlier = sorted((one for one in history if _order(one).major == line and _order(one) < _order(before)), key=_order)
    return merged([*(judge(diff(one, candidate), mode, grading) for one in earlier), verdict])


def _order(contract: Contract) -> Version:
    return contract.semantic_version or _NO_VERSION
