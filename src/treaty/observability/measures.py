"""A measure: one number about a contract's data at one moment, and how it stands to what is promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from treaty.contracts.model import Contract
from treaty.observability.known import kind_of
from treaty.observability.promises import judge, promise_of
from treaty.observability.states import State


@dataclass(frozen=True, slots=True)
class Measure:
    """What was measured, when; the promise is in the unit of the value, which is the kind's where the kind is known."""

    contract: str
    name: str
    at: datetime
    value: float
    unit: str | None = None
    promise: float | None = None
    state: State | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def judged(measure: Measure, contract: Contract) -> Measure:
    """Hold a measure to its contract; what whoever measured said of a promise or state stands.

    A known kind is judged in its own unit: whoever takes measures in refuses others before.
    """
    kind = kind_of(measure.name, measure.unit)
    unit = measure.unit if measure.unit is not None else kind.unit
    promise = measure.promise if measure.promise is not None else promise_of(contract, kind)
    state = measure.state or judge(kind, measure.value, promise)
    return replace(measure, unit=unit, promise=promise, state=state)
