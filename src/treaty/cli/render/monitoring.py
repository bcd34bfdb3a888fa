"""Rendering of what `treaty monitor` measured: one row for each published table."""

from __future__ import annotations

from rich.text import Text

from treaty.cli.render.console import print_to_console, text
from treaty.cli.render.tables import listing
from treaty.observability import Measure, amounts, measures
from treaty.observability.measures import KNOWN_MEASURES
from treaty.pipeline.run.monitoring import MonitorReport, TableCheck

_STYLES = {"healthy": "good", "warning": "warning", "failing": "error"}


def render_monitoring(report: MonitorReport) -> None:
    """Print the freshness and the drift of each table, with what the contract promises."""
    rows = [_row(report, check) for check in report.checks]
    with print_to_console() as console:
        console.print(listing(("table", "contract", "freshness", "promised", "drift", "remark"), rows))


def _row(report: MonitorReport, check: TableCheck) -> tuple[str | Text, ...]:
    freshness, drift = (report.measured(check, name) for name in (measures.FRESHNESS, measures.SCHEMA_DRIFT))
    kind = KNOWN_MEASURES[measures.FRESHNESS]
    promised = "" if freshness is None or freshness.promise is None else amounts.format_promise(kind, freshness.promise)
    fields = ", ".join(drift.details.get("fields", ())) if drift else ""
    remark = check.problem or (f"by {check.measured_by}" if check.measured_by else "")
    shown_drift = "" if drift is None else fields or "none"
    return check.table, check.line, _value(freshness), promised, _styled(shown_drift, drift), remark


def _value(measure: Measure | None) -> str | Text:
    if measure is None:
        return ""
    return _styled(amounts.format_measured(KNOWN_MEASURES[measure.name], measure.value, measure.unit), measure)


def _styled(shown: str, measure: Measure | None) -> str | Text:
    style = _STYLES.get(measure.state.value if measure and measure.state else "")
    return text(shown, style=style) if style else shown
