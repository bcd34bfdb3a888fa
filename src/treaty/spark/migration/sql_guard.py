"""Check the untrusted SQL in a migration block and render it again."""

from __future__ import annotations

from treaty.compatibility.migration import GuardedSql
from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.errors import InvalidDocument
from treaty.sql.checked_sql import RuleScope
from treaty.sql.rules import parse_row_value

_OF_A_RULE = "the SQL of the rule"


def guard_sql(text: str, contract: Contract, item: SchemaObject) -> GuardedSql:
    """Return checked SQL over the rows of an object; refuse anything that is not on the allow-list."""
    try:
        read = parse_row_value(text, RuleScope.of(contract, item))
    except InvalidDocument as error:
        said = str(error).replace(_OF_A_RULE, f"the SQL that migration declares over {item.name}")
        raise InvalidDocument(said) from None
    owner = item.name if len(contract.schema) > 1 else None
    return GuardedSql(read.expression, tuple(FieldPath(path.steps, owner) for path in read.paths))
