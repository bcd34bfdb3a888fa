"""The plan of a project: its steps in order, why each would run, and problems found without running anything."""

from treaty.pipeline.plan.planner import Plan, plan, select
from treaty.pipeline.plan.reasons import Cause, PlannedStep, Reason
from treaty.pipeline.plan.steps import EDITION, DigestPart, Key, Mode, Step, StepDigest, StepQuery
from treaty.pipeline.project.declarations import Layer

__all__ = [
    "EDITION",
    "Cause",
    "DigestPart",
    "Key",
    "Layer",
    "Mode",
    "Plan",
    "PlannedStep",
    "Reason",
    "Step",
    "StepDigest",
    "StepQuery",
    "plan",
    "select",
]
