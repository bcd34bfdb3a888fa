"""Draft a contract from a profile, and advise what to review first. No Spark: equal facts give equal drafts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field, SchemaObject, locate_fields
from treaty.contracts.odcs import LATEST_API_VERSION
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.values import EMPTY, FrozenMap
from treaty.spark.columns import MALFORMED_COLUMN
from treaty.spark.profile.model import (
    GUESSED_PROPERTY,
    MIN_EVIDENCE_ROWS,
    Confidence,
    DoubledKeys,
    Guess,
    GuessedField,
    Inferred,
    Profile,
    TypeOrigin,
    cap_confidence,
    format_share,
    read_guesses,
    with_guess_notes,
)
from treaty.spark.profile.name_hints import is_identifier
from treaty.spark.profile.term_guesses import Freshness, Subject, guess_freshness, guess_terms
from treaty.spark.profile.type_guesses import TYPE_TERM, guess_type

TODO = "TODO"
_FIRST_VERSION = "0.1.0"


@dataclass(frozen=True)
class Draft:
    """The profile, names and guesses that a draft is made from."""

    contract_id: str
    object_name: str
    profile: Profile
    typing: TypeOrigin
    personal: Mapping[FieldPath, Guess]
    now: datetime

    def contract(self) -> Contract:
        """Draft the contract; what only people know is marked as TODO."""
        fields = tuple(self._column(column) for column in self.profile.schema.fields if column.name != MALFORMED_COLUMN)
        freshness = self._freshness(fields)
        schema = SchemaObject(self.object_name, properties=fields)
        return Contract(
            self.contract_id,
            _FIRST_VERSION,
            LATEST_API_VERSION,
            status="draft",
            description=FrozenMap({"purpose": TODO}),
            objects=(schema,),
            sla=self._sla(freshness),
            custom_properties=self._notes(freshness),
            plain_keys=("owners",),
        )

    def _column(self, column: spark.StructField) -> Field:
        path = FieldPath().field(column.name)
        terms = self._terms(path, column.name, column.dataType)
        if column.name in self.profile.key:
            terms = terms.guess(self._key_guess(), primary_key=True, primary_key_position=self._position(column.name))
        if column.name in self.profile.partitions:
            place = self.profile.partitions.index(column.name) + 1
            guess = Guess("partitioned", Confidence.HIGH, "the files are in folders named after it")
            terms = terms.guess(guess, more=FrozenMap({"partitioned": True, "partitionKeyPosition": place}))
        return with_guess_notes(terms)

    def _position(self, name: str) -> int | None:
        key = self.profile.key
        return key.index(name) + 1 if len(key) > 1 else None

    def _key_guess(self) -> Guess:
        profile, doubled = self.profile, self.profile.doubled_keys
        several = ", ".join(profile.key) if len(profile.key) > 1 else "it"
        if doubled.violating:
            identified = format_share(profile.rows - doubled.violating, profile.rows)
            return Guess(
                "primaryKey",
                cap_confidence(Confidence.MEDIUM, profile),
                f"it identifies {identified} of {profile.rows:,} rows; {_describe_doubled(doubled)}",
            )
        if profile.sample:
            evidence = f"no two rows of the sample share {several}; the other rows were not examined"
        else:
            evidence = f"no two of {profile.rows:,} rows share {several}, counted exactly"
        limit = Confidence.HIGH if any(map(is_identifier, profile.key)) else Confidence.LOW
        return Guess("primaryKey", cap_confidence(limit, profile), evidence)

    def _field(self, path: FieldPath, name: str | None, kind: spark.DataType) -> Field:
        return with_guess_notes(self._terms(path, name, kind))

    def _terms(self, path: FieldPath, name: str | None, kind: spark.DataType) -> GuessedField:
        facts = self.profile.by_path[path]
        terms = self._typed(path, name, kind)
        terms = replace(terms, field=replace(terms.field, description=TODO if name else None))
        return guess_terms(terms, Subject(facts, self.profile, self.personal.get(path)))

    def _typed(self, path: FieldPath, name: str | None, kind: spark.DataType) -> GuessedField:
        stored = Guess(TYPE_TERM, Confidence.HIGH, f"stored as {kind.typeName()}")
        if isinstance(kind, spark.StructType):
            parts = tuple(self._field(path.field(child.name), child.name, child.dataType) for child in kind.fields)
            parent = Field(name, logical_type="object", physical_type="struct", properties=parts)
            return GuessedField(parent).guess(stored)
        if isinstance(kind, spark.ArrayType):
            items = self._field(path.into(ITEMS), None, kind.elementType)
            return GuessedField(Field(name, logical_type="array", physical_type="array", items=items)).guess(stored)
        if isinstance(kind, spark.MapType):
            key = self._field(path.into(MAP_KEYS), None, kind.keyType)
            value = self._field(path.into(MAP_VALUES), None, kind.valueType)
            entries = Field(name, logical_type="map", physical_type="map", map_key=key, map_value=value)
            return GuessedField(entries).guess(stored)
        return guess_type(self.profile.by_path[path], self.profile, self.typing, hide_values=path in self.personal)

    def _freshness(self, fields: tuple[Field, ...]) -> Freshness | None:
        moments = [field.name or "" for field in fields if field.logical_type == "timestamp"]
        return guess_freshness(self.profile, moments, set(self.personal), self.now)

    def _sla(self, freshness: Freshness | None) -> tuple[FrozenMap, ...] | None:
        if freshness is None or freshness.days is None:
            return None
        level = {
            "property": "freshness",
            "value": freshness.days,
            "unit": "d",
            "element": f"{self.object_name}.{freshness.column}",
            "description": f"{GUESSED_PROPERTY}, {freshness.guess}",
        }
        return (FrozenMap(level),)

    def _notes(self, freshness: Freshness | None) -> tuple[FrozenMap, ...]:
        source = self.profile.sample or f"all {self.profile.rows:,} rows"
        notes = {"from": source} | ({} if freshness is None else {"freshness": str(freshness.guess)})
        owners = FrozenMap({"property": "owners", "value": [{"team": TODO}]})
        return FrozenMap({"property": GUESSED_PROPERTY, "value": notes}), owners


def _describe_doubled(doubled: DoubledKeys) -> str:
    parts = []
    if doubled.rows:
        values = "1 value" if doubled.keys == 1 else f"{doubled.keys:,} values"
        parts.append(f"{doubled.rows:,} rows share {values}")
    if doubled.incomplete:
        parts.append(f"{doubled.incomplete:,} {'row has' if doubled.incomplete == 1 else 'rows have'} none")
    return " and ".join(parts)


_MAX_NAMED_FIELDS = 8
_ALTERNATIVES = {
    "logicalType": "change the type",
    "primaryKey": "change the key",
    "enum": "change the allowed values",
    "required": "choose another key",
}


@dataclass(frozen=True)
class Advice:
    """One point to review, and why."""

    topic: str
    message: str


def collect_advice(contract: Contract, profile: Profile) -> tuple[Advice, ...]:
    """Return the points to review, most important first."""
    return tuple(advice for topic in _TOPICS for advice in topic(contract, profile))


def collect_decisions(inferred: Inferred) -> tuple[str, ...]:
    """Return what to decide before the draft becomes a contract, as the draft's header lists it."""
    misses = inferred.near_misses
    return (
        *(f"{miss.field}: correct the data, or {_alternative(miss.term)}? {miss.evidence}" for miss in misses),
        *(f"{advice.topic}: {advice.message}" for advice in collect_advice(inferred.contract, inferred.profile)),
    )


def _alternative(term: str) -> str:
    return _ALTERNATIVES.get(term, f"change the {term}")


def _evidence(contract: Contract, profile: Profile) -> Iterator[Advice]:
    if profile.sample:
        yield Advice("sample", f"{profile.sample}; the other rows were not examined")
    if not profile.rows:
        yield Advice("evidence", "there are no rows; the draft has only names and stored types")
    elif profile.has_few_rows:
        yield Advice(
            "evidence",
            f"{profile.rows:,} rows are too few to conclude much; {MIN_EVIDENCE_ROWS} or more are needed",
        )
    if profile.malformed:
        count = "1 row" if profile.malformed == 1 else f"{profile.malformed:,} rows"
        yield Advice("malformed", f"{count} could not be read; treaty test quarantines such rows")


def _key(contract: Contract, profile: Profile) -> Iterator[Advice]:
    key = [field for schema in contract.schema for field in schema.fields if field.primary_key]
    if not profile.rows or (key and profile.doubled_keys.violating):
        return
    if not key:
        yield Advice("key", "no key found: no plausible column or pair of columns is unique")
        return
    names = ", ".join(contract.schema[0].primary_key)
    yield Advice("key", f"{names} ({read_guesses(key[0]).get('primaryKey', '')})")


def _personal(contract: Contract, profile: Profile) -> Iterator[Advice]:
    if named := _names(contract, lambda field: field.classification is not None):
        yield Advice(
            "personal data", f"{named}: classified as restricted; check that this list is correct and complete"
        )


def _choices(contract: Contract, profile: Profile) -> Iterator[Advice]:
    if named := _names(contract, lambda field: field.enum is not None):
        yield Advice("choices", f"{named}: only the observed values are allowed; add other valid values")


def _patterns(contract: Contract, profile: Profile) -> Iterator[Advice]:
    shaped = {"pattern", "minLength", "minimum", "maximum"}
    if named := _names(contract, lambda field: bool(shaped & (field.options or EMPTY).keys())):
        yield Advice(
            "limits", f"{named}: a pattern, length or range derived from the values; check that it is intended"
        )


def _freshness(contract: Contract, profile: Profile) -> Iterator[Advice]:
    for level in contract.sla or ():
        yield Advice(
            "freshness",
            f"{level.get('value')} {level.get('unit')} by {level.get('element')}; check that you can promise this",
        )
    if not contract.sla:
        yield Advice("freshness", "not drafted: no timestamp shows how often the data is refreshed")


def _remaining_work(contract: Contract, profile: Profile) -> Iterator[Advice]:
    fields = [field for _, field, _ in locate_fields(contract) if field.name]
    count = "1 field" if len(fields) == 1 else f"{len(fields):,} fields"
    yield Advice("to do", f"describe the purpose, the owner and the meaning of {count}")


def _names(contract: Contract, chosen: Callable[[Field], bool]) -> str:
    names = [str(path) for path, field, _ in locate_fields(contract) if chosen(field)]
    more = f" and {len(names) - _MAX_NAMED_FIELDS:,} more" if len(names) > _MAX_NAMED_FIELDS else ""
    return ", ".join(names[:_MAX_NAMED_FIELDS]) + more


_TOPICS = (_evidence, _key, _personal, _choices, _patterns, _freshness, _remaining_work)
