"""What the SQL of a rule may speak of: its own object and field, and the other objects of the contract."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.paths import FieldPath


@dataclass(frozen=True)
class Scope:
    """The object a rule is about, the field it stands on if any, and the objects beside it."""

    object: SchemaObject
    field: FieldPath | None = None
    others: tuple[SchemaObject, ...] = ()

    @classmethod
    def of(cls, contract: Contract, item: SchemaObject, field: FieldPath | None = None) -> Scope:
        """Return the scope of a rule on an object of a contract, or on one of its fields."""
        return cls(item, field, tuple(other for other in contract.schema if other is not item))

    def table(self, parts: tuple[str, ...]) -> SchemaObject | None:
        """Return the object of that name, be it the contract's or the stored one, whatever its case."""
        wanted = ".".join(parts).lower()
        for item in (self.object, *self.others):
            if wanted in (name.lower() for name in (item.name, item.physical_name) if name):
                return item
        return None

    @property
    def table_names(self) -> tuple[str, ...]:
        """The names a rule may read from."""
        return tuple(item.name for item in (self.object, *self.others))
