"""From data to a draft contract: look twice, find the key, draft, and hold the data to the draft."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pyspark.sql import DataFrame

from treaty.contracts.model import Contract, SchemaObject
from treaty.errors import InvalidDocument
from treaty.spark.input_layout import prepare
from treaty.spark.preparing import MALFORMED
from treaty.spark.profile.asking import folders_of
from treaty.spark.profile.drafting import Draft
from treaty.spark.profile.facts import Profile
from treaty.spark.profile.first_look import first_look
from treaty.spark.profile.keys import find_key
from treaty.spark.profile.person_guess import personal_fields
from treaty.spark.profile.proving import proved
from treaty.spark.profile.sampling import Sample
from treaty.spark.profile.second_look import second_look
from treaty.spark.profile.type_origin import Typing

Say = Callable[[str], None]


@dataclass(frozen=True)
class Inferred:
    """A draft, and what it was drafted from."""

    contract: Contract
    profile: Profile


def infer(
    frame: DataFrame,
    contract_id: str,
    object_name: str,
    *,
    typing: Typing = Typing.STORED,
    sample: Sample | None = None,
    now: datetime | None = None,
    say: Say = lambda step: None,
) -> Inferred:
    """Draft a contract that every row of the frame (or of the sample) keeps; each term is marked as a guess."""
    if frame.isStreaming:
        raise InvalidDocument("an endless stream has no profile; infer from a table or file that it was written to")
    if not [name for name in frame.schema.names if name != MALFORMED]:
        raise InvalidDocument("the data have no columns; there is nothing to draft a contract from")
    prepare(frame, SchemaObject(object_name), closed=False)  # refuses names that no contract can stand for
    moment = now or datetime.now(UTC)
    with _part_of(frame, sample) as looked_at:
        say("looking at every column")
        profile = first_look(looked_at)
        if sample is not None:
            profile = replace(profile, sample=sample.words(profile.rows))
        say("looking closer at texts")
        profile = second_look(looked_at, profile)
        draft = Draft(contract_id, object_name, profile, typing, {}, moment)
        personal = personal_fields(draft.contract(), profile)
        say("looking for a key")
        key = find_key(looked_at, profile, object_name, set(personal))
        profile = replace(profile, key=key, partitions=_partitions(frame))
        say("holding the data to the draft")
        drafted = replace(draft, profile=profile, personal=personal).contract()
        return Inferred(proved(looked_at, drafted, moment), profile)


@contextmanager
def _part_of(frame: DataFrame, sample: Sample | None) -> Iterator[DataFrame]:
    """Give the part to look at; first rows are kept, for Spark may meet others the next time."""
    if sample is None:
        yield frame
    elif sample.rows is None:
        yield sample.of(frame)
    else:
        kept = sample.of(frame).persist()
        try:
            yield kept
        finally:
            kept.unpersist()


def _partitions(frame: DataFrame) -> tuple[str, ...]:
    names = set(frame.schema.names)
    return tuple(name for name in folders_of(frame) if name in names)
