"""Pydantic models of the short form, exported as `treaty.DataContract` and others."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from treaty.contracts.loader import contract_from
from treaty.contracts.model import Contract
from treaty.contracts.short_form import write_short_form
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class DataField(_Strict):
    """A field of a data contract."""

    name: str = Field(min_length=1)
    type: Literal["string", "integer", "number", "boolean", "timestamp", "json"]
    required: bool = True
    description: str | None = None
    enum: list[str | int | float | bool] | None = None
    deprecated: bool = False


class Owner(_Strict):
    """A team that owns a data contract, and its contact."""

    team: str = Field(min_length=1)
    contact: str | None = None


class FreshnessSLA(_Strict):
    """The maximum age of the data."""

    max_lag_seconds: int = Field(gt=0)
    measurement: str = "event_time"


class MigrationPlan(_Strict):
    """The plan that moves consumers across a breaking change."""

    guide: str = Field(min_length=1)
    window: str = Field(min_length=1)
    owner: str = Field(min_length=1)
    fields: list[dict[str, Json]] | None = None


class DataContract(_Strict):
    """A contract in the short form; `to_contract` returns the full model."""

    dataset_id: str = Field(min_length=1, max_length=128)
    version: str = Field(max_length=64)
    description: str | None = None
    fields: list[DataField] = Field(min_length=1)
    owners: list[Owner] = Field(min_length=1)
    freshness_sla: FreshnessSLA | None = None
    status: Literal["draft", "active", "deprecated", "sunset", "retired", "archived"] = "draft"
    deprecation_uri: str | None = None
    primary_key: list[str] = Field(default_factory=list)
    migration: MigrationPlan | None = None

    @model_validator(mode="after")
    def _validate_as_contract(self) -> DataContract:
        try:
            self.to_contract()
        except InvalidDocument as error:
            raise ValueError("; ".join(finding.message for finding in error.findings) or str(error)) from None
        return self

    def to_contract(self) -> Contract:
        """Return the full model of this contract."""
        return contract_from(self.as_document(), self.dataset_id)

    def as_document(self) -> dict[str, Json]:
        """Return the document without empty keys."""
        return self.model_dump(mode="json", exclude_none=True)

    @classmethod
    def from_contract(cls, contract: Contract) -> DataContract:
        """Return the short form of a contract, without what the short form cannot represent."""
        document = write_short_form(contract)
        return cls.model_validate({key: value for key, value in document.items() if key in cls.model_fields})

    def field(self, name: str) -> DataField | None:
        """Return a field by name, or None."""
        return next((one for one in self.fields if one.name == name), None)
