"""Reports of `treaty test` in every format."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html.parser import HTMLParser
from xml.etree import ElementTree as Xml

import pytest

from tests.spark.report.report_builders import build_report, dataset_rule, difference, rows_rule
from treaty.cli.render.test_report import HeldRules, ReportFormat, phrases, render_report
from treaty.contracts.findings import Severity
from treaty.spark.report.data_test import TestReport as Report
from treaty.spark.report.data_test import WrittenQuarantine
from treaty.spark.report.samples import Sample
from treaty.spark.rules import Threshold, Unchecked

FAILED = build_report(
    rows_rule("unique:id", 30),
    rows_rule("required:id", 1),
    rows_rule("enum:status", 200, Severity.WARNING),
    rows_rule("range:total", 4, threshold=Threshold("mustBeLessOrEqualTo", 1, True)),
    rows_rule("type:total"),
    dataset_rule("row_count:rowCount", 1000, passed=True, threshold=Threshold("mustBeGreaterThan", 3)),
    dataset_rule("freshness:at", timedelta(days=2, hours=5).total_seconds(), passed=False),
    quarantined=31,
    drift=(difference(Severity.ERROR, "total", "is declared as number, but the data have string"),),
    samples=(
        Sample("unique:id", '{"id":"7"}', 20, (("id", "7"),)),
        Sample("unique:id", '{"id":"8"}', 10, (("id", "8"),)),
        Sample("required:id", None, 1, (("id", None),)),
    ),
    quarantine=WrittenQuarantine("bad", 31),
    unchecked=(Unchecked("reference:customer_id -> customers.id", "no data were given for 'customers'"),),
)
PASSED = build_report(rows_rule("required:id"), rows_rule("type:total"))
ALLOWED = build_report(rows_rule("required:id", 5), quarantined=5, allowed=Threshold("mustBeLessOrEqualTo", 10))
WITHIN = "allowed"

ESCAPE = "x\x1b[31m\x07\u202e<script>alert('1')</script>]]>&\ufffe\nnew | line"
HOSTILE = Report(
    ESCAPE,
    build_report(rows_rule(f"required:{ESCAPE}", 1), quarantined=1, unchecked=(Unchecked(ESCAPE, ESCAPE),)).measures,
    (difference(Severity.ERROR, ESCAPE, ESCAPE),),
    (Sample(f"required:{ESCAPE}", ESCAPE, 1, ((ESCAPE, ESCAPE),)),),
    quarantine=WrittenQuarantine(ESCAPE, 1),
)

TEXT = """\
✗ orders.csv violates orders 1.0.0: 31 of 1,000 rows are quarantined; 1 rule on the entire dataset failed; 1 schema difference not allowed by the contract

Rules
     Rule          Rows or value  Share  Requirement                                                      Severity
  ✗  unique:id                30    3 %  must be valid                                             error
  ✗  required:id               1  0.1 %  must be valid                                             error
  ✗  freshness:at        2 d 5 h         the newest row must be at most 1 d old                    error
  !  enum:status             200   20 %  must be valid                                             warning
  ✓  range:total               4  0.4 %  must be valid; violating rows must be at most 1 %     error
  ✓  2 other rules passed; list with -v

Most frequent violations
  Rule         Value       Rows  Example row
  unique:id    {"id":"7"}    20  id 7
               {"id":"8"}    10  id 8
  required:id  null           1  id null

Schema differences
     Field  Difference                                      Kind
  ✗  total  is declared as number, but the data have string  field_type_changed

  Rows        1,000 rows: 969 valid, 31 quarantined (3.1 %)
  Freshness   newest at: 2 d 5 h old (the newest row must be at most 1 d old)
  Quarantine  31 rows in bad
  Unchecked   reference:customer_id -> customers.id: no data were given for 'customers'
  Next        see the rows and why they are there: treaty quarantine show bad
              if the data is right, change the contract; treaty diff shows what that breaks
              to tolerate violations: --severity RULE=warning, or --max-quarantined 0.1%
"""  # noqa: E501


def squeezed(text: str) -> str:
    """Let the width of columns be free."""
    return re.sub(r" {2,}", "  ", text)


def test_the_text_says_the_verdict_first_then_what_is_broken() -> None:
    assert squeezed(render_report(FAILED, ReportFormat.TEXT)) == squeezed(TEXT)


def test_a_text_of_data_that_pass_is_short() -> None:
    assert render_report(PASSED, ReportFormat.TEXT).splitlines() == [
        "✓ orders.csv satisfies orders 1.0.0: 1,000 rows, 2 of 2 rules passed",
        "",
        "Rules",
        "  ✓  2 rules passed; list with -v",
        "",
        "  Rows    1,000 rows: 1,000 valid, 0 quarantined",
        "  Schema  as declared",
    ]


@pytest.mark.parametrize("output", [ReportFormat.TEXT, ReportFormat.MARKDOWN])
def test_rules_that_held_are_listed_on_demand(output: ReportFormat) -> None:
    assert "type:total" not in render_report(FAILED, output)
    assert "type:total" in render_report(FAILED, output, HeldRules.LISTED)


def test_json_is_the_full_report() -> None:
    assert json.loads(render_report(FAILED, ReportFormat.JSON)) == FAILED.as_data()


def suite(report: Report) -> Xml.Element:
    """Read the only suite of a JUnit report."""
    (found,) = Xml.fromstring(render_report(report, ReportFormat.JUNIT).encode())  # noqa: S314
    return found


def test_junit_has_a_case_for_each_rule_and_counts_them() -> None:
    cases = {case.get("name"): case for case in suite(FAILED).findall("testcase")}

    assert list(cases) == [
        *sorted(item.rule.id for item in FAILED.measures.results),
        "unchecked: reference:customer_id -> customers.id",
        "schema",
        "rows quarantined",
    ]
    failed = [name for name, case in cases.items() if case.find("failure") is not None]
    assert failed == ["freshness:at", "required:id", "unique:id", "schema", "rows quarantined"]
    counted = {key: suite(FAILED).get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counted == {"tests": "10", "failures": "5", "errors": "0", "skipped": "1"}


def test_junit_tells_counts_and_samples_of_a_failure() -> None:
    failure = suite(FAILED).find("testcase[@name='unique:id']/failure")

    assert failure is not None
    assert failure.attrib == {"type": "unique", "message": "30 rows (3 %): must be valid"}
    assert (failure.text or "").splitlines()[1:] == ['{"id":"7"}  (20×)  id 7', '{"id":"8"}  (10×)  id 8']


@pytest.mark.parametrize(
    ("report", "rule", "said"),
    [
        (FAILED, "enum:status", "warning: 200 rows (20 %): must be valid"),
        (FAILED, "range:total", f"{WITHIN}: 4 rows (0.4 %): must be valid; violating rows must be at most 1 %"),
        (ALLOWED, "required:id", f"{WITHIN}: 5 rows (0.5 %): must be valid"),
    ],
)
def test_junit_passes_what_does_not_fail_the_test(report: Report, rule: str, said: str) -> None:
    case = suite(report).find(f"testcase[@name='{rule}']")

    assert case is not None
    assert case.find("failure") is None
    assert case.findtext("system-out") == said


class Page(HTMLParser):
    """The tags of a page, each closed in its turn, and its texts."""

    VOID = frozenset({"meta"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of a tag; none may act or fetch."""
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close what was opened last."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Collect what is to be read."""
        self.text += data


@pytest.mark.parametrize("report", [FAILED, PASSED, ALLOWED, HOSTILE], ids=["failed", "passed", "allowed", "hostile"])
def test_html_is_a_single_page_without_scripts(report: Report) -> None:
    page = Page(render_report(report, ReportFormat.HTML))

    assert page.open == []
    assert "script" not in page.tags
    assert "link" not in page.tags
    assert page.tags.count("style") == 1
    assert report.outcome.value in page.text


def test_html_shows_what_the_text_shows() -> None:
    page = Page(render_report(FAILED, ReportFormat.HTML)).text

    for said in ("30", "3 %", '{"id":"7"}', "newest at: 2 d 5 h old", "no data were given for 'customers'", "bad"):
        assert said in page
    assert "2 rules passed" in page


def test_markdown_is_short() -> None:
    many = build_report(*(rows_rule(f"type:c{number:03}", 1) for number in range(300)), quarantined=1)

    assert len(render_report(many, ReportFormat.MARKDOWN).splitlines()) < 40
    assert "280 more violated" in render_report(many, ReportFormat.MARKDOWN)
    assert render_report(FAILED, ReportFormat.MARKDOWN).startswith(
        "### ❌ `orders` `1.0.0` on `orders.csv`\n\n**failed**: 1,000"
    )


@pytest.mark.parametrize("output", [ReportFormat.TEXT, ReportFormat.MARKDOWN, ReportFormat.HTML, ReportFormat.JUNIT])
def test_text_from_data_is_escaped(output: ReportFormat) -> None:
    printed = render_report(HOSTILE, output)

    assert not any(sign in printed for sign in ("\x1b", "\x07", "\u202e", "\nnew"))
    assert "\\x1b" in printed.replace("\\\\", "\\")
    if output is not ReportFormat.TEXT:
        assert "<script>" not in re.sub(r"`[^`\n]*`", "code", printed)
    if output is ReportFormat.JUNIT:
        assert len(suite(HOSTILE).findall("testcase")) == 4


@pytest.mark.parametrize("output", list(ReportFormat))
def test_the_same_report_is_the_same_bytes(output: ReportFormat) -> None:
    assert render_report(FAILED, output) == render_report(FAILED, output)


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [
        (0, 10, "0 %"),
        (1, 3, "33.33 %"),
        (1, 10, "10 %"),
        (10, 10, "100 %"),
        (1, 1_000_000, "< 0.01 %"),
        (999_999, 1_000_000, "> 99.99 %"),
        (0, 0, ""),
        (None, 10, ""),
    ],
)
def test_a_share_never_hides_a_row(part: int | None, whole: int, said: str) -> None:
    assert phrases.format_share(part, whole) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (59.9, "59 s"),
        (3_600, "1 h"),
        (11_520, "3 h 12 min"),
        (190_800, "2 d 5 h"),
        (-60, "1 min in the future"),
    ],
)
def test_an_age_has_its_two_largest_units(seconds: float, said: str) -> None:
    assert phrases.format_age(seconds) == said
