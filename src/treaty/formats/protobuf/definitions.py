"""Messages and enums by full name: those of a file, and those of the files that it imports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.errors import InvalidDocument
from treaty.formats.nearby_files import NearbyFiles
from treaty.formats.protobuf.parser import flatten_options, parse, with_comments
from treaty.formats.protobuf.types import SCALARS, is_well_known

FEATURES = "features."
MAX_IMPORTED_FILES = 200
_KNOWN_IMPORTS = ("google/protobuf/", "buf/validate/", "validate/", "gogoproto/", "protoc-gen-")
"""Imports that define well-known types and options, which need no file."""
_SYNTAX_FEATURES = {
    "proto2": {"field_presence": "EXPLICIT", "enum_type": "CLOSED"},
    "proto3": {"field_presence": "IMPLICIT", "enum_type": "OPEN"},
}
_EDITION_FEATURES = {"field_presence": "EXPLICIT", "enum_type": "OPEN"}


@dataclass(frozen=True)
class ProtoFile:
    """A parsed file: its package, syntax, options, and the features that apply unless a definition states others."""

    path: str
    package: str
    syntax: str
    elements: list[Any] = field(repr=False)
    options: Mapping[str, Any]

    @property
    def features(self) -> dict[str, str]:
        """The features of the file; proto2 and proto3 are fixed sets of features."""
        return {**_SYNTAX_FEATURES.get(self.syntax, _EDITION_FEATURES), **stated_features(self.options)}

    @property
    def imports(self) -> list[str]:
        """The paths of the imported files."""
        return [one.name for one in self.elements if type(one).__name__ == "Import"]


@dataclass(frozen=True)
class Definition:
    """A message or enum with its full name, its comment, and the features that apply to it."""

    name: str
    node: Any
    comment: str | None
    file: ProtoFile
    features: Mapping[str, str]

    @property
    def short(self) -> str:
        """The name without package and parents."""
        return self.name.rpartition(".")[2]

    @property
    def local_name(self) -> str:
        """The name without the package."""
        package = self.file.package
        return self.name.removeprefix(f"{package}.") if package else self.name

    @property
    def is_enum(self) -> bool:
        """Whether it is an enum."""
        return type(self.node).__name__ == "Enum"

    @property
    def is_group(self) -> bool:
        """Whether it is the message of a group."""
        return type(self.node).__name__ == "Group"


def read_options(node: Any) -> dict[str, Any]:
    """Return the options of a message or enum by name."""
    return flatten_options(one for one in node.elements if type(one).__name__ == "Option")


def stated_features(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the features among options, by name."""
    return {key.removeprefix(FEATURES): str(value) for key, value in options.items() if key.startswith(FEATURES)}


def parse_file(text: str, path: str) -> ProtoFile:
    """Parse a file."""
    tree = parse(text, path)
    elements: list[Any] = list(tree.file_elements)
    package = next((one.name for one in elements if type(one).__name__ == "Package"), "")
    syntax = f"edition {tree.edition}" if tree.edition else tree.syntax or "proto2"
    options = flatten_options(one for one in elements if type(one).__name__ == "Option")
    return ProtoFile(path, package, syntax, elements, options)


def collect_definitions(file: ProtoFile) -> dict[str, Definition]:
    """Return every message and enum of a file, at any depth, by full name."""
    return {one.name: one for one in _collect(file.elements, file.package, file, file.features)}


def _collect(elements: Iterable[Any], scope: str, file: ProtoFile, features: Mapping[str, str]) -> Iterator[Definition]:
    for element, comment in with_comments(elements):
        kind = type(element).__name__
        if kind in ("Message", "Enum", "Group"):
            name = f"{scope}.{element.name}" if scope else element.name
            own = {**features, **stated_features(read_options(element))}
            yield Definition(name, element, comment, file, own)
            if kind != "Enum":
                yield from _collect(element.elements, name, file, own)
        elif kind == "OneOf":
            yield from _collect(element.elements, scope, file, features)


def resolve_type(known: Mapping[str, Definition], name: str, scope: str) -> Definition | None:
    """Find a type by name, searching from the inner scope outwards as Protobuf does."""
    if name.startswith("."):
        return known.get(name[1:])
    while True:
        match = known.get(f"{scope}.{name}" if scope else name)
        if match is not None or not scope:
            return match
        scope = scope.rpartition(".")[0]


def list_types(definition: Definition) -> Iterator[str]:
    """Yield the names of the types that the fields of a message use."""
    pending = list(getattr(definition.node, "elements", ()))
    while pending:
        element = pending.pop()
        if type(element).__name__ == "OneOf":
            pending += element.elements
        elif type(element).__name__ in ("Field", "MapField"):
            name = getattr(element, "value_type", None) or element.type
            if name.removeprefix(".") not in SCALARS:
                yield name


def load_definitions(file: ProtoFile, files: NearbyFiles) -> dict[str, Definition]:
    """Return the definitions of a file and, if it uses types that it does not define, of the files it imports."""
    known = collect_definitions(file)
    pending, loaded = [file], {file.path}
    while pending:
        current = pending.pop(0)
        if not _has_unknown_types(current, known):
            continue
        for path in current.imports:
            nearby = files.find(path) if not path.startswith(_KNOWN_IMPORTS) else None
            if nearby is None or nearby.path in loaded or len(loaded) > MAX_IMPORTED_FILES:
                continue
            loaded.add(nearby.path)
            try:
                imported = parse_file(nearby.text, nearby.path)
            except InvalidDocument:
                continue
            known = collect_definitions(imported) | known
            pending.append(imported)
    return known


def _has_unknown_types(file: ProtoFile, known: Mapping[str, Definition]) -> bool:
    own = [one for one in known.values() if one.file is file]
    public = any(getattr(one, "public", False) for one in file.elements)
    return public or any(
        resolve_type(known, name, one.name) is None and not is_well_known(name)
        for one in own
        for name in list_types(one)
    )
