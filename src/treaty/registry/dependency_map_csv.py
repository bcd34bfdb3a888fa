"""The dependency map as CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from treaty.registry.model import MapEntryAnswer

COLUMNS = (
    "consumer",
    "team",
    "class",
    "critical",
    "class_confidence",
    "class_reason",
    "source",
    "source_kind",
    "direct",
    "columns",
    "latency",
    "latency_confidence",
    "decision",
    "decision_confidence",
    "evidence",
    "last_read",
    "places",
    "served_by",
    "forbidden",
)


def write_map_csv(entries: Iterable[MapEntryAnswer]) -> str:
    """Return the entries as CSV, one in each row; a cell that a spreadsheet would read as a formula gets a quote."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for entry in entries:
        cells = (
            entry.consumer,
            entry.team or "",
            entry.consumer_class.value,
            "yes" if entry.critical else "no",
            _share(entry.class_confidence),
            entry.class_reason,
            entry.source,
            entry.source_kind,
            "yes" if entry.direct else "no",
            " ".join(entry.columns),
            entry.latency or "",
            _share(entry.latency_confidence),
            entry.decision or "",
            _share(entry.decision_confidence),
            " ".join(entry.evidence),
            entry.last_read.isoformat() if entry.last_read else "",
            "; ".join(entry.places),
            entry.served_by or "",
            entry.forbidden or "",
        )
        writer.writerow([f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t")) else cell for cell in cells])
    return text.getvalue()


def _share(confidence: float | None) -> str:
    return "" if confidence is None else f"{confidence:.2f}"
