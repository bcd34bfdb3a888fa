"""The compiled artifact of a project: all contracts that it uses, resolved, in one JSON document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from treaty.contracts.loader import LoadedContract, document_of, parse
from treaty.contracts.model import Contract
from treaty.contracts.text import Limits, ParsedDocument, read_document
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.text.writer import write_json
from treaty.contracts.values import Json, abbreviate

ARTIFACT_KEY = "treaty_artifact"
ARTIFACT_VERSION = 1
CONTRACTS_KEY = "data_contracts"
_HEAD = re.compile(rb"""\A(?:\xef\xbb\xbf)?\s*\{?\s*["']?treaty_artifact["']?\s*:""")


@dataclass(frozen=True)
class ContractUse:
    """A declaration of a project, the line that it declares, and the version that was resolved for it."""

    declaration: str
    line: str
    contract: Contract
    origin: str


@dataclass(frozen=True)
class ArtifactContract:
    """A contract in an artifact: its document as data, and the contract with the places of its parts."""

    document: dict[str, Json]
    loaded: LoadedContract


def write_artifact(project: str, uses: Sequence[ContractUse], policies: Sequence[Contract] = ()) -> str:
    """Write the contracts of a project and the policies that they inherit from; equal projects give equal texts."""
    used = (*(use.contract for use in uses), *policies)
    contracts = {(contract.id, contract.version): contract for contract in used}
    declared = [
        {
            "declaration": use.declaration,
            "line": use.line,
            "contract": use.contract.id,
            "version": use.contract.version,
            "origin": use.origin,
        }
        for use in uses
    ]
    return write_json(
        {
            ARTIFACT_KEY: ARTIFACT_VERSION,
            "project": project,
            "uses": declared,
            CONTRACTS_KEY: [document_of(contract) for _, contract in sorted(contracts.items())],
        }
    )


def looks_like_artifact(content: bytes) -> bool:
    """Whether a file is an artifact, judging by its first key."""
    return _HEAD.match(content) is not None


def read_artifact(content: bytes, source: str, limits: Limits | None = None) -> list[ArtifactContract]:
    """Read the contracts of an artifact."""
    reading = read_document(content, source, limits)
    version, documents = reading.data.get(ARTIFACT_KEY), reading.data.get(CONTRACTS_KEY)
    if version != ARTIFACT_VERSION or not isinstance(documents, list):
        message = f"an artifact of version {abbreviate(version)} cannot be read, only version {ARTIFACT_VERSION}"
        raise invalid_document(message, reading.place((ARTIFACT_KEY,)), "compile it again: treaty plan --artifact FILE")
    return [_read_contract(reading, index) for index in range(len(documents))]


def _read_contract(reading: ParsedDocument, index: int) -> ArtifactContract:
    pointer = (CONTRACTS_KEY, index)
    document = reading.data[CONTRACTS_KEY][index]
    if not isinstance(document, dict):
        raise invalid_document(
            f"{abbreviate(document)!r} is not a contract", reading.place(pointer), "compile it again"
        )
    return ArtifactContract(document, parse(reading.part(document, pointer)))
