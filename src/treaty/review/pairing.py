"""Pairs the contracts of a branch with those of its base, independent of file paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treaty.compatibility import predecessor
from treaty.contracts.text import Limits
from treaty.review.branch import Contents, Document, FileChange, read_file, stem


@dataclass(frozen=True)
class ReadChange:
    """A changed file with the contents of both sides."""

    touched: FileChange
    before: Contents
    after: Contents


@dataclass(frozen=True)
class Pair:
    """A contract of the branch and its predecessor; one of them is None if it was added or removed."""

    before: Document | None
    after: Document | None
    history: tuple[Document, ...] = ()

    @property
    def document(self) -> Document:
        """The contract in the branch or, if it was removed, in the base."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 - a pair has a side
        return found


def read_touched(touched: FileChange, limits: Limits) -> ReadChange:
    """Read both sides of a file; an unnamed schema keeps the name of its old file."""
    name = stem(touched.before.path) if touched.before else None
    return ReadChange(touched, read_file(touched.before, limits), read_file(touched.after, limits, name))


def pairs_of(read: Sequence[ReadChange], untouched: Sequence[Document]) -> Iterator[Pair]:
    """Yield every contract that the branch changes."""
    yield from _own(read, [document for document in untouched if document.format is None])
    yield from _foreign(read)


def _own(read: Sequence[ReadChange], untouched: Sequence[Document]) -> Iterator[Pair]:
    """Pair contracts by id; the predecessor is the latest version of the line, else the latest of all."""
    before = [one for part in read for one in part.before.documents if one.format is None]
    after = [one for part in read for one in part.after.documents if one.format is None]
    for document in after:
        earlier = tuple(other for other in (*before, *untouched) if other.contract.id == document.contract.id)
        yield Pair(_followed(earlier, document), document, earlier)
    kept = {_line(one) for one in (*after, *untouched)}
    for part in read:
        here = {one.contract.id for one in part.after.documents}
        for gone in part.before.documents if not part.after.problems else ():  # an unreadable file is not a removed one
            if gone.format is None and _line(gone) not in kept and gone.contract.id not in here:
                yield Pair(gone, None)


def _followed(earlier: Sequence[Document], document: Document) -> Document | None:
    """Return the same contract if it was only moved, else its predecessor."""
    same = [other for other in earlier if other.contract == document.contract]
    if same:
        return next((other for other in same if other.path == document.path), same[0])
    previous = predecessor([other.contract for other in earlier], document.contract)
    return next((other for other in earlier if other.contract is previous), None)


def _line(document: Document) -> tuple[str, str]:
    return document.contract.id, document.contract.line or document.contract.version


def _foreign(read: Sequence[ReadChange]) -> Iterator[Pair]:
    """Pair foreign schemas by file and name; a single unpaired schema on each side counts as renamed."""
    gone: list[Document] = []
    new: list[Document] = []
    for part in read:
        before = [document for document in part.before.documents if document.format and not part.after.problems]
        after = [document for document in part.after.documents if document.format]
        yield from _matched(before, after)
        if len(before) == len(after) == 1 and before[0].format == after[0].format:
            yield Pair(before.pop(), after.pop())
        gone += before
        new += after
    yield from _matched(gone, new)
    yield from (Pair(None, document) for document in new)
    yield from (Pair(removed, None) for removed in gone)


def _matched(before: list[Document], after: list[Document]) -> Iterator[Pair]:
    """Yield the schemas that both lists have, and remove them from the lists."""
    for document in list(after):
        same = next(
            (old for old in before if (old.format, old.contract.id) == (document.format, document.contract.id)), None
        )
        if same is not None:
            before.remove(same)
            after.remove(document)
            yield Pair(same, document)
