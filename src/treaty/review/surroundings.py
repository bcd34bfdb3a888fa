"""What a branch leaves alone and what matters to it all the same: policies, children, readers, other lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from treaty.consumers.declared import Declared
from treaty.contracts.findings import Finding
from treaty.contracts.model import Contract
from treaty.contracts.reading import Limits
from treaty.errors import InvalidDocument
from treaty.governance.inheritance import is_policy
from treaty.governance.lifecycle import Status, parse_status
from treaty.review.branch import Branch
from treaty.review.documents import Contents, Document, read_file

_MOST_ROUNDS = 10
_GONE = frozenset({Status.RETIRED, Status.ARCHIVED})


@dataclass(frozen=True)
class Surroundings:
    """Contracts and subscriptions that the branch leaves alone, and what is wrong with files that hold them."""

    documents: tuple[Document, ...] = ()
    declared: tuple[Declared, ...] = ()
    problems: tuple[tuple[str, tuple[Finding, ...]], ...] = ()


def look_around(branch: Branch, touched: Sequence[Contents], limits: Limits) -> Surroundings:
    """Find what names the touched contracts or their policies, and what names those in turn."""
    documents = [one for contents in touched for one in contents.documents if one.format is None]
    asked: set[str] = set()
    found: dict[str, Contents] = {}
    wanted = {one.contract.id for contents in touched for one in contents.documents} | set(_parents(documents))
    for _ in range(_MOST_ROUNDS):
        if not (wanted := wanted - asked):
            break
        asked |= wanted
        named = _naming(wanted)
        files = [one for one in branch.mentioning(sorted(wanted)) if one.path not in found]
        read = {one.path: read_file(one, limits) for one in files if named.search(one.content)}
        found |= read
        wanted = set(_parents(one for contents in read.values() for one in contents.documents))
    return Surroundings(
        tuple(one for path in sorted(found) for one in found[path].documents),
        tuple(one for path in sorted(found) for one in found[path].declared),
        tuple((path, found[path].problems) for path in sorted(found) if found[path].problems),
    )


def policies_in_force(documents: Collection[Document]) -> dict[str, Contract]:
    """Return by id the version of each policy that binds: the highest active one, else the highest not gone."""
    by_id: dict[str, list[Contract]] = {}
    for one in documents:
        if one.format is None and is_policy(one.contract) and _status(one.contract) not in _GONE:
            by_id.setdefault(one.contract.id, []).append(one.contract)
    return {
        name: max(found, key=lambda one: (_status(one) is Status.ACTIVE, _order(one))) for name, found in by_id.items()
    }


def _naming(names: Collection[str]) -> re.Pattern[bytes]:
    """Match a key that names a contract with one of the names as its value; words in a description do not count."""
    either = "|".join(re.escape(name) for name in sorted(names))
    keys = "id|dataset_id|parent|contract|line"
    return re.compile(rf"""["']?(?:{keys})["']?\s*:\s*["']?(?:{either})(?:@[0-9]+)?["']?\s*(?:[,}}\r\n#]|$)""".encode())


def _parents(documents: Collection[Document] | Iterator[Document]) -> Iterator[str]:
    return (one.contract.treaty.parent for one in documents if one.contract.treaty.parent)


def _status(contract: Contract) -> Status | None:
    try:
        return parse_status(contract.status)
    except InvalidDocument:
        return None


def _order(contract: Contract) -> tuple[int, int, int]:
    version = contract.semantic_version
    return (version.major, version.minor, version.patch) if version else (-1, -1, -1)
