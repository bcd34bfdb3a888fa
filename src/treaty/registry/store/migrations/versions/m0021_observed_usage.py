"""Lineage events, the datasets that they name, and the readers that they observed."""

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from treaty.contracts.loader import contract_from
from treaty.errors import TreatyError
from treaty.observability.dataset_names import dataset_names
from treaty.registry.store.types import Moment, Name

revision = "0021"
down_revision = "0020"

_VERSIONS = sa.table(
    "versions",
    sa.column("seq"),
    sa.column("contract", sa.Text),
    sa.column("major", sa.BigInteger),
    sa.column("minor"),
    sa.column("patch"),
    sa.column("parsed", sa.Text),
)
_DATASETS = sa.table(
    "datasets",
    *(sa.column(name) for name in ("namespace", "name", "contract", "major", "object", "declared")),
)


def upgrade() -> None:
    """Add the tables, and name the datasets of the contracts that declare servers."""
    op.create_table(
        "datasets",
        sa.Column("namespace", Name, nullable=False),
        sa.Column("name", Name, nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("object", sa.Text()),
        sa.Column("declared", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "name", "contract", "major", name="pk_datasets"),
    )
    op.create_index("ix_datasets_line", "datasets", ["contract", "major"])
    op.create_table(
        "lineage_events",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("received_at", Moment(), nullable=False),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("run", sa.String(36)),
        sa.Column("job", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_lineage_events"),
    )
    op.create_index("ix_lineage_events_received_at", "lineage_events", ["received_at"])
    op.create_table(
        "observed_usage",
        sa.Column("consumer", Name, nullable=False),
        sa.Column("contract", Name, nullable=False),
        sa.Column("major", sa.BigInteger(), nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("team", sa.Text()),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("first_seen", Moment(), nullable=False),
        sa.Column("last_seen", Moment(), nullable=False),
        sa.Column("run", sa.String(36)),
        sa.Column("reported_by", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("consumer", "contract", "major", name="pk_observed_usage"),
    )
    op.create_index("ix_observed_usage_line", "observed_usage", ["contract", "major"])
    op.create_index("ix_observed_usage_revision", "observed_usage", ["revision"])
    rows = list(_declared_datasets())
    if rows:
        op.bulk_insert(_DATASETS, rows)


def _declared_datasets() -> Iterator[dict[str, Any]]:
    """Yield the datasets of the highest version of each line that declares servers."""
    connection = op.get_bind()
    query = sa.select(_VERSIONS).where(_VERSIONS.c.parsed.like('%"servers"%')).order_by(_VERSIONS.c.seq)
    highest: dict[tuple[str, int], Any] = {}
    for row in connection.execute(query):
        before = highest.get((row.contract, row.major))
        if before is None or (row.minor, row.patch) > (before.minor, before.patch):
            highest[row.contract, row.major] = row
    for (contract, major), row in highest.items():
        seen = set()
        try:
            named = dataset_names(contract_from(json.loads(row.parsed), contract))
        except TreatyError:  # a document that a later release no longer reads names no datasets
            continue
        for one in named:
            if one.dataset not in seen:
                seen.add(one.dataset)
                yield {
                    "namespace": one.dataset.namespace,
                    "name": one.dataset.name,
                    "contract": contract,
                    "major": major,
                    "object": one.object,
                    "declared": True,
                }
