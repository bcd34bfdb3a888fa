"""A plan as JSON says it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treaty.cli.drawing.plan_lineage import Trace
from treaty.pipeline.planning import Plan, Planned
from treaty.pipeline.sql.lineage import Origins


def plan_as_data(name: str, plan: Plan, planned: Sequence[Planned], traces: Sequence[Trace]) -> dict[str, Any]:
    """Return the plan as plain data."""
    data: dict[str, Any] = {
        "project": name,
        "steps": [_step(one) for one in planned],
        "problems": [one.as_data() for one in plan.problems],
    }
    if traces:
        data["lineage"] = [
            {
                "name": one.name,
                "column": one.column,
                "from": _origins(one.origins),
                "events": _origins(one.events),
            }
            for one in traces
        ]
    return data


def _step(one: Planned) -> dict[str, Any]:
    step = one.step
    key = None
    if step.key is not None:
        key = {"columns": list(step.key.columns), "inputs": {name: list(of) for name, of in step.key.inputs.items()}}
    return {
        "name": step.name,
        "layer": step.layer.value,
        "table": step.table,
        "reads": list(step.reads),
        "contract": f"{step.contract.id} {step.contract.version}",
        "mode": step.mode.value,
        "mode_reason": step.mode_reason,
        "key": key,
        "digest": step.digest,
        "would_run": one.would_run if one.is_known else None,
        "this_time": one.mode.value if one.would_run and one.is_known else None,
        "why": [{"cause": why.cause.value, "words": why.words} for why in one.whys],
    }


def _origins(origins: Origins) -> list[str]:
    return [f"{one.input}.{one.column}" for one in sorted(origins)]
