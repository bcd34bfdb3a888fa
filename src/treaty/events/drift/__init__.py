"""Drift of meaning: profiles of the events of a run, and what changed while the contract stayed the same."""

from treaty.events.drift.comparison import MIN_EVENTS
from treaty.events.drift.detector import detect_drift
from treaty.events.drift.encoded_events import encode_rows, profile_rows
from treaty.events.drift.findings import DriftAnswerKind, DriftFinding, DriftKind, EvidenceBar
from treaty.events.drift.layout import ProfileLayout, layout_of
from treaty.events.drift.profile import Profile, merge_profiles, profile_problem
from treaty.events.drift.references import MAX_REFERENCES

__all__ = [
    "MAX_REFERENCES",
    "MIN_EVENTS",
    "DriftAnswerKind",
    "DriftFinding",
    "DriftKind",
    "EvidenceBar",
    "Profile",
    "ProfileLayout",
    "detect_drift",
    "encode_rows",
    "layout_of",
    "merge_profiles",
    "profile_problem",
    "profile_rows",
]
