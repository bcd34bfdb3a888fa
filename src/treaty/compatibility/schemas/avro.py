"""Avro: schema resolution, as the specification defines it and Avro's Java library decides it.

The check of the `avro` package is not used: it misses aliases in a namespace, and its time grows with the square of
the number of differences. The tests compare the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treaty.compatibility.schemas.differences import MAX_DIFFERENCES, Budget, SchemaDifference, too_deep

_PROMOTIONS: Mapping[str, frozenset[str]] = {
    "long": frozenset({"int"}),
    "float": frozenset({"int", "long"}),
    "double": frozenset({"int", "long", "float"}),
    "string": frozenset({"bytes"}),
    "bytes": frozenset({"string"}),
}
"""The reader's type, and the writer's types that it also reads."""
_NAMED = frozenset({"record", "error", "enum", "fixed"})
_Differences = tuple[SchemaDifference, ...]
_NONE: _Differences = ()


def compare(reader: Any, writer: Any) -> list[SchemaDifference]:
    """Return why a reader cannot read; both schemas are of the `avro` package."""
    try:
        return list(_Resolution().differences(reader, writer, ""))[:MAX_DIFFERENCES]
    except RecursionError:
        raise too_deep() from None


class _Resolution:
    """One comparison; a pair of types is compared once, and a pair that contains itself is compatible so far."""

    def __init__(self) -> None:
        self._budget = Budget()
        self._known: dict[tuple[int, int], _Differences] = {}

    def differences(self, reader: Any, writer: Any, path: str) -> _Differences:
        key = (id(reader), id(writer))
        known = self._known.get(key)
        if known is None:
            self._budget.spend()
            self._known[key] = _NONE
            known = self._known[key] = tuple(self._compare(reader, writer, path))
        return known

    def _compare(self, reader: Any, writer: Any, path: str) -> list[SchemaDifference]:
        if writer.type == "union":
            return self._writer_union(reader, writer, path)
        if reader.type == "union":
            if any(not self.differences(branch, writer, path) for branch in reader.schemas):
                return []
            text = (
                f"the union at '{path or '/'}' in the {{reader}} schema has no type for {_name(writer)}, "
                "which the {writer} schema has"
            )
            return [SchemaDifference("MISSING_UNION_BRANCH", path, text)]
        if reader.type != writer.type:
            if writer.type in _PROMOTIONS.get(reader.type, ()):
                return []
            text = (
                f"the type at '{path or '/'}' is {_name(reader)} in the {{reader}} schema "
                f"and {_name(writer)} in the {{writer}} schema"
            )
            return [SchemaDifference("TYPE_MISMATCH", path, text)]
        if reader.type == "array":
            return list(self.differences(reader.items, writer.items, f"{path}/items"))
        if reader.type == "map":
            return list(self.differences(reader.values, writer.values, f"{path}/values"))
        return self._named(reader, writer, path) if reader.type in _NAMED else []

    def _writer_union(self, reader: Any, writer: Any, path: str) -> list[SchemaDifference]:
        """Every type of the writer must be readable."""
        found: list[SchemaDifference] = []
        for index, branch in enumerate(writer.schemas):
            inner = self.differences(reader, branch, f"{path}/{index}")
            if inner and reader.type == "union":
                text = (
                    f"the union at '{path or '/'}' has the type {_name(branch)} in the {{writer}} schema, "
                    "which the {reader} schema does not read"
                )
                found.append(SchemaDifference("MISSING_UNION_BRANCH", f"{path}/{index}", text))
            else:
                found += inner
        return found

    def _named(self, reader: Any, writer: Any, path: str) -> list[SchemaDifference]:
        found: list[SchemaDifference] = []
        if _short_name(reader) != _short_name(writer) and writer.fullname not in _aliases(reader):
            text = (
                f"the type at '{path or '/'}' is named {reader.fullname} in the {{reader}} schema "
                f"and {writer.fullname} in the {{writer}} schema"
            )
            found.append(SchemaDifference("NAME_MISMATCH", f"{path}/name", text))
        if reader.type == "fixed":
            if reader.size != writer.size:
                text = (
                    f"the size of {reader.fullname} is {reader.size} in the {{reader}} schema "
                    f"and {writer.size} in the {{writer}} schema"
                )
                found.append(SchemaDifference("FIXED_SIZE_MISMATCH", f"{path}/size", text))
        elif reader.type == "enum":
            found += _enum(reader, writer, path)
        else:
            found += self._fields(reader, writer, path)
        return found

    def _fields(self, reader: Any, writer: Any, path: str) -> list[SchemaDifference]:
        found: list[SchemaDifference] = []
        written = writer.fields_dict
        for index, field in enumerate(reader.fields):
            place = f"{path}/fields/{index}"
            names = [field.name, *(field.props.get("aliases") or ())]
            match = next((written[name] for name in names if name in written), None)
            if match is not None:
                found += self.differences(field.type, match.type, f"{place}/type")
            elif not field.has_default:
                text = (
                    f"the field '{field.name}' at '{place}' in the {{reader}} schema has no default value "
                    "and is missing in the {writer} schema"
                )
                found.append(SchemaDifference("READER_FIELD_MISSING_DEFAULT_VALUE", place, text))
        return found


def _enum(reader: Any, writer: Any, path: str) -> list[SchemaDifference]:
    missing = [symbol for symbol in writer.symbols if symbol not in set(reader.symbols)]
    if not missing or reader.props.get("default") in reader.symbols:
        return []
    shown = ", ".join(missing[:20])
    text = f"the enum {reader.fullname} in the {{reader}} schema lacks symbols of the {{writer}} schema: {shown}"
    return [SchemaDifference("MISSING_ENUM_SYMBOLS", f"{path}/symbols", text)]


def _name(schema: Any) -> str:
    return str(schema.fullname) if schema.type in _NAMED else str(schema.type)


def _short_name(schema: Any) -> str:
    return str(schema.fullname).rpartition(".")[2]


def _aliases(schema: Any) -> set[str]:
    """Return the aliases of a type as full names: one without a namespace is in that of the type."""
    namespace = str(schema.fullname).rpartition(".")[0]
    names = schema.props.get("aliases") or ()
    return {name if "." in name or not namespace else f"{namespace}.{name}" for name in map(str, names)}
