"""The publications of a project for the read API: those that are declared with `serve`, and their tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.cli.pipeline_project import open_catalog, open_offline
from treaty.errors import NotFound
from treaty.settings import load_settings

if TYPE_CHECKING:
    from treaty.pipeline.project.declarations import Publication
    from treaty.pipeline.tables import TableCatalog
    from treaty.registry.notices.secret_box import SecretBox
    from treaty.serving.data_service import DataService, ServedPublication
    from treaty.serving.published_table import LoadedTable

OpenService = Callable[["SecretBox"], "DataService"]


def open_served_data(folder: Path, config: Path | None = None) -> OpenService | None:
    """Return a function that opens the publications of a project; None if it declares none to be served.

    Declarations are read and checked at once, before a server starts. The catalog is opened with the first request,
    after the worker processes of a server were started.
    """
    from treaty.pipeline.project.declarations import Form
    from treaty.pipeline.project.project_sql import key_columns
    from treaty.policy.key_files import key_finder
    from treaty.registry.notices.secret_box import SecretBox, new_key
    from treaty.serving.cursors import CursorCodec
    from treaty.serving.data_service import DataService

    opened = open_offline(folder, config)
    region = load_settings(config).parts.server.region
    declared = [one for one in opened.project.publications if one.served is not None and one.form is not Form.VIEW]
    if not declared:
        return None
    keys = {one.name: key_columns(opened.contracts.by_line[one.line]) for one in declared}
    own_box = SecretBox([new_key()])
    find_key = key_finder()

    def open_service(box: SecretBox) -> DataService:
        catalogs: list[TableCatalog] = []

        def catalog() -> TableCatalog:
            if not catalogs:
                catalogs.append(open_catalog(opened.settings))
            return catalogs[0]

        publications = tuple(_served(one, keys[one.name], catalog) for one in declared)
        return DataService(publications, CursorCodec(box if box.is_available else own_box), find_key, region)

    return open_service


def _served(declared: Publication, key: tuple[str, ...], catalog: Callable[[], TableCatalog]) -> ServedPublication:
    from treaty.pipeline.project.declarations import table_of
    from treaty.serving.data_service import ServedPublication
    from treaty.serving.published_table import PublishedTable

    assert declared.served is not None  # noqa: S101
    table = table_of(declared)
    return ServedPublication(
        declared.line, declared.name, PublishedTable(lambda: _load(catalog(), table)), key, declared.served.filters
    )


def _load(catalog: TableCatalog, table: str) -> LoadedTable:
    from treaty.serving.published_table import LoadedTable, PublishedSnapshot

    try:
        loaded, stamps = catalog.open_published(table)
    except NotFound:
        raise NotFound("no run has published rows yet", "publish some with: treaty run") from None
    snapshots = (
        PublishedSnapshot(stamp.snapshot, stamp.run, stamp.contract.rpartition(" ")[2], stamp.committed_at)
        for stamp in stamps
    )
    return LoadedTable(loaded, tuple(snapshots))
