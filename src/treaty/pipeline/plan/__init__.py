"""Planning: what a project's steps are, in which order they run, why, and what is wrong with them."""

from treaty.pipeline.plan.planner import Plan, plan, select
from treaty.pipeline.plan.reasons import Cause, Planned, Why
from treaty.pipeline.plan.steps import EDITION, Asked, Digest, Key, Layer, Mode, Part, Step
from treaty.pipeline.plan.typed import typed_problems

__all__ = [
    "EDITION",
    "Asked",
    "Cause",
    "Digest",
    "Key",
    "Layer",
    "Mode",
    "Part",
    "Plan",
    "Planned",
    "Step",
    "Why",
    "plan",
    "select",
    "typed_problems",
]
