"""What a registry knows about the surroundings of a contract: the policies above it and the consumers that read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.render.plain_text import printable
from treaty.contracts.loader import document_of
from treaty.contracts.model import Contract, Form
from treaty.contracts.paths import parse_path
from treaty.contracts.text.writer import write_json
from treaty.errors import InvalidDocument, NotFound, Unavailable
from treaty.governance.lifecycle import Status, parse_status
from treaty.governance.lint import Readers
from treaty.governance.policy_chain import DefaultPolicies, FoundPolicy, binding_policy, is_policy, policy_chain

if TYPE_CHECKING:
    from treaty.registry.api import RegistryApi
    from treaty.settings import Settings


@dataclass(frozen=True)
class LocalPolicies:
    """The policies among some documents, in the versions that are in force on a day, and the default policies."""

    found: Mapping[str, FoundPolicy]
    defaults: DefaultPolicies

    @classmethod
    def among(cls, contracts: Iterable[Contract], defaults: DefaultPolicies, today: date) -> LocalPolicies:
        """Find the policies among some contracts."""
        versions: dict[str, list[tuple[Contract, Status]]] = {}
        for contract in contracts:
            if is_policy(contract):
                versions.setdefault(contract.id, []).append((contract, _status(contract)))
        found = {name: binding_policy(members, today) for name, members in versions.items()}
        return cls({name: policy for name, policy in found.items() if policy is not None}, defaults)

    def above(self, contract: Contract) -> tuple[Contract, ...]:
        """Return the policies that bind a contract; none if its parent is not among the documents."""
        try:
            return policy_chain(contract, self.found.get, self.defaults)
        except InvalidDocument:
            return ()


@dataclass(frozen=True)
class Surroundings:
    """What is known about policies and readers of contracts: from documents, and from a registry if there is one."""

    local: LocalPolicies
    registry: RegistryApi | None = None

    def policies_of(self, contract: Contract, document: bytes) -> tuple[Contract, ...]:
        """Return the policies that bind a contract: those of the documents, then those that only the registry has."""
        above = self.local.above(contract)
        if self.registry is None or contract.form is Form.SCHEMA:
            return above
        try:
            registered = policies_of(self.registry, document)
        except InvalidDocument:  # its policies are among the documents, or its parent is unknown
            return above
        known = {policy.id for policy in above}
        return (*above, *(policy for policy in registered if policy.id not in known))

    def readers_of(self, contract: Contract) -> Readers | None:
        """Return the readers of a contract, or None if they are unknown."""
        return None if self.registry is None else readers_of(self.registry, contract)


def _status(contract: Contract) -> Status:
    try:
        return parse_status(contract.status)
    except InvalidDocument:
        return Status.DRAFT


def readers_of(registry: RegistryApi, contract: Contract) -> Readers | None:
    """Return the readers of a contract's line, or None if it is unknown which fields one of them reads.

    Readers are the consumers that subscribe to the line and the lines that are derived from it.
    """
    if contract.line is None:
        return None
    reads = dict([*_subscribed(registry, contract, contract.line), *_derived(registry, contract.line)])
    if not all(reads.values()):
        return None
    try:
        fields = tuple(parse_path(field) for listed in reads.values() for field in listed)
    except InvalidDocument:
        return None
    return Readers(tuple(sorted(reads)), fields)


def policies_of(registry: RegistryApi, document: bytes) -> tuple[Contract, ...]:
    """Return the policies that bind a document in a registry, nearest first."""
    from treaty.contracts import contract_from

    found = [name.rpartition(" ") for name in registry.governance.check_policies(document).policies]
    answers = [registry.get(identity, version) for identity, _, version in found]
    return tuple(contract_from(answer.document, f"{answer.contract} {answer.version}") for answer in answers)


def _subscribed(registry: RegistryApi, contract: Contract, line: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each consumer of a line with the fields that it reads."""
    cursor: str | None = None
    while True:
        page = registry.consumers.subscriptions(contract=contract.id, cursor=cursor)
        yield from ((entry.consumer, tuple(entry.fields)) for entry in page.items if entry.line == line)
        cursor = page.next
        if cursor is None:
            return


def _derived(registry: RegistryApi, line: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each line that is derived from a line with the fields that it declares or that runs were seen to read."""
    try:
        nodes = registry.consumers.graph(line, depth=1).nodes
    except NotFound:
        return
    for node in nodes:
        if node.kind == "line":
            sources = [entry for entry in registry.consumers.lineage(node.name).upstreams if entry.line == line]
            used = [[*entry.fields, *chain.from_iterable(entry.mappings.values())] for entry in sources]
            yield node.name, tuple(dict.fromkeys(chain.from_iterable(used))) if all(used) else ()


def resolve_effective_contract(
    reference: str, registry: str | None, token_file: Path | None, settings: Settings
) -> Contract:
    """Return a contract as `resolve_contract` does, with what it inherits from its policies.

    The policies of a document are those of the given or configured registry; without one that has them, a note says so.
    """
    from treaty.cli.inputs import resolve_contract
    from treaty.cli.registry_connection import open_registry, registry_to_ask

    contract = resolve_contract(reference, registry, token_file, settings)
    asked = registry_to_ask(registry, settings)
    if asked is None or contract.form is Form.SCHEMA:
        return _without_policies(contract, "no registry is configured")
    try:
        with open_registry(asked, token_file, settings) as opened:
            policies = policies_of(opened, write_json(document_of(contract)).encode())
    except (InvalidDocument, Unavailable, NotFound) as error:
        return _without_policies(contract, str(error))
    from treaty.governance.effective import effective_contract

    return effective_contract(contract, policies).contract


def _without_policies(contract: Contract, reason: str) -> Contract:
    if contract.treaty.parent is not None:
        note = f"the policy {contract.treaty.parent} is not applied: {reason}"
        typer.echo(printable(note), err=True)
    return contract
