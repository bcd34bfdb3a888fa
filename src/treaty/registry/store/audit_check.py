"""Verification of the audit log: of its hash chain, and of every row that the log vouches for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from treaty.registry.documents import digest_of
from treaty.registry.model import AuditCheckAnswer, BreakAnswer, DifferenceAnswer
from treaty.registry.store.audit_log import NOTHING_BEFORE, Broken, Entry, breaks_in, chained, read_entries
from treaty.registry.store.row_digests import COVERED, NOT_COVERED, CoveredPart, read_rows
from treaty.registry.store.tables import SESSION_ID_LENGTH, actors, audit, tokens, versions

SEAL = "audit.seal"
"""The action of entries that record the rows of a database which is older than row digests."""

ROWS_PER_ENTRY = 1_000
_MAX_FINDINGS = 100
SYSTEM = "upgrade"
CONVERTED = "audit.converted"
"""The action of entries that follow those which once contained the names of actors instead of ids."""


class Head(NamedTuple):
    """The number and hash of an entry that was noted outside the database."""

    seq: int
    hash: str


class _Recorded(NamedTuple):
    """The digest of a row, and the entry that recorded it last."""

    digest: str
    seq: int


@dataclass
class _Summary:
    """What one pass over the log collects."""

    entries: int = 0
    head: str = NOTHING_BEFORE
    covered_since: int | None = None
    """The first entry of the seal; None if the log has recorded rows from its beginning."""
    rows: dict[str, dict[str, _Recorded]] = field(default_factory=dict)
    registered: dict[int, tuple[str, str | None]] = field(default_factory=dict)
    """Subject and digest of the document of each registration, by number, until the seal."""
    created_tokens: set[str] = field(default_factory=set)
    """Ids of the tokens that entries created until the seal."""
    sealed_tokens: set[str] = field(default_factory=set)
    """Ids of the tokens that the seal recorded."""
    hashes: dict[int, str] = field(default_factory=dict)
    """Hashes of the entries that were noted outside the database, by number."""
    earlier_hashes: dict[int, str] = field(default_factory=dict)
    """The hashes that these entries had before they were converted."""
    last_earlier: int = 0
    """The number of the last entry that has an earlier hash."""
    conversion: int | None = None
    """The number of the first entry that ends a conversion."""

    def add(self, entry: Entry, noted: frozenset[int]) -> None:
        self.entries, self.head = entry.seq, entry.hash
        if entry.seq in noted:
            self.hashes[entry.seq] = entry.hash
            if entry.converted_from is not None:
                self.earlier_hashes[entry.seq] = entry.converted_from
        if entry.converted_from is not None:
            self.last_earlier = entry.seq
        if entry.action == CONVERTED and self.conversion is None:
            self.conversion = entry.seq
        for part, digests in (entry.row_digests or {}).items():
            recorded = self.rows.setdefault(part, {})
            recorded.update((key, _Recorded(digest, entry.seq)) for key, digest in digests.items())
        if entry.action == SEAL:
            self.covered_since = min(self.covered_since or entry.seq, entry.seq)
            self.sealed_tokens.update(json.loads(key)[0] for key in (entry.row_digests or {}).get(tokens.name, ()))
        elif self.covered_since is None and entry.action == "contract.register":
            self.registered[entry.seq] = entry.subject, entry.after
        elif self.covered_since is None and entry.action == "token.create":
            self.created_tokens.add(entry.subject)


def verify(connection: Connection, noted: Sequence[Head] = ()) -> AuditCheckAnswer:
    """Verify the chain, the rows against the chain, and the chain against heads that were noted earlier.

    The connection must see one state of the database throughout.
    """
    summary = _Summary()
    numbers = frozenset(head.seq for head in noted)

    def watch(entries: Iterator[Entry]) -> Iterator[Entry]:
        for entry in entries:
            summary.add(entry, numbers)
            yield entry

    breaks = [*breaks_in(watch(read_entries(connection)))][:_MAX_FINDINGS]
    if summary.last_earlier and (summary.conversion is None or summary.last_earlier > summary.conversion):
        breaks.append(Broken(summary.last_earlier, "it says that it was converted, but no conversion follows it"))
    breaks += _heads_not_found(noted, summary)
    differences = list(islice(_differences(connection, summary), _MAX_FINDINGS))
    return AuditCheckAnswer(
        whole=not breaks and not differences,
        entries=summary.entries,
        head=f"{summary.entries}:{summary.head}",
        breaks=[BreakAnswer(seq=break_.seq, reason=break_.reason) for break_ in breaks],
        differences=differences,
        rows={part.name: len(summary.rows.get(part.name, {})) for part in COVERED if part.has_rows},
        covered_since=summary.covered_since or 1,
        not_covered=list(NOT_COVERED),
    )


def _heads_not_found(noted: Sequence[Head], summary: _Summary) -> Iterator[Broken]:
    for head in noted:
        stored = summary.hashes.get(head.seq)
        if head.hash in (stored, summary.earlier_hashes.get(head.seq)):
            continue
        if (head.seq, head.hash) != (0, NOTHING_BEFORE):
            yield Broken(head.seq, "it is missing" if stored is None else "it is not the entry that was there")


def _differences(connection: Connection, summary: _Summary) -> Iterator[DifferenceAnswer]:
    for part in COVERED:
        yield from _compare(connection, part, summary.rows.get(part.name, {}))
    if summary.covered_since is not None:
        yield from _compare_older_versions(connection, summary, summary.covered_since)
        yield from _compare_older_tokens(summary)


def _compare(
    connection: Connection, part: CoveredPart, recorded: Mapping[str, _Recorded]
) -> Iterator[DifferenceAnswer]:
    """Compare the rows of a part with their digests, in both directions."""
    seen: set[str] = set()
    for row in read_rows(connection, part):
        key = part.key_of(row)
        seen.add(key)
        if key in recorded:
            if recorded[key].digest != part.digest(row):
                reason = f"was changed outside the registry; entry {recorded[key].seq} recorded it differently"
                yield _difference(connection, part, key, reason, recorded[key].seq)
        elif part.has_rows:
            yield _difference(connection, part, key, "was added outside the registry; no entry records it")
    if part.has_rows and part.is_kept:
        for key in recorded.keys() - seen:
            reason = f"was deleted outside the registry; entry {recorded[key].seq} recorded it"
            yield _difference(connection, part, key, reason, recorded[key].seq)


def _compare_older_versions(connection: Connection, summary: _Summary, seal: int) -> Iterator[DifferenceAnswer]:
    """Compare versions from before the seal with the digests of documents in their own entries."""
    columns = versions.c
    query = select(columns.seq, columns.contract, columns.version, columns.parsed, columns.digest)
    seen: set[int] = set()
    for row in connection.execute(query.where(columns.seq < seal).order_by(columns.seq)):
        subject = f"{row.contract} {row.version}"
        seen.add(row.seq)
        if row.seq not in summary.registered:
            yield _older("versions", f"version {subject}", "was added before the upgrade; no entry records it")
        elif summary.registered[row.seq] != (subject, row.digest) or digest_of(json.loads(row.parsed)) != row.digest:
            reason = f"was changed before the upgrade; entry {row.seq} recorded another document"
            yield _older("versions", f"version {subject}", reason, row.seq)
    for seq, (subject, _) in summary.registered.items():
        if seq not in seen:
            reason = f"was deleted before the upgrade; entry {seq} recorded it"
            yield _older("versions", f"version {subject}", reason, seq)


def _compare_older_tokens(summary: _Summary) -> Iterator[DifferenceAnswer]:
    """Compare the tokens of the seal with the entries that created tokens before."""
    for identity in sorted(summary.created_tokens - summary.sealed_tokens):
        yield _older("tokens", f"token {identity}", "was deleted before the upgrade; an entry records it")
    for identity in sorted(summary.sealed_tokens - summary.created_tokens):
        yield _older("tokens", f"token {identity}", "was added before the upgrade; no entry records it")


def _older(part: str, subject: str, reason: str, entry: int | None = None) -> DifferenceAnswer:
    return DifferenceAnswer(part=part, subject=subject, reason=reason, entry=entry)


def _difference(
    connection: Connection, part: CoveredPart, key: str, reason: str, entry: int | None = None
) -> DifferenceAnswer:
    values = dict(zip(part.key_names, json.loads(key), strict=True))
    name = _NAMES.get(part.table.name, _key_name)(connection, values)
    return DifferenceAnswer(part=part.name, subject=f"{part.noun} {name}", reason=reason, entry=entry)


def _key_name(_connection: Connection, key: Mapping[str, Any]) -> str:
    return " ".join(str(value) for value in key.values())


def _version_name(connection: Connection, key: Mapping[str, Any]) -> str:
    """Return contract and version; of a deleted version from its entry, which has the same number."""
    query = select(versions.c.contract, versions.c.version).where(versions.c.seq == key["seq"])
    row = connection.execute(query).one_or_none()
    if row is not None:
        return f"{row.contract} {row.version}"
    subject = connection.execute(select(audit.c.subject).where(audit.c.seq == key["seq"])).scalar_one_or_none()
    return f"number {key['seq']}" if subject is None else str(subject)


_NAMES: dict[str, Callable[[Connection, Mapping[str, Any]], str]] = {
    "versions": _version_name,
    "subscriptions": lambda _, key: f"{key['consumer']} -> {key['contract']}@{key['major']}",
    "upstreams": lambda _, key: (
        f"{key['upstream']}@{key['upstream_major']} of {key['contract']}@{key['major']}"
        if key["upstream_major"] >= 0
        else f"{key['upstream']} of {key['contract']}@{key['major']}"
    ),
    "migration_consumers": lambda _, key: f"{key['migration']}: {key['consumer']}",
    "line_layers": lambda _, key: f"{key['contract']}@{key['major']}",
    "sessions": lambda _, key: key["digest"][:SESSION_ID_LENGTH],
}
"""How a row is named in a finding, by table; by default by its key."""


def seal(connection: Connection, now: datetime) -> int:
    """Record the digests of all rows in new entries, and return how many rows there are.

    A database from before row digests is sealed once, when it is upgraded: from then on every change of a row is found.
    """
    system = str(connection.execute(select(actors.c.id).where(actors.c.name == SYSTEM)).scalar_one_or_none())
    newest = connection.execute(select(audit.c.seq, audit.c.hash).order_by(audit.c.seq.desc()).limit(1)).one_or_none()
    seq, head = (newest.seq, newest.hash) if newest else (0, NOTHING_BEFORE)
    digests = [
        (part.name, part.key_of(row), part.digest(row)) for part in COVERED for row in read_rows(connection, part)
    ]
    for start in range(0, len(digests), ROWS_PER_ENTRY):
        some: dict[str, dict[str, str]] = {}
        for name, key, digest in digests[start : start + ROWS_PER_ENTRY]:
            some.setdefault(name, {})[key] = digest
        details = {"rows": sum(map(len, some.values()))}
        entry = chained(head, seq + 1, now, system, SEAL, "*", None, None, details, some)
        connection.execute(insert(audit), entry.as_row())
        seq, head = entry.seq, entry.hash
    return len(digests)
