"""The table of checks: every check has a page, and applies to the contracts that state what it proves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from treaty.contracts import contract_from
from treaty.events import streams_of
from treaty.events.checks import CHECKS, CheckId, CheckTarget, Group, applicable_checks, identity_of
from treaty.events.state_machine import ViolationKind

FIELDS = [
    {"name": "class_id", "logicalType": "string", "required": True},
    {"name": "n", "logicalType": "integer", "required": True},
    {"name": "at", "logicalType": "timestamp", "required": True},
]


def target(fields: list[dict[str, Any]] = FIELDS, arrivals: bool = True, **blocks: Any) -> CheckTarget:
    document = {
        "apiVersion": "v3.2.0",
        "kind": "DataContract",
        "id": "gym.class_published",
        "version": "1.0.0",
        "event": {"type": "ClassPublished"},
        "schema": [{"name": "class_published", "properties": fields}],
        **blocks,
    }
    contract = contract_from(document)
    return CheckTarget(contract, streams_of([contract]).get("classes"), arrivals)


ORDERED: dict[str, Any] = {"ordering": {"key": ["class_id"], "sequence": "n"}}
LIFECYCLE = {"stream": "classes", "moves": [{"to": "published"}], "invariants": [{"name": "a", "sql": "true"}]}


def test_every_check_has_a_page_and_a_group() -> None:
    assert list(CHECKS) == list(CheckId)
    assert {check.group for check in CHECKS.values()} == set(Group)
    assert all(check.page.endswith(".") and len(check.title) < 80 for check in CHECKS.values())


def test_the_page_on_events_lists_every_check() -> None:
    page = (Path(__file__).parents[2] / "docs" / "events.md").read_text(encoding="utf-8")

    section = page.partition("\n## Checks\n")[2].partition("\n## ")[0]

    assert re.findall(r"^\| `([a-z]+\.[a-z_]+)` \|", section, re.MULTILINE) == [check.value for check in CHECKS]


def test_the_life_cycle_has_the_same_ids_as_its_violations() -> None:
    assert {str(kind) for kind in ViolationKind} <= set(map(str, CHECKS))


@pytest.mark.parametrize(
    ("check", "applies", "without"),
    [
        (CheckId.CLOSED, {"content": "closed"}, "the content of the contract is open"),
        (CheckId.EXCLUSIONS, {"exclusions": ["notes"]}, "the contract states no exclusions"),
        (CheckId.IDENTITY, ORDERED, "the contract has neither a primary key nor an ordering key and sequence"),
        (CheckId.SEQUENCE, ORDERED, "the contract guarantees no order"),
        (CheckId.GAPS, ORDERED, "the contract guarantees no order"),
        (
            CheckId.DUPLICATES,
            {**ORDERED, "delivery": {"guarantee": "exactly_once"}},
            "the contract has neither a primary key nor an ordering key and sequence",
        ),
        (CheckId.MOVE, {"lifecycle": LIFECYCLE}, "the contract states no life cycle"),
        (CheckId.INVARIANT, {"lifecycle": LIFECYCLE}, "the contract states no invariants"),
        (CheckId.LATENCY, {"latency": {"within": "5 s"}}, "the contract promises no latency"),
    ],
)
def test_a_check_applies_to_contracts_that_state_what_it_proves(
    check: CheckId, applies: dict[str, Any], without: str
) -> None:
    assert applicable_checks(target(**applies))[check] is None
    assert applicable_checks(target())[check] == without


def test_what_the_contract_or_the_records_lack_is_said() -> None:
    keyless = applicable_checks(target(**ORDERED, delivery={"guarantee": "at_least_once"}))
    untimed = applicable_checks(target(arrivals=False, latency={"within": "5 s"}))
    texts = applicable_checks(
        target([*FIELDS[:1], {"name": "n", "logicalType": "string"}], **ORDERED, latency={"within": "5 s"})
    )

    assert keyless[CheckId.DUPLICATES] == "at_least_once allows an event to repeat"
    assert keyless[CheckId.PARTITION] == "the publisher has no partitions"
    assert untimed[CheckId.LATENCY] == "the records have no time of arrival"
    assert texts[CheckId.GAPS] == "n is not an integer, so a gap cannot be seen"
    assert texts[CheckId.CLOCK] == "the contract does not say which field is the time of the event"
    assert texts[CheckId.TIME_ZONE] == "no field is a timestamp with a time zone"


def test_events_are_identified_by_key_and_sequence_else_by_the_primary_key() -> None:
    keyed = [{**FIELDS[0], "primaryKey": True, "primaryKeyPosition": 1}, *FIELDS[1:]]

    assert identity_of(target(keyed, **ORDERED)) == ("class_id", "n")
    assert identity_of(target(keyed)) == ("class_id",)
    assert identity_of(target()) == ()
