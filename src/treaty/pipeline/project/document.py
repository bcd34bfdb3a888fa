"""One file of a project: its name, its mapping, and what it reads of others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path

from treaty.contracts.findings import Place
from treaty.contracts.versions import parse_line
from treaty.errors import InvalidDocument
from treaty.pipeline.project.declarations import Line, Sql
from treaty.pipeline.project.mapping_reader import MISSING_SQL, UNKNOWN_NAME, WRONG_LAYER, Entry, Problems, meant


class Kind(StrEnum):
    """A kind of declaration, by its word; each has a folder."""

    SOURCE = "source"
    PRODUCT = "product"
    RECONCILIATION = "reconciliation"
    PUBLICATION = "publication"


class Use(StrEnum):
    """What a name is read for."""

    EVENTS = "the events of a product"
    ENRICHMENT = "the enrichment of a product"
    CLAIM = "a claim"
    PUBLISHED = "what is published"


MAY_READ = {
    Use.EVENTS: frozenset({Kind.SOURCE}),
    Use.ENRICHMENT: frozenset({Kind.PRODUCT}),
    Use.CLAIM: frozenset({Kind.PRODUCT}),
    Use.PUBLISHED: frozenset({Kind.PRODUCT, Kind.RECONCILIATION}),
}
"""What may be read for what."""

RULES = {
    Use.EVENTS: "a product is made from sources",
    Use.ENRICHMENT: "a product is enriched with other products",
    Use.CLAIM: "claims are made by products",
    Use.PUBLISHED: "a publication reads products and reconciliations, never raw events",
}
"""The same in words."""

HINTS = {
    Use.EVENTS: "name a source, or join products under 'with'",
    Use.ENRICHMENT: "name a product; sources stand under 'from'",
    Use.CLAIM: "name the product that makes the claim",
    Use.PUBLISHED: "name a product or a reconciliation; make a product of raw events first",
}
"""What to do about it."""


@dataclass(frozen=True)
class Mention:
    """A name that a declaration reads, and where."""

    name: str
    use: Use
    by: str
    place: Place


def check_references(mentions: Iterable[Mention], declared: Mapping[str, Kind], problems: Problems) -> None:
    """Note every name that nothing declares, or that is read where it may not be."""
    for one in mentions:
        kind = declared.get(one.name)
        allowed = MAY_READ[one.use]
        if kind is None:
            fitting = [name for name, its in declared.items() if its in allowed]
            problems.note(f"nothing is called {one.name!r}", one.place, _meant(one, fitting), UNKNOWN_NAME)
        elif kind not in allowed:
            message = f"{one.name!r} is a {kind}: {RULES[one.use]}"
            problems.note(message, one.place, HINTS[one.use], WRONG_LAYER)
        elif one.use is Use.ENRICHMENT and folded(one.name) == folded(one.by):
            problems.note(f"{one.by!r} is enriched with itself", one.place, "name another product", WRONG_LAYER)


def _meant(one: Mention, fitting: list[str]) -> str:
    known = f"there are: {', '.join(fitting)}" if fitting else "declare it first"
    return meant(one.name, fitting, known)


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
_LAST_PART = re.compile(r"[^.:/]+\Z")
_OTHER_SIGNS = re.compile(r"[^0-9A-Za-z_]")
NAME_HINT = "use letters, digits and _, with a letter first, 100 at most"


def is_name(text: str) -> bool:
    """Tell whether a text can name a declaration or a table."""
    return _NAME.fullmatch(text) is not None


def folded(name: str) -> str:
    """Return the name as catalogs compare it: without regard to case."""
    return name.lower()


def publication_table_name(line: Line) -> str:
    """Return the table of a published line: the last part of its contract's id, `_v` and MAJOR."""
    last = _LAST_PART.search(line.contract)
    return f"{_OTHER_SIGNS.sub('_', last[0] if last else line.contract)}_v{line.major}"


@dataclass(frozen=True)
class Document:
    """A declaration as it was read, before it is understood."""

    kind: Kind
    name: str
    folder: Path
    """The project's, from which files are found."""
    entry: Entry
    is_read: bool = True
    """False where the file could not be read, and only its name is known."""
    mentions: list[Mention] = field(default_factory=list)

    @property
    def at(self) -> str:
        """File and line of the declaration: where it names its contract."""
        return str(self.entry.place("contract"))

    def reads(self, key: str, use: Use, hint: str | None = None) -> tuple[str, ...]:
        """Return the names in a list, each to be looked up once all files were read; with a hint, there must be one."""
        names = self.entry.texts(key) if hint is None else self.entry.needed_texts(key, hint)
        given = self.entry.data.get(key)
        for name in names:
            self.mentioned(name, use, self.entry, key, given.index(name) if isinstance(given, list) else 0)
        return names

    def mentioned(self, name: str, use: Use, entry: Entry, *keys: str | int) -> None:
        """Keep a name that is read, with its place."""
        self.mentions.append(Mention(name, use, self.name, entry.place(*keys)))


_HINT = "name the contract and its MAJOR, like contract: retail.orders.order_placed@1"


def read_contract_line(entry: Entry) -> Line:
    """Read `contract: id@MAJOR`; what is none is noted."""
    text = entry.needed_text("contract", _HINT)
    try:
        found = parse_line(text)
    except InvalidDocument:
        if text:
            entry.note(f"{text!r} is no line of a contract", _HINT, "contract")
        return Line(text, 0)
    return Line(found.contract, found.major)


_LARGEST = 1_000_000


def read_sql(entry: Entry, folder: Path) -> Sql | None:
    """Read the file that `sql:` names, found from the project's folder; None where there is none."""
    named = entry.text("sql")
    if named is None:
        return None
    path = folder / named
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        _note(entry, f"no SQL file {path}", _nearest(named, folder))
    except OSError as error:
        _note(entry, f"cannot read {path}: {error.strerror}", "check the path")
    except (UnicodeDecodeError, ValueError):  # a path with a NUL is a ValueError too
        _note(entry, f"{_shown(named)} is no UTF-8 text", "save it as UTF-8")
    else:
        if len(content) > _LARGEST:
            _note(entry, f"{path} has more than {_LARGEST:,} bytes", "write a shorter query")
        elif not text.strip():
            _note(entry, f"{path} is empty", "write one SELECT into it")
        else:
            return Sql(path, text)
    return None


def _shown(named: str) -> str:
    return repr(named) if not named.isprintable() else named


def _note(entry: Entry, message: str, hint: str) -> None:
    entry.note(message, hint, "sql", kind=MISSING_SQL)


def _nearest(named: str, folder: Path) -> str:
    """Name the file with the nearest name, beside the one that is named or below the usual folder."""
    known = {path.stem: path for path in (*(folder / "sql").rglob("*.sql"), *(folder / named).parent.glob("*.sql"))}
    if close := get_close_matches(Path(named).stem, known, n=1):
        return f"did you mean {os.path.relpath(known[close[0]], folder)!r}?"
    return "write it, or correct the path; it is found from the project's folder"


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/.*")


def found_from(folder: Path, text: str) -> str:
    """Return an address as it is, and a relative path or pattern below the folder, `~` followed."""
    return text if _URL.fullmatch(text) else str(folder / Path(text).expanduser())


def place_at(at: str) -> Place:
    """Return the place of a declaration from its `at`: a file and a line."""
    source, colon, line = at.rpartition(":")
    return Place(source, int(line)) if colon and line.isdecimal() else Place(at)
