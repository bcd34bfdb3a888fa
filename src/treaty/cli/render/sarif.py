"""SARIF 2.1.0, which code hosts show next to the changed lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from treaty import __version__
from treaty.contracts.findings import Finding, Severity

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif(findings: Iterable[Finding], pages: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """Return findings as a SARIF log; `pages` maps each id to its summary and page."""
    listed = list(findings)
    ids = sorted({finding.id for finding in listed})
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "treaty", "version": __version__, "rules": [_rule(name, pages) for name in ids]}
                },
                "results": [_result(finding, ids) for finding in listed],
            }
        ],
    }


def _rule(rule: str, pages: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    summary, page = pages.get(rule, (rule, rule))
    return {"id": rule, "shortDescription": {"text": summary}, "fullDescription": {"text": page}}


def _result(finding: Finding, ids: list[str]) -> dict[str, Any]:
    text = finding.message if finding.hint is None else f"{finding.message}; {finding.hint}"
    result: dict[str, Any] = {
        "ruleId": finding.id,
        "ruleIndex": ids.index(finding.id),
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
    }
    if finding.place is not None:
        location: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.place.source)}}
        if finding.place.line:
            location["region"] = {"startLine": finding.place.line}
        result["locations"] = [{"physicalLocation": location}]
    return result


def _uri(source: str) -> str:
    """Return the URI of a source: relative paths stay relative, `git:REF:path` becomes its path."""
    if source.startswith("git:"):
        source = source.split(":", 2)[-1]
    path = Path(source)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix(), errors="surrogateescape")
