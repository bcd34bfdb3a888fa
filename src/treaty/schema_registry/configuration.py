"""Configuration and modes: of a subject, of its context, and of all contexts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treaty.registry.store import Connection, subjects
from treaty.registry.store.subjects import CONTEXT_ITSELF, StoredSubject
from treaty.schema_registry.errors import SchemaRegistryError, invalid_level, invalid_mode
from treaty.schema_registry.model import CompatibilityLevel, SubjectMode
from treaty.schema_registry.subjects import DEFAULT_CONTEXT, GLOBAL_CONTEXT, Subject

LEVEL = "compatibilityLevel"
DEFAULT_CONFIG: Mapping[str, Any] = {LEVEL: str(CompatibilityLevel.BACKWARD)}
_TEXTS = ("alias", "compatibilityGroup", "compatibilityPolicy")
_FLAGS = ("normalize", "validateFields", "validateNames")
_OBJECTS = ("defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet")


def parse_level(value: object) -> CompatibilityLevel:
    """Parse a compatibility level, ignoring case."""
    try:
        return CompatibilityLevel(str(value).upper())
    except ValueError:
        raise invalid_level(value, ", ".join(CompatibilityLevel)) from None


def parse_mode(value: object) -> SubjectMode:
    """Parse a mode, ignoring case."""
    try:
        return SubjectMode(str(value).upper())
    except ValueError:
        raise invalid_mode(value, ", ".join(SubjectMode)) from None


def parse_config(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration in the body of a request; the level has another name in requests."""
    config: dict[str, Any] = {}
    level = body.get("compatibility", body.get(LEVEL))
    if level is not None:
        config[LEVEL] = str(parse_level(level))
    for names, kind, what in ((_TEXTS, str, "a text"), (_FLAGS, bool, "true or false"), (_OBJECTS, dict, "an object")):
        for name in names:
            value = body.get(name)
            if value is not None and not isinstance(value, kind):
                raise SchemaRegistryError(42203, f"'{name}' of a configuration is {what}")
            if value is not None:
                config[name] = value
    return config


@dataclass(frozen=True)
class SubjectSettings:
    """The rows that apply to a subject, the nearest first: its own, that of its context, then the global ones."""

    own: StoredSubject | None
    rows: tuple[StoredSubject, ...]

    @property
    def config(self) -> dict[str, Any]:
        """The configuration that applies; what a nearer row does not state is that of the next one."""
        config = dict(DEFAULT_CONFIG)
        for row in reversed(self.rows):
            config |= row.config or {}
        return config

    @property
    def mode(self) -> SubjectMode:
        """The mode that applies; a read-only override of a context wins."""
        modes = [SubjectMode(row.mode) for row in self.rows if row.mode is not None]
        if SubjectMode.READONLY_OVERRIDE in modes:
            return SubjectMode.READONLY_OVERRIDE
        return modes[0] if modes else SubjectMode.READWRITE


def settings_of(connection: Connection, subject: Subject) -> SubjectSettings:
    """Return the settings of a subject or context, with one query."""
    keys = [(place.context, place.name) for place in places_of(subject)]
    found = subjects.find_subjects(connection, keys)
    return SubjectSettings(found.get(keys[0]), tuple(found[key] for key in keys if key in found))


def effective_config(connection: Connection, subject: Subject) -> dict[str, Any]:
    """Return the configuration that applies to a subject."""
    return settings_of(connection, subject).config


def effective_mode(connection: Connection, subject: Subject) -> SubjectMode:
    """Return the mode that applies to a subject."""
    return settings_of(connection, subject).mode


def places_of(subject: Subject) -> list[Subject]:
    """Return where the settings of a subject are looked for, the nearest first."""
    places = [subject, Subject(subject.context, CONTEXT_ITSELF), Subject(DEFAULT_CONTEXT, CONTEXT_ITSELF)]
    return list(dict.fromkeys([*places, Subject(GLOBAL_CONTEXT, CONTEXT_ITSELF)]))


def with_config_metadata(metadata: Mapping[str, Any] | None, config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the metadata of a schema with the defaults and overrides of the configuration."""
    merged: dict[str, Any] = {}
    for part in (config.get("defaultMetadata"), metadata, config.get("overrideMetadata")):
        for name, value in (part or {}).items():
            both = isinstance(merged.get(name), dict) and isinstance(value, dict)
            merged[name] = {**merged[name], **value} if both else value
    return merged or None
