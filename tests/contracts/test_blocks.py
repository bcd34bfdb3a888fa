"""Treaty's own blocks: authored plainly, carried in strict ODCS, read the same either way."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from tests.contracts.comparing import as_json
from treaty.contracts import contract_from
from treaty.contracts.blocks import (
    Audience,
    Blocks,
    ChangelogEntry,
    ChangePolicy,
    Delivery,
    Deprecation,
    Event,
    Exclusion,
    IntendedConsumer,
    Latency,
    Migration,
    Ordering,
    SemanticMeasure,
    Target,
    Upstream,
)
from treaty.contracts.data_policies import DataPolicy, Mask, MaskMethod, MaskRule
from treaty.contracts.event_lifecycles import Invariant, Lifecycle, Move
from treaty.contracts.findings import Severity
from treaty.contracts.odcs import write_odcs
from treaty.contracts.owners import Owner
from treaty.contracts.requirements import Requirement, Scope
from treaty.contracts.schemas import block_names
from treaty.contracts.values import FrozenMap
from treaty.errors import InvalidDocument

HEAD = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "orders", "version": "1.0.0"}

BLOCKS: list[tuple[str, Any, Any]] = [
    # name, as it is authored, as it is read
    ("owners", [{"team": "a", "contact": "#a"}, {"team": "b"}], (Owner("a", "#a"), Owner("b"))),
    (
        "deprecation",
        {"announced": "2026-01-03", "sunset_date": "2026-06-30", "replacement": "orders@2", "reason": "a"},
        Deprecation("2026-01-03", "2026-06-30", "orders@2", None, "a"),
    ),
    ("deprecation", {"migration_guide": "https://a"}, Deprecation(migration_guide="https://a")),
    (
        "migration",
        {"guide": "https://a", "window": "60 d", "owner": "checkout"},
        Migration("https://a", "60 d", "checkout"),
    ),
    (
        "changelog",
        [{"version": "1.1.0", "date": "2026-01-03", "changes": ["a", "b"]}, {"version": "1.0.0", "changes": ["c"]}],
        (ChangelogEntry("1.1.0", ("a", "b"), "2026-01-03"), ChangelogEntry("1.0.0", ("c",))),
    ),
    ("change_policy", {"compatibility": "full", "notice": "30 d"}, ChangePolicy("full", "30 d")),
    ("change_policy", {"statement": "never"}, ChangePolicy(statement="never")),
    (
        "intended_consumers",
        [{"name": "finance", "purpose": "a", "class": "external_regulatory"}, {"name": "bi"}],
        (IntendedConsumer("finance", "a", "external_regulatory"), IntendedConsumer("bi")),
    ),
    ("delivery", {"guarantee": "exactly_once"}, Delivery("exactly_once")),
    (
        "delivery",
        {"guarantee": "at_least_once", "channels": ["kafka", "table"], "statement": "a"},
        Delivery("at_least_once", ("kafka", "table"), "a"),
    ),
    ("ordering", "none", Ordering()),
    ("ordering", {"key": ["order_id"], "sequence": "version"}, Ordering(("order_id",), "version")),
    (
        "latency",
        {"profile": "near_real_time", "within": "5 min", "percentile": 99.9},
        Latency("near_real_time", "5 min", 99.9),
    ),
    ("tier", "product", "product"),
    ("parent", "retail.policy", "retail.policy"),
    ("expires", "2026-06-30", "2026-06-30"),
    ("sharing", "domain", "domain"),
    ("effective_from", "2026-06-30", "2026-06-30"),
    (
        "require",
        [{"name": "pii", "for": "field", "where": {"tag": "pii"}, "must": {"classification": True}}],
        (Requirement("pii", Scope.FIELD, ((FrozenMap({"classification": True}),),), FrozenMap({"tag": "pii"})),),
    ),
    (
        "exclusions",
        ["card numbers", {"what": "names", "why": "privacy"}],
        (Exclusion("card numbers"), Exclusion("names", "privacy")),
    ),
    (
        "measures",
        [
            {
                "name": "unpaid_pct",
                "meaning": "orders that wait for money",
                "expression": "100.0 * count_if(state = 'open') / count(*)",
                "unit": "%",
                "target": {"at_most": 2.5},
                "owner": "payments",
            },
            {"name": "late_rows", "rule": "on_time", "object": "orders", "target": {"at_least": 1}},
        ],
        (
            SemanticMeasure(
                "unpaid_pct",
                "orders that wait for money",
                "100.0 * count_if(state = 'open') / count(*)",
                unit="%",
                target=Target(at_most=2.5),
                owner="payments",
            ),
            SemanticMeasure("late_rows", rule="on_time", object="orders", target=Target(at_least=1)),
        ),
    ),
    ("event", {"type": "OrderPlaced", "meaning": "a customer ordered"}, Event("OrderPlaced", "a customer ordered")),
    (
        "lifecycle",
        {
            "stream": "orders",
            "moves": [{"to": "placed"}, {"from": "paid", "to": "shipped"}],
            "invariants": [
                {"name": "total_kept", "sql": "current.total = previous.total"},
                {"name": "later", "sql": "current.at > previous.at", "severity": "warning", "meaning": "time goes on"},
            ],
        },
        Lifecycle(
            "orders",
            (Move("placed"), Move("shipped", "paid")),
            (
                Invariant("total_kept", "current.total = previous.total", Severity.ERROR),
                Invariant("later", "current.at > previous.at", Severity.WARNING, "time goes on"),
            ),
        ),
    ),
    ("lifecycle", {"stream": "orders"}, Lifecycle("orders")),
    ("content", "closed", "closed"),
    ("source_authority", "the till", "the till"),
    (
        "lineage",
        [{"contract": "orders@1", "fields": ["id"]}, {"source": "erp"}],
        (Upstream("orders@1", None, ("id",)), Upstream(None, "erp")),
    ),
    ("data_policy", {"purposes": ["support"]}, DataPolicy(purposes=("support",))),
    (
        "data_policy",
        {"classifications": {"pii": {"mask": "hash", "key": "customer", "clear_for": ["support"]}, "secret": None}},
        DataPolicy(
            (
                MaskRule(Mask(MaskMethod.HASH, key="customer"), classification="pii", clear_for=("support",)),
                MaskRule(Mask(MaskMethod.NULL), classification="secret"),
            )
        ),
    ),
    ("visibility", "private", Audience()),
    ("visibility", {"teams": ["growth"], "domains": ["sales"]}, Audience(("growth",), ("sales",))),
]


@pytest.mark.parametrize(("name", "authored", "read"), BLOCKS)
def test_a_block_is_read_as_it_is_authored(name: str, authored: Any, read: Any) -> None:
    assert getattr(contract_from({**HEAD, name: authored}).treaty, name) == read


@pytest.mark.parametrize(("name", "authored", "read"), BLOCKS)
def test_a_block_is_read_from_strict_odcs(name: str, authored: Any, read: Any) -> None:
    strict = {**HEAD, "customProperties": [{"property": name, "value": authored}]}

    assert getattr(contract_from(strict).treaty, name) == read


@pytest.mark.parametrize(("name", "authored", "read"), BLOCKS)
def test_a_block_travels_as_a_custom_property(name: str, authored: Any, read: Any) -> None:
    exported = write_odcs(contract_from({**HEAD, name: authored}))

    assert as_json(exported) == as_json({**HEAD, "customProperties": [{"property": name, "value": authored}]})


def test_every_block_has_its_case() -> None:
    assert {name for name, _, _ in BLOCKS} == set(block_names())
    assert {field.name for field in fields(Blocks)} == set(block_names())


def test_a_contract_without_blocks_has_none() -> None:
    assert contract_from(HEAD).treaty == Blocks()


OTHER_SHAPES: list[tuple[str, Any]] = [
    ("owners", []),
    ("owners", [{"contact": "#a"}]),
    ("owners", "Ann"),
    ("deprecation", {}),
    ("deprecation", {"sunset_date": "next year"}),
    ("deprecation", {"sunset_date": "2026-06-30\n"}),
    ("deprecation", {"when": "2026-06-30"}),
    ("migration", {"guide": "a", "window": "60 d"}),
    ("migration", {"guide": "a", "window": "soon", "owner": "b"}),
    ("change_policy", {"compatibility": "sideways"}),
    ("intended_consumers", [{"name": "a", "class": "friends"}]),
    ("delivery", {"channels": ["a"]}),
    ("delivery", "exactly_once"),
    ("ordering", "some"),
    ("ordering", {"key": [], "sequence": "a"}),
    ("ordering", {"key": ["a"]}),
    ("latency", {"percentile": 101}),
    ("latency", {"percentile": 0}),
    ("tier", "gold"),
    ("parent", " "),
    ("parent", 5),
    ("expires", "30.06.2026"),
    ("exclusions", []),
    ("exclusions", [{"why": "a"}]),
    ("measures", []),
    ("measures", [{"rule": "a"}]),
    ("measures", [{"name": "a", "rule": "b", "target": {"at_most": 1, "at_least": 0}}]),
    ("measures", [{"name": "a", "rule": "b", "target": 5}]),
    ("event", {"meaning": "a"}),
    ("lifecycle", {}),
    ("lifecycle", {"stream": "a", "moves": []}),
    ("lifecycle", {"stream": "a", "moves": [{"from": "b"}]}),
    ("lifecycle", {"stream": "a", "moves": [{"to": "a state"}]}),
    ("lifecycle", {"stream": "a", "invariants": [{"name": "Kept", "sql": "true"}]}),
    ("lifecycle", {"stream": "a", "invariants": [{"name": "kept", "sql": "true", "severity": "info"}]}),
    ("content", "sealed"),
    ("source_authority", None),
    ("lineage", [{"fields": ["a"]}]),
    ("data_policy", {}),
    ("data_policy", {"classifications": {"pii": "scramble"}}),
    ("visibility", "public"),
    ("visibility", {}),
    ("visibility", {"teams": []}),
    ("visibility", {"teams": ["growth"], "people": ["ann"]}),
]


@pytest.mark.parametrize(("name", "value"), OTHER_SHAPES)
def test_a_block_of_another_shape_is_refused_where_it_is_authored(name: str, value: Any) -> None:
    with pytest.raises(InvalidDocument, match=name):
        contract_from({**HEAD, name: value})


@pytest.mark.parametrize(("name", "value"), OTHER_SHAPES)
def test_a_custom_property_of_another_shape_is_not_a_block(name: str, value: Any) -> None:
    strict = {**HEAD, "customProperties": [{"property": name, "value": value}]}
    contract = contract_from(strict)

    assert contract.treaty == Blocks()
    assert as_json(write_odcs(contract)) == as_json(strict)


def test_the_keys_of_a_field_are_read_either_way() -> None:
    keys = {"unit": "EUR", "default": None, "semantic_type": "money", "time_zone": "Europe/Berlin"}
    plain = {"name": "a", "logicalType": "number", **keys}
    strict = {
        "name": "b",
        "logicalType": "number",
        "customProperties": [{"property": key, "value": value} for key, value in keys.items()],
    }
    contract = contract_from({**HEAD, "schema": [{"name": "orders", "properties": [plain, strict]}]})

    assert [dict(field.treaty) for field in contract.schema[0].fields] == [keys, keys]


def test_only_fields_accept_field_keys() -> None:
    with pytest.raises(InvalidDocument, match="unknown key 'unit'"):
        contract_from({**HEAD, "schema": [{"name": "orders", "unit": "EUR"}]})


@pytest.mark.parametrize(("ordering", "guaranteed"), [("none", False), ({"key": ["id"], "sequence": "n"}, True)])
def test_an_ordering_is_guaranteed_by_a_key(ordering: Any, guaranteed: bool) -> None:
    found = contract_from({**HEAD, "ordering": ordering}).treaty.ordering

    assert found is not None
    assert found.is_guaranteed is guaranteed


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"name": "Unpaid share", "rule": "a"}, "the name 'Unpaid share' of a measure is not valid"),
        ({"name": "freshness", "rule": "a"}, "the measure 'freshness' has a fixed meaning"),
        ({"name": "known", "rule": "a"}, "the measure 'known' is declared twice"),
        ({"name": "a", "rule": "b", "expression": "count(*)"}, "the measure 'a' has both an expression and a rule"),
        ({"name": "a", "unit": "%"}, "the measure 'a' has neither an expression nor a rule"),
        (
            {"name": "a", "rule": "b", "object": "carts"},
            "the measure 'a' is about an unknown object",
        ),
    ],
)
@pytest.mark.parametrize("style", ["plain", "custom"])
def test_a_measure_that_cannot_be_taken_is_refused(entry: dict[str, Any], message: str, style: str) -> None:
    measures = [{"name": "known", "rule": "a"}, entry]
    block = {"measures": measures} if style == "plain" else {"customProperties": [_property("measures", measures)]}

    with pytest.raises(InvalidDocument, match=message):
        contract_from({**HEAD, "schema": [{"name": "orders"}], **block})


@pytest.mark.parametrize(
    ("lifecycle", "message"),
    [
        (
            {"moves": [{"from": "paid", "to": "shipped"}, {"from": "paid", "to": "lost"}]},
            "the move from 'paid' is declared twice, to 'shipped' and to 'lost'",
        ),
        (
            {"moves": [{"to": "placed"}, {"to": "placed"}]},
            "the move of the first event of a key is declared twice, to 'placed' and to 'placed'",
        ),
        (
            {"invariants": [{"name": "kept", "sql": "true"}, {"name": "kept", "sql": "false"}]},
            "the invariant 'kept' is declared twice",
        ),
    ],
)
@pytest.mark.parametrize("style", ["plain", "custom"])
def test_a_life_cycle_that_says_two_things_is_refused(lifecycle: dict[str, Any], message: str, style: str) -> None:
    block = {"stream": "orders", **lifecycle}
    stated = {"lifecycle": block} if style == "plain" else {"customProperties": [_property("lifecycle", block)]}

    with pytest.raises(InvalidDocument, match=message):
        contract_from({**HEAD, **stated})


def _property(name: str, value: Any) -> dict[str, Any]:
    return {"property": name, "value": value}
