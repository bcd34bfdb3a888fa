"""Everything about one key: what is or was in doubt, and who accepted what."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import functions as F

from treaty.errors import NotFound
from treaty.pipeline.exceptions.answers import AcceptanceAnswer, KeyAnswer
from treaty.pipeline.exceptions.reading import as_acceptance, as_exception, told, told_acceptances
from treaty.pipeline.exceptions.tables_of import Kept, kept, key_of, key_text
from treaty.pipeline.layers.reconciliation.columns import State
from treaty.pipeline.tables import Tables


def of_key(tables: Tables, key: str, now: datetime, reconciliation: str | None = None) -> list[KeyAnswer]:
    """Return what each reconciliation knows about a key; where none does, that is an error."""
    found = [_known(tables, one, key, now) for one in kept(tables, reconciliation)]
    known = [one for one in found if one.outcome is not None or one.exceptions]
    if not known:
        raise NotFound(f"no reconciliation knows {key!r}; list what is in doubt with: treaty exceptions list")
    return known


def _known(tables: Tables, one: Kept, key: str, now: datetime) -> KeyAnswer:
    exceptions = tables.read(one.exceptions)
    columns = key_of(exceptions).names
    rows = tables.read(one.rows).where(key_text(columns) == F.lit(key)).select("_outcome").collect()
    each = told(one, exceptions).where(F.col("key") == F.lit(key)).orderBy("first_seen", "assertion").collect()
    answers = [as_exception(row, now) for row in each]
    standing = {item.assertion: item.claims_digest for item in answers if item.state != State.RESOLVED.value}
    return KeyAnswer(
        reconciliation=one.name,
        key=key,
        outcome=rows[0]["_outcome"] if rows else None,
        exceptions=answers,
        acceptances=_acceptances(tables, one, columns, key, standing),
    )


def _acceptances(
    tables: Tables, one: Kept, columns: list[str], key: str, standing: dict[str, str]
) -> list[AcceptanceAnswer]:
    if not tables.exists(one.acceptances):
        return []
    given = told_acceptances(tables.read(one.acceptances), columns).where(F.col("key") == F.lit(key))
    return [as_acceptance(row, one, standing) for row in given.orderBy("accepted_at", "actor").collect()]
