"""A review as JUnit XML: a suite for each contract, a case for each judge."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml  # only written here; nothing is parsed

from treaty.cli.render.printable import visible
from treaty.cli.render.review.phrases import about, decision, reads, silence
from treaty.contracts.findings import Finding, Severity
from treaty.review import ContractReview, Review, Section

_NO_XML = re.compile("[\ufffe\uffff]")


def draw(review: Review) -> str:
    """Return the review as test results."""
    suites = [_suite(one) for one in review.contracts]
    counted = {key: str(sum(int(suite.attrib[key]) for suite in suites)) for key in ("tests", "failures", "skipped")}
    root = Xml.Element("testsuites", {"name": "treaty check", **counted, "errors": "0", "time": "0"})
    root.extend(suites)
    if said := silence(review):
        suite = Xml.SubElement(
            root, "testsuite", {"name": "registry", "tests": "1", "failures": "0", "skipped": "1", "errors": "0"}
        )
        case = Xml.SubElement(suite, "testcase", {"classname": "registry", "name": "answers", "time": "0"})
        Xml.SubElement(case, "skipped", {"message": _safe(said)})
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _suite(one: ContractReview) -> Xml.Element:
    cases = [_case(one, section) for section in Section if section is not Section.REGISTRY or one.registry]
    failures = sum(case.find("failure") is not None for case in cases)
    counted = {"tests": str(len(cases)), "failures": str(failures), "errors": "0", "skipped": "0", "time": "0"}
    suite = Xml.Element("testsuite", {"name": _safe(one.name), "file": _safe(one.path), **counted})
    suite.extend(cases)
    hit = [f"{party.name} ({about(party)}) {reads(party)}" for party in one.having("hit", "unknown")]
    Xml.SubElement(suite, "system-out").text = _lines([decision(one), *hit])
    return suite


def _case(one: ContractReview, section: Section) -> Xml.Element:
    case = Xml.Element("testcase", {"classname": _safe(one.name), "name": section.value, "time": "0"})
    found = one.of(section)
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    if errors:
        failure = Xml.SubElement(case, "failure", {"type": errors[0].id, "message": _safe(errors[0].message)})
        failure.text = _lines([_told(finding) for finding in errors])
    others = [finding for finding in found if finding.severity is not Severity.ERROR]
    if others:
        Xml.SubElement(case, "system-out").text = _lines([_told(finding) for finding in others])
    return case


def _told(finding: Finding) -> str:
    where = f"{finding.place}: " if finding.place else ""
    return f"{where}{finding.message} ({finding.id})" + (f"; {finding.hint}" if finding.hint else "")


def _safe(text: str) -> str:
    """Return a text that XML can hold: control characters are spelt out, what Unicode reserves is replaced."""
    return _NO_XML.sub("\ufffd", visible(text))


def _lines(lines: list[str]) -> str:
    return "\n".join(map(_safe, lines))
