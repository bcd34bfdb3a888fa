"""What `treaty init --discover` found and wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treaty.cli.render.plain_text import pluralize, printable
from treaty.formats.data_products import UNKNOWN_OWNER

if TYPE_CHECKING:
    from treaty.cli.discovery import Discovery, Draft


def print_discovery(found: Discovery) -> None:
    """Print contracts, data products and schemas by file; files that cannot be read on standard error."""
    for one in found.contracts:
        _print(f"found {one.path}: contract {one.contract.id} {one.contract.version}")
    for product in found.products:
        ports = f"{pluralize(len(product.inputs), 'input port')}, {pluralize(len(product.outputs), 'output port')}"
        _print(f"found {product.path}: data product {product.name} with {ports}")
    for path, name in found.dbt_projects:
        _print(f"found {path}: dbt project {name}")
    for schema in found.schemas:
        names = ", ".join(contract.id for contract in schema.contracts[:5])
        more = f" and {len(schema.contracts) - 5} more" if len(schema.contracts) > 5 else ""
        _print(f"found {schema.path}: {schema.format.title} with {names}{more}")
    for product, port in found.elsewhere:
        _print(
            f"note: port {port.name} of {product.name} names the contract {port.contract}, which is not in this folder"
        )
    for problem in found.problems:
        typer.echo(f"skipped {printable(problem)}", err=True)
    if not (found.contracts or found.products or found.schemas or found.dbt_projects):
        _print("found no contracts, data products or schemas")


def print_draft(draft: Draft, folder: Path) -> None:
    """Print a draft that was written: its ports, their schemas and its owner."""
    contract = draft.contract
    ports = ", ".join(item.name if item.fields else f"{item.name} (no schema found)" for item in contract.schema)
    owner = f"{contract.owners[0].team} (CODEOWNERS)" if draft.owner else UNKNOWN_OWNER
    _print(
        f"wrote {folder / draft.path}: draft {contract.id} of {draft.product.name} from ports {ports}; owner {owner}"
    )


def print_next_steps(found: Discovery, folder: Path) -> None:
    """Print what to do with the drafts and the schemas."""
    steps = []
    if found.drafts:
        steps.append(f"treaty lint {folder}")
    if found.schemas:
        steps.append(f"treaty infer {folder / found.schemas[0].path}")
    if steps:
        _print("\nNext:")
        for step in steps:
            _print(f"  {step}")


def _print(text: str) -> None:
    typer.echo(printable(text) if not text.startswith("\n") else text)
