"""A test report as JUnit XML: one case per rule."""

from __future__ import annotations

import re
from datetime import UTC
from xml.etree import ElementTree as Xml  # only written here; nothing is parsed

from treaty.cli.render.plain_text import printable
from treaty.cli.render.test_report import HeldRules, phrases
from treaty.contracts.findings import Severity
from treaty.spark.measures import RuleMeasure
from treaty.spark.report import TestReport
from treaty.spark.report.data_test import format_rows
from treaty.spark.report.samples import Sample

_NO_XML = re.compile("[\ufffe\uffff]")
SCHEMA = "schema"
QUARANTINED = "rows quarantined"


def render(report: TestReport, held_rules: HeldRules) -> str:
    """Return the report as JUnit XML."""
    cases = [
        *(_rule_case(report, result) for result in sorted(report.measures.results, key=lambda result: result.rule.id)),
        *_unchecked_cases(report),
        _schema_case(report),
        _quarantined_case(report),
    ]
    suite = _suite(report, cases)
    counted = {key: suite.attrib[key] for key in ("tests", "failures", "errors", "time")}
    root = Xml.Element("testsuites", {"name": "treaty test", **counted})
    root.append(suite)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _suite(report: TestReport, cases: list[Xml.Element]) -> Xml.Element:
    measures = report.measures
    suite = Xml.Element(
        "testsuite",
        {
            "name": _escape_xml(f"{measures.contract} {measures.version}"),
            "tests": str(len(cases)),
            "failures": str(sum(case.find("failure") is not None for case in cases)),
            "errors": "0",
            "skipped": str(sum(case.find("skipped") is not None for case in cases)),
            "time": "0",
            "timestamp": measures.measured_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
        },
    )
    properties = Xml.SubElement(suite, "properties")
    values = {"data": report.data, "object": measures.object, "rows": measures.rows, "valid": measures.valid}
    for name, value in {**values, "quarantined": measures.quarantined, "outcome": report.outcome.value}.items():
        Xml.SubElement(properties, "property", {"name": name, "value": _escape_xml(str(value))})
    suite.extend(cases)
    return suite


def _case(report: TestReport, name: str) -> Xml.Element:
    within = f"{report.measures.contract}.{report.measures.object}"
    return Xml.Element("testcase", {"classname": _escape_xml(within), "name": _escape_xml(name), "time": "0"})


def _rule_case(report: TestReport, measure: RuleMeasure) -> Xml.Element:
    case = _case(report, measure.rule.id)
    if measure.passed and not measure.violating_rows:
        return case
    message = f"{_result(report, measure)}: {phrases.format_requirement(measure)}"
    samples = [_sample(sample) for sample in report.samples_of(measure.rule.id)]
    if report.fails(measure):
        _failure(case, measure.rule.kind.value, message, samples)
    else:
        allowed = measure.passed or measure.rule.severity is Severity.ERROR
        mark = "allowed" if allowed else measure.rule.severity.value
        Xml.SubElement(case, "system-out").text = _lines([f"{mark}: {printable(message)}", *samples])
    return case


def _sample(sample: Sample) -> str:
    value = phrases.NO_VALUE if sample.value is None else printable(sample.value)
    return f"{value}  ({sample.rows:,}×)  {printable(phrases.format_key(sample))}".rstrip()


def _result(report: TestReport, measure: RuleMeasure) -> str:
    if measure.violating_rows is None:
        return phrases.format_result(measure) or phrases.NO_VALUE
    return (
        f"{format_rows(measure.violating_rows)} ({phrases.format_share(measure.violating_rows, report.measures.rows)})"
    )


def _unchecked_cases(report: TestReport) -> list[Xml.Element]:
    cases = []
    for unchecked_rule in sorted(report.measures.unchecked, key=lambda one: (one.what, one.why)):
        case = _case(report, f"unchecked: {unchecked_rule.what}")
        Xml.SubElement(case, "skipped", {"message": _escape_xml(unchecked_rule.why)})
        cases.append(case)
    return cases


def _schema_case(report: TestReport) -> Xml.Element:
    case = _case(report, SCHEMA)
    lines = [
        f"{drift.severity.value}: {printable(drift.field)} {printable(drift.message)} ({drift.kind})"
        for drift in report.drift
    ]
    errors = sum(drift.severity is Severity.ERROR for drift in report.drift)
    if errors:
        _failure(case, "drift", f"{errors:,} of {len(lines):,} differences violate the contract", lines)
    elif lines:
        Xml.SubElement(case, "system-out").text = _lines(lines)
    return case


def _quarantined_case(report: TestReport) -> Xml.Element:
    case = _case(report, QUARANTINED)
    if report.quarantine_is_allowed:
        Xml.SubElement(case, "system-out").text = _lines([phrases.counts(report)])
    else:
        where = [f"written to {printable(report.quarantine.path)}"] if report.quarantine else []
        _failure(case, "quarantine", phrases.counts(report), where)
    return case


def _failure(case: Xml.Element, kind: str, message: str, lines: list[str]) -> None:
    failure = Xml.SubElement(case, "failure", {"type": kind, "message": _escape_xml(message)})
    failure.text = _lines([printable(message), *lines])


def _escape_xml(text: str) -> str:
    """Escape text for XML: control characters are escaped, characters that XML forbids are replaced."""
    return _NO_XML.sub("\ufffd", printable(text))


def _lines(lines: list[str]) -> str:
    return "\n".join(_NO_XML.sub("\ufffd", line) for line in lines)
