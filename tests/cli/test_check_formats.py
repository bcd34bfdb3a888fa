"""A review in every format: text from documents is escaped, and output is deterministic."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from tests.cli.pull_request_repository import CONSUMERS, REFUSED, V1
from tests.review.branch_builder import reviewed
from treaty.cli.render.review import CheckFormat, markdown, render_review
from treaty.cli.render.review.phrases import reference_texts
from treaty.governance.branch_findings import BRANCH_FINDINGS
from treaty.review import Review

EVIL = (
    "x\x1b[31m\x07\u202e</summary></details><script>alert(1)</script>]]>&\ufffe"
    "\n::error::pwned\r\n##[set-env]a%0Ab | @all [l](u)"
)
FILES: dict[str, Any] = {"contracts/orders.yaml": V1, "readers.yaml": CONSUMERS}


def _hostile() -> Review:
    fields = [{"name": EVIL, "logicalType": "string"}]
    readers = [{"consumer": EVIL, "line": f"{EVIL}@1", "class": "exploratory_analytics", "contact": EVIL}]
    before = {f"{EVIL[:1]}/a\n::error::b.yaml": json.dumps(_document(EVIL, fields))}
    after = {f"{EVIL[:1]}/a\n::error::b.yaml": json.dumps(_document(EVIL, []))}
    subscribed = {"readers.json": json.dumps({"subscriptions": readers})}
    return reviewed({**before, **subscribed}, {**after, **subscribed})


def _document(name: str, fields: list[Any]) -> dict[str, Any]:
    head = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": name, "version": "1.0.0", "status": "active"}
    return {**head, "schema": [{"name": name, "properties": fields}]}


def _refused() -> Review:
    return reviewed(FILES, {**FILES, "contracts/orders.yaml": REFUSED})


@pytest.mark.parametrize("form", [one for one in CheckFormat if one is not CheckFormat.JSON])
def test_what_a_document_says_cannot_act(form: CheckFormat) -> None:
    text = render_review(_hostile(), form)

    assert not any(sign in text for sign in ("\x1b", "\x07", "\u202e"))
    assert "pwned" in text
    commands = [line for line in text.splitlines() if line.strip().startswith("::")]
    assert all(re.match(r"::(error|warning|notice) (file|title)=", line) for line in commands)
    assert form is CheckFormat.GITHUB or commands == []


def test_a_comment_has_no_markup_of_a_document() -> None:
    class Tags(HTMLParser):
        """Collects tags."""

        def __init__(self) -> None:
            super().__init__()
            self.found: list[str] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            """Note a tag."""
            self.found.append(tag)

    text = re.sub(r"`[^`\n]*`", "", render_review(_hostile(), CheckFormat.MARKDOWN))  # code stays code
    tags = Tags()
    tags.feed(text)

    assert set(tags.found) <= {"details", "summary", "code", "sub", "br"}
    assert text.count("<details>") == text.count("</details>")
    assert not re.search(r"(?<!\\)\[l\]", re.sub(r"<code>.*?</code>", "", text))


@pytest.mark.parametrize("form", CheckFormat)
def test_the_same_review_gives_the_same_bytes(form: CheckFormat) -> None:
    assert render_review(_refused(), form) == render_review(_refused(), form)


def test_annotations_stand_at_the_lines_of_the_contract() -> None:
    lines = render_review(_refused(), CheckFormat.GITHUB).splitlines()

    found = [re.match(r"::(\w+) file=([^,]+),line=(\d+),title=(\w+)%3A", line) for line in lines[:-1]]
    assert {(one[1], one[2], one[4]) for one in found if one} == {
        ("error", "contracts/orders.yaml", "version_bump_too_small"),
        ("error", "contracts/orders.yaml", "field_removed"),
        ("error", "contracts/orders.yaml", "field_type_changed"),
    }
    assert any("(affects delivery-planner)" in line for line in lines)
    assert lines[-1] == "treaty check: 1 contract · 1 changed · 2 consumers affected · 1 may not merge"


def test_code_quality_has_a_fingerprint_that_survives_a_move_of_lines() -> None:
    moved = {**REFUSED, "name": "Orders", "domain": "shop"}
    first = json.loads(render_review(_refused(), CheckFormat.GITLAB))
    second = json.loads(render_review(reviewed(FILES, {**FILES, "contracts/orders.yaml": moved}), CheckFormat.GITLAB))

    assert {one["fingerprint"] for one in first} == {one["fingerprint"] for one in second}
    assert len({one["fingerprint"] for one in first}) == len(first)
    assert {one["severity"] for one in first} == {"critical"}
    assert all(one["location"]["lines"]["begin"] > 0 for one in first)


def test_what_xml_cannot_hold_is_replaced() -> None:
    assert Xml.fromstring(render_review(_hostile(), CheckFormat.JUNIT)).tag == "testsuites"  # noqa: S314 - our own words


def test_junit_has_a_suite_for_each_contract_and_a_case_for_each_judge() -> None:
    (suite,) = Xml.fromstring(render_review(_refused(), CheckFormat.JUNIT))  # noqa: S314 - our own words

    assert (suite.attrib["name"], suite.attrib["tests"], suite.attrib["failures"]) == ("shop.orders", "4", "1")
    failed = [case.attrib["name"] for case in suite.iter("testcase") if case.find("failure") is not None]
    assert failed == ["compatibility"]


def test_sarif_explains_every_rule() -> None:
    (run,) = json.loads(render_review(_refused(), CheckFormat.SARIF))["runs"]

    assert all(rule["fullDescription"]["text"] != rule["id"] for rule in run["tool"]["driver"]["rules"])
    assert reference_texts(BRANCH_FINDINGS).keys() == BRANCH_FINDINGS.keys()


def test_a_comment_is_short_on_top_and_folded_below() -> None:
    text = render_review(_refused(), CheckFormat.MARKDOWN)
    top, _, folded = text.partition("<details>")

    assert top.startswith(markdown.MARKER)
    assert "| ❌ | `shop.orders` | 1.4.0 → 1.5.0<br>requires 2.0.0 |" in top
    assert "**delivery-planner** (`delivery_city`), **group-ledger** (`gross_total`)" in top
    assert len(top) < 800
    assert "  - `gross_total`: expect decimal(12,2) instead of decimal(18,4)" in folded


def test_a_comment_is_never_longer_than_hosts_take() -> None:
    many = {f"{number}.yaml": {**V1, "id": f"shop.orders{number}"} for number in range(150)}
    broken = {name: {**REFUSED, "id": case["id"]} for name, case in many.items()}

    text = render_review(reviewed(many, broken), CheckFormat.MARKDOWN)

    assert len(text) < 65_536
    assert "contracts did not fit" in text
    assert text.count("<details>") == text.count("</details>")


def test_a_branch_without_contracts_has_a_comment_that_is_only_for_updates() -> None:
    assert markdown.EMPTY in render_review(reviewed({}, {}), CheckFormat.MARKDOWN)
    assert markdown.EMPTY not in render_review(_refused(), CheckFormat.MARKDOWN)


@pytest.mark.parametrize("form", [CheckFormat.TEXT, CheckFormat.MARKDOWN, CheckFormat.GITHUB, CheckFormat.JUNIT])
def test_silent_registry_is_reported_in_every_format(form: CheckFormat) -> None:
    review = Review("main", "0" * 40, (), "https://registry.example", "connection refused")

    assert "the registry did not answer" in render_review(review, form)
    assert "connection refused" in render_review(review, form)
