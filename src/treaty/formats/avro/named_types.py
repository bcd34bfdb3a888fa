"""Named Avro types: full names, references between them, the records of a file, and types in files beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.contracts.text.json_reader import NotJson
from treaty.contracts.text.json_reader import read as read_json_text
from treaty.contracts.text.limits import Limits
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument
from treaty.formats.avro.types import PRIMITIVES
from treaty.formats.naming import make_type_name
from treaty.formats.nearby_files import NO_FILES, NearbyFile, NearbyFiles
from treaty.suggestions import similar_names

Refuse = Callable[[str, str], InvalidDocument]

RECORD_KINDS = ("record", "error")
_NAMED_KINDS = (*RECORD_KINDS, "enum", "fixed")
_SUFFIX = ".avsc"
_TYPE_WORDS = (*PRIMITIVES, "null", "record", "enum", "array", "map", "fixed", "timestamp", "decimal", "date")
_COMMENT_OR_TEXT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


@dataclass(frozen=True)
class NamedType:
    """A record, enum or fixed type with its full name."""

    name: str
    schema: Mapping[str, Any]

    @property
    def short(self) -> str:
        """The name without its namespace."""
        return self.name.rpartition(".")[2]

    @property
    def namespace(self) -> str:
        """The namespace, possibly empty."""
        return self.name.rpartition(".")[0]

    @property
    def kind(self) -> str:
        """The kind of type: record, error, enum or fixed."""
        return str(self.schema["type"])

    @classmethod
    def of(cls, schema: Mapping[str, Any], namespace: str = "") -> NamedType:
        """Return the type with its full name; without a namespace of its own it inherits the enclosing one."""
        name, own = str(schema.get("name", "")), schema.get("namespace", namespace)
        return cls(name if "." in name or not own else f"{own}.{name}", schema)


def default_type_name(parent: str, field_name: str) -> str:
    """Return the name of a type that the contract does not name: record and field joined."""
    return make_type_name(parent.rpartition(".")[2], field_name)


@dataclass
class _Collection:
    """What one file defines: its types, its outermost types, and which type refers to which names."""

    types: dict[str, NamedType] = field(default_factory=dict)
    outermost: list[str] = field(default_factory=list)
    references: list[tuple[str, str, str]] = field(default_factory=list)


class NamedTypes:
    """The named types that a file defines or refers to."""

    def __init__(self, data: Json, refuse: Refuse, files: NearbyFiles = NO_FILES) -> None:
        collected = _collect(data, refuse)
        self._types = collected.types
        self._references = list(collected.references)
        self._outermost = collected.outermost
        self._files = files
        self._beside: dict[str, NearbyFile] | None = None
        self._load_missing()

    def __iter__(self) -> Iterator[NamedType]:
        return iter(self._types.values())

    def register(self, name: str, schema: Mapping[str, Any]) -> None:
        """Add a type that is defined elsewhere."""
        self._types[name] = NamedType(name, schema)

    def find(self, name: str, namespace: str) -> NamedType | None:
        """Return a type by its full name, or by a name within a namespace."""
        if "." in name:
            return self._types.get(name)
        return self._types.get(f"{namespace}.{name}" if namespace else name) or self._types.get(name)

    def of_schema(self, schema: Mapping[str, Any], namespace: str) -> NamedType:
        """Return the type that a schema defines, with its full name."""
        return next((one for one in self._types.values() if one.schema is schema), NamedType.of(schema, namespace))

    def root_records(self) -> list[NamedType]:
        """Return the outermost records that no other record uses; of records that use each other, the first one."""
        records = [name for name in self._outermost if self._types[name].kind in RECORD_KINDS]
        uses = {name: self._reachable(name) for name in records}
        roots = [name for name in records if not any(name in uses[other] for other in records if other != name)]
        covered = {name for root in roots for name in (root, *uses[root])}
        for name in records:
            if name not in covered:
                roots.append(name)
                covered |= {name, *uses[name]}
        return [self._types[name] for name in records if name in roots]

    def _reachable(self, start: str) -> set[str]:
        """Return the types that a type uses, directly or through others."""
        reached: set[str] = set()
        pending = [start]
        while pending:
            home = pending.pop()
            for text, namespace, user in self._references:
                named = self.find(text, namespace) if user == home else None
                if named is not None and named.name not in reached:
                    reached.add(named.name)
                    pending.append(named.name)
        return reached

    def _load_missing(self) -> None:
        """Load the types that the file refers to and does not define from files near it."""
        checked: set[tuple[str, str]] = set()
        pending = list(self._references)
        while pending:
            text, namespace, _ = pending.pop()
            if (text, namespace) in checked or self.find(text, namespace) is not None or not _is_type_name(text):
                continue
            checked.add((text, namespace))
            for name in (f"{namespace}.{text}" if namespace and "." not in text else text, text):
                other = self._load(name)
                if other is not None:
                    self._types = other.types | self._types
                    self._references += other.references
                    pending += other.references
                    break

    def _load(self, name: str) -> _Collection | None:
        short = name.rpartition(".")[2]
        for path in (f"{name}{_SUFFIX}", f"{name.replace('.', '/')}{_SUFFIX}", f"{short}{_SUFFIX}"):
            nearby = self._files.find(path)
            other = _collect_file(nearby) if nearby is not None else None
            if other is not None and name in other.types:
                return other
        if self._beside is None:
            self._beside = {one.path: one for one in self._files.beside(_SUFFIX)}
        for nearby in self._beside.values():
            other = _collect_file(nearby) if f'"{short}"' in nearby.text else None
            if other is not None and name in other.types:
                return other
        return None


def _is_type_name(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def looks_like_type_in_other_file(name: str) -> bool:
    """Whether an unknown name is probably a type of another file, not a misspelled primitive."""
    is_misspelled = bool(similar_names(name, _TYPE_WORDS, similarity=0.75)) and "." not in name
    return _is_type_name(name) and not is_misspelled


def read_schema_text(text: str, source: str) -> Json:
    """Read the JSON of a schema. Avro for Java allows comments, so they are removed if there are any."""
    try:
        return read_json_text(text, source, Limits())[0]
    except NotJson:
        plain = _COMMENT_OR_TEXT.sub(lambda part: part[0] if part[0][0] == '"' else "\n" * part[0].count("\n"), text)
        if plain == text:
            raise
        return read_json_text(plain, source, Limits())[0]


def _collect_file(file: NearbyFile) -> _Collection | None:
    """Collect the types of a file; None if it is not a valid schema."""
    try:
        data = read_schema_text(file.text, file.path)
        return _collect(data, lambda message, hint: InvalidDocument(message))
    except InvalidDocument:
        return None


def _collect(data: Json, refuse: Refuse) -> _Collection:
    found = _Collection()
    pending: list[tuple[Json, str, str]] = [(data, "", "")]
    if isinstance(data, Mapping) and isinstance(data.get("protocol"), str) and "type" not in data:
        types = data.get("types") if isinstance(data.get("types"), list) else []
        pending = [(types, str(data.get("namespace") or ""), "")]
    while pending:
        schema, namespace, home = pending.pop()
        if isinstance(schema, str):
            found.references.append((schema, namespace, home))
        elif isinstance(schema, list):
            pending += [(one, namespace, home) for one in reversed(schema)]
        elif isinstance(schema, Mapping) and schema.get("type") in _NAMED_KINDS:
            named = NamedType.of(schema, namespace)
            if not named.short:
                raise refuse(f"a {schema['type']} has no name", "give it one")
            if named.name in found.types:
                raise refuse(f"the type {named.name!r} is defined twice", "define it once and refer to it by name")
            found.types[named.name] = named
            if home:
                found.references.append((named.name, named.namespace, home))
            else:
                found.outermost.append(named.name)
            fields = schema.get("fields")
            kinds = [one.get("type") for one in fields or () if isinstance(one, Mapping)] if _is_list(fields) else []
            pending += [(kind, named.namespace, named.name) for kind in reversed(kinds)]
        elif isinstance(schema, Mapping):
            pending += [(schema[key], namespace, home) for key in ("values", "items", "type") if key in schema]
    return found


def _is_list(value: Json) -> bool:
    return isinstance(value, list)
