"""Compares the parts of a data policy; what reveals less is tightened, what reveals more is loosened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from treaty.compatibility.changes import Direction
from treaty.compatibility.terms.comparison import Difference, presence_direction
from treaty.contracts.data_policies import DataPolicy, MaskRule, Residency, RowRetention
from treaty.contracts.model import Contract
from treaty.contracts.quantities import parse_seconds
from treaty.policy.strictness import is_comparable, strictness

_NO_POLICY = DataPolicy()


def mask_rules(contract: Contract) -> dict[str, MaskRule]:
    """Return the mask rules of a contract by their path in the block."""
    return {rule.path: rule for rule in _policy(contract).rules}


def allowed_purposes(contract: Contract) -> tuple[str, ...] | None:
    """Return the purposes that may read at all; None if all may."""
    return _policy(contract).purposes


def residency(contract: Contract) -> Residency | None:
    """Return where rows may be served."""
    return _policy(contract).residency


def row_retention(contract: Contract) -> RowRetention | None:
    """Return how long rows are served."""
    return _policy(contract).retention


def _policy(contract: Contract) -> DataPolicy:
    return contract.treaty.data_policy or _NO_POLICY


def compare_rules(before: MaskRule | None, after: MaskRule | None) -> Iterator[Difference]:
    """Compare two mask rules: the masks, then the purposes that see clear values."""
    if before == after:
        return
    if before is None or after is None:
        yield Difference(presence_direction(before, after), before and str(before), after and str(after))
        return
    moves = {_mask_move(before, after), _set_move(set(before.clear_for), set(after.clear_for))} - {None}
    direction = next(iter(moves)) if len(moves) == 1 else Direction.REPLACED
    yield Difference(direction or Direction.REPLACED, str(before), str(after))


def _mask_move(before: MaskRule, after: MaskRule) -> Direction | None:
    if before.mask == after.mask:
        return None
    one, other = strictness(before.mask), strictness(after.mask)
    if one == other or not is_comparable(before.mask, after.mask):
        return Direction.REPLACED
    return Direction.TIGHTENED if other > one else Direction.LOOSENED


def _set_move(before: set[Any], after: set[Any]) -> Direction | None:
    """Return the direction of what is let through: less of it tightens."""
    if before == after:
        return None
    if after < before:
        return Direction.TIGHTENED
    return Direction.LOOSENED if before < after else Direction.REPLACED


def compare_purposes(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> Iterator[Difference]:
    """Compare the allowed purposes: a list where every purpose was allowed is tightened."""
    if before == after:
        return
    direction: Direction | None
    if before is None or after is None:
        direction = Direction.TIGHTENED if before is None else Direction.LOOSENED
    else:
        direction = _set_move(set(before), set(after))
    if direction is not None:
        yield Difference(direction, _purposes(before), _purposes(after), "data_policy.purposes")


def _purposes(purposes: tuple[str, ...] | None) -> str:
    return "every purpose" if purposes is None else ", ".join(sorted(purposes))


def compare_residency(before: Residency | None, after: Residency | None) -> Iterator[Difference]:
    """Compare where rows may be served: fewer places tighten, more loosen, another column replaces."""
    if before == after:
        return
    direction: Direction | None
    if before is None or after is None:
        direction = Direction.TIGHTENED if before is None else Direction.LOOSENED
    elif before.column != after.column:
        direction = Direction.REPLACED
    else:
        direction = _set_move(_places(before), _places(after))
    if direction is not None:
        one, other = str(before or "everywhere"), str(after or "everywhere")
        yield Difference(direction, one, other, "data_policy.residency")


def _places(residency: Residency) -> set[tuple[str, str]]:
    return {(region, place) for region, places in residency.serve.items() for place in places}


def compare_retention(before: RowRetention | None, after: RowRetention | None) -> Iterator[Difference]:
    """Compare how long rows are served: a shorter time tightens, a longer one loosens, another column replaces."""
    if before == after:
        return
    if before is None or after is None:
        direction = Direction.TIGHTENED if before is None else Direction.LOOSENED
    elif before.column != after.column:
        direction = Direction.REPLACED
    else:
        one, other = (parse_seconds(value.at_most) or 0 for value in (before, after))
        if one == other:
            return
        direction = Direction.TIGHTENED if other < one else Direction.LOOSENED
    yield Difference(direction, str(before or "no limit"), str(after or "no limit"), "data_policy.retention")
