"""Quarantined rows for people: the original row, the offending cells, the reasons, and where the row came from."""

from treaty.pipeline.quarantine.event_quarantine import EventQuarantine
from treaty.pipeline.quarantine.folder_quarantine import FolderQuarantine
from treaty.pipeline.quarantine.quarantined_rows import Quarantine, QuarantinedRow, ReasonCount, Violation

__all__ = ["EventQuarantine", "FolderQuarantine", "Quarantine", "QuarantinedRow", "ReasonCount", "Violation"]
