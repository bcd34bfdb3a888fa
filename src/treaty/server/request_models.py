"""What requests say beyond a contract; nothing that is not named here is taken."""

from __future__ import annotations

import json
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from treaty.consumers.subscriptions import ConsumerClass
from treaty.registry.access.actors import Role, Scope
from treaty.registry.notices.channels import LEAST, LONGEST, ChannelKind

NO_NUL = r"^[^\x00]*$"
"""No database keeps the character NUL."""

Text = Annotated[str, Field(min_length=1, max_length=2_000, pattern=NO_NUL)]
ShortText = Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)]
Uri = Annotated[
    str, Field(min_length=1, max_length=2048, pattern=NO_NUL, examples=["https://wiki.example.org/move-to-v2"])
]


def _said_in_json(value: dict[str, Any]) -> dict[str, Any]:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError):
        raise ValueError("it holds what JSON cannot say: NaN, infinity, or half a character") from None
    if "\\u0000" in text:
        raise ValueError("it holds a NUL character, which no database keeps")
    return value


Finite = Annotated[float, Field(allow_inf_nan=False, strict=True)]


def _written_out(value: Any) -> Any:
    if not isinstance(value, str) or value.lstrip("+-").replace(".", "").isdigit():
        raise ValueError("write it out, such as 2026-11-03 or 2026-11-03T14:05:00Z")
    return value


IsoDatetime = Annotated[AwareDatetime, BeforeValidator(_written_out)]
IsoDate = Annotated[date, BeforeValidator(_written_out)]
"""Not as a number, which might count seconds or days."""

JsonObject = Annotated[dict[str, Any], AfterValidator(_said_in_json)]
"""A mapping of whatever JSON can say."""


_MOST_UNKNOWN = 20


class RequestBody(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _look_at_keys(cls, said: Any) -> Any:
        """Refuse a body of other keys altogether at once: each would be told by itself, and there may be many."""
        if isinstance(said, dict) and len(said) > len(cls.model_fields) + _MOST_UNKNOWN:
            raise ValueError(f"{len(said):,} keys; use: {', '.join(cls.model_fields)}")
        return said


class DeprecationBody(RequestBody):
    """Where the migration plan stands, and when the sunset is; by default after the least period."""

    deprecation_uri: Uri
    sunset_on: date | None = Field(default=None, examples=["2027-03-31"])


class OverrideBody(RequestBody):
    """Why a step is taken all the same; for stewards, and noted."""

    override: Text | None = Field(default=None, examples=["the last consumer was switched off on Friday"])


class SubscriptionBody(RequestBody):
    """What a consumer depends on; without fields no change is taken to be safe for it."""

    consumer: ShortText = Field(examples=["ltv-dashboard"])
    line: Text = Field(examples=["users.daily_active@1"])
    consumer_class: ConsumerClass = Field(examples=["operational_reporting"])
    fields: list[Text] = Field(default=[], max_length=2_000, examples=[["ltv", "plan"]])
    purpose: Text | None = Field(default=None, examples=["weekly revenue review"])
    latency: Text | None = Field(default=None, examples=["24h"])
    contact: Text | None = Field(default=None, examples=["#analytics"])
    team: ShortText | None = Field(default=None, examples=["analytics"])


class WaiverBody(RequestBody):
    """Which finding is set aside, by whom, why and until when."""

    rule: ShortText = Field(examples=["sla_relaxed"])
    contract: Text = Field(default="*", examples=["users.daily_active"])
    path: Text = "*"
    owner: ShortText = Field(examples=["growth-platform"])
    reason: Text = Field(examples=["the source delivers daily until the new feed is live"])
    until: date = Field(examples=["2027-01-31"])


class DecisionBody(RequestBody):
    """Why a proposal is decided so; an override approves one's own, for stewards, and needs a reason."""

    reason: Text | None = None
    override: Annotated[bool, Field(strict=True)] = False


class DeclineBody(RequestBody):
    """Why a proposal is declined."""

    reason: Text | None = None


class AcknowledgementBody(RequestBody):
    """Which consumer knows of a change, and what it has to say to it."""

    consumer: ShortText = Field(examples=["ltv-dashboard"])
    note: Text | None = Field(default=None, examples=["we move with the release of May"])


class MoveBody(RequestBody):
    """Which consumer reads the new line from now on; without fields, those that its old ones became."""

    consumer: ShortText = Field(examples=["ltv-dashboard"])
    fields: Annotated[list[Text], Field(max_length=2_000)] | None = Field(default=None, examples=[["plan"]])


class MigrationWaiverBody(RequestBody):
    """Which consumer a migration goes on without, why and until when."""

    consumer: ShortText = Field(examples=["ltv-dashboard"])
    reason: Text = Field(examples=["it is switched off at the end of the month"])
    until: date = Field(examples=["2027-01-31"])


class ProofBody(RequestBody):
    """What running the shims on rows showed, as `treaty migrate prove --format json` prints it."""

    proof: JsonObject


class ChannelBody(RequestBody):
    """Where a team or consumer wants its notices; `*` as the party stands for everybody."""

    party: ShortText = Field(examples=["growth-platform"])
    kind: ChannelKind = Field(examples=["webhook"])
    target: str = Field(max_length=2_000, pattern=NO_NUL, examples=["https://hooks.example.org/treaty"])
    secret: Annotated[str, Field(min_length=LEAST, max_length=LONGEST, pattern=NO_NUL)] | None = Field(
        default=None, examples=["a random text of 32 characters…"]
    )


class BreachBody(RequestBody):
    """Which promise was not kept."""

    kind: Literal["sla_breach", "exception"] = Field(examples=["sla_breach"])
    message: Text = Field(examples=["freshness is 31 h, promised are 24 h"])
    details: JsonObject = {}


class MeasureBody(RequestBody):
    """One measure; unit, promise and state follow from its name and the contract where they are not said."""

    contract: Annotated[str, Field(min_length=1, max_length=256, pattern=NO_NUL)] = Field(examples=["orders"])
    name: ShortText = Field(examples=["freshness"])
    at: IsoDatetime = Field(examples=["2026-11-03T14:05:00Z"])
    value: Finite = Field(examples=[720])
    unit: Annotated[str, Field(max_length=40, pattern=NO_NUL)] | None = Field(default=None, examples=["s"])
    promise: Finite | None = Field(default=None, examples=[3600])
    state: Literal["healthy", "warning", "failing"] | None = None
    details: JsonObject = {}


class MeasuresBody(RequestBody):
    """What was measured; a batch may be sent again, since none of it is kept twice."""

    measures: list[MeasureBody] = Field(max_length=1_000)


class RetryBody(RequestBody):
    """Which channel is tried again; all of them where none is named."""

    channel: Annotated[int, Field(strict=True, ge=1, lt=2**63)] | None = None


class TokenBody(RequestBody):
    """Whom a token is for; contributor and owner are roles in a team."""

    name: ShortText = Field(examples=["ci of growth-platform"])
    role: Role = Field(examples=["contributor"])
    team: ShortText | None = Field(default=None, examples=["growth-platform"])
    scopes: list[Scope] = Field(default=[], max_length=3)
    days: Annotated[int, Field(strict=True, ge=1, le=366)] = 90
