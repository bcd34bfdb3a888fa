"""`--semantics avro`: verdicts follow the schema resolution of Avro, as Avro's own library decides it."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType

from treaty.compatibility import Mode, Semantics, admit, diff, judge, parse_grading, parse_semantics
from treaty.errors import InvalidDocument
from treaty.formats import get_format

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import avro.schema

AVRO = get_format("avro")
ID = {"name": "id", "type": "int"}
NOTE = {"name": "note", "type": ["null", "string"]}


def _row(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "Row", "fields": list(fields)}


def _typed(kind: Any) -> dict[str, Any]:
    return _row({"name": "a", "type": kind})


# Each row: what changes, before, after, whether new readers read old data, whether old readers read new data.
CASES: list[tuple[str, dict[str, Any], dict[str, Any], bool, bool]] = [
    ("nothing", _row(ID), _row(ID), True, True),
    ("a field without default is added", _row(ID), _row(ID, {"name": "b", "type": "int"}), False, True),
    ("a field with default is added", _row(ID), _row(ID, {"name": "b", "type": "int", "default": 0}), True, True),
    ("a nullable field without default is added", _row(ID), _row(ID, NOTE), False, True),
    ("a nullable field with default is added", _row(ID), _row(ID, {**NOTE, "default": None}), True, True),
    ("a field without default is removed", _row(ID, {"name": "b", "type": "int"}), _row(ID), True, False),
    ("a nullable field with default is removed", _row(ID, {**NOTE, "default": None}), _row(ID), True, True),
    ("int becomes long", _typed("int"), _typed("long"), True, False),
    ("int becomes float", _typed("int"), _typed("float"), True, False),
    ("int becomes double", _typed("int"), _typed("double"), True, False),
    ("long becomes float", _typed("long"), _typed("float"), True, False),
    ("long becomes double", _typed("long"), _typed("double"), True, False),
    ("float becomes double", _typed("float"), _typed("double"), True, False),
    ("double becomes float", _typed("double"), _typed("float"), False, True),
    ("double becomes int", _typed("double"), _typed("int"), False, True),
    ("string becomes bytes", _typed("string"), _typed("bytes"), True, True),
    ("bytes becomes string", _typed("bytes"), _typed("string"), True, True),
    ("int becomes string", _typed("int"), _typed("string"), False, False),
    ("int becomes boolean", _typed("int"), _typed("boolean"), False, False),
    ("a field becomes nullable", _typed("int"), _typed(["null", "int"]), True, False),
    ("a field is no longer nullable", _typed(["null", "int"]), _typed("int"), False, True),
    (
        "an enum gains a symbol",
        _typed({"type": "enum", "name": "E", "symbols": ["A"]}),
        _typed({"type": "enum", "name": "E", "symbols": ["A", "B"]}),
        True,
        False,
    ),
    (
        "an enum loses a symbol",
        _typed({"type": "enum", "name": "E", "symbols": ["A", "B"]}),
        _typed({"type": "enum", "name": "E", "symbols": ["A"]}),
        False,
        True,
    ),
    (
        "a fixed type has another size",
        _typed({"type": "fixed", "name": "F", "size": 4}),
        _typed({"type": "fixed", "name": "F", "size": 8}),
        False,
        False,
    ),
    (
        "a nested record is renamed",
        _typed({"type": "record", "name": "P", "fields": [ID]}),
        _typed({"type": "record", "name": "Q", "fields": [ID]}),
        False,
        False,
    ),
]


def _contract(schema: dict[str, Any]) -> Any:
    return AVRO.read(json.dumps(schema), name="row.avsc").contracts[0]


def _can_read(reader: dict[str, Any], writer: dict[str, Any]) -> bool:
    checker: Any = ReaderWriterCompatibilityChecker  # it is only partly typed
    result = checker().get_compatibility(*(avro.schema.parse(json.dumps(one)) for one in (reader, writer)))
    return bool(result.compatibility is SchemaCompatibilityType.compatible)


@pytest.mark.parametrize(("name", "before", "after", "backward", "forward"), CASES, ids=[row[0] for row in CASES])
def test_a_verdict_is_that_of_avro(
    name: str, before: dict[str, Any], after: dict[str, Any], backward: bool, forward: bool
) -> None:
    assert (_can_read(after, before), _can_read(before, after)) == (backward, forward)

    changes = diff(_contract(before), _contract(after))
    verdicts = {mode: judge(changes, mode, semantics=Semantics.AVRO) for mode in Mode}

    assert verdicts[Mode.BACKWARD].compatible is backward
    assert verdicts[Mode.FORWARD].compatible is forward
    assert verdicts[Mode.FULL].compatible is (backward and forward)
    assert all(verdict.admissible is verdict.compatible for verdict in verdicts.values())


def test_the_default_semantics_keep_a_new_nullable_field_minor() -> None:
    verdict = judge(diff(_contract(_row(ID)), _contract(_row(ID, NOTE))))

    assert (verdict.semantics, str(verdict.required_bump), verdict.admissible) == (Semantics.CONTRACT, "MINOR", True)


def test_a_transitive_mode_uses_the_semantics_for_every_version() -> None:
    history = [_contract(_row(ID)), _contract(_row(ID, {**NOTE, "default": None}))]

    candidate = _contract(_row(ID, NOTE))

    assert admit(history, candidate, Mode.BACKWARD, semantics=Semantics.AVRO).compatible
    assert not admit(history, candidate, Mode.BACKWARD_TRANSITIVE, semantics=Semantics.AVRO).compatible
    assert admit(history, candidate, Mode.BACKWARD_TRANSITIVE).compatible


def test_the_grades_of_a_team_take_precedence() -> None:
    changes = diff(_contract(_row(ID)), _contract(_row(ID, NOTE)))

    verdict = judge(changes, grading=parse_grading({"field_added": {"breaks": []}}), semantics=Semantics.AVRO)

    assert verdict.compatible


def test_unknown_semantics_are_refused() -> None:
    assert parse_semantics("AVRO") is Semantics.AVRO
    with pytest.raises(InvalidDocument, match="unknown semantics 'thrift'; use one of: contract, avro"):
        parse_semantics("thrift")
