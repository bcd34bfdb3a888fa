"""Planning: what a project's steps are, in which order they run, why, and what is wrong with them."""

from treaty.pipeline.planning.digests import EDITION, Digest, Part
from treaty.pipeline.planning.plan import Plan, plan
from treaty.pipeline.planning.selecting import select
from treaty.pipeline.planning.steps import Asked, Key, Layer, Mode, Step
from treaty.pipeline.planning.typed import typed_problems
from treaty.pipeline.planning.whys import Cause, Planned, Why

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
