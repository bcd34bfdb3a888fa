"""Every change of a table of literals, made wherever it fits in example documents, requires the bump of the table."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents import CASES
from treaty.compatibility import Mode, diff, judge
from treaty.contracts import Bump, contract_from
from treaty.contracts.text import read_document
from treaty.errors import InvalidDocument

Place = tuple[str | int, ...]
EXAMPLES: dict[str, Any] = {
    file.stem: read_document(file.read_bytes(), file.name).data
    for file in sorted((CASES / "bumps" / "examples").glob("*.yaml"))
}
CONTRACTS = {name: contract_from(copy.deepcopy(document)) for name, document in EXAMPLES.items()}
TABLE: list[dict[str, Any]] = read_document(
    b"rows:\n" + (CASES / "bumps" / "changes.yaml").read_bytes(), "changes.yaml"
).data["rows"]
LISTS = {"fields": "properties", "objects": "schema", "levels": "slaProperties", "short fields": "fields"}


@dataclass(frozen=True)
class Edit:
    """A change of the table at one place of an example."""

    example: str
    place: Place
    row: int

    def __str__(self) -> str:
        return f"{self.example}: {TABLE[self.row]['change']} at {'.'.join(map(str, self.place)) or 'the top'}"

    @property
    def bump(self) -> Bump:
        """The bump that the table states."""
        return Bump[TABLE[self.row]["bump"]]


def _places(document: Any, at: str) -> Iterator[Place]:
    """Yield the places of the parts that a row is about."""
    if at == "contract":
        yield ()
    for place, key, value in _lists(document, ()):
        if LISTS.get(at) == key and (at != "short fields" or not place):
            yield (*place, key)
        if at == {"properties": "field", "schema": "object", "slaProperties": "level"}.get(key) or (
            at == "short field" and key == "fields" and not place
        ):
            yield from ((*place, key, index) for index in range(len(value)))


def _lists(part: Any, place: Place) -> Iterator[tuple[Place, str, list[Any]]]:
    """Yield every list of fields, objects and service levels with its place."""
    for key in ("schema", "properties", "slaProperties", "fields"):
        if isinstance(part.get(key), list):
            yield place, key, part[key]
            for index, child in enumerate(part[key]):
                yield from _lists(child, (*place, key, index))
    if isinstance(part.get("items"), dict):
        yield from _lists(part["items"], (*place, "items"))


def _at(document: Any, place: Place) -> Any:
    for key in place:
        document = document[key]
    return document


def _fits(part: Any, when: dict[str, Any]) -> bool:
    wanted = {"absent": lambda key, _: key not in part, "present": lambda key, _: key in part}
    return all(
        wanted[value](key, value) if isinstance(value, str) and value in wanted else part.get(key) == value
        for key, value in when.items()
    )


EDITS = [
    Edit(name, place, index)
    for name, document in EXAMPLES.items()
    for index, row in enumerate(TABLE)
    for place in _places(document, row["at"])
    if isinstance(_at(document, place), list) or _fits(_at(document, place), row.get("when", {}))
]


def _make(document: Any, edit: Edit) -> None:
    """Change a document as a row says."""
    row, part = TABLE[edit.row], _at(document, edit.place)
    if "append" in row:
        part.append(copy.deepcopy(row["append"]))
    elif row.get("drop"):
        del _at(document, edit.place[:-1])[edit.place[-1]]
    else:
        part.update(copy.deepcopy(row.get("set", {})))
        part.pop(row.get("remove"), None)


def _required(example: str, edits: list[Edit]) -> Bump:
    changed = copy.deepcopy(EXAMPLES[example])
    for edit in edits:
        _make(changed, edit)
    verdict = judge(diff(CONTRACTS[example], contract_from(changed)), Mode.FULL)
    return verdict.required_bump


@pytest.mark.parametrize("row", range(len(TABLE)), ids=[row["change"] for row in TABLE])
def test_a_change_requires_its_bump_wherever_it_is_made(row: int) -> None:
    edits = [edit for edit in EDITS if edit.row == row]

    assert edits, "the change fits nowhere in the examples"
    assert {str(edit): str(_required(edit.example, [edit])) for edit in edits} == {
        str(edit): str(edit.bump) for edit in edits
    }


def _independent(edits: list[Edit]) -> bool:
    """Whether the edits are of one example, and none is made at or inside the place of another, or twice."""
    places = [edit.place for edit in edits]
    is_one_example = len({edit.example for edit in edits}) == 1
    return (
        is_one_example
        and len({edit.row for edit in edits}) == len(edits)
        and not any(
            one[: len(other)] == other
            for index, one in enumerate(places)
            for position, other in enumerate(places)
            if index != position
        )
    )


_SETTING = [edit for edit in EDITS if not TABLE[edit.row].get("drop") and TABLE[edit.row]["at"] != "contract"]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(_SETTING), min_size=2, max_size=3, unique=True).filter(_independent))
def test_several_changes_require_the_largest_of_their_bumps(edits: list[Edit]) -> None:
    expected = max(edit.bump for edit in edits)

    assert _required(edits[0].example, edits) is expected


SAME_WITHOUT_OR_ALTERED = {
    ("warehouse", "schema.0.properties.0.primaryKeyPosition"),  # the only key field
    ("warehouse", "schema.0.properties.0.required"),  # a key field is required in any case
    ("warehouse", "schema.1.properties.0.required"),
}
SAME_WITHOUT = {
    ("warehouse", "schema.0.properties.2.quality.0.type"),  # the default is library
    ("warehouse", "schema.0.properties.3.required"),  # the default is false
    ("warehouse", "schema.0.properties.4.relationships.0.type"),  # the default is foreignKey
}


def _parts(part: Any, place: Place = ()) -> Iterator[Place]:
    entries = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in entries:
        yield (*place, key)
        yield from _parts(value, (*place, key))


def _altered(value: Any) -> Any:
    """Return another value of the same type, or None for a list or mapping."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return f"{value}x"
    return value + 1 if isinstance(value, int | float) else None


def _unreported(example: str, place: Place, *, remove: bool) -> bool:
    """Whether removing or altering a part of an example gives a valid document and no change."""
    document = copy.deepcopy(EXAMPLES[example])
    parent = _at(document, place[:-1])
    if remove:
        del parent[place[-1]]
    elif (other := _altered(parent[place[-1]])) is None:
        return False
    else:
        parent[place[-1]] = other
    try:
        return not diff(CONTRACTS[example], contract_from(document))
    except InvalidDocument:
        return False


@pytest.mark.parametrize("example", EXAMPLES)
def test_no_part_of_a_document_changes_without_a_change(example: str) -> None:
    places = [place for place in _parts(EXAMPLES[example]) if place != ("version",)]

    def unreported(*, remove: bool) -> set[tuple[str, str]]:
        silent = [place for place in places if _unreported(example, place, remove=remove)]
        return {(example, ".".join(map(str, place))) for place in silent}

    of_example = {one for one in SAME_WITHOUT_OR_ALTERED | SAME_WITHOUT if one[0] == example}
    assert unreported(remove=True) == of_example
    assert unreported(remove=False) == of_example - SAME_WITHOUT
