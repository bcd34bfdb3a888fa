"""The kinds of change that Treaty grades: one function per kind."""

from treaty.compatibility.kinds import (
    checks,
    data_policy,
    event_streams,
    fields,
    meaning,
    objects,
    promises,
    quality,
    values,
)
from treaty.compatibility.kinds.table import KINDS, Grade, Kind, check, describe, kind, kind_for

CHAPTERS = (
    ("Fields", fields),
    ("Values", values),
    ("Meaning", meaning),
    ("Quality rules and relationships", quality),
    ("Schema objects and keys", objects),
    ("Promises of the contract", promises),
    ("Life cycles of events", event_streams),
    ("Data policy", data_policy),
    ("Checks of the new version", checks),
)
"""The chapters of the reference page, in order."""

__all__ = ["CHAPTERS", "KINDS", "Grade", "Kind", "check", "describe", "kind", "kind_for"]
