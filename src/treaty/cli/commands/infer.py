"""`treaty infer`: draft a contract from data."""

from __future__ import annotations

import re
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
    from treaty.cli.data_tests import DataInput
    from treaty.spark.profile import Inferred, Sample, TypeOrigin
    from treaty.spark.readers import Data, Source
    from treaty.spark.session_options import SparkOptions

_NOT_NAME_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+")


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
        typer.Option("--object", metavar="NAME", help="The name of the object in the contract.", show_default=False),
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
    """Draft a contract from data.

    Guesses types, keys, allowed values, limits and personal data, each with its evidence; descriptions are left to you.
    """
    from treaty.cli.registry_connection import requires_extra
    from treaty.settings import load_settings

    with requires_extra("spark"):
        from treaty.cli import data_tests
        from treaty.cli.render.draft import print_advice
        from treaty.cli.spark_session import spark_options
    settings = load_settings(config)
    source = data_tests.parse_data(
        data, data_format, data_tests.parse_pairs(option, "--option"), settings.secrets.jdbc_password
    )
    rows = _parse_sample(sample)
    spark = spark_options(settings.spark(), master, remote)
    data_tests.check_writable(file)
    name = object_name or _name_of(source.source)
    inferred = _infer(source, spark, contract_id or name, name, rows)
    _write(inferred, notation, file)
    print_advice(inferred, data, file)


def _parse_sample(sample: str | None) -> Sample | None:
    from treaty.errors import InvalidDocument
    from treaty.spark.profile import parse_sample

    try:
        return None if sample is None else parse_sample(sample)
    except InvalidDocument as error:
        raise typer.BadParameter(str(error), param_hint="--sample") from None


def _name_of(source: Source) -> str:
    """Return the name of data: the last part of their address that contains a name."""
    from treaty.spark.readers import Database, Table

    if isinstance(source, Table):
        return source.parts[-1].strip("`")
    if isinstance(source, Database):
        parts = [source.table.rpartition(".")[2]]
    else:
        parts = [part.split(".")[0] for part in re.split(r"[/\\]", source.path)]
    names = [_NOT_NAME_CHARACTERS.sub("_", part).strip("_") for part in reversed(parts)]
    return next(filter(None, names), "dataset")


def _infer(data: DataInput, options: SparkOptions, contract_id: str, name: str, sample: Sample | None) -> Inferred:
    """Read the data and draft a contract."""
    from treaty.cli.spark_session import command_session
    from treaty.spark.profile import infer as infer_contract
    from treaty.spark.readers import explain_errors, open_data, options_for
    from treaty.spark.session import track_progress

    with (
        command_session(options_for(options, [data.source])) as (session, progress),
        progress.measured_by(track_progress(session)),
        explain_errors(data.source),
    ):
        progress.start(f"reading {data.source}")
        opened = open_data(session, data.source, options=data.options)
        return infer_contract(
            opened.frame, contract_id, name, typing=_typing(opened), sample=sample, report=progress.start
        )


def _typing(data: Data) -> TypeOrigin:
    from treaty.spark.profile import TypeOrigin
    from treaty.spark.readers import DataFormat

    if data.untyped:
        return TypeOrigin.NONE
    return TypeOrigin.SEEN if data.format is DataFormat.JSON_LINES else TypeOrigin.STORED


def _write(inferred: Inferred, notation: Notation, file: Path | None) -> None:
    from treaty.contracts import document_of
    from treaty.contracts.text.writer import write_json, write_yaml
    from treaty.errors import Unavailable

    document = document_of(inferred.contract)
    text = write_json(document) if notation is Notation.JSON else write_yaml(document)
    if file is None:
        typer.echo(text, nl=False)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"cannot write {file}: {error.strerror}") from None
    typer.echo(f"wrote {file}", err=True)
