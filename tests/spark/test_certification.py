"""A publisher is checked against its contracts: every violation is found by its check, with its key and field."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from treaty.contracts import Contract, contract_from
from treaty.errors import InvalidDocument, NotFound
from treaty.events.certification import Certification, CoverageKind, Outcome
from treaty.events.checks import CheckId
from treaty.spark.certification import certify
from treaty.spark.event_records import Transport, read_capture, read_record_files

NOW = datetime(2026, 11, 19, 8, 0, tzinfo=UTC)
HEAD = [
    {"name": "classId", "logicalType": "string", "required": True},
    {"name": "eventSequence", "logicalType": "integer", "required": True},
    {
        "name": "occurredAt",
        "logicalType": "timestamp",
        "required": True,
        "logicalTypeOptions": {"timezone": True},
    },
    {"name": "correlationId", "logicalType": "string"},
]
PLACE = [
    {"name": "capacity", "logicalType": "integer", "required": True, "logicalTypeOptions": {"minimum": 0}},
    {
        "name": "coach",
        "logicalType": "object",
        "required": True,
        "properties": [
            {"name": "coachId", "logicalType": "string", "required": True},
            {"name": "coachName", "logicalType": "string", "classification": "internal"},
        ],
    },
    {"name": "tags", "logicalType": "array", "items": {"logicalType": "object", "properties": HEAD[3:]}},
]
KEPT = {"name": "kept", "sql": "current.capacity >= previous.capacity", "meaning": "The capacity never falls."}
WARNED = {"name": "few", "sql": "current.capacity < 90", "severity": "warning"}


def event_contract(name: str, fields: list[Any], lifecycle: dict[str, Any], **blocks: Any) -> Contract:
    document = {
        "apiVersion": "v3.2.0",
        "kind": "DataContract",
        "id": f"gym.{name}",
        "version": "1.2.0",
        "event": {"type": name},
        "ordering": {"key": ["classId"], "sequence": "eventSequence"},
        "lifecycle": {"stream": "classes", **lifecycle},
        "content": "closed",
        "exclusions": ["Notes of administrators", "Row identifiers of the database"],
        "schema": [{"name": name, "properties": fields}],
        **blocks,
    }
    return contract_from(document)


CONTRACTS = [
    event_contract("ClassPublished", [*HEAD, *PLACE], {"moves": [{"to": "published"}], "invariants": [WARNED]}),
    event_contract(
        "ClassUpdated",
        [*HEAD, *PLACE],
        {
            "moves": [{"from": "published", "to": "updated"}, {"from": "updated", "to": "updated"}],
            "invariants": [KEPT],
        },
    ),
    event_contract(
        "ClassCancelled",
        HEAD,
        {"moves": [{"from": "published", "to": "cancelled"}, {"from": "updated", "to": "cancelled"}]},
    ),
]


def event(name: str, key: str | None, sequence: int, **changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"classId": key, "eventSequence": sequence, "occurredAt": "2026-11-01T10:00:00Z"}
    if name != "ClassCancelled":
        data |= {"capacity": 10, "coach": {"coachId": "x"}}
    return {"specversion": "1.0", "type": name, "data": data | changes}


GOOD = [
    event("ClassPublished", "good", 1),
    event("ClassUpdated", "good", 2, capacity=12),
    event("ClassUpdated", "good", 2, capacity=12),
    event("ClassCancelled", "good", 3),
]


def write(path: Path, records: Iterable[Any]) -> str:
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def certified(spark: SparkSession, path: Path, records: Iterable[Any], contracts: list[Contract]) -> Certification:
    return certify(read_record_files(spark, write(path, records), Transport(str(path))), contracts, "native", NOW)


def test_a_publisher_that_keeps_its_contracts_is_certified(any_spark: SparkSession, tmp_path: Path) -> None:
    found = certified(any_spark, tmp_path / "good.jsonl", GOOD, CONTRACTS)

    assert found.passed
    assert [(one.id, one.version, one.events) for one in found.contracts] == [
        ("gym.ClassPublished", "1.2.0", 1),
        ("gym.ClassUpdated", "1.2.0", 2),
        ("gym.ClassCancelled", "1.2.0", 1),
    ]
    assert (found.evidence.events, found.evidence.keys, found.evidence.redeliveries) == (4, 1, 1)
    assert found.evidence.last_event_at == datetime(2026, 11, 1, 10, tzinfo=UTC)
    assert found.result(CheckId.LATENCY).why == "the contract promises no latency"


def test_a_certificate_says_what_it_did_not_see(spark: SparkSession, tmp_path: Path) -> None:
    found = certified(spark, tmp_path / "few.jsonl", [GOOD[0]], CONTRACTS)

    assert [(one.kind, one.name) for one in found.unseen if one.event_type in (None, "ClassCancelled")] == [
        (CoverageKind.EVENT_TYPE, "ClassCancelled"),
        (CoverageKind.FIELD, "correlationId"),
        (CoverageKind.STATE, "cancelled"),
        (CoverageKind.STATE, "updated"),
    ]
    assert [one.name for one in found.unseen if one.event_type == "ClassPublished"] == [
        "correlationId",
        "coach.coachName",
        "tags",
    ]


BAD = [
    event("ClassPublished", "gap", 1),
    event("ClassUpdated", "gap", 3),
    event("ClassPublished", "swap", 1),
    event("ClassUpdated", "swap", 3),
    event("ClassUpdated", "swap", 2),
    event("ClassUpdated", "first", 1),
    event("ClassPublished", "type", 1, capacity="many"),
    event("ClassPublished", "zone", 1, occurredAt="2026-11-01T10:00:00"),
    event("ClassPublished", "leak", 1, internalNotes="moody"),
    event("ClassPublished", "text", 1, correlationId="cls:row=4711"),
    event("ClassPublished", "more", 1, coach={"coachId": "x", "mail": "x@example.com"}, tags=[{"colour": "red"}]),
    event("ClassPublished", "twice", 1),
    event("ClassPublished", "twice", 1, capacity=11),
    event("ClassPublished", "fall", 1),
    event("ClassUpdated", "fall", 2, capacity=9),
    event("ClassPublished", "warn", 1, capacity=100),
    event("ClassPublished", "late", 1, occurredAt="2026-11-19T10:00:00+01:00"),
    event("ClassPublished", None, 1),
    event("ClassSold", "other", 1),
    '{"specversion": "1.0", "type": "ClassPub',
]
EXPECTED = {
    CheckId.READABLE: [("", None, None, "must be a readable record")],
    CheckId.FIELDS: [("ClassPublished", "type", "capacity", "must be integer")],
    CheckId.TIME_ZONE: [("ClassPublished", "zone", "occurredAt", "must state its offset from UTC")],
    CheckId.CLOSED: [
        ("ClassPublished", "more", "coach.mail, tags.colour", "must not have fields that are not in the contract")
    ],
    CheckId.EXCLUSIONS: [("ClassPublished", "leak", None, "must not contain what the contract excludes")],
    CheckId.IDENTITY: [("ClassPublished", None, None, "must have its identity: classId, eventSequence")],
    CheckId.CONFLICT: [("ClassPublished", "twice", None, "has the identity of another event and other content")],
    CheckId.SEQUENCE: [("ClassUpdated", "swap", None, "arrived before the event with the sequence 2")],
    CheckId.GAPS: [("ClassUpdated", "gap", None, "comes directly after the sequence 1")],
    CheckId.EVENT_TYPE: [("ClassSold", None, None, "ClassSold is not an event type of the contracts")],
    CheckId.MOVE: [
        (
            "ClassUpdated",
            "first",
            None,
            "ClassUpdated is the first event of its key; it needs the state published or updated",
        )
    ],
    CheckId.INVARIANT: [
        ("ClassPublished", "warn", None, "must hold: current.capacity < 90"),
        ("ClassUpdated", "fall", None, "must hold: The capacity never falls."),
    ],
    CheckId.CLOCK: [
        (
            "ClassPublished",
            "late",
            "occurredAt",
            "must not be later than the arrival; the clock of the publisher is ahead, or it sends local time as UTC",
        )
    ],
}


def test_every_violation_is_found_by_its_check(spark: SparkSession, tmp_path: Path) -> None:
    found = certified(spark, tmp_path / "bad.jsonl", [*GOOD, *BAD], CONTRACTS)

    violations = {
        result.id: sorted((one.event_type, one.key, one.field, one.message) for one in result.violations)
        for result in found.results
        if result.violations
    }
    assert violations == EXPECTED
    assert {one.count for result in found.results for one in result.violations} == {1, 2}
    assert found.result(CheckId.EXCLUSIONS).count == 2
    assert not found.passed


def test_a_broken_invariant_of_severity_warning_does_not_fail(spark: SparkSession, tmp_path: Path) -> None:
    warned = certified(spark, tmp_path / "warn.jsonl", [event("ClassPublished", "a", 1, capacity=95)], CONTRACTS)

    assert warned.passed
    assert warned.result(CheckId.INVARIANT).outcome is Outcome.WARNED


def test_arrivals_partitions_and_single_delivery_are_checked_if_the_transport_tells(
    spark: SparkSession, tmp_path: Path
) -> None:
    contract = event_contract(
        "ClassPublished",
        [*HEAD, *PLACE],
        {"moves": [{"to": "published"}]},
        delivery={"guarantee": "exactly_once"},
        latency={"within": "5 s", "percentile": 60},
    )
    one = event("ClassPublished", "a", 1)["data"]
    rows = [("a", "10:00:02", "0"), ("a", "10:00:03", "1"), ("b", "10:00:09", "0"), ("c", "10:00:09", "0")]
    captured = [
        {"payload": json.dumps(one | {"classId": key}), "arrived_at": f"2026-11-01T{at}Z", "partition": partition}
        for key, at, partition in rows
    ]
    captured[1]["payload"] = captured[0]["payload"]
    captured.append(captured[3] | {"payload": json.dumps(one | {"classId": "a", "eventSequence": 2}), "partition": "1"})
    path = write(tmp_path / "captured.json", captured)
    topic = Transport("topic classes", has_arrival_times=True, has_partitions=True)

    found = certify(read_capture(spark, path, topic), [contract], "native", NOW)

    assert {result.id for result in found.failures} == {
        CheckId.DUPLICATES,
        CheckId.PARTITION,
        CheckId.MOVE,
        CheckId.LATENCY,
    }
    assert found.result(CheckId.LATENCY).violations[0].message == "60 % must arrive within 5 s; 40.0 % did"


@pytest.mark.parametrize(
    ("records", "error", "message"),
    [
        ([], NotFound, "sent no events; check that it publishes"),
        (
            [event("ClassPublishd", "a", 1)],
            InvalidDocument,
            "has a type of the contracts: it sends ClassPublishd; did you mean 'ClassPublished'",
        ),
        ([{"classId": "a"}], InvalidDocument, "name no event type; name the field that has it: --type-field FIELD"),
    ],
)
def test_a_publisher_without_fitting_events_is_refused(
    records: list[Any], error: type[Exception], message: str, spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        certified(spark, tmp_path / "none.jsonl", records, CONTRACTS)


def test_a_life_cycle_without_its_first_event_type_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="no event type of ClassUpdated is the first of a key"):
        certified(spark, tmp_path / "part.jsonl", [event("ClassUpdated", "a", 1)], CONTRACTS[1:2])


def test_an_open_contract_allows_other_fields_but_no_other_types(spark: SparkSession, tmp_path: Path) -> None:
    contract = event_contract(
        "ClassPublished", [*HEAD, *PLACE], {"moves": [{"to": "published"}]}, content="open", exclusions=["Prices"]
    )
    records = [
        event("ClassPublished", "a", 1, internalNotes="moody"),
        event("ClassPublished", "b", 1, correlationId={"row": 4711}),
    ]

    found = certified(spark, tmp_path / "open.jsonl", records, [contract])

    assert [result.id for result in found.failures] == [CheckId.FIELDS]
    assert [one.key for one in found.result(CheckId.FIELDS).violations] == ["b"]
