"""SQL that writes the metadata of a contract into a catalog: Unity Catalog, or Polaris and other Iceberg catalogs.

Only metadata are written: comments, and the id, version, owner and classification of a contract as tags or properties.
Tables are not created.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.sql_quoting import identifier_problem, quote_identifier
from treaty.contracts.values import EMPTY
from treaty.errors import InvalidDocument
from treaty.formats.catalog_properties import PREFIX, describe_contract
from treaty.formats.results import Loss, WriteResult

MAX_TAG_VALUE = 1_000
"""The longest value of a tag in Unity Catalog, in characters."""
MAX_TAGS = 50
"""How many tags Unity Catalog allows on one table or column."""
_TAGS = {
    "contract": "treaty_contract",
    "version": "treaty_version",
    "status": "treaty_status",
    "owner": "treaty_owner",
    "domain": "treaty_domain",
    "freshness": "treaty_freshness",
}
"""Properties of a contract that are tags of its tables; the names of tags may not contain dots or dashes."""
_CLASSIFICATION_TAG = "classification"
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "$": "\\u0024"}

_LAST_SHORT_ESCAPE = 0xFFFF


@dataclass(frozen=True)
class CatalogExport:
    """A kind of catalog that metadata are written for."""

    name: str
    title: str
    write: Callable[[Contract], WriteResult]
    suffix: str = ".sql"


def write_unity_sql(contract: Contract) -> WriteResult:
    """Return statements for Unity Catalog: comments and tags on tables and columns."""
    return _write(contract, _unity_statements)


def write_polaris_sql(contract: Contract) -> WriteResult:
    """Return statements of Spark for Polaris: the properties that a publication sets, and comments."""
    return _write(contract, _polaris_statements)


Statements = Callable[[Contract, SchemaObject, str, list[Loss]], Iterator[str]]


def _write(contract: Contract, statements: Statements) -> WriteResult:
    if not contract.schema:
        raise InvalidDocument(f"{contract.id} has no schema objects; a catalog needs at least one table")
    losses: list[Loss] = []
    lines = [
        f"{statement};\n"
        for item in contract.schema
        for statement in statements(contract, item, _table_name(contract, item), losses)
    ]
    return WriteResult("".join(lines), tuple(losses))


def _unity_statements(contract: Contract, item: SchemaObject, table: str, losses: list[Loss]) -> Iterator[str]:
    described = describe_contract(contract)
    comment = item.description or described.get("meaning")
    if comment:
        yield f"COMMENT ON TABLE {table} IS {quote_text(comment)}"
    tags = {tag: described[name] for name, tag in _TAGS.items() if described.get(name)}
    tags |= _own_tags(item.more.get("tags"))
    yield f"ALTER TABLE {table} SET TAGS {_pairs(_fit_tags(tags, item.name, losses))}"
    for field in item.fields:
        column = _column_name(field)
        if field.description:
            yield f"COMMENT ON COLUMN {table}.{column} IS {quote_text(field.description)}"
        own = _field_tags(field)
        if own:
            pairs = _pairs(_fit_tags(own, f"{item.name}.{field.name}", losses))
            yield f"ALTER TABLE {table} ALTER COLUMN {column} SET TAGS {pairs}"
        losses += _nested_losses(item, field)


def _polaris_statements(contract: Contract, item: SchemaObject, table: str, losses: list[Loss]) -> Iterator[str]:
    properties = {f"{PREFIX}{name}": text for name, text in describe_contract(contract).items()}
    if comment := item.description:
        properties["comment"] = comment
    yield f"ALTER TABLE {table} SET TBLPROPERTIES {_pairs(properties)}"
    for field in item.fields:
        if field.description:
            yield f"ALTER TABLE {table} ALTER COLUMN {_column_name(field)} COMMENT {quote_text(field.description)}"
        losses += _nested_losses(item, field)


def _table_name(contract: Contract, item: SchemaObject) -> str:
    """Return the quoted name of a table; a server of the contract names its catalog and schema."""
    parts = (item.physical_name or item.name).split(".")
    if len(parts) == 1:
        servers = [server for server in contract.servers or () if server.get("schema")]
        if len(servers) == 1:
            place = (servers[0].get("catalog") or servers[0].get("database"), servers[0]["schema"])
            parts = [*(str(part) for part in place if part), *parts]
    return ".".join(_quote(part, f"the table of {item.name!r}") for part in parts)


def _column_name(field: Field) -> str:
    return _quote(field.physical_name or field.name or "", f"the column of {field.name!r}")


def _quote(name: str, what: str) -> str:
    if problem := identifier_problem(name):
        raise InvalidDocument(f"{what} cannot be written in SQL: it has {problem}; set physicalName")
    return quote_identifier(name)


def quote_text(text: str) -> str:
    """Return a text as a literal of Spark and Databricks; variables such as `${env:HOME}` are not substituted."""
    return "'" + "".join(map(_escape, text)) + "'"


def _escape(sign: str) -> str:
    if sign in _ESCAPES or sign.isprintable():
        return _ESCAPES.get(sign, sign)
    return f"\\u{ord(sign):04x}" if ord(sign) <= _LAST_SHORT_ESCAPE else f"\\U{ord(sign):08x}"


def _pairs(values: dict[str, str]) -> str:
    return "(" + ", ".join(f"{quote_text(key)} = {quote_text(value)}" for key, value in values.items()) + ")"


def _field_tags(field: Field) -> dict[str, str]:
    classified = {_CLASSIFICATION_TAG: field.classification} if field.classification else {}
    tags = classified | _own_tags((field.more or EMPTY).get("tags"))
    return tags | ({"treaty_primary_key": "true"} if field.primary_key else {})


def _own_tags(value: object) -> dict[str, str]:
    """Return the tags of a contract as tags without a value."""
    names = value if isinstance(value, tuple) else ()
    return {_tag_name(name): "" for name in names if isinstance(name, str) and name.strip()}


def _tag_name(name: str) -> str:
    """Return a name without the characters that the name of a tag may not contain."""
    return "".join("_" if sign in ".,-=/:" or not sign.isprintable() else sign for sign in name.strip())[:255]


def _fit_tags(tags: dict[str, str], path: str, losses: list[Loss]) -> dict[str, str]:
    """Return tags within the limits of the catalog, and report what was cut off."""
    for name, value in tags.items():
        if len(value) > MAX_TAG_VALUE:
            losses.append(Loss(path, f"the end of the tag {name}", f"a tag has at most {MAX_TAG_VALUE:,} characters"))
    for name in list(tags)[MAX_TAGS:]:
        losses.append(Loss(path, f"the tag {name}", f"a table or column has at most {MAX_TAGS} tags"))
    return {name: value[:MAX_TAG_VALUE] for name, value in list(tags.items())[:MAX_TAGS]}


def _nested_losses(item: SchemaObject, field: Field) -> Iterator[Loss]:
    """Yield the descriptions and classifications of fields inside a column, which the catalog has no place for."""
    pending = [(f"{item.name}.{field.name}", child) for child in _children(field)]
    while pending:
        path, child = pending.pop(0)
        inner = f"{path}.{child.name}" if child.name else path
        if child.classification:
            yield Loss(inner, f"classification {child.classification}", "a catalog classifies columns, not their parts")
        if child.description:
            yield Loss(inner, "the description", "a catalog describes columns, not their parts")
        pending += [(inner, grandchild) for grandchild in _children(child)]


def _children(field: Field) -> tuple[Field, ...]:
    return (*(field.properties or ()), *(child for _, child in field.children))


CATALOG_EXPORTS: tuple[CatalogExport, ...] = (
    CatalogExport("unity-sql", "Unity Catalog", write_unity_sql),
    CatalogExport("polaris-sql", "Polaris", write_polaris_sql),
)


def find_catalog_export(name: str) -> CatalogExport | None:
    """Return the export with a name, or None."""
    return next((one for one in CATALOG_EXPORTS if one.name == name), None)
