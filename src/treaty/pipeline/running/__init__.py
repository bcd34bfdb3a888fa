"""The one room that acts: a project is run step by step, and what it did is told."""

from treaty.pipeline.running.happenings import Happening, Moment
from treaty.pipeline.running.project_run import Means, Wish, run_project
from treaty.pipeline.running.summary import Counts, Outcome, RunSummary, StepSummary

__all__ = ["Counts", "Happening", "Means", "Moment", "Outcome", "RunSummary", "StepSummary", "Wish", "run_project"]
