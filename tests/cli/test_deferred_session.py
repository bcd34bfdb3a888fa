"""A command that does not use its Spark session never starts Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from treaty.cli import spark_session
from treaty.cli.spark_session import deferred_session
from treaty.spark.session_options import IcebergCatalog, SparkOptions


class _Session:
    def __init__(self) -> None:
        self.is_stopped = False

    def stop(self) -> None:
        self.is_stopped = True

    @property
    def version(self) -> str:
        return "4.0.5"


def test_session_is_started_once_when_it_is_used_and_stopped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[_Session] = []

    def start(options: SparkOptions) -> Any:
        started.append(_Session())
        return started[-1]

    monkeypatch.setattr(spark_session, "spark_session", start)
    monkeypatch.setattr(spark_session, "active_session", lambda: None)
    with deferred_session(SparkOptions()) as (session, _):
        pass
    assert started == []
    with deferred_session(SparkOptions()) as (session, _):
        assert [session.version, session.version] == ["4.0.5", "4.0.5"]
        assert [one.is_stopped for one in started] == [False]
    assert [one.is_stopped for one in started] == [True]


def test_catalog_can_be_opened_before_spark_starts(tmp_path: Path) -> None:
    catalog = IcebergCatalog(f"jdbc:sqlite:{tmp_path}/lake/catalog.db", str(tmp_path / "lake/tables"))

    with deferred_session(SparkOptions(catalog=catalog)):
        assert (tmp_path / "lake").is_dir()
