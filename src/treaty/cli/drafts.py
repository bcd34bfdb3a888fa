"""Drafts of contracts from data."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from treaty.cli.data_tests import DataInput, parse_data
from treaty.cli.render.draft import draft_header, print_advice
from treaty.cli.spark_session import command_session, spark_options
from treaty.contracts import document_of
from treaty.contracts.text.writer import write_yaml
from treaty.settings import Settings
from treaty.spark.profile import Inferred, Sample, TypeOrigin
from treaty.spark.profile import infer as infer_contract
from treaty.spark.readers import Data, Database, DataFormat, Source, Table, explain_errors, open_data, options_for
from treaty.spark.session import track_progress
from treaty.spark.session_options import SparkOptions

_NOT_NAME_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+")


def name_of(source: Source) -> str:
    """Return the name of data: the last part of their address that contains a name."""
    if isinstance(source, Table):
        return source.parts[-1].strip("`")
    if isinstance(source, Database):
        parts = [source.table.rpartition(".")[2]]
    else:
        parts = [part.split(".")[0] for part in re.split(r"[/\\]", source.path)]
    names = [_NOT_NAME_CHARACTERS.sub("_", part).strip("_") for part in reversed(parts)]
    return next(filter(None, names), "dataset")


def object_of(contract_id: str) -> str:
    """Return the name of the object in a contract: the last part of the id."""
    name = _NOT_NAME_CHARACTERS.sub("_", contract_id.rpartition(".")[2]).strip("_")
    return name or contract_id


def infer_from_data(
    data: DataInput, options: SparkOptions, contract_id: str, name: str, sample: Sample | None
) -> Inferred:
    """Read the data and draft a contract."""
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
    if data.untyped:
        return TypeOrigin.NONE
    return TypeOrigin.SEEN if data.format is DataFormat.JSON_LINES else TypeOrigin.STORED


@dataclass(frozen=True)
class DraftedContract:
    """A drafted contract as a text, with its name and line."""

    name: str
    text: str
    line: str
    has_key: bool


def draft_from_data(data: str, options: dict[str, str], settings: Settings) -> DraftedContract:
    """Draft an active contract from a file, so that a pipeline can publish it; print what to review."""
    source = parse_data(data, None, options, settings.secrets.jdbc_password)
    name = re.sub(r"[^a-z0-9_]", "_", name_of(source.source).lower())
    name = name if name[:1].isalpha() else f"data_{name}"
    inferred = infer_from_data(source, spark_options(settings.spark(), None, None), name, name, None)
    contract = replace(inferred.contract, status="active")
    print_advice(inferred, data, None)
    has_key = any(schema.primary_key for schema in contract.objects or ())
    text = draft_header(inferred, data) + write_yaml(document_of(contract))
    return DraftedContract(name, text, f"{contract.id}@{contract.version.partition('.')[0]}", has_key)
