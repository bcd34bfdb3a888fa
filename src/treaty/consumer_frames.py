"""`treaty.spark.read`: the rows of a publication that a consumer may read, as a DataFrame.

The registry, the catalog and Spark are those that the settings of the project name, unless they are given. The module
is above the command line, which opens all three.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from treaty.policy import FindKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from treaty.registry.api import RegistryApi
    from treaty.settings import Settings


def read(
    line: str,
    *,
    consumer: str,
    region: str | None = None,
    as_of: str | None = None,
    registry: RegistryApi | None = None,
    session: SparkSession | None = None,
    catalog: str | None = None,
    find_key: FindKey | None = None,
) -> DataFrame:
    """Return the rows of a publication, such as `orders@1`, as a consumer may read them.

    The DataFrame has the declared fields of the subscription, masked for its purpose, and the rows that may be served
    in the region, of one published state: the newest one, or that of a run or time in `as_of`. By default the registry
    and the catalog are those of `treaty.yaml`, the session is the active one, and keys come from the environment. The
    access is recorded in the log of the registry, without a number of rows.
    """
    from treaty.pipeline.tables import Tables
    from treaty.pipeline.tables.consumer_reader import ConsumerRequest, consumer_frame
    from treaty.pipeline.tables.table_reader import ReadRequest
    from treaty.policy.key_files import key_finder
    from treaty.registry.consumer_views import find_view_to_read
    from treaty.settings import load_settings

    settings = load_settings(None)
    with _opened(registry, settings) as opened:
        find_view = partial(find_view_to_read, opened, consumer=consumer, region=region)
        tables = Tables(session or _session(settings), catalog or _catalog(settings))
        request = ConsumerRequest(ReadRequest(line, as_of), find_view, find_key or key_finder(), datetime.now(UTC))
        found = consumer_frame(tables, request)
        opened.lineage.report_accesses([found.access])
        return found.rows


@contextmanager
def _opened(registry: RegistryApi | None, settings: Settings) -> Iterator[RegistryApi]:
    """Yield the given registry, which stays open, or the one of the settings."""
    from treaty.cli.registry_connection import open_registry

    if registry is not None:
        yield registry
        return
    with open_registry(None, None, settings) as opened:
        yield opened


def _session(settings: Settings) -> SparkSession:
    from treaty.spark.session import active_session, spark_session

    return active_session() or spark_session(settings.spark())


def _catalog(settings: Settings) -> str:
    from treaty.cli.pipeline_project import require_table_catalog

    return require_table_catalog(settings, settings.spark())
