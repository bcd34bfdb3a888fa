"""A draft contract from a profile; pure, so that the same facts give the same draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.odcs import LATEST_API_VERSION
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.values import FrozenMap
from treaty.spark.preparing import MALFORMED
from treaty.spark.profile.facts import Profile
from treaty.spark.profile.freshness_guess import Freshness, guess_freshness
from treaty.spark.profile.guesses import GUESSED, Confidence, Guess, Terms, at_most, marked
from treaty.spark.profile.names import is_identifier
from treaty.spark.profile.term_guess import Subject, guess_terms
from treaty.spark.profile.type_guess import TYPE, guess_type
from treaty.spark.profile.type_origin import Typing

TODO = "TODO"
_FIRST = "0.1.0"


@dataclass(frozen=True)
class Draft:
    """What a draft is made from, and what it is to be called."""

    contract_id: str
    object_name: str
    profile: Profile
    typing: Typing
    personal: Mapping[FieldPath, Guess]
    now: datetime

    def contract(self) -> Contract:
        """Draft the contract; what only people know is left to do."""
        fields = tuple(self._column(item) for item in self.profile.schema.fields if item.name != MALFORMED)
        freshness = self._freshness(fields)
        schema = SchemaObject(self.object_name, properties=fields)
        return Contract(
            self.contract_id,
            _FIRST,
            LATEST_API_VERSION,
            status="draft",
            description=FrozenMap({"purpose": TODO}),
            objects=(schema,),
            sla=self._sla(freshness),
            custom_properties=self._notes(freshness),
            plain_keys=("owners",),
        )

    def _column(self, item: spark.StructField) -> Field:
        path = FieldPath().field(item.name)
        terms = self._terms(path, item.name, item.dataType)
        if item.name in self.profile.key:
            terms = terms.guess(self._key_guess(), primary_key=True, primary_key_position=self._position(item.name))
        if item.name in self.profile.partitions:
            place = self.profile.partitions.index(item.name) + 1
            guess = Guess("partitioned", Confidence.HIGH, "the folders of the files are named by it")
            terms = terms.guess(guess, more=FrozenMap({"partitioned": True, "partitionKeyPosition": place}))
        return marked(terms)

    def _position(self, name: str) -> int | None:
        key = self.profile.key
        return key.index(name) + 1 if len(key) > 1 else None

    def _key_guess(self) -> Guess:
        several = ", ".join(self.profile.key) if len(self.profile.key) > 1 else "it"
        if self.profile.sample:
            evidence = f"no two rows of the sample share {several}; the other rows were not looked at"
        else:
            evidence = f"no two of {self.profile.rows:,} rows share {several}, counted exactly"
        limit = Confidence.HIGH if any(map(is_identifier, self.profile.key)) else Confidence.LOW
        return Guess("primaryKey", at_most(limit, self.profile), evidence)

    def _field(self, path: FieldPath, name: str | None, kind: spark.DataType) -> Field:
        return marked(self._terms(path, name, kind))

    def _terms(self, path: FieldPath, name: str | None, kind: spark.DataType) -> Terms:
        facts = self.profile.by_path[path]
        terms = self._typed(path, name, kind)
        terms = replace(terms, field=replace(terms.field, description=TODO if name else None))
        return guess_terms(terms, Subject(facts, self.profile, self.personal.get(path)))

    def _typed(self, path: FieldPath, name: str | None, kind: spark.DataType) -> Terms:
        stored = Guess(TYPE, Confidence.HIGH, f"stored as {kind.typeName()}")
        if isinstance(kind, spark.StructType):
            parts = tuple(self._field(path.field(item.name), item.name, item.dataType) for item in kind.fields)
            whole = Field(name, logical_type="object", physical_type="struct", properties=parts)
            return Terms(whole).guess(stored)
        if isinstance(kind, spark.ArrayType):
            items = self._field(path.into(ITEMS), None, kind.elementType)
            return Terms(Field(name, logical_type="array", physical_type="array", items=items)).guess(stored)
        if isinstance(kind, spark.MapType):
            key = self._field(path.into(MAP_KEYS), None, kind.keyType)
            value = self._field(path.into(MAP_VALUES), None, kind.valueType)
            entries = Field(name, logical_type="map", physical_type="map", map_key=key, map_value=value)
            return Terms(entries).guess(stored)
        return guess_type(self.profile.by_path[path], self.profile, self.typing)

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
            "description": f"{GUESSED}, {freshness.guess}",
        }
        return (FrozenMap(level),)

    def _notes(self, freshness: Freshness | None) -> tuple[FrozenMap, ...]:
        seen = self.profile.sample or f"all {self.profile.rows:,} rows"
        said = {"from": seen} | ({} if freshness is None else {"freshness": str(freshness.guess)})
        owners = FrozenMap({"property": "owners", "value": [{"team": TODO}]})
        return FrozenMap({"property": GUESSED, "value": said}), owners
