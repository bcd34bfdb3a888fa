"""`treaty infer`: draft a contract from data or from a schema file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import (
    ConfigOption,
    DataArgument,
    DataFormatOption,
    MasterOption,
    ReaderOption,
    RemoteOption,
)

if TYPE_CHECKING:
    from treaty.contracts import Contract
    from treaty.spark.profile import Sample


class Notation(StrEnum):
    """The notations of a draft."""

    YAML = "yaml"
    JSON = "json"


def infer(
    data: DataArgument,
    contract_id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="ID", help="The id of the contract. Default: the name of the data.", show_default=False
        ),
    ] = None,
    object_name: Annotated[
        str | None,
        typer.Option(
            "--object",
            metavar="NAME",
            help="The name of the object in the contract. Default: the last part of the id.",
            show_default=False,
        ),
    ] = None,
    data_format: DataFormatOption = None,
    option: ReaderOption = None,
    sample: Annotated[
        str | None,
        typer.Option(
            "--sample",
            metavar="N|N%",
            help="Read the first N rows, or a share of them. Default: all rows.",
            show_default=False,
        ),
    ] = None,
    master: MasterOption = None,
    remote: RemoteOption = None,
    notation: Annotated[Notation, typer.Option("--format", "-f", help="Output format.")] = Notation.YAML,
    file: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write.", show_default=False),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Draft a contract from data, or from a schema file.

    Guesses types, keys, allowed values, limits and personal data, each with its evidence. What nearly all values have
    is drafted; the few others are reported as near misses. Descriptions are left to you.
    """
    from treaty.cli.data_checks import check_path, check_separator, is_on_this_machine
    from treaty.cli.registry_connection import requires_extra
    from treaty.settings import load_settings

    if data_format is None and (drafted := _draft_from_schema(data, contract_id, object_name, config)) is not None:
        _write(drafted, notation, file)
        return
    settings = load_settings(config)
    is_local = is_on_this_machine(settings.spark(), master, remote)
    if is_local:
        check_path(data, data_format)
    with requires_extra("spark"):
        from treaty.cli import data_tests
        from treaty.cli.drafts import infer_from_data, name_of, object_of
        from treaty.cli.render.draft import draft_header, print_advice
        from treaty.cli.spark_session import spark_options
        from treaty.spark.readers import Files
    source = data_tests.parse_data(
        data, data_format, data_tests.parse_pairs(option, "--option"), settings.secrets.jdbc_password
    )
    rows = _parse_sample(sample)
    spark = spark_options(settings.spark(), master, remote)
    data_tests.check_writable(file)
    if is_local and isinstance(source.source, Files):
        check_separator(source.source, source.options, None)
    draft_id = contract_id or object_name or name_of(source.source)
    inferred = infer_from_data(source, spark, draft_id, object_name or object_of(draft_id), rows)
    _write(inferred.contract, notation, file, header=draft_header(inferred, data))
    print_advice(inferred, data, file)


def _parse_sample(sample: str | None) -> Sample | None:
    from treaty.errors import InvalidDocument
    from treaty.spark.profile import parse_sample

    try:
        return None if sample is None else parse_sample(sample)
    except InvalidDocument as error:
        raise typer.BadParameter(str(error), param_hint="--sample") from None


def _draft_from_schema(
    reference: str, contract_id: str | None, object_name: str | None, config: Path | None
) -> Contract | None:
    """Draft a contract from a schema file, such as Avro or OpenAPI; None if the reference is no schema file."""
    from treaty.cli.inputs import foreign_format, print_schema_losses, read_foreign, read_reference, select_contract
    from treaty.errors import InvalidDocument, NotFound
    from treaty.formats.data_products import draft_from_schema
    from treaty.settings import load_settings

    path = reference if Path(reference).is_file() else reference.rpartition("#")[0]
    if not path or not Path(path).is_file() or not path.lower().endswith(_schema_suffixes()):
        return None
    limits = load_settings(config).limits
    try:
        source, selected = read_reference(reference, limits)
    except (InvalidDocument, NotFound):
        return None
    schema_format = foreign_format(source)
    if schema_format is None:
        return None
    contracts, losses = read_foreign(source, schema_format, limits)
    print_schema_losses(source.name, losses)
    contract = select_contract(contracts, selected, source.name)
    return draft_from_schema(contract, source.name, contract_id=contract_id, object_name=object_name)


def _schema_suffixes() -> tuple[str, ...]:
    from treaty.formats import FORMATS

    return tuple({suffix for one in FORMATS for suffix in one.suffixes})


def _write(contract: Contract, notation: Notation, file: Path | None, header: str = "") -> None:
    """Write a draft; a header is written as comments, which JSON does not have."""
    from treaty.contracts import document_of
    from treaty.contracts.text.writer import write_json, write_yaml
    from treaty.errors import Unavailable

    document = document_of(contract)
    text = write_json(document) if notation is Notation.JSON else header + write_yaml(document)
    if file is None:
        typer.echo(text, nl=False)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None
    typer.echo(f"wrote {file}", err=True)
