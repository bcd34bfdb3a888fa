"""Lint reports as plain data, for JSON and for whoever draws them."""

from __future__ import annotations

from typing import Any

from treaty.governance.lint.linting import LintReport


def report_as_data(source: str, report: LintReport) -> dict[str, Any]:
    """Return a lint report as JSON would say it."""
    return {
        "source": source,
        "id": report.contract_id,
        "version": report.version,
        "legibility": report.score,
        "fields": report.fields,
        "findings": [finding.as_data() for finding in report.findings],
        "waived": [
            {
                **one.finding.as_data(),
                "owner": one.waiver.owner,
                "reason": one.waiver.reason,
                "until": one.waiver.until.isoformat(),
            }
            for one in report.waived
        ],
    }
