"""What a contract loses on its way into another form, told as changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.diffing import diff
from treaty.compatibility.kinds.objects import object_renamed
from treaty.contracts.model import Contract

_OF_THE_FORM = frozenset({"apiVersion"})


def losses(contract: Contract, written: Contract) -> tuple[Change, ...]:
    """Return what the contract as it was written lacks; what belongs to the form itself does not count."""
    lost = [change for change in diff(contract, _alike(contract, written)) if change.subject not in _OF_THE_FORM]
    return (*_name_lost(contract, written), *lost)


def _name_lost(contract: Contract, written: Contract) -> Iterator[Change]:
    """Name the object's own name, which the short form has no place for."""
    for item in contract.schema[:1]:
        name = written.schema[0].name if written.schema else None
        if item.name != name:
            yield Change(object_renamed.id, Direction.REPLACED, item.name, name, subject=item.name)


def _alike(contract: Contract, written: Contract) -> Contract:
    """Let the one object of the short form go by the name it had, so that its fields are compared."""
    if not contract.schema or not written.schema:
        return written
    first = contract.schema[0]
    named = replace(written.schema[0], name=first.name, id=first.id)
    return replace(written, objects=(named, *written.schema[1:]))
