"""`treaty infer`: a contract drafted from data, to start from."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treaty.cli.options import ConfigOption

if TYPE_CHECKING:
    from treaty.cli.data_tests import Given
    from treaty.spark.profile import Inferred, Sample, TypeOrigin
    from treaty.spark.readers import Data, Source
    from treaty.spark.session_options import SparkOptions

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


class Notation(StrEnum):
    """The notation of the draft."""

    YAML = "yaml"
    JSON = "json"


def run(
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="A file or folder, a table of Spark, or a JDBC address with its table."),
    ],
    contract_id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="The contract's id; by default the data's name.", show_default=False),
    ] = None,
    object_name: Annotated[
        str | None,
        typer.Option("--object", metavar="NAME", help="What the data are called in it.", show_default=False),
    ] = None,
    data_format: Annotated[
        str | None,
        typer.Option(
            "--data-format", metavar="FORMAT", help="What the data are, if their name does not say.", show_default=False
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="NAME=VALUE", help="An option for Spark's reader; may be repeated.", show_default=False
        ),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            "--sample",
            metavar="N|N%",
            help="Look at a share of the rows, or at the first N; by default at all.",
            show_default=False,
        ),
    ] = None,
    master: Annotated[
        str | None,
        typer.Option(
            "--master", metavar="URL", help="Where Spark runs; by default as set, local[*].", show_default=False
        ),
    ] = None,
    remote: Annotated[
        str | None,
        typer.Option("--remote", metavar="URL", help="A Spark Connect server, such as sc://host.", show_default=False),
    ] = None,
    notation: Annotated[Notation, typer.Option("--format", "-f", help="YAML or JSON.")] = Notation.YAML,
    file: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the draft to this file.", show_default=False),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Draft a contract from data.

    Types, keys, choices, limits and personal data are guessed, each with its evidence; meanings are left to you.
    """
    from treaty.cli.registry_connection import needing
    from treaty.settings import load_settings

    with needing("spark"):
        from treaty.cli import data_tests
        from treaty.cli.render.draft import print_advice
    settings = load_settings(config)
    given = data_tests.data(data, data_format, data_tests.pairs(option, "--option"), settings.secrets.jdbc_password)
    part = _part(sample)
    spark = data_tests.spark_options(settings.spark(), master, remote)
    data_tests.refuse_unless_writable(file)
    name = object_name or _called(given.source)
    inferred = _inferred(given, spark, contract_id or name, name, part)
    _deliver(inferred, notation, file)
    print_advice(inferred, data, file)


def _part(sample: str | None) -> Sample | None:
    from treaty.errors import InvalidDocument
    from treaty.spark.profile import parse_sample

    try:
        return None if sample is None else parse_sample(sample)
    except InvalidDocument as error:
        raise typer.BadParameter(str(error), param_hint="--sample") from None


def _called(source: Source) -> str:
    """Return what data are called: the last name in their address that is no pattern."""
    from treaty.spark.readers import Database, Table

    if isinstance(source, Table):
        return source.parts[-1].strip("`")
    if isinstance(source, Database):
        parts = [source.table.rpartition(".")[2]]
    else:
        parts = [part.split(".")[0] for part in re.split(r"[/\\]", source.path)]
    names = [_NOT_IN_NAMES.sub("_", part).strip("_") for part in reversed(parts)]
    return next(filter(None, names), "dataset")


def _inferred(given: Given, options: SparkOptions, contract_id: str, name: str, part: Sample | None) -> Inferred:
    """Read the data and draft; a session that was started for it is stopped again."""
    from treaty.cli.progress import told_steps
    from treaty.spark.profile import infer
    from treaty.spark.readers import explain_errors, open_data, options_for
    from treaty.spark.session import active_session, spark_session, track_progress

    running = active_session()
    with told_steps() as steps:
        steps.tell("starting Spark")
        session = running or spark_session(options_for(options, [given.source]))
        try:
            with steps.measured_by(track_progress(session)), explain_errors(given.source):
                steps.tell(f"reading {given.source}")
                data = open_data(session, given.source, options=given.options)
                return infer(data.frame, contract_id, name, typing=_typing(data), sample=part, say=steps.tell)
        finally:
            if running is None:
                steps.tell("stopping Spark")
                session.stop()


def _typing(data: Data) -> TypeOrigin:
    from treaty.spark.profile import TypeOrigin
    from treaty.spark.readers import DataFormat

    if data.untyped:
        return TypeOrigin.NONE
    return TypeOrigin.SEEN if data.format is DataFormat.JSON_LINES else TypeOrigin.STORED


def _deliver(inferred: Inferred, notation: Notation, file: Path | None) -> None:
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
