"""Which contract is meant: a document, or a version that a registry keeps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from treaty.cli.inputs import STANDARD_INPUT, load_source
from treaty.cli.registries import opened
from treaty.errors import NotFound

if TYPE_CHECKING:
    from treaty.cli.registering import AnyRegistry
    from treaty.contracts import Contract
    from treaty.registry.answers import DocumentAnswer
    from treaty.settings import Settings

_DOCUMENTS = (".yaml", ".yml", ".json")


def find_contract(reference: str, registry: str | None, token_file: Path | None, settings: Settings) -> Contract:
    """Read a document, or ask the registry for `orders` (its highest active version), `orders@1` or `orders@1.2.0`."""
    if registry is None and is_document(reference):
        return load_source(reference, settings.limits).contract
    from treaty.contracts import contract_from

    with opened(registry, token_file, settings) as it:
        found = _in_registry(it, reference)
    return contract_from(found.document, f"{found.contract} {found.version} in the registry")


def is_document(reference: str) -> bool:
    """Tell a document from a version that a registry keeps."""
    meant = reference == STANDARD_INPUT or not reference or reference.startswith("git:")
    return meant or reference.lower().endswith(_DOCUMENTS) or "/" in reference or _is_file(reference)


def _is_file(reference: str) -> bool:
    try:
        return Path(reference).is_file()
    except (OSError, ValueError):
        return False


def _in_registry(it: AnyRegistry, reference: str) -> DocumentAnswer:
    contract, mark, version = reference.rpartition("@")
    if not mark:
        contract, version = reference, ""
    if version and not version.isdecimal():
        return it.get(contract, version)
    known = it.lines(contract)
    lines = [one for one in known if not version or one.line == reference]
    if not lines:
        raise NotFound(f"no line {reference} is registered; there are: {', '.join(one.line for one in known)}")
    active = next((one.latest_active for one in lines if one.latest_active), None)
    return it.get(contract, active or lines[0].latest)
