"""The one room that acts: a project is run step by step, and what it did is told."""

from treaty.pipeline.run.runner import Means, Wish, run_project
from treaty.pipeline.run.step_context import Happening, Moment
from treaty.pipeline.run.summary import Counts, Outcome, RunSummary, StepSummary

__all__ = ["Counts", "Happening", "Means", "Moment", "Outcome", "RunSummary", "StepSummary", "Wish", "run_project"]
