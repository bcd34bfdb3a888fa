"""Names of subjects: contexts, qualified names, and the subjects of a topic under a name strategy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

DEFAULT_CONTEXT = "."
GLOBAL_CONTEXT = ".__GLOBAL"
ANY_CONTEXT = "*"
MAX_SUBJECT_LENGTH = 1_000
_VALUE, _KEY = "-value", "-key"


class NameStrategy(StrEnum):
    """How serializers name the subject of a record."""

    TOPIC = "topic"
    RECORD = "record"
    TOPIC_RECORD = "topic-record"


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject in a context; clients write other contexts than the default one as `:.context:subject`."""

    context: str
    name: str

    def __str__(self) -> str:
        return self.name if self.context == DEFAULT_CONTEXT else f":{self.context}:{self.name}"


def parse_subject(text: str, context: str = DEFAULT_CONTEXT) -> Subject:
    """Parse the name of a subject; one without a context is in the given one."""
    if text.startswith((":.", f":{ANY_CONTEXT}:")):
        qualifier, separator, name = text[1:].partition(":")
        if separator:
            return Subject(qualifier, name)
    return Subject(context, text)


def parse_context(text: str) -> str:
    """Parse the name of a context, which begins with a dot; clients may leave the dot or the colons out."""
    name = text.strip(":")
    return name if name.startswith(".") else f".{name}"


def subject_of(strategy: NameStrategy, topic: str, record: str) -> str:
    """Return the subject of the values of a topic."""
    return {
        NameStrategy.TOPIC: f"{topic}{_VALUE}",
        NameStrategy.RECORD: record,
        NameStrategy.TOPIC_RECORD: f"{topic}-{record}",
    }[strategy]


def topic_of(subject: str) -> str:
    """Return the topic of a subject as the strategy `topic` names it; the subject itself if it is of another."""
    return subject.removesuffix(_VALUE)


def value_subject(subject: Subject) -> Subject | None:
    """Return the subject of the values of a topic for that of its keys; None for every other subject."""
    if not is_key(subject.name):
        return None
    return Subject(subject.context, f"{subject.name.removesuffix(_KEY)}{_VALUE}")


def key_subject(subject: Subject) -> Subject | None:
    """Return the subject of the keys of a topic for that of its values; None for every other subject."""
    if not subject.name.endswith(_VALUE):
        return None
    return Subject(subject.context, f"{subject.name.removesuffix(_VALUE)}{_KEY}")


def is_key(subject: str) -> bool:
    """Return whether a subject is that of the keys of a topic."""
    return subject.endswith(_KEY)
