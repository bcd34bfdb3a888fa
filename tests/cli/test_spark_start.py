"""How each command starts Spark: long work compiles fully, short commands start fast."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from tests.cli.conftest import Treaty, Write
from treaty.errors import Unavailable
from treaty.spark.session_options import SparkOptions, Start

FIELDS = [{"name": "id", "logicalType": "string", "required": True, "primaryKey": True}]


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (("run",), Start.THROUGHPUT),
        (("replay",), Start.THROUGHPUT),
        (("test", "contracts/seen.yaml", "landing/1.jsonl"), Start.FAST),
        (("infer", "landing/1.jsonl"), Start.FAST),
    ],
)
def test_settings_follow_the_command(
    treaty: Treaty, write: Write, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], start: Start
) -> None:
    started: list[Start] = []

    def refuse(options: SparkOptions, *_: Any) -> NoReturn:
        started.append(options.start)
        raise Unavailable("no Spark in this test")

    monkeypatch.setattr("treaty.cli.spark_session._session_for", refuse)
    write("contracts/seen.yaml", {"id": "bikes.seen", "fields": FIELDS})
    write("sources/seen.yaml", "contract: bikes.seen@1\nfiles: landing/*.jsonl\n")
    write("landing/1.jsonl", '{"id": "A"}\n')
    write("treaty.yaml", "name: bikes\n")

    treaty(*arguments)

    assert started[:1] == [start]
