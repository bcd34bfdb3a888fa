"""A finding points to its line and says what is wrong, where, and what to do next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from treaty.contracts import Finding, contract_from, load
from treaty.contracts.model import locate_fields
from treaty.contracts.text import read_document
from treaty.errors import InvalidDocument

YAML = """\
apiVersion: v3.2.0
kind: DataContract
id: orders
version: 1.0.0
# who to ask
owners:
- team: checkout
  contact: "#checkout"

ordering:
  key: [order_id]
  sequence: version
slaProperties:
- property: freshness
  value: 4
  unit: h
customProperties:
- property: exclusions
  value:
  - card numbers
schema:
- name: orders
  properties:
  - name: order_id
    logicalType: string
  - name: customer
    logicalType: object
    properties:
    - name: addresses
      logicalType: array
      items:
        logicalType: object
        properties:
        - name: city
          logicalType: string
          unit: none
    - {name: prices, logicalType: map, map: {key: {logicalType: string},
                                             value: {logicalType: number}}}
  - name: placed_at
    logicalType: timestamp
"""

JSON = """\
{
  "apiVersion": "v3.2.0",
  "kind": "DataContract",
  "id": "or[{\\"}]ders",
  "version": "1.0.0",
  "owners": [
    {"team": "checkout",
     "contact": "#checkout"}
  ],
  "schema": [
    {
      "name": "orders",
      "properties": [
        {"name": "order_id", "logicalType": "string"},
        {"name": "customer", "logicalType": "object", "properties": [
          {"name": "city",
           "logicalType": "string", "examples": [1, 2.5, true, null, "x", [], {},
             "last"]}
        ]},

        {
          "name": "placed_at", "logicalType": "timestamp"
        }
      ]
    }
  ]
}
"""

SHORT = """\
dataset_id: orders
version: 1.0.0
owners:
- team: checkout
freshness_sla:
  max_lag_seconds: 60
description: >
  every order,
  once
delivery:
  guarantee: exactly_once
fields:
- name: order_id
  type: string
- {name: amount, type: number}

- name: status
  type: string
  enum: [open, closed]
primary_key: [order_id]
"""

LINES: list[tuple[str, tuple[str | int, ...], int]] = [
    (YAML, (), 1),
    (YAML, ("id",), 3),
    (YAML, ("owners",), 6),
    (YAML, ("owners", 0), 7),
    (YAML, ("owners", 0, "contact"), 8),
    (YAML, ("ordering", "sequence"), 12),
    (YAML, ("slaProperties", 0, "unit"), 16),
    (YAML, ("exclusions",), 18),
    (YAML, ("schema", 0), 22),
    (YAML, ("schema", 0, "properties", 0), 24),
    (YAML, ("schema", 0, "properties", 1, "properties", 0, "items", "properties", 0), 34),
    (YAML, ("schema", 0, "properties", 1, "properties", 0, "items", "properties", 0, "unit"), 36),
    (YAML, ("schema", 0, "properties", 1, "properties", 1, "map", "key"), 37),
    (YAML, ("schema", 0, "properties", 1, "properties", 1, "map", "value", "logicalType"), 38),
    (YAML, ("schema", 0, "properties", 2), 39),
    (YAML, ("schema", 0, "properties", 2, "description"), 39),
    (YAML, ("schema", 0, "properties", 99), 23),
    (YAML, ("nothing", "there"), 1),
    (JSON, ("id",), 4),
    (JSON, ("owners", 0), 7),
    (JSON, ("owners", 0, "contact"), 8),
    (JSON, ("schema", 0), 11),
    (JSON, ("schema", 0, "properties", 0, "logicalType"), 14),
    (JSON, ("schema", 0, "properties", 1, "properties", 0), 16),
    (JSON, ("schema", 0, "properties", 1, "properties", 0, "logicalType"), 17),
    (JSON, ("schema", 0, "properties", 1, "properties", 0, "examples", 6), 17),
    (JSON, ("schema", 0, "properties", 1, "properties", 0, "examples", 7), 18),
    (JSON, ("schema", 0, "properties", 2), 21),
    (JSON, ("schema", 0, "properties", 2, "name"), 22),
    (SHORT, ("id",), 1),
    (SHORT, ("version",), 2),
    (SHORT, ("owners",), 3),
    (SHORT, ("slaProperties", 0), 5),
    (SHORT, ("description",), 7),
    (SHORT, ("delivery", "guarantee"), 11),
    (SHORT, ("schema", 0, "properties", 0), 13),
    (SHORT, ("schema", 0, "properties", 1, "logicalType"), 15),
    (SHORT, ("schema", 0, "properties", 2), 17),
    (SHORT, ("schema", 0, "properties", 2, "enum"), 19),
]


@pytest.mark.parametrize(("text", "pointer", "line"), LINES)
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["line feeds", "carriage returns"])
def test_every_part_has_its_line(text: str, pointer: tuple[str | int, ...], line: int, ending: str) -> None:
    loaded = load(text.replace("\n", ending), "orders.yaml")

    assert str(loaded.place_of(pointer)) == f"orders.yaml:{line}"


def test_every_field_has_its_line() -> None:
    loaded = load(YAML, "orders.yaml")

    found = {str(path): loaded.place_of(pointer).line for path, _, pointer in locate_fields(loaded.contract)}
    assert found == {
        "order_id": 24,
        "customer": 26,
        "customer.addresses": 29,
        "customer.addresses[]": 31,
        "customer.addresses[].city": 34,
        "customer.prices": 37,
        "customer.prices{key}": 37,
        "customer.prices{}": 38,
        "placed_at": 39,
    }


def test_a_merged_key_has_the_line_of_the_merge() -> None:
    text = "a: &a\n  x:\n    y: 1\nb:\n  <<: *a\n  z: 2\n"
    reading = read_document(text, "a.yaml")

    assert reading.data["b"] == {"z": 2, "x": {"y": 1}}
    assert [reading.place(pointer).line for pointer in (("b", "z"), ("b", "x"), ("b", "x", "y"))] == [6, 5, 3]


def test_data_without_a_text_has_a_source() -> None:
    with pytest.raises(InvalidDocument, match=r"^orders: "):
        contract_from({"apiVersion": "v3.2.0"}, "orders")


def _findings(text: str) -> tuple[Finding, ...]:
    with pytest.raises(InvalidDocument) as caught:
        load(text, "orders.yaml")
    for finding in caught.value.findings[:20]:
        assert f"{finding.place}: {finding.message}" in str(caught.value)
        assert finding.hint is None or finding.hint in str(caught.value)
    return caught.value.findings


def _said(text: str) -> list[tuple[int | None, str, str | None]]:
    return [
        (finding.place.line if finding.place else None, finding.message, finding.hint) for finding in _findings(text)
    ]


DOCUMENTS = {"YAML": YAML, "JSON": JSON, "SHORT": SHORT}
MISTAKES = yaml.safe_load((Path(__file__).parent / "mistakes.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", MISTAKES, ids=[case["name"] for case in MISTAKES])
def test_a_mistake_is_named_with_its_line_and_what_to_do(case: dict[str, Any]) -> None:
    text = DOCUMENTS[case["document"]]
    assert case["text"] in text
    ((line, message, hint),) = _said(text.replace(case["text"], case["mistake"]))

    assert case["says"] in message
    assert line == case["line"]
    assert case["hint"] in (hint or "")


def test_every_mistake_is_named_at_once_from_top_to_bottom() -> None:
    text = YAML.replace("logicalType: timestamp", "logicalType: datetime").replace("version: 1.0.0", "version: 1.0")
    text = text.replace("          logicalType: string", "          logicalType: txt")

    assert [line for line, _, _ in _said(text)] == [4, 35, 40]


def test_a_mistyped_key_is_recognised_beside_the_missing_one() -> None:
    said = _said(YAML.replace("  - name: placed_at", "  - nam: placed_at"))

    assert (39, "unknown key 'nam' at schema[0].properties[2]", "did you mean 'name'?") in said


def test_many_mistakes_are_counted_and_not_all_shown() -> None:
    columns = [{"name": f"f{number}", "logicalType": "txt"} for number in range(50)]
    schema = [{"name": "orders", "properties": columns}]
    head = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "orders", "version": "1.0.0"}
    with pytest.raises(InvalidDocument) as caught:
        load(json.dumps({**head, "schema": schema}), "orders.json")

    assert len(caught.value.findings) == 50
    assert str(caught.value).splitlines()[-1] == "orders.json: and 30 more"
    assert len(str(caught.value).splitlines()) == 21


@pytest.mark.parametrize(
    ("data", "says"),
    [
        pytest.param({}, "not a contract", id="nothing"),
        pytest.param({"name": "orders"}, "start from: treaty init", id="something else"),
        pytest.param({"properties": {}}, "state $schema or name the file *.schema.json", id="a JSON Schema"),
        pytest.param({"kind": "DataContract"}, "'apiVersion' is missing", id="ODCS by its kind"),
        pytest.param({"schema": []}, "'kind' is missing", id="ODCS by its schema"),
        pytest.param({"fields": []}, "'dataset_id' is missing", id="short form by its fields"),
        pytest.param({"dataset_id": "orders"}, "'fields' is missing", id="short form by its id"),
        pytest.param({"dataset_id": "a", "apiVersion": "v3.2.0"}, "unknown key 'dataset_id'", id="both at once"),
    ],
)
def test_a_document_is_read_in_the_form_it_resembles(data: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        contract_from(data)

    assert says in str(caught.value)
