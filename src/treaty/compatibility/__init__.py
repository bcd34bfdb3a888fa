"""Compatibility of contract versions: diff, kinds of change, modes and verdicts."""

from treaty.compatibility.changes import Breaks, Change, Changes, Direction
from treaty.compatibility.diff import diff, diff_files
from treaty.compatibility.grading import Grading, parse_grading
from treaty.compatibility.judge import Judged, Plan, Verdict, admit, judge, plan_of, predecessor
from treaty.compatibility.kinds import KINDS, Kind, describe
from treaty.compatibility.modes import Mode, parse_mode
from treaty.compatibility.renames import RenameSuggestion, suggest_renames
from treaty.compatibility.semantics import Semantics, parse_semantics

__all__ = [
    "KINDS",
    "Breaks",
    "Change",
    "Changes",
    "Direction",
    "Grading",
    "Judged",
    "Kind",
    "Mode",
    "Plan",
    "RenameSuggestion",
    "Semantics",
    "Verdict",
    "admit",
    "describe",
    "diff",
    "diff_files",
    "judge",
    "parse_grading",
    "parse_mode",
    "parse_semantics",
    "plan_of",
    "predecessor",
    "suggest_renames",
]
