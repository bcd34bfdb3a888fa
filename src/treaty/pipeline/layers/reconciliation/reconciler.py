"""Reconciling: claims beside each other, attributes settled, doubts told, the contract held, in one pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract
from treaty.contracts.values import EMPTY
from treaty.pipeline.layers.reconciliation.attributes import Formulas, Settled, columns_of, read_formulas
from treaty.pipeline.layers.reconciliation.claims import Spoken, joined, spoken, without_key
from treaty.pipeline.layers.reconciliation.contract_check import held_or_resolved
from treaty.pipeline.layers.reconciliation.exceptions import (
    EXCEPTIONS,
    Doubt,
    Speakers,
    doubt_of_assertion,
    doubted,
    doubts_of_attribute,
    doubts_of_claims,
    with_acceptances,
)
from treaty.pipeline.layers.reconciliation.reconciliation_tables import FOUND
from treaty.pipeline.layers.reconciliation.subject import Subject, subject_of
from treaty.pipeline.layers.sql_queries import understood
from treaty.pipeline.project.declarations import Reconciliation
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col


@dataclass(frozen=True)
class Reconciled:
    """Every key that any claim speaks about, resolved or held, and the exceptions; nothing runs until one is used."""

    judged: DataFrame
    """The reconciled keys, each with the list of its exceptions: both other frames are made from it."""
    key: tuple[str, ...]
    without_key: DataFrame
    """How many rows of each claim have no key."""

    @property
    def resolved(self) -> DataFrame:
        """The contract's columns and `_outcome`; a held key has no values beside the key."""
        return self.judged.drop(EXCEPTIONS)

    @property
    def exceptions(self) -> DataFrame:
        """One row for each key and assertion that is in doubt, accepted or not."""
        one = f"{INTERNAL_PREFIX}one"
        each = self.judged.select(*map(quoted_col, self.key), F.explode(quoted_col(EXCEPTIONS)).alias(one))
        return each.select(*map(quoted_col, self.key), *[quoted_col(one).getField(name).alias(name) for name in FOUND])

    def over(self, judged: DataFrame) -> Reconciled:
        """Return the same over rows that were kept somewhere, so that they are worked out once."""
        return replace(self, judged=judged)


def reconcile(
    claims: Mapping[str, DataFrame],
    acceptances: DataFrame | None,
    reconciliation: Reconciliation,
    contract: Contract,
    *,
    unique: Collection[str] = (),
    classified: Mapping[str, Collection[str]] = EMPTY,
) -> Reconciled:
    """Settle every key: `claims` are, by the claim's name, the standing rows of its product.

    `unique` names claims that have one row for each key by construction, so that nobody looks for a second one.
    `classified` names the columns of claims whose values are masked where claims are shown.
    """
    subject = subject_of(reconciliation, contract)
    said = spoken(subject, claims, unique)
    formulas = read_formulas(subject, said)
    speakers = Speakers(subject, said, formulas.used(subject), formulas.secrets(classified))
    beside = joined(subject, said, speakers.used)
    settled, doubts = _settled(beside, speakers, formulas)
    columns = [*subject.key, *[item.column for item in formulas.settled]]
    told = with_acceptances(doubted(settled, columns, doubts), acceptances, subject.key)
    return Reconciled(held_or_resolved(told, subject), subject.key, without_key(subject, said))


def _settled(frame: DataFrame, speakers: Speakers, formulas: Formulas) -> tuple[DataFrame, list[Doubt]]:
    """Return the rows with every attribute and the answer of every assertion, and what may stand against them."""
    subject, doubts = speakers.subject, list(doubts_of_claims(speakers))
    for group in _in_turn(formulas.settled):
        frame = _with_columns(frame, group, subject, speakers.claims)
        for item in group:
            doubts += doubts_of_attribute(speakers, item, formulas.shown_of(item))
    flags = []
    for number, (assertion, formula) in enumerate(formulas.assertions):
        flag = f"{INTERNAL_PREFIX}fails_{number}"
        with understood(subject.place(assertion.name)):
            answer = frame.select(F.expr(formula.sql).alias(flag)).schema[flag].dataType
        if not isinstance(answer, spark.BooleanType | spark.NullType):
            raise subject.wrong(f"{assertion.name} must hold or not, and gives {answer.simpleString()}; compare it")
        flags.append((~F.expr(formula.sql)).alias(flag))
        doubts.append(doubt_of_assertion(speakers, assertion, flag, formulas.shown_by(formula)))
    return (frame.select("*", *flags) if flags else frame), doubts


def _with_columns(
    frame: DataFrame, group: Sequence[Settled], subject: Subject, claims: Mapping[str, Spoken]
) -> DataFrame:
    """Add attributes that do not need each other; where Spark does not understand one, it is found and named."""
    for item in group:
        if item.formula is not None:
            with understood(subject.place(item.attribute.name)):
                frame.select(F.expr(item.formula.sql)).schema  # noqa: B018  over Connect, asked when it is needed
    return frame.select("*", *[column for item in group for column in columns_of(item, claims)])


def _in_turn(settled: Sequence[Settled]) -> Iterator[list[Settled]]:
    """Yield attributes in groups: none needs another of its group, so that the plan stays as flat as it can."""
    group: list[Settled] = []
    for item in settled:
        inside = {one.column for one in group}
        if item.formula is not None and inside & set(item.formula.attributes):
            yield group
            group = []
        group.append(item)
    if group:
        yield group
