"""The parts of columns that are served, and their masks: what the Arrow and the Spark implementation both apply."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from treaty.contracts.data_policies import Mask
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, Step
from treaty.policy.effective_view import EffectiveView


@dataclass(frozen=True, slots=True)
class MaskedPart:
    """A served part of a value: the steps that lead to it, and its mask, if it has one."""

    steps: tuple[Step, ...]
    mask: Mask | None

    @property
    def needs_key(self) -> bool:
        """Whether its mask needs a key."""
        return self.mask is not None and self.mask.method.needs_key


ITEM, MAP_KEY, MAP_VALUE = (Step(mark, is_mark=True) for mark in (ITEMS, MAP_KEYS, MAP_VALUES))
Parts: TypeAlias = tuple[MaskedPart, ...]


def columns_of(view: EffectiveView) -> dict[str, Parts]:
    """Return the parts that are served of each top-level column."""
    columns: dict[str, Parts] = {}
    for field in view.served:
        first, *rest = field.column.steps
        columns[first.text] = (*columns.get(first.text, ()), MaskedPart(tuple(rest), field.mask))
    return columns


def whole_part(parts: Parts) -> MaskedPart | None:
    """Return the part that is the value itself, or None if only parts inside it are served."""
    return next((part for part in parts if not part.steps), None)


def parts_inside(parts: Parts, step: Step) -> Parts:
    """Return the parts behind a step, as parts of the value that it leads to."""
    return tuple(replace(part, steps=part.steps[1:]) for part in parts if part.steps[0] == step)


def has_clear_keys(parts: Parts) -> bool:
    """Return whether the keys of a map are served as they are; other keys could become equal."""
    keys = parts_inside(parts, MAP_KEY)
    return bool(keys) and all(part.mask is None and not part.steps for part in keys)
