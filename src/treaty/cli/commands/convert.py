"""`treaty convert`: write a contract in another form, and report what is lost."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import ConfigOption

if TYPE_CHECKING:
    from treaty.contracts import Contract
    from treaty.contracts.text import Limits


class ForeignFormat(StrEnum):
    """The formats of `treaty.formats.FORMATS`."""

    AVRO = "avro"
    OPENAPI = "openapi"
    ASYNCAPI = "asyncapi"
    JSON_SCHEMA = "json-schema"
    PROTOBUF = "protobuf"
    SQL = "sql"
    DBT = "dbt"
    SPARK = "spark"
    PYDANTIC = "pydantic"
    DATA_CONTRACT_SPECIFICATION = "data-contract-specification"
    ODCS_2 = "odcs-2"


class TargetFormat(StrEnum):
    """The forms to convert to."""

    ODCS = "odcs"
    SHORT = "short"
    AVRO = "avro"
    OPENAPI = "openapi"
    ASYNCAPI = "asyncapi"
    JSON_SCHEMA = "json-schema"
    PROTOBUF = "protobuf"
    SQL = "sql"
    DBT = "dbt"
    SPARK = "spark"
    PYDANTIC = "pydantic"
    UNITY_SQL = "unity-sql"
    POLARIS_SQL = "polaris-sql"


class Blocks(StrEnum):
    """How the blocks of Treaty are written in ODCS."""

    CUSTOM = "custom"
    PLAIN = "plain"


class Extent(StrEnum):
    """How many contracts of a file are converted."""

    ONE = "one"
    ALL = "all"


class Notation(StrEnum):
    """The notations of a contract."""

    YAML = "yaml"
    JSON = "json"


def convert(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="A contract or foreign schema: a file, file#id, git:REF:path, or - for standard input.",
        ),
    ],
    to: Annotated[TargetFormat, typer.Option("--to", help="The form to write.")],
    origin: Annotated[
        ForeignFormat | None,
        typer.Option(
            "--from", help="The format of PATH. Default: detected from its name and content.", show_default=False
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            metavar="NAME",
            help="The dialect to write: a warehouse for SQL and dbt, a draft for JSON Schema, a syntax for Protobuf.",
            show_default=False,
        ),
    ] = None,
    from_dialect: Annotated[
        str | None,
        typer.Option("--from-dialect", metavar="NAME", help="The SQL dialect to read.", show_default=False),
    ] = None,
    blocks: Annotated[
        Blocks,
        typer.Option("--blocks", help="In ODCS: the blocks of Treaty as custom properties (strict) or as plain keys."),
    ] = Blocks.CUSTOM,
    notation: Annotated[Notation, typer.Option("--notation", help="The notation of a contract.")] = Notation.YAML,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file to write, or a folder for all contracts of PATH.", show_default=False
        ),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Convert a contract or a foreign schema to another form.

    Terms that the target form cannot express are listed on standard error.
    """
    from treaty.cli.render.plain_text import printable
    from treaty.settings import load_settings

    limits = load_settings(config).limits
    contracts, losses = _read_contracts(
        path, limits, origin, from_dialect, Extent.ALL if _is_folder(output) else Extent.ONE
    )
    conversion = Conversion(to.value, dialect, blocks.value, notation.value)
    for contract in contracts:
        text, lost = conversion.write(contract)
        if output is None:
            typer.echo(text, nl=False)
        else:
            _save(output / f"{contract.id}{conversion.suffix}" if _is_folder(output) else output, text)
        losses += lost
    for loss in losses:
        typer.echo(f"lost: {printable(loss)}", err=True)


def _is_folder(output: Path | None) -> bool:
    return output is not None and output.is_dir()


CONTRACT_FORMS = ("odcs", "short")


def _read_contracts(
    reference: str, limits: Limits, origin: ForeignFormat | None, dialect: str | None, extent: Extent
) -> tuple[list[Contract], list[str]]:
    """Read one contract, or all contracts of a file, and return what of the file they do not express."""
    from treaty.cli.inputs import foreign_format, load_contracts, read_foreign, read_reference, select_contract
    from treaty.errors import InvalidDocument
    from treaty.formats import get_format

    source, contract_id = read_reference(reference, limits)
    source_format = get_format(origin.value) if origin else foreign_format(source)
    if dialect is not None and (source_format is None or not source_format.reads_dialects):
        raise InvalidDocument(f"{source.name} has no dialects; --from-dialect is for SQL")
    take_all = extent is Extent.ALL and contract_id is None
    if source_format is None:
        loaded = [contract.contract for contract in load_contracts(source, limits)]
        return loaded if take_all else [select_contract(loaded, contract_id, source.name)], []
    contracts, losses = read_foreign(source, source_format, limits, dialect)
    selected = list(contracts) if take_all else [select_contract(contracts, contract_id, source.name)]
    return selected, [f"{source.name}: {loss}" for loss in losses]


@dataclass(frozen=True)
class Conversion:
    """The form to write, with its dialect, or with the blocks and notation of a contract."""

    to: str
    dialect: str | None
    blocks: str
    notation: str

    @property
    def suffix(self) -> str:
        """The file name suffix of the form."""
        from treaty.formats import get_format
        from treaty.formats.catalog_sql import find_catalog_export

        if self.to in CONTRACT_FORMS:
            return f".{self.notation}"
        export = find_catalog_export(self.to)
        return export.suffix if export else get_format(self.to).suffix

    def write(self, contract: Contract) -> tuple[str, list[str]]:
        """Return a contract as text, and what the text does not express."""
        from treaty.contracts.text.writer import write_json, write_yaml
        from treaty.errors import InvalidDocument
        from treaty.formats import get_format
        from treaty.formats.catalog_sql import find_catalog_export

        export = find_catalog_export(self.to)
        if self.to not in CONTRACT_FORMS and export is None:
            written = get_format(self.to).write(contract, dialect=self.dialect)
            return written.text, [str(loss) for loss in written.losses]
        if self.dialect is not None and export is not None:
            raise InvalidDocument(f"{export.title} has no dialects")
        if export is not None:
            written = export.write(contract)
            return written.text, [str(loss) for loss in written.losses]
        if self.dialect is not None:
            raise InvalidDocument(f"--dialect {self.dialect} is for foreign formats; a contract has no dialects")
        document, lost = _write_odcs(contract, self.blocks) if self.to == "odcs" else _write_short(contract)
        return write_yaml(document) if self.notation == "yaml" else write_json(document), lost


def _write_odcs(contract: Contract, blocks: str) -> tuple[dict[str, object], list[str]]:
    from treaty.contracts.odcs import BlockStyle, export_odcs, find_version_problems, with_plain_blocks

    style = BlockStyle(blocks)
    document = export_odcs(with_plain_blocks(contract) if style is BlockStyle.PLAIN else contract, style)
    stated, written = contract.api_version, document["apiVersion"]
    if stated != written:
        return document, [f"apiVersion {stated} becomes {written} (ODCS {stated} does not allow all of the contract)"]
    problems = find_version_problems(export_odcs(contract))
    return document, [f"{problem.finding.message} (no version of ODCS allows all of it)" for problem in problems]


def _write_short(contract: Contract) -> tuple[dict[str, object], list[str]]:
    from treaty.compatibility import describe
    from treaty.compatibility.diff import conversion_losses
    from treaty.contracts import contract_from
    from treaty.contracts.short_form import write_short_form
    from treaty.errors import InvalidDocument

    document = write_short_form(contract)
    if not document["fields"]:
        raise InvalidDocument(f"{contract.id} has no fields; the short form needs at least one")
    return document, [
        describe(change) for change in conversion_losses(contract, contract_from(document, "the short form"))
    ]


def _save(path: Path, text: str) -> None:
    from treaty.errors import Unavailable

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from None
    typer.echo(f"wrote {path}", err=True)
