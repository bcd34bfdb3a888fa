"""Where a finding stands in the branch: what is about something gone stands where it was."""

from __future__ import annotations

from dataclasses import replace

from treaty.compatibility import Verdict
from treaty.compatibility.placing import placed
from treaty.contracts.findings import Finding, Place
from treaty.contracts.locating import locate_fields
from treaty.contracts.paths import parse_path
from treaty.errors import InvalidDocument
from treaty.review.documents import Document


def placed_in_branch(verdict: Verdict, before: Document, after: Document) -> tuple[Finding, ...]:
    """Return the findings of a verdict, each at a line of the document as it is now."""
    spots = Spots(after)
    return tuple(
        finding
        if finding.place and finding.place.source == after.file.source
        else replace(finding, place=spots.of(finding.path))
        for finding in placed(verdict, before.loaded, after.loaded)
    )


class Spots:
    """The lines of one document, by the paths of its fields."""

    def __init__(self, document: Document) -> None:
        self._loaded = document.loaded
        self._pointers = {str(path): pointer for path, _, pointer in locate_fields(document.contract)}

    def of(self, path: str | None) -> Place:
        """Return where a field stands; for one that is not there, the nearest around it, else the schema."""
        while path:
            if path in self._pointers:
                return self._loaded.place_of(self._pointers[path])
            path = _around(path)
        return self._loaded.place_of(("schema",))

    def key(self, name: str) -> Place:
        """Return where a key at the top stands."""
        return self._loaded.place_of((name,))


def _around(path: str) -> str | None:
    try:
        parsed = parse_path(path)
    except InvalidDocument:
        return None
    return str(parsed.parent) if parsed.steps else None
