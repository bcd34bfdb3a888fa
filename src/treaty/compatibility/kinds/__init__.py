"""Every kind of change Treaty grades, one function each."""

from treaty.compatibility.kinds import checks, fields, meaning, objects, promises, quality, values
from treaty.compatibility.kinds.table import KINDS, Grade, Kind, check, describe, kind, kind_for

CHAPTERS = (
    ("Fields", fields),
    ("Values", values),
    ("Meaning", meaning),
    ("Quality rules and relationships", quality),
    ("Schema objects and keys", objects),
    ("Promises of the contract", promises),
    ("Checks of the new version", checks),
)
"""The kinds as a table of contents."""

__all__ = ["CHAPTERS", "KINDS", "Grade", "Kind", "check", "describe", "kind", "kind_for"]
