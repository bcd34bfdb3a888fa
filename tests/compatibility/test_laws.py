"""Laws of the judgement, on generated contracts."""

from __future__ import annotations

from dataclasses import fields, replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import contract_pairs, contracts
from treaty.compatibility import Change, Changes, Direction, Mode, diff, judge
from treaty.compatibility.terms import FIELD_TERMS
from treaty.contracts import Contract, Field, SchemaObject, Severity

_OPPOSITE = {
    Direction.TIGHTENED: Direction.LOOSENED,
    Direction.LOOSENED: Direction.TIGHTENED,
    Direction.ADDED: Direction.REMOVED,
    Direction.REMOVED: Direction.ADDED,
    Direction.REPLACED: Direction.REPLACED,
}


@given(contracts())
def test_a_contract_does_not_differ_from_itself(contract: Contract) -> None:
    assert list(diff(contract, contract)) == []


@given(contract_pairs())
def test_every_change_has_its_opposite_on_the_way_back(pair: tuple[Contract, Contract]) -> None:
    before, after = pair

    there = sorted(_OPPOSITE[change.direction] for change in diff(before, after))
    back = sorted(change.direction for change in diff(after, before))

    assert there == back


@given(contract_pairs())
def test_what_is_tightened_one_way_is_loosened_the_other(pair: tuple[Contract, Contract]) -> None:
    before, after = pair

    def places(changes: Changes, direction: Direction) -> list[tuple[object, object]]:
        return sorted((str(one.before), str(one.after)) for one in changes if one.direction is direction)

    tightened = places(diff(before, after), Direction.TIGHTENED)
    loosened = [(one, other) for other, one in places(diff(after, before), Direction.LOOSENED)]
    assert tightened == sorted(loosened)


@given(contract_pairs())
def test_full_refuses_what_backward_or_forward_refuses(pair: tuple[Contract, Contract]) -> None:
    changes = diff(*pair)

    def refused(mode: Mode) -> set[tuple[str, str | None, str]]:
        return {(one.id, one.path, one.message) for one in judge(changes, mode).errors}

    assert refused(Mode.FULL) == refused(Mode.BACKWARD) | refused(Mode.FORWARD)


@given(contract_pairs(), st.data())
def test_the_required_bump_never_falls_when_a_change_is_added(
    pair: tuple[Contract, Contract], data: st.DataObject
) -> None:
    changes = diff(*pair)
    kept = data.draw(st.lists(st.booleans(), min_size=len(changes), max_size=len(changes)))
    some = Changes(changes.before, changes.after, tuple(one for one, keep in zip(changes, kept, strict=True) if keep))

    assert judge(some).required_bump <= judge(changes).required_bump


@given(contract_pairs(), st.integers())
def test_judging_does_not_depend_on_the_order_of_fields(pair: tuple[Contract, Contract], seed: int) -> None:
    before, after = pair
    random = Random(seed)  # noqa: S311 - shuffling, not secrets

    expected = judge(diff(before, after), Mode.FULL)
    shuffled = judge(diff(_shuffled(before, random), _shuffled(after, random)), Mode.FULL)

    assert shuffled.findings == expected.findings
    assert [item.change for item in shuffled.judged] == [item.change for item in expected.judged]


@given(contract_pairs())
def test_every_change_is_reported_once(pair: tuple[Contract, Contract]) -> None:
    changes: list[Change] = list(diff(*pair))

    assert len({(one.kind, one.path, one.direction) for one in changes}) == len(changes)


@given(contract_pairs())
def test_a_mode_that_covers_another_refuses_at_least_as_much(pair: tuple[Contract, Contract]) -> None:
    changes = diff(*pair)
    refused = {mode: {(one.id, one.path) for one in judge(changes, mode).errors} for mode in Mode}

    for mode in Mode:
        for other in Mode:
            if mode.covers(other):
                assert refused[mode] >= refused[other]


@given(contract_pairs())
def test_every_major_change_is_an_error_in_full_mode(pair: tuple[Contract, Contract]) -> None:
    verdict = judge(diff(*pair), Mode.FULL)

    assert all(item.severity is Severity.ERROR for item in verdict.judged if item.grade.bump.name == "MAJOR")


def test_every_field_term_depends_on_attributes_of_a_field() -> None:
    assert {name for term in FIELD_TERMS for name in term.depends_on} <= {one.name for one in fields(Field)}
    assert all(term.depends_on for term in FIELD_TERMS)


@given(contract_pairs())
def test_a_term_changes_only_with_the_attributes_it_depends_on(pair: tuple[Contract, Contract]) -> None:
    for old in (field for item in pair[0].schema for field in item.fields):
        for new in (field for item in pair[1].schema for field in item.fields):
            for term in FIELD_TERMS:
                untouched = replace(new, **{name: getattr(old, name) for name in term.depends_on})
                assert list(term.compare(term.read(old), term.read(untouched))) == []


def _shuffled(contract: Contract, random: Random) -> Contract:
    objects = [_shuffled_object(item, random) for item in contract.schema]
    random.shuffle(objects)
    return replace(contract, objects=tuple(objects) if contract.objects is not None else None)


def _shuffled_object(item: SchemaObject, random: Random) -> SchemaObject:
    return replace(item, properties=_shuffled_fields(item.properties, random))


def _shuffled_fields(listed: tuple[Field, ...] | None, random: Random) -> tuple[Field, ...] | None:
    if listed is None:
        return None
    mixed = [replace(field, properties=_shuffled_fields(field.properties, random)) for field in listed]
    random.shuffle(mixed)
    return tuple(mixed)
