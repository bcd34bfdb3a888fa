"""A review as JUnit XML: one suite per contract, one case per check."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml  # only written here; nothing is parsed

from treaty.cli.render.plain_text import printable
from treaty.cli.render.review.phrases import decision, describe_party, describe_reading, describe_registry_failure
from treaty.contracts.findings import Finding, Severity
from treaty.review import ContractReview, Review, Section, SubscriptionReview

_NO_XML = re.compile("[\ufffe\uffff]")


def render(review: Review) -> str:
    """Return the review as test results."""
    suites = [_suite(contract) for contract in review.contracts]
    suites += [_subscription_suite(review.subscriptions)] if review.subscriptions else []
    counted = {key: str(sum(int(suite.attrib[key]) for suite in suites)) for key in ("tests", "failures", "skipped")}
    root = Xml.Element("testsuites", {"name": "treaty check", **counted, "errors": "0", "time": "0"})
    root.extend(suites)
    if problem := describe_registry_failure(review):
        suite = Xml.SubElement(
            root, "testsuite", {"name": "registry", "tests": "1", "failures": "0", "skipped": "1", "errors": "0"}
        )
        case = Xml.SubElement(suite, "testcase", {"classname": "registry", "name": "answers", "time": "0"})
        Xml.SubElement(case, "skipped", {"message": _escape_xml(problem)})
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _suite(contract: ContractReview) -> Xml.Element:
    cases = [_case(contract, section) for section in Section if _was_checked(contract, section)]
    failures = sum(case.find("failure") is not None for case in cases)
    counted = {"tests": str(len(cases)), "failures": str(failures), "errors": "0", "skipped": "0", "time": "0"}
    suite = Xml.Element(
        "testsuite", {"name": _escape_xml(contract.name), "file": _escape_xml(contract.path), **counted}
    )
    suite.extend(cases)
    hit = [
        f"{party.name} ({describe_party(party)}) {describe_reading(party)}"
        for party in contract.having("hit", "unknown")
    ]
    Xml.SubElement(suite, "system-out").text = _lines([decision(contract), *hit])
    return suite


def _was_checked(contract: ContractReview, section: Section) -> bool:
    """Tell whether a check ran: the registry and the rows are optional."""
    optional = {Section.REGISTRY: contract.registry is not None, Section.ROWS: bool(contract.data)}
    return optional.get(section, True)


def _subscription_suite(subscriptions: Sequence[SubscriptionReview]) -> Xml.Element:
    cases = [_finding_case(one.consumer, f"{one.consumer} → {one.line}", one.findings) for one in subscriptions]
    failures = sum(case.find("failure") is not None for case in cases)
    counted = {"tests": str(len(cases)), "failures": str(failures), "errors": "0", "skipped": "0", "time": "0"}
    suite = Xml.Element("testsuite", {"name": "subscriptions", **counted})
    suite.extend(cases)
    return suite


def _case(contract: ContractReview, section: Section) -> Xml.Element:
    return _finding_case(contract.name, section.value, contract.findings_of(section))


def _finding_case(group: str, name: str, findings: Sequence[Finding]) -> Xml.Element:
    case = Xml.Element("testcase", {"classname": _escape_xml(group), "name": _escape_xml(name), "time": "0"})
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        failure = Xml.SubElement(case, "failure", {"type": errors[0].id, "message": _escape_xml(errors[0].message)})
        failure.text = _lines([_format_finding(finding) for finding in errors])
    others = [finding for finding in findings if finding.severity is not Severity.ERROR]
    if others:
        Xml.SubElement(case, "system-out").text = _lines([_format_finding(finding) for finding in others])
    return case


def _format_finding(finding: Finding) -> str:
    where = f"{finding.place}: " if finding.place else ""
    return f"{where}{finding.message} ({finding.id})" + (f"; {finding.hint}" if finding.hint else "")


def _escape_xml(text: str) -> str:
    """Escape text for XML: control characters are escaped, characters that XML forbids are replaced."""
    return _NO_XML.sub("\ufffd", printable(text))


def _lines(lines: list[str]) -> str:
    return "\n".join(map(_escape_xml, lines))
