"""Compatibility of contract versions: diff, kinds of change, modes and verdicts."""

from treaty.compatibility.changes import Breaks, Change, Changes, Direction
from treaty.compatibility.diff import diff
from treaty.compatibility.grading import Grading, parse_grading
from treaty.compatibility.judge import Judged, Plan, Verdict, admit, judge, plan_of, predecessor
from treaty.compatibility.kinds import KINDS, Kind, describe
from treaty.compatibility.modes import Mode, parse_mode
from treaty.compatibility.renames import RenameSuggestion, suggest_renames

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
    "Verdict",
    "admit",
    "describe",
    "diff",
    "judge",
    "parse_grading",
    "parse_mode",
    "plan_of",
    "predecessor",
    "suggest_renames",
]
