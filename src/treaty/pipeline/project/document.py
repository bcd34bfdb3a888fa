"""One declaration file: its name, contract line, SQL file, and the other declarations that it refers to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from treaty.contracts.findings import Place
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument
from treaty.pipeline.project.declarations import Sql
from treaty.pipeline.project.mapping_reader import (
    MISSING_SQL,
    UNKNOWN_NAME,
    WRONG_LAYER,
    MappingReader,
    Problems,
)
from treaty.suggestions import did_you_mean, similar_names


class Kind(StrEnum):
    """The kinds of declarations; each has a folder."""

    SOURCE = "source"
    PRODUCT = "product"
    RECONCILIATION = "reconciliation"
    PUBLICATION = "publication"


class Use(StrEnum):
    """What a declaration is referred to as."""

    EVENTS = "the events of a product"
    ENRICHMENT = "the enrichment of a product"
    CLAIM = "a claim"
    PUBLISHED = "what is published"
    PUBLISHED_ALONE = "what is published as it is"


MAY_READ = {
    Use.EVENTS: frozenset({Kind.SOURCE}),
    Use.ENRICHMENT: frozenset({Kind.PRODUCT}),
    Use.CLAIM: frozenset({Kind.PRODUCT}),
    Use.PUBLISHED: frozenset({Kind.PRODUCT, Kind.RECONCILIATION}),
    Use.PUBLISHED_ALONE: frozenset({Kind.SOURCE, Kind.PRODUCT, Kind.RECONCILIATION}),
}
"""The kinds of declarations that each use allows."""

RULES = {
    Use.EVENTS: "a product is computed from sources",
    Use.ENRICHMENT: "a product is enriched with other products",
    Use.CLAIM: "a claim refers to a product",
    Use.PUBLISHED: "a publication with a query reads products and reconciliations, never events",
    Use.PUBLISHED_ALONE: "a publication reads a product, a reconciliation or a source",
}
"""The same rules as text."""

HINTS = {
    Use.EVENTS: "name a source, or join products under 'with'",
    Use.ENRICHMENT: "name a product; sources belong under 'from'",
    Use.CLAIM: "name the product of the claim",
    Use.PUBLISHED: "name a product or a reconciliation; compute a product from the events first",
    Use.PUBLISHED_ALONE: "name a product, a reconciliation or a source",
}
"""What to do if the rule is broken."""


@dataclass(frozen=True)
class Reference:
    """A reference of one declaration to another."""

    name: str
    use: Use
    by: str
    place: Place


def check_references(references: Iterable[Reference], declared: Mapping[str, Kind], problems: Problems) -> None:
    """Report references to unknown names, and references that the rules do not allow."""
    for reference in references:
        kind = declared.get(reference.name)
        allowed = MAY_READ[reference.use]
        if kind is None:
            fitting = [name for name, its in declared.items() if its in allowed]
            problems.report(
                f"unknown name {reference.name!r}", reference.place, _suggestion(reference, fitting), UNKNOWN_NAME
            )
        elif kind not in allowed:
            message = f"{reference.name!r} is a {kind}: {RULES[reference.use]}"
            problems.report(message, reference.place, HINTS[reference.use], WRONG_LAYER)
        elif reference.use is Use.ENRICHMENT and fold_case(reference.name) == fold_case(reference.by):
            problems.report(
                f"{reference.by!r} is enriched with itself", reference.place, "name another product", WRONG_LAYER
            )


def _suggestion(reference: Reference, fitting: list[str]) -> str:
    known = f"there are: {', '.join(fitting)}" if fitting else "declare it first"
    return did_you_mean(reference.name, fitting, known)


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
_LAST_PART = re.compile(r"[^.:/]+\Z")
NAME_HINT = "use letters, digits and _, starting with a letter, at most 100 characters"


def is_name(text: str) -> bool:
    """Tell whether a text is a valid name for a declaration or table."""
    return _NAME.fullmatch(text) is not None


def fold_case(name: str) -> str:
    """Return the name in lower case, since catalogs ignore case."""
    return name.lower()


def publication_table_name(line: Line) -> str:
    """Return the default table name of a publication: the last part of the contract id, `_v` and MAJOR."""
    last = _LAST_PART.search(line.contract)
    return Line(last[0] if last else line.contract, line.major).namespace


@dataclass(frozen=True)
class Document:
    """A declaration file before it is interpreted."""

    kind: Kind
    name: str
    folder: Path
    """The folder of the project, from which relative paths are resolved."""
    entry: MappingReader
    is_parsed: bool = True
    """False if the file could not be parsed, so that only its name is known."""
    references: list[Reference] = field(default_factory=list)

    @property
    def at(self) -> str:
        """File and line of the declaration: where it names its contract."""
        return str(self.entry.place("contract"))

    def reads(self, key: str, use: Use, hint: str | None = None) -> tuple[str, ...]:
        """Return the names in a list and record them as references; with a hint, the list is required."""
        names = self.entry.texts(key) if hint is None else self.entry.required_texts(key, hint)
        given = self.entry.data.get(key)
        for name in names:
            self.add_reference(name, use, self.entry, key, given.index(name) if isinstance(given, list) else 0)
        return names

    def add_reference(self, name: str, use: Use, entry: MappingReader, *keys: str | int) -> None:
        """Record a reference to another declaration."""
        self.references.append(Reference(name, use, self.name, entry.place(*keys)))


_HINT = "name the contract and its MAJOR version, like contract: retail.orders.order_placed@1"


def read_contract_line(entry: MappingReader) -> Line:
    """Read `contract: id@MAJOR`; report it if it is missing or invalid."""
    text = entry.required_text("contract", _HINT)
    try:
        line = parse_line(text)
    except InvalidDocument:
        if text:
            entry.report(f"{text!r} is not a contract line", _HINT, "contract")
        return Line(text, 0)
    return line


MAX_SQL_BYTES = 1_000_000


def read_sql(entry: MappingReader, folder: Path) -> Sql | None:
    """Read the file that `sql:` names, relative to the project folder; None if there is none."""
    named = entry.text("sql")
    if named is None:
        return None
    path = folder / named
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SQL_BYTES + 1)
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        _report(entry, f"there is no SQL file {path}", _similar_file(named, folder))
    except OSError as error:
        _report(entry, f"cannot read {path}: {error.strerror}", "check the path")
    except (UnicodeDecodeError, ValueError):  # a path with a NUL is a ValueError too
        _report(entry, f"{_printable(named)} is not a UTF-8 text file", "save it as UTF-8")
    else:
        if len(content) > MAX_SQL_BYTES:
            _report(entry, f"{path} has more than {MAX_SQL_BYTES:,} bytes", "write a shorter query")
        elif not text.strip():
            _report(entry, f"{path} is empty", "write a SELECT statement into it")
        else:
            return Sql(path, text)
    return None


def _printable(named: str) -> str:
    return repr(named) if not named.isprintable() else named


def _report(entry: MappingReader, message: str, hint: str) -> None:
    entry.report(message, hint, "sql", kind=MISSING_SQL)


def _similar_file(named: str, folder: Path) -> str:
    """Suggest the file with the most similar name, in the same folder or below `sql/`."""
    known = {path.stem: path for path in (*(folder / "sql").rglob("*.sql"), *(folder / named).parent.glob("*.sql"))}
    if close := similar_names(Path(named).stem, known, most=1):
        return f"did you mean {os.path.relpath(known[close[0]], folder)!r}?"
    return "create it, or correct the path, which is relative to the project folder"


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/.*")


def resolve_path(folder: Path, text: str) -> str:
    """Return a URL unchanged, and a path or pattern relative to the folder, with `~` expanded."""
    return text if _URL.fullmatch(text) else str(folder / Path(text).expanduser())
