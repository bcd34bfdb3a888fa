"""Hidden dependencies: what consumers read of a publisher without the contract promising it."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from treaty.consumers.dependencies import DataLayer
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts import Contract, contract_from
from treaty.contracts.versions import Line
from treaty.legacy.consumer_guess import ClassGuess
from treaty.legacy.dependency_map import DeclaredRead, FoundRead, MapInputs, ObservedRead
from treaty.legacy.hidden_dependencies import HiddenDependency, HiddenKind, RefusedRead, find_hidden_dependencies
from treaty.legacy.sql_reads import find_sql_reads

LINE = Line("gym.scheduling.class_published", 1)
INSIDE = Line("gym.scheduling.raw_classes", 1)
GUESS = ClassGuess(ConsumerClass.EXPLORATORY_ANALYTICS, 0.2, "nothing tells")


def contract(id: str = LINE.contract, **blocks: Any) -> Contract:  # noqa: A002  as documents name it
    fields = [
        {"name": "classId", "logicalType": "string", "primaryKey": True, "primaryKeyPosition": 1},
        {"name": "roomCode", "logicalType": "string"},
        {"name": "ticketId", "logicalType": "string", "logicalTypeOptions": {"pattern": "^T-[0-9]+$"}},
        {"name": "seatKey", "logicalType": "integer"},
        {"name": "coach", "logicalType": "object", "properties": [{"name": "coachId", "logicalType": "string"}]},
    ]
    return contract_from(
        {
            "apiVersion": "v3.2.0",
            "kind": "DataContract",
            "id": id,
            "version": "1.0.0",
            "domain": "scheduling",
            "exclusions": [{"what": "Notes of administrators", "why": "Internal to the publisher."}],
            "schema": [{"name": "class_published", "properties": fields}],
            **blocks,
        }
    )


CONTRACTS = {LINE: contract(), INSIDE: contract(INSIDE.contract)}


def scanned(
    *columns: str, table: str = LINE.contract, line: Line | None = LINE, parsed: tuple[str, ...] = ()
) -> FoundRead:
    return FoundRead(
        "waitlist", table, frozenset(columns), GUESS, line, places=("waitlist.sql",), parsed=frozenset(parsed)
    )


def declared(*columns: str) -> DeclaredRead:
    return DeclaredRead("waitlist", LINE, ConsumerClass.SERVICE_ORCHESTRATION, frozenset(columns))


def find(*found: FoundRead, declared: tuple[DeclaredRead, ...] = (), **inputs: Any) -> tuple[HiddenDependency, ...]:
    return find_hidden_dependencies(MapInputs(declared=declared, found=found, **inputs), CONTRACTS)


@pytest.mark.parametrize(
    ("read", "kind", "subject", "message"),
    [
        (
            scanned("roomcode"),
            HiddenKind.UNDECLARED_FIELD,
            "roomCode",
            "reads roomCode, which its subscription does not",
        ),
        (
            scanned("internalnotes"),
            HiddenKind.EXCLUDED_FIELD,
            "internalnotes",
            "reads internalnotes, which the contract excludes: Notes of administrators (Internal to the publisher)",
        ),
        (scanned("row_version"), HiddenKind.UNKNOWN_FIELD, "row_version", "reads row_version, which is not in the"),
        (scanned("classid", parsed=("classid",)), HiddenKind.PARSED_IDENTIFIER, "classId", "takes classId apart; the"),
        (
            scanned("a", table="scheduling.class_rules", line=None),
            HiddenKind.PRODUCER_TABLE,
            "scheduling.class_rules",
            "reads scheduling.class_rules, a table inside of the publisher of gym.scheduling.class_published",
        ),
        (
            scanned("a", table="raw.scheduling_classes", line=None),
            HiddenKind.PRODUCER_TABLE,
            "raw.scheduling_classes",
            "reads raw.scheduling_classes, a table inside of the publisher",
        ),
    ],
)
def test_each_hidden_dependency_is_found_with_its_reason(
    read: FoundRead, kind: HiddenKind, subject: str, message: str
) -> None:
    (found,) = find(read, declared=(declared("classId"),))

    assert (found.kind, found.consumer, found.line, found.subject) == (kind, "waitlist", LINE, subject)
    assert found.message.startswith(message)
    assert (found.evidence, found.places) == (("scanned",), ("waitlist.sql",))


@pytest.mark.parametrize(
    "read",
    [
        scanned("classid", "coach"),
        scanned("*"),
        scanned("coach.coachid"),
        scanned("_run"),
        scanned("ticketid", parsed=("ticketid",)),  # the contract states its pattern
        scanned("seatkey", parsed=("seatkey",)),
        scanned("roomcode", parsed=("roomcode",)),
        scanned("a", table="billing.invoices", line=None),
    ],
)
def test_what_the_contract_promises_and_other_tables_are_no_hidden_dependencies(read: FoundRead) -> None:
    everything = declared("classId", "coach.coachId", "ticketId", "seatKey", "roomCode")

    assert find(read, declared=(everything,)) == ()


def test_a_consumer_without_declared_fields_has_no_undeclared_ones() -> None:
    assert find(scanned("roomcode"), declared=(declared(),)) == ()
    assert find(scanned("roomcode")) == ()


def test_evidence_of_scans_lineage_and_refusals_is_merged() -> None:
    observed = ObservedRead("waitlist", LINE, frozenset({"roomCode"}), date(2026, 11, 1), "booking")
    inputs = MapInputs(declared=(declared("classId"),), observed=(observed,), found=(scanned("roomcode"),))

    (found,) = find_hidden_dependencies(inputs, CONTRACTS, [RefusedRead("waitlist", LINE, frozenset({"roomCode"}))])

    assert found.evidence == ("scanned", "observed", "refused")
    assert found.team == "booking"


def test_an_internal_line_of_the_same_domain_is_inside_of_the_publisher() -> None:
    inside = scanned("classid", table=INSIDE.contract, line=INSIDE)

    (found,) = find(inside, declared=(declared("classId"),), layers={INSIDE: DataLayer.RAW})

    assert (found.kind, found.line, found.subject) == (HiddenKind.PRODUCER_TABLE, LINE, INSIDE.contract)


def test_the_most_delicate_come_first() -> None:
    found = find(scanned("roomcode", "row_version", "adminnotes", parsed=("classid",)), declared=(declared("classId"),))

    assert [one.kind for one in found] == [
        HiddenKind.EXCLUDED_FIELD,
        HiddenKind.PARSED_IDENTIFIER,
        HiddenKind.UNKNOWN_FIELD,
        HiddenKind.UNDECLARED_FIELD,
    ]


@pytest.mark.parametrize(
    ("sql", "parsed"),
    [
        ("SELECT split(t.id, '-')[1] FROM t", {"id"}),
        ("SELECT lower(substring(upper(id), 1, 3)) FROM t", {"id"}),
        ("SELECT split_part(id, '-', 2), left(code, 3) FROM t", {"id", "code"}),
        ("SELECT substring_index(id, '-', 1) FROM t", {"id"}),
        ("SELECT regexp_extract(id, 'a', 0) FROM t WHERE code RLIKE 'b'", {"id", "code"}),
        ("SELECT * FROM t WHERE id LIKE 'row-%'", {"id"}),
        ("SELECT get_json_object(id, '$.row') FROM t", {"id"}),
        ("SELECT id, upper(id), concat(id, 'x') FROM t WHERE id = 'a' AND id LIKE 'a'", set()),
        ("SELECT split('a-b', id) FROM t", set()),
    ],
)
def test_sql_that_takes_a_column_apart_is_recognized(sql: str, parsed: set[str]) -> None:
    found = find_sql_reads(sql)

    assert found is not None
    assert set(found.parsed.get("t", ())) == parsed
