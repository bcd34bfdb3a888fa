"""Detection of drift in a profile: merged with those of its hour, and compared with those of the line before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from treaty.compatibility.diff import diff
from treaty.contracts.model import Contract
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument
from treaty.events.drift import (
    MAX_REFERENCES,
    DriftFinding,
    Profile,
    detect_drift,
    layout_of,
    merge_profiles,
    profile_problem,
)
from treaty.registry.not_found import no_line
from treaty.registry.store import Connection, versions
from treaty.registry.store import drift as store
from treaty.registry.store.visibility import Visibility

_DAYS_BACK = 28
_HOURS_ASIDE = (-1, 0, 1)
_OF_EVENTS = ("keys",)
_UNDECLARED = frozenset(
    {
        *("field_description_changed", "contract_description_changed", "event_meaning_reworded"),
        *("field_metadata_changed", "object_metadata_changed", "contract_metadata_changed"),
    }
)
"""Kinds of changes that leave what the data means as it is."""


@dataclass(frozen=True)
class DetectedDrift:
    """What a profile shows, merged with the earlier ones of its hour."""

    profile: Profile
    findings: tuple[DriftFinding, ...]
    compared: frozenset[str]
    """The metrics that a profile before has too."""
    compared_with: int
    drifted_before: tuple[str, ...]
    """The metrics that drifted in earlier runs of the hour."""
    is_new: bool


def detect(connection: Connection, visibility: Visibility, line: Line, profile: Profile) -> DetectedDrift:
    """Compare a profile, with the earlier ones of its hour, with the profiles before."""
    stored = versions.find_version(connection, line.contract, profile.version)
    if stored is None or stored.line != line or not visibility.sees(line.contract):
        raise (
            no_line(line)
            if stored is None or not visibility.sees(line.contract)
            else InvalidDocument(f"{line.contract} {profile.version} is not a version of {line}")
        )
    contract = versions.contract_of(connection, stored)
    layout = layout_of(contract, profile.event_time)
    if problem := profile_problem(profile, layout):
        raise InvalidDocument(f"the profile is not one of {line.contract} {profile.version}: {problem}")
    hour = hour_of(profile.at)
    earlier = store.find_profile(connection, line, profile.version, hour)
    if earlier is not None and (earlier.run, earlier.at) == (profile.run, profile.at.astimezone(UTC)):
        return DetectedDrift(Profile.model_validate(earlier.profile), (), frozenset(), 0, (), is_new=False)
    before = None if earlier is None else Profile.model_validate(earlier.profile)
    merged = profile if before is None else merge_profiles(before, profile)
    judged, references = merged, _references(connection, line, merged, contract)
    if earlier is not None and before is not None and not references:  # the first hour of a line
        judged, references = profile, [before.without((), metrics=earlier.drifted)]
    return DetectedDrift(
        merged,
        detect_drift(judged, references, layout),
        frozenset(name for one in references for name in _metrics(one)),
        len(references),
        earlier.drifted if earlier else (),
        is_new=True,
    )


def _references(connection: Connection, line: Line, new: Profile, contract: Contract) -> list[Profile]:
    """Return the profiles before, oldest first, without what drifted in them or was declared since."""
    hour = hour_of(new.at)
    hours = None
    if not new.covers_day:
        back = range(_DAYS_BACK + 1)
        hours = [hour - timedelta(days=day, hours=aside) for day in back for aside in _HOURS_ASIDE]
        hours = [one for one in hours if one < hour]
    rows = store.profiles_before(connection, line, hour, hours, MAX_REFERENCES)
    declared = {
        version: _declared_since(connection, line, version, contract) for version in {row.version for row in rows}
    }
    profiles = []
    for row in reversed(rows):
        fields, events_changed = declared[row.version]
        metrics = {*row.drifted, *(_OF_EVENTS if events_changed else ())}
        profile = Profile.model_validate(row.profile).without(fields, metrics=metrics)
        profiles.append(profile.model_copy(update={"violations": {}}) if events_changed else profile)
    return profiles


def _declared_since(connection: Connection, line: Line, version: str, contract: Contract) -> tuple[set[str], bool]:
    """Return the fields that changed since a version, and whether something besides fields did."""
    if version == contract.version:
        return set(), False
    before = versions.find_version(connection, line.contract, version)
    if before is None:
        return set(), True
    changes = [
        change for change in diff(versions.contract_of(connection, before), contract) if change.kind not in _UNDECLARED
    ]
    return {change.field for change in changes if change.field}, any(change.field is None for change in changes)


def _metrics(profile: Profile) -> Iterable[str]:
    yield from profile.histograms
    yield from ("keys",) if profile.keys is not None else ()
    yield from (f"violation:{name}" for name in profile.violations)


def hour_of(at: datetime) -> datetime:
    """Return the hour of a time, in UTC."""
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
