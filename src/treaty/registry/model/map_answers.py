"""Answers about the dependency map: who reads what, and what is known of each consumer."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from treaty.consumers.subscriptions import ConsumerClass
from treaty.legacy.hidden_dependencies import HiddenKind
from treaty.registry.model.page import Answer

Evidence = Literal["declared", "scanned", "observed"]


class MapEntryAnswer(Answer):
    """A consumer and a source that it reads."""

    consumer: str = Field(examples=["finance_close"])
    team: str | None = Field(default=None, examples=["finance"])
    source: str = Field(
        description="A line, or the name of a table that belongs to no contract.",
        examples=["warehouse.legacy_revenue"],
    )
    line: str | None = Field(default=None, examples=["retail.publications.finance_recognized_sale@1"])
    source_kind: str = Field(
        description="The layer of the line, or what the name of the table tells: `raw`, `change_feed`, `product`, "
        "`reconciliation`, `publication`, `legacy`, or `table` if nothing is known.",
        examples=["legacy"],
    )
    direct: bool = Field(
        description="Whether it reads raw data, a change feed, a product or a legacy feed directly.", examples=[True]
    )
    columns: list[str] = Field(
        default=[], description="Empty if not all that it reads are known.", examples=[["country", "net_amount"]]
    )
    consumer_class: ConsumerClass = Field(examples=["external_regulatory"])
    critical: bool = Field(
        description="Whether the class is one of those where contracts matter most.", examples=[True]
    )
    class_confidence: float | None = Field(
        default=None, description="How sure a guessed class is, from 0 to 1; null if people said it.", examples=[0.8]
    )
    class_reason: str = Field(examples=["its name contains 'close'"])
    latency: str | None = Field(default=None, description="How often it reads.", examples=["1d"])
    latency_is_stated: bool = Field(default=False, description="False: a schedule or a log tells.", examples=[False])
    latency_confidence: float | None = Field(
        default=None, description="How sure a latency of a scan is; null if people said it.", examples=[0.9]
    )
    decision: str | None = Field(default=None, description="What it decides with it.", examples=["monthly close"])
    decision_confidence: float | None = Field(
        default=None, description="How sure a decision that a scan found is; null if people said it.", examples=[0.7]
    )
    evidence: list[Evidence] = Field(examples=[["scanned"]])
    last_read: date | None = Field(default=None, description="When it was last seen reading.", examples=["2026-11-03"])
    places: list[str] = Field(default=[], description="Where a scan found it.", examples=[["finance/dags/close.py:12"]])
    served_by: str | None = Field(
        default=None,
        description="The publication that would serve a direct reader, if there is one.",
        examples=["retail.publications.finance_recognized_sale@1"],
    )
    forbidden: str | None = Field(
        default=None,
        description="The rule of a policy that forbids a critical consumer to read it directly.",
        examples=["critical consumers read publications: finance_close reads a product (from enterprise.base 1.1.0)"],
    )


class NearDuplicateAnswer(Answer):
    """Two publications, or contracts for single consumers, that are nearly the same."""

    first: str = Field(examples=["retail.publications.finance_recognized_sale@1"])
    second: str = Field(examples=["retail.publications.tax_sale@1"])
    score: float = Field(description="From 0 to 1: the mean of schema and lineage.", examples=[0.91])
    schema_share: float = Field(description="How far fields and types agree.", examples=[0.92])
    lineage_share: float | None = Field(
        default=None, description="How far the sources agree; null if they are not known.", examples=[0.9]
    )
    shared: list[str] = Field(description="The fields in the first that both have.", examples=[["net_amount"]])


class HiddenDependencyAnswer(Answer):
    """A dependency of a consumer on its publisher that the contract does not promise."""

    kind: HiddenKind = Field(
        description="`excluded_field`: a column that the contract excludes. `producer_table`: a table inside of the "
        "publisher. `parsed_identifier`: an opaque identifier that is taken apart. `unknown_field`: a column that the "
        "contract does not have. `undeclared_field`: a field that the subscription does not declare.",
        examples=["parsed_identifier"],
    )
    consumer: str = Field(examples=["waitlist"])
    team: str | None = Field(default=None, examples=["booking"])
    line: str = Field(description="The contract that it uses.", examples=["gym.scheduling.class_published@1"])
    subject: str = Field(description="The field, column or table.", examples=["classId"])
    message: str = Field(examples=["takes classId apart; the contract promises that it identifies"])
    hint: str = Field(examples=["ask the owner for a field with the meaning"])
    evidence: list[Literal["scanned", "observed", "refused"]] = Field(
        description="Found by a scan, seen by lineage events or the read API, or refused by the read API.",
        examples=[["scanned"]],
    )
    places: list[str] = Field(default=[], description="Where a scan found it.", examples=[["booking/waitlist.sql"]])


class ScanReceiptAnswer(Answer):
    """What became of a scan."""

    scan: str = Field(examples=["warehouse-jobs"])
    recorded: int = Field(description="Pairs of consumer and source.", examples=[42])
    replaced: int = Field(description="Those of the scan before.", examples=[40])


class ConsumerProfileAnswer(Answer):
    """What people said of a consumer; null where they said nothing."""

    consumer: str = Field(examples=["finance_close"])
    consumer_class: ConsumerClass | None = Field(default=None, examples=["external_regulatory"])
    latency: str | None = Field(default=None, examples=["1d"])
    decision: str | None = Field(default=None, examples=["closing the books of 40 countries"])
    team: str | None = Field(default=None, examples=["finance"])
