"""Request bodies other than contracts. Unknown keys are refused."""

from __future__ import annotations

import json
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from treaty.consumers.dependencies import DataLayer, FieldMapping, MadeFrom
from treaty.consumers.subscriptions import ConsumerClass, parse_fields
from treaty.contracts.paths import parse_path
from treaty.contracts.versions import Line, parse_line
from treaty.legacy.consumer_guess import ClassGuess
from treaty.legacy.scanned_reads import ScannedRead
from treaty.policy.token_rules import MAX_TOKENS_AT_ONCE
from treaty.registry.access.actors import Role, Scope
from treaty.registry.model import AccessDecision, AccessReport
from treaty.registry.notices.channels import MAX_SECRET_LENGTH, MIN_SECRET_LENGTH, ChannelKind

NO_NUL = r"^[^\x00]*$"
"""Databases cannot store the character NUL."""

Text = Annotated[str, Field(min_length=1, max_length=2_000, pattern=NO_NUL)]
ShortText = Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)]
Uri = Annotated[
    str, Field(min_length=1, max_length=2048, pattern=NO_NUL, examples=["https://wiki.example.org/move-to-v2"])
]


def _check_json(value: dict[str, Any]) -> dict[str, Any]:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError):
        raise ValueError("it contains what JSON cannot represent: NaN, infinity, or an unpaired surrogate") from None
    if "\\u0000" in text:
        raise ValueError("it contains a NUL character, which databases cannot store")
    return value


Finite = Annotated[float, Field(allow_inf_nan=False, strict=True)]


def _check_iso_text(value: Any) -> Any:
    if not isinstance(value, str) or value.lstrip("+-").replace(".", "").isdigit():
        raise ValueError("write it in ISO 8601, such as 2026-11-03 or 2026-11-03T14:05:00Z")
    return value


IsoDatetime = Annotated[AwareDatetime, BeforeValidator(_check_iso_text)]
IsoDate = Annotated[date, BeforeValidator(_check_iso_text)]
"""A date as text; a number could be seconds or days."""

JsonObject = Annotated[dict[str, Any], AfterValidator(_check_json)]
"""A JSON object."""

MAX_REPORTED_UNKNOWN_KEYS = 20


class RequestBody(BaseModel):
    """The base of all request bodies."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _check_key_count(cls, data: Any) -> Any:
        """Report many unknown keys as one problem instead of one each."""
        if isinstance(data, dict) and len(data) > len(cls.model_fields) + MAX_REPORTED_UNKNOWN_KEYS:
            raise ValueError(f"{len(data):,} keys; use: {', '.join(cls.model_fields)}")
        return data


class DeprecationBody(RequestBody):
    """Where consumers go, why, and when; a migration guide or a replacement is needed.

    By default, it is announced today, and the sunset is the earliest day allowed. `deprecation_uri` and `sunset_on` are
    other names of `migration_guide` and `sunset_date`.
    """

    migration_guide: Uri | None = Field(
        default=None, validation_alias=AliasChoices("migration_guide", "deprecation_uri")
    )
    replacement: Text | None = Field(default=None, examples=["users.daily_active@2"])
    reason: Text | None = Field(default=None, examples=["one model of users for all teams"])
    announced: IsoDate | None = Field(default=None, examples=["2027-01-31"])
    sunset_date: date | None = Field(
        default=None, examples=["2027-03-31"], validation_alias=AliasChoices("sunset_date", "sunset_on")
    )

    def as_notice(self) -> dict[str, Any]:
        """Return the arguments of a deprecation."""
        return {
            "deprecation_uri": self.migration_guide,
            "sunset_on": self.sunset_date,
            "announced_on": self.announced,
            "replacement": self.replacement,
            "reason": self.reason,
        }


class OverrideBody(RequestBody):
    """The reason for overriding a refusal; stewards only, and recorded in the audit log."""

    override: Text | None = Field(default=None, examples=["the last consumer was switched off on Friday"])


class SubscriptionBody(RequestBody):
    """What a consumer depends on. Without fields, every change is assumed to affect it."""

    consumer: ShortText = Field(examples=["ltv-dashboard"])
    line: Text = Field(examples=["users.daily_active@1"])
    consumer_class: ConsumerClass = Field(examples=["operational_reporting"])
    fields: list[Text] = Field(default=[], max_length=2_000, examples=[["ltv", "plan"]])
    purpose: Text | None = Field(default=None, examples=["weekly revenue review"])
    latency: Text | None = Field(default=None, examples=["24h"])
    contact: Text | None = Field(default=None, examples=["#analytics"])
    team: ShortText | None = Field(default=None, examples=["analytics"])


class SubscriptionNameBody(RequestBody):
    """A subscription, by its consumer and line."""

    consumer: ShortText = Field(examples=["ltv-dashboard"])
    line: Text = Field(examples=["users.daily_active@1"])


class ScannedReadBody(RequestBody):
    """A consumer that a scan found reading a table."""

    consumer: ShortText = Field(examples=["finance_close"])
    source: ShortText = Field(examples=["warehouse.legacy_revenue"])
    columns: list[Text] = Field(default=[], max_length=2_000, examples=[["country", "net_amount"]])
    kind: Annotated[str, Field(min_length=1, max_length=16, pattern=NO_NUL, examples=["airflow"])]
    consumer_class: ConsumerClass = Field(examples=["external_regulatory"])
    confidence: Finite = Field(ge=0, le=1, examples=[0.8])
    reason: Text = Field(examples=["its name contains 'close'"])
    team: ShortText | None = Field(default=None, examples=["finance"])
    latency: Text | None = Field(default=None, examples=["1d"])
    decision: Text | None = Field(default=None, examples=["monthly close"])
    places: list[Text] = Field(default=[], max_length=20, examples=[["finance/dags/close.py:12"]])
    parsed: list[Text] = Field(
        default=[], max_length=2_000, description="Columns whose texts are taken apart.", examples=[["order_id"]]
    )

    def as_read(self) -> ScannedRead:
        """Return it as what a scan returns."""
        return ScannedRead(
            self.consumer,
            self.source,
            frozenset(self.columns),
            self.kind,
            ClassGuess(self.consumer_class, self.confidence, self.reason),
            self.team,
            self.latency,
            self.decision,
            tuple(self.places),
            frozenset(self.parsed),
        )


class ScanBody(RequestBody):
    """What a scan found. It replaces what the last scan of that name did."""

    scan: ShortText = Field(examples=["warehouse-jobs"])
    reads: list[ScannedReadBody] = Field(max_length=20_000)


class ConsumerProfileBody(RequestBody):
    """What people say of a consumer. What is left out stays as it was said before."""

    consumer: ShortText = Field(examples=["finance_close"])
    consumer_class: ConsumerClass | None = Field(default=None, examples=["external_regulatory"])
    latency: Text | None = Field(default=None, examples=["1d"])
    decision: Text | None = Field(default=None, examples=["closing the books of 40 countries"])
    team: ShortText | None = Field(default=None, examples=["finance"])


class NamespaceBody(RequestBody):
    """A prefix of ids, and the team that it is given to."""

    prefix: ShortText = Field(examples=["pay."])
    team: ShortText = Field(examples=["payments"])


class WaiverBody(RequestBody):
    """The finding that is waived, its owner, the reason and the end date."""

    rule: ShortText = Field(examples=["sla_relaxed"])
    contract: Text = Field(default="*", examples=["users.daily_active"])
    path: Text = Field(default="*", examples=["sla.freshness"])
    owner: ShortText = Field(examples=["growth-platform"])
    reason: Text = Field(examples=["the source delivers daily until the new feed is live"])
    until: date = Field(examples=["2027-01-31"])


class DecisionBody(RequestBody):
    """The reason for an approval. `override` lets stewards approve their own proposal and requires a reason."""

    reason: Text | None = Field(default=None, examples=["every reader of ltv has moved to revenue.lifetime"])
    override: Annotated[bool, Field(strict=True)] = False


class DeclineBody(RequestBody):
    """The reason for declining a proposal."""

    reason: Text | None = Field(default=None, examples=["the finance team needs ltv until the end of the quarter"])


class AcknowledgementBody(RequestBody):
    """The consumer that acknowledges a change, and an optional note."""

    consumer: ShortText = Field(examples=["ltv-dashboard"])
    note: Text | None = Field(default=None, examples=["we will move with the May release"])


class MoveBody(RequestBody):
    """The consumer that reads the new line. By default, its fields are mapped from the old line."""

    consumer: ShortText = Field(examples=["ltv-dashboard"])
    fields: Annotated[list[Text], Field(max_length=2_000)] | None = Field(default=None, examples=[["plan"]])


class MigrationWaiverBody(RequestBody):
    """The consumer that the migration does not wait for, the reason and the end date."""

    consumer: ShortText = Field(examples=["ltv-dashboard"])
    reason: Text = Field(examples=["will be switched off at the end of the month"])
    until: date = Field(examples=["2027-01-31"])


class ProofBody(RequestBody):
    """The output of `treaty migrate prove --format json`."""

    proof: JsonObject = Field(
        examples=[
            {
                "before": {"id": "users.daily_active", "version": "1.1.0"},
                "after": {"id": "users.daily_active", "version": "2.0.0"},
                "holds": True,
                "shims": [],
            }
        ]
    )


class ChannelBody(RequestBody):
    """Where a team or consumer receives its notices; the party `*` means all of them."""

    party: ShortText = Field(examples=["growth-platform"])
    kind: ChannelKind = Field(examples=["webhook"])
    target: str = Field(max_length=2_000, pattern=NO_NUL, examples=["https://hooks.example.org/treaty"])
    secret: Annotated[str, Field(min_length=MIN_SECRET_LENGTH, max_length=MAX_SECRET_LENGTH, pattern=NO_NUL)] | None = (
        Field(default=None, examples=["a random text of 32 characters…"])
    )


class RotationBody(RequestBody):
    """A new secret of a channel, and for how many days the previous one stays valid."""

    secret: Annotated[str, Field(min_length=MIN_SECRET_LENGTH, max_length=MAX_SECRET_LENGTH, pattern=NO_NUL)] = Field(
        examples=["another random text of 32 characters…"]
    )
    days: Annotated[int, Field(strict=True, ge=1, le=90)] = Field(default=7, examples=[7])


class BreachBody(RequestBody):
    """An SLA breach or exception to report."""

    kind: Literal["sla_breach", "exception"] = Field(examples=["sla_breach"])
    message: Text = Field(examples=["freshness is 31 h; the contract promises 24 h"])
    details: JsonObject = Field(default={}, examples=[{"measured": "31 h", "promised": "24 h"}])


class IncidentReasonBody(RequestBody):
    """Why an incident is acknowledged."""

    reason: Text = Field(examples=["the source is being repaired; orders arrive again tonight"])


class MeasureBody(RequestBody):
    """One measurement. Unit, promise and state default to what its name and the contract define."""

    contract: Annotated[str, Field(min_length=1, max_length=256, pattern=NO_NUL)] = Field(
        description="A line; a contract means its highest line.", examples=["orders@1"]
    )
    name: ShortText = Field(examples=["freshness"])
    at: IsoDatetime = Field(examples=["2026-11-03T14:05:00Z"])
    value: Finite = Field(examples=[720])
    unit: Annotated[str, Field(max_length=40, pattern=NO_NUL)] | None = Field(default=None, examples=["s"])
    promise: Finite | None = Field(default=None, examples=[3600])
    state: Literal["healthy", "warning", "failing"] | None = None
    details: JsonObject = Field(default={}, examples=[{"newest": "2026-11-03T13:53:00Z"}])


class MeasuresBody(RequestBody):
    """A batch of measurements. Sending a batch again records nothing twice."""

    measures: list[MeasureBody] = Field(max_length=1_000)


class UpstreamBody(RequestBody):
    """A line that another one is derived from. Without fields and mappings, it is unknown which fields are used."""

    line: Annotated[str, Field(min_length=1, max_length=300, pattern=NO_NUL)] = Field(examples=["sales.orders@1"])
    fields: list[ShortText] = Field(
        default=[], max_length=5_000, description="Upstream fields used in filters and joins.", examples=[["status"]]
    )
    mappings: dict[ShortText, list[ShortText]] = Field(
        default={}, description="The upstream fields that each field is computed from.", examples=[{"net": ["total"]}]
    )

    def made_from(self, line: Line) -> MadeFrom:
        """Return the dependency of a line on this one."""
        mappings = tuple(
            FieldMapping(parse_path(target), parse_fields(sources)) for target, sources in self.mappings.items()
        )
        return MadeFrom(line, parse_line(self.line), parse_fields(self.fields), mappings)


class LineageBody(RequestBody):
    """What a run derived a line from."""

    upstreams: list[UpstreamBody] | None = Field(
        default=None, max_length=200, description="Without it, the lineage of earlier runs stays."
    )
    layer: DataLayer | None = Field(
        default=None,
        description="The layer in which the run publishes the line. Without it, the layer of earlier runs stays.",
        examples=["publication"],
    )

    def made_from(self, line: Line) -> list[MadeFrom] | None:
        """Return the dependencies of a line; None if the body names none."""
        return None if self.upstreams is None else [upstream.made_from(line) for upstream in self.upstreams]


class RetryBody(RequestBody):
    """The channel to retry; all channels by default."""

    channel: Annotated[int, Field(strict=True, ge=1, lt=2**63)] | None = Field(default=None, examples=[5])


class KeyErasureBody(RequestBody):
    """What the erasure of a key removed, without the key."""

    fields: list[ShortText] = Field(min_length=1, max_length=100, examples=[["user_id"]])
    rows: Annotated[int, Field(strict=True, ge=0, lt=2**63)] = Field(examples=[12])
    tables: list[ShortText] = Field(max_length=10_000, examples=[["raw.signups", "products.users"]])


class DetokenisationBody(RequestBody):
    """Which tokens are to be reversed, and why; without the tokens."""

    field: Text = Field(examples=["email"])
    purpose: ShortText = Field(examples=["fraud review"])
    tokens: Annotated[int, Field(strict=True, ge=1, le=MAX_TOKENS_AT_ONCE)] = Field(examples=[12])


class ErasureBody(RequestBody):
    """The name to erase."""

    name: ShortText = Field(examples=["former-analyst"])
    dry_run: bool = Field(default=False, description="Count what would change, and change nothing.", examples=[True])


class TokenBody(RequestBody):
    """The holder of a new token. The roles contributor and owner require a team."""

    name: ShortText = Field(examples=["ci of growth-platform"])
    role: Role = Field(examples=["contributor"])
    team: ShortText | None = Field(default=None, examples=["growth-platform"])
    scopes: list[Scope] = Field(default=[], max_length=3, examples=[["read", "write"]])
    days: Annotated[int, Field(strict=True, ge=1, le=366)] = Field(default=90, examples=[90])
    holder: Annotated[str, Field(min_length=1, max_length=600)] | None = Field(
        default=None,
        description="The identity of its holder, if that is another token or an OIDC user: token:ID or ISSUER#SUBJECT.",
        examples=["https://login.example.com#a1b2"],
    )


class AccessReportBody(RequestBody):
    """An access to published rows that bypassed the read API. It has no values of rows."""

    line: ShortText = Field(examples=["users.daily_active@1"])
    consumer: ShortText = Field(description="The consumer that got the rows.", examples=["support-desk"])
    version: ShortText = Field(description="The contract version of the rows.", examples=["1.2.0"])
    fields: list[ShortText] = Field(default=[], max_length=1_000, examples=[["user_id"]])
    rows: int | None = Field(
        default=None, ge=0, lt=2**63, description="How many rows; none if that is not known.", examples=[42]
    )
    run: int | None = Field(default=None, ge=0, lt=2**63, description="The run that published the rows.", examples=[7])
    decision: AccessDecision = Field(
        default=AccessDecision.SERVED,
        description="`served` if the consumer has read them, `delivered` if a run wrote them for it, `purpose` if its "
        "purpose is not allowed.",
        examples=["delivered"],
    )

    def as_report(self) -> AccessReport:
        """Return it as the registry takes it."""
        return AccessReport(**self.model_dump())
