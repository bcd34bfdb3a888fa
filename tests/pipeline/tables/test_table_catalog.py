"""Metadata of tables without Spark: conditional commits, first creation, and settings of the same catalog."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from treaty.errors import Conflict, NotFound, Unavailable
from treaty.pipeline.tables.catalog_settings import catalog_properties
from treaty.pipeline.tables.table_catalog import Commit, Requirement, TableCatalog
from treaty.spark.session_options import IcebergCatalog, SparkOptions


def _opened(folder: Path) -> TableCatalog:
    lake = IcebergCatalog(f"jdbc:sqlite:{folder / 'lake.db'}", str(folder / "lake"), name="lake")
    return TableCatalog.from_options(SparkOptions(catalog=lake))


def _head(catalog: TableCatalog) -> int:
    state = catalog.load("control.switch")
    assert state is not None
    assert state.history.head is not None
    return state.history.head


@pytest.fixture
def catalog(tmp_path: Path) -> TableCatalog:
    opened = _opened(tmp_path)
    opened.create_table("control.switch", ["name"], {"colour": "red"})
    return opened


def test_a_new_table_has_columns_properties_and_one_empty_snapshot(catalog: TableCatalog) -> None:
    state = catalog.load("control.switch")
    assert state is not None
    assert [(column.name, column.dataType.simpleString()) for column in state.columns] == [("name", "string")]
    assert state.properties["colour"] == "red"
    assert len(state.history.snapshots) == 1
    assert catalog.exists("control.switch")
    assert catalog.list_tables("control") == ("control.switch",)
    assert catalog.read_rows("control.switch", limit=5) == []


def test_a_table_that_does_not_exist_is_none(catalog: TableCatalog) -> None:
    assert catalog.load("control.other") is None
    assert not catalog.exists("nowhere.other")
    assert catalog.list_tables("nowhere") == ()
    assert catalog.stamps("nowhere.other") == ()
    with pytest.raises(NotFound, match=r"there is no table control\.other; create it with: treaty run"):
        catalog.commit("control.other", Commit(properties={"colour": "blue"}))


def test_commit_changes_branches_tags_and_properties_at_once(catalog: TableCatalog) -> None:
    head = _head(catalog)
    catalog.commit("control.switch", Commit(branches={"run_1": head, "run_2": head}))
    catalog.commit(
        "control.switch",
        Commit((Requirement("run_1", head),), tags={"done": head}, drop=("run_1",), properties={"colour": "blue"}),
    )
    state = catalog.load("control.switch")
    assert state is not None
    assert state.history.branches == {"main": head, "run_2": head}
    assert state.history.tags == {"done": head}
    assert state.properties["colour"] == "blue"


def test_commit_is_refused_if_a_ref_has_moved(catalog: TableCatalog) -> None:
    head = _head(catalog)
    with pytest.raises(Conflict, match=r"changed control\.switch at the same time \(run_1 has moved\)"):
        catalog.commit("control.switch", Commit((Requirement("run_1", head),), properties={"colour": "blue"}))
    with pytest.raises(Conflict, match="main has moved"):
        catalog.commit("control.switch", Commit((Requirement("main", None),), properties={"colour": "blue"}))
    state = catalog.load("control.switch")
    assert state is not None
    assert state.properties["colour"] == "red"


def test_one_of_many_competing_commits_wins_and_unrelated_ones_all_do(catalog: TableCatalog) -> None:
    head, start = _head(catalog), Barrier(4)

    def compete(number: int) -> bool:
        start.wait()
        try:
            catalog.commit("control.switch", Commit((Requirement("taken", None),), tags={"taken": head}))
        except Conflict:
            return False
        return True

    def note(number: int) -> None:
        start.wait()
        catalog.commit("control.switch", Commit(properties={f"note_{number}": "yes"}))

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(compete, range(4))) == [False, False, False, True]
        list(pool.map(note, range(4)))
    state = catalog.load("control.switch")
    assert state is not None
    assert [name for name in sorted(state.properties) if name.startswith("note")] == [f"note_{n}" for n in range(4)]


def test_two_processes_create_the_catalog_and_a_table_at_once(tmp_path: Path) -> None:
    start = Barrier(3)

    def create(number: int) -> int:
        start.wait()
        opened = _opened(tmp_path)
        opened.create_table("control.switch", ["name"], {"by": str(number)})
        return _head(opened)

    with ThreadPoolExecutor(3) as pool:
        assert len(set(pool.map(create, range(3)))) == 1


_AT = "spark.sql.catalog.lake."


@pytest.mark.parametrize(
    ("conf", "expected"),
    [
        (
            {"type": "jdbc", "uri": "jdbc:sqlite:/data/lake.db?journal_mode=WAL", "warehouse": "/data/lake"},
            {"type": "sql", "uri": "sqlite:////data/lake.db?timeout=30", "warehouse": "file:///data/lake"},
        ),
        (
            {
                "type": "jdbc",
                "uri": "jdbc:postgresql://db:5432/lake",
                "jdbc.user": "etl",
                "jdbc.password": "a b@c",
                "warehouse": "s3a://lake/tables/",
                "s3.endpoint": "http://store:9000",
            },
            {
                "type": "sql",
                "uri": "postgresql+psycopg://etl:a%20b%40c@db:5432/lake",
                "warehouse": "s3a://lake/tables",
                "s3.endpoint": "http://store:9000",
            },
        ),
        (
            {"type": "rest", "uri": "https://catalog", "token": "t", "cache-enabled": "false"},
            {"type": "rest", "uri": "https://catalog", "token": "t"},
        ),
    ],
)
def test_settings_of_spark_open_the_same_catalog(conf: Mapping[str, str], expected: Mapping[str, str]) -> None:
    properties = catalog_properties("lake", {f"{_AT}{key}": value for key, value in conf.items()})
    assert {key: properties[key] for key in expected} == expected


def test_unknown_catalogs_are_refused() -> None:
    with pytest.raises(Unavailable, match=r"the catalog lake is not configured; set spark\.iceberg\.uri"):
        catalog_properties("lake", {})
    with pytest.raises(Unavailable, match="the catalog lake is of type 'hive'"):
        catalog_properties("lake", {f"{_AT}type": "hive"})
