"""The SQL that a migration block declares, which is untrusted: read, checked, and written anew."""

from __future__ import annotations

from treaty.compatibility.migration import GuardedSql
from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.errors import InvalidDocument
from treaty.sql.checked_sql import RuleScope
from treaty.sql.rules import parse_row_value

_OF_A_RULE = "the SQL of the rule"


def guard_sql(text: str, contract: Contract, item: SchemaObject) -> GuardedSql:
    """Let SQL over a row of an object through if it is on the list of what strangers may ask."""
    try:
        read = parse_row_value(text, RuleScope.of(contract, item))
    except InvalidDocument as error:
        said = str(error).replace(_OF_A_RULE, f"the SQL that migration declares over {item.name}")
        raise InvalidDocument(said) from None
    owner = item.name if len(contract.schema) > 1 else None
    return GuardedSql(read.expression, tuple(FieldPath(path.steps, owner) for path in read.paths))
