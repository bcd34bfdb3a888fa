"""Laws of the way over, on generated contracts."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given, settings

from tests.strategies import contract_pairs, contracts
from treaty.compatibility.migration import Fidelity, MigrationPath, Shim, migration_path, projection
from treaty.contracts import Contract, Field, SchemaObject
from treaty.contracts.model import locate_fields
from treaty.contracts.sql_quoting import identifier_problem
from treaty.errors import Refused


def _is_writable(contract: Contract) -> bool:
    """Tell whether every name can be given to Spark; the others are refused by name."""
    return not any(
        identifier_problem(field.physical_name or field.name or "")
        for path, field, _ in locate_fields(contract)
        if not path.steps[-1].is_mark
    )


def _way(before: Contract, after: Contract) -> MigrationPath:
    assume(_is_writable(before) and _is_writable(after))
    return migration_path(_undeclared(before), _undeclared(after))


def _undeclared(contract: Contract) -> Contract:
    """Leave out the block whose words would be about other fields."""
    kept = tuple(one for one in contract.custom_properties or () if one.get("property") != "migration")
    return replace(contract, custom_properties=kept)


@settings(max_examples=40)
@given(contracts())
def test_a_contract_maps_to_itself_exactly(contract: Contract) -> None:
    path = _way(contract, contract)

    for item in path.objects:
        for shim in item.shims:
            assert [(str(one.target), one.fidelity) for one in shim.walk()] == [
                (str(one.target), Fidelity.EXACT) for one in shim.walk()
            ]
            assert all(one.is_kept and one.sources == (one.target,) for one in shim.steps)


@settings(max_examples=40)
@given(contract_pairs())
def test_every_field_of_either_line_is_served_or_reported_missing(pair: tuple[Contract, Contract]) -> None:
    for item in _way(*pair).objects:
        for shim, target in ((item.back, item.before), (item.forward, item.after)):
            assert [step.field for step in shim.steps] == list(target.fields)
            for step in shim.walk():
                assert step.sources or step.inside or step.fidelity is not Fidelity.EXACT


@settings(max_examples=40)
@given(contract_pairs())
def test_an_inexact_field_has_a_reason(pair: tuple[Contract, Contract]) -> None:
    path = _way(*pair)

    for step in (one for item in path.objects for shim in item.shims for one in shim.walk()):
        assert bool(step.reasons) == (step.fidelity is not Fidelity.EXACT) or step.inside


@settings(max_examples=40)
@given(contract_pairs())
def test_there_is_a_view_unless_a_required_field_is_missing(pair: tuple[Contract, Contract]) -> None:
    path = _way(*pair)

    for shim in (one for item in path.objects for one in item.shims):
        if shim.steps:
            assert _is_refused(shim) == bool(shim.blocked)


@settings(max_examples=40)
@given(contracts())
def test_renames_in_both_directions_cancel_out(contract: Contract) -> None:
    assume(_is_writable(contract))
    plain = _undeclared(contract)
    before = replace(plain, objects=tuple(map(_with_ids, contract.schema)))
    after = replace(before, objects=tuple(replace(o, properties=_renamed(o.fields)) for o in before.schema))
    path = migration_path(before, after)

    for item in path.objects:
        back = {str(step.target): step for step in item.back.steps}
        for there in item.forward.steps:
            (source,) = there.sources
            again = back[str(source)]
            assert again.sources == (there.target,)
            assert {there.fidelity, again.fidelity} == {Fidelity.EXACT}


def _is_refused(shim: Shim) -> bool:
    try:
        projection(shim)
    except Refused:
        return True
    return False


def _with_ids(item: SchemaObject) -> SchemaObject:
    named = tuple(replace(one, id=f"id{place}", name=f"f{place}") for place, one in enumerate(item.fields))
    return replace(item, properties=named)


def _renamed(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(replace(one, name=f"new_{one.name}", physical_name=None) for one in fields)
