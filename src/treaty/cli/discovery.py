"""Discovery: contracts, data products and schemas in a folder, and drafts for products without a contract."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from treaty.cli.inputs import SKIPPED_FOLDERS, Source, load_contracts, read_foreign
from treaty.contracts import Contract
from treaty.contracts.loader import CONTRACT_SUFFIXES, looks_like_contract_file, looks_like_odcs_2_file
from treaty.contracts.text import Limits, read_document
from treaty.errors import InvalidDocument, NoContract, TreatyError
from treaty.formats import FORMATS, Format, detect_format
from treaty.formats.data_products import (
    DataProduct,
    Port,
    PortSchema,
    draft_contract,
    looks_like_data_product,
    product_slug,
    read_data_product,
)
from treaty.governance.code_owners import CODE_OWNERS_FILES, OwnerRule, find_owner, parse_code_owners, team_name

MAX_FILES = 20_000
"""How many files of a folder are looked at."""
CONTRACT_FILE = "datacontract.yaml"
DBT_PROJECT = "dbt_project.yml"
_SUFFIXES = tuple(
    {*CONTRACT_SUFFIXES, *(suffix for one in FORMATS if one.name != "pydantic" for suffix in one.suffixes)}
)
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class FoundContract:
    """A contract in a file."""

    path: str
    contract: Contract


@dataclass(frozen=True)
class FoundSchema:
    """A schema file with the contracts that it describes."""

    path: str
    format: Format
    contracts: tuple[Contract, ...]


@dataclass(frozen=True)
class Draft:
    """A drafted contract, the file for it, and the product it is for."""

    path: str
    contract: Contract
    product: DataProduct
    owner: str | None


@dataclass
class Discovery:
    """What was found in a folder; paths are relative to it."""

    contracts: list[FoundContract] = field(default_factory=list)
    products: list[DataProduct] = field(default_factory=list)
    schemas: list[FoundSchema] = field(default_factory=list)
    dbt_projects: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    elsewhere: list[tuple[DataProduct, Port]] = field(default_factory=list)
    """Ports that name a contract which is not in the folder."""
    drafts: list[Draft] = field(default_factory=list)


def discover(folder: Path, limits: Limits) -> Discovery:
    """Find contracts, data products and schemas in a folder, and draft contracts for products without one."""
    found = Discovery()
    for path in _files(folder):
        try:
            _inspect(folder, path, limits, found)
        except NoContract:
            continue  # such as a file with enums only, which others refer to
        except TreatyError as error:
            found.problems.append(str(error))
    owners = _read_owners(folder, limits)
    for product in found.products:
        _draft(product, found, owners)
    return found


def _files(folder: Path) -> Iterator[str]:
    """Yield the paths of files that may be contracts or schemas, without hidden and installed folders."""
    count = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(parent, name)
            if not name.lower().endswith(_SUFFIXES) or name.startswith(".") or not path.is_file():
                continue
            count += 1
            if count > MAX_FILES:
                raise InvalidDocument(f"{folder} has more than {MAX_FILES:,} files; discover a folder in it")
            yield path.relative_to(folder).as_posix()


def _inspect(folder: Path, path: str, limits: Limits, found: Discovery) -> None:
    """Add what a file is to the discovery; a file that is neither contract nor schema is left out."""
    content = _read(folder / path, limits)
    if content is None:
        return
    is_document = path.lower().endswith(CONTRACT_SUFFIXES)
    if path.rpartition("/")[2] == DBT_PROJECT:
        name = read_document(content, path, limits).data.get("name")
        found.dbt_projects.append((path, str(name)))
    elif is_document and looks_like_contract_file(content) and not looks_like_odcs_2_file(content):
        (loaded,) = load_contracts(Source(path, content), limits)
        found.contracts.append(FoundContract(path, loaded.contract))
    elif is_document and looks_like_data_product(content):
        found.products.append(read_data_product(content, path, limits))
    elif (form := detect_format(path, content.decode("utf-8", "replace"))) is not None:
        contracts, _ = read_foreign(Source(str(folder / path), content), form, limits)
        found.schemas.append(FoundSchema(path, form, contracts))


def _read(path: Path, limits: Limits) -> bytes | None:
    try:
        content = path.read_bytes() if path.stat().st_size <= limits.bytes else None
    except OSError:
        return None
    return content


def _read_owners(folder: Path, limits: Limits) -> tuple[OwnerRule, ...]:
    for name in CODE_OWNERS_FILES:
        content = _read(folder / name, limits) if (folder / name).is_file() else None
        if content is not None:
            return parse_code_owners(content.decode("utf-8-sig", "replace"))
    return ()


def _draft(product: DataProduct, found: Discovery, owners: tuple[OwnerRule, ...]) -> None:
    """Draft a contract for the ports that have none; a contract file beside the product is the contract of all."""
    known = {one.contract.id for one in found.contracts}
    found.elsewhere += [(product, port) for port in product.outputs if port.contract and port.contract not in known]
    ports = [port for port in product.outputs if not port.contract]
    home = product.path.rpartition("/")[0]
    prefix = f"{home}/" if home else ""
    taken = {one.path for one in found.contracts} | {draft.path for draft in found.drafts}
    if not ports or any(one.path == f"{prefix}{CONTRACT_FILE}" for one in found.contracts):
        return
    path = f"{prefix}{CONTRACT_FILE}"
    if path in taken:
        path = f"{prefix}{product_slug(product)}.{CONTRACT_FILE}"
    if path in taken:
        return
    owner = find_owner(owners, product.path)
    schemas = {port.name: schema for port in ports if (schema := _find_schema(port, home, found)) is not None}
    contract = draft_contract(product, ports, owner, team_name(owner) if owner else None, schemas)
    found.drafts.append(Draft(path, contract, product, owner))


def _find_schema(port: Port, home: str, found: Discovery) -> PortSchema | None:
    """Return the schema with the name of a port: a file below the folder of the product, or a model of dbt."""
    wanted = _plain(port.name)
    near = [one for one in found.schemas if not home or one.path.startswith(f"{home}/")]
    models = [one for one in found.schemas if one.format.name == "dbt" and one not in near]
    for schema in (*near, *models):
        stem = schema.path.rpartition("/")[2].partition(".")[0]
        for contract in schema.contracts:
            names = {_plain(one) for one in (contract.id, contract.id.rpartition(".")[2], contract.name or "", stem)}
            items = [item for item in contract.schema if _plain(item.name) == wanted]
            if not items and wanted in names and len(contract.schema) == 1:
                items = list(contract.schema)
            if items:
                return PortSchema(items[0], schema.path)
    return None


def _plain(name: str) -> str:
    return _NOT_ALPHANUMERIC.sub("", name.lower())
