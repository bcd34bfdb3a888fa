"""The runner: the only part of the pipeline that acts. It runs the planned steps and summarizes what they did."""

from treaty.pipeline.run.runner import RunEnvironment, RunOptions, run_project
from treaty.pipeline.run.step_context import Phase, StepProgress
from treaty.pipeline.run.summary import Counts, Outcome, RunSummary, StepSummary

__all__ = [
    "Counts",
    "Outcome",
    "Phase",
    "RunEnvironment",
    "RunOptions",
    "RunSummary",
    "StepProgress",
    "StepSummary",
    "run_project",
]
