"""Exclusions are recognized in names of fields and in labels inside texts, and nowhere else."""

from __future__ import annotations

import re

import pytest

from treaty.contracts import contract_from
from treaty.events.exclusions import excluded_words, find_excluded, text_pattern

CONTRACT = contract_from(
    {
        "apiVersion": "v3.2.0",
        "kind": "DataContract",
        "id": "gym.class_published",
        "version": "1.0.0",
        "exclusions": [
            "Recurrence rules",
            "Contact details of the coach",
            "Notes and markings of administrators",
            {"what": "Row identifiers, versions and edit times of the publisher's database"},
        ],
        "schema": [
            {
                "name": "class_published",
                "properties": [
                    {"name": "classId", "logicalType": "string"},
                    {
                        "name": "coach",
                        "logicalType": "object",
                        "properties": [{"name": "coachName", "logicalType": "string"}],
                    },
                ],
            }
        ],
    }
)
KNOWN = excluded_words(CONTRACT)


@pytest.mark.parametrize(
    ("name", "exclusion"),
    [
        ("internalNotes", "Notes and markings of administrators"),
        ("admin_flags", "Notes and markings of administrators"),
        ("ruleId", "Recurrence rules"),
        ("recurrenceInterval", "Recurrence rules"),
        ("rowVersion", "Row identifiers, versions and edit times of the publisher's database"),
        ("contactEmail", "Contact details of the coach"),
        ("coachName", None),
        ("startTime", None),
        ("version", None),
        ("schedule", None),
    ],
)
def test_a_field_leaks_an_exclusion_by_its_name(name: str, exclusion: str | None) -> None:
    found = find_excluded(name, KNOWN)

    assert (found.what if found else None) == exclusion


@pytest.mark.parametrize(
    "text",
    [
        "cls-9:row=4711",
        "row-4711",
        "urn:gym:row/17",
        "rowId:12",
        "DB#1 ROW_99",
        r"{\"internalNotes\":\"late again\"}",
        "note=call-back",
        "database:scheduling",
    ],
)
def test_a_text_leaks_an_exclusion_by_a_label_with_a_value(text: str) -> None:
    assert re.search(text_pattern(KNOWN) or "", text)


@pytest.mark.parametrize(
    "text",
    ["Rowing 45", "Rules of boxing: an introduction", "tomorrow=1", "Please note: bring shoes", "c-17", "throw-17"],
)
def test_words_in_sentences_are_no_leak(text: str) -> None:
    assert not re.search(text_pattern(KNOWN) or "", text)


def test_without_telling_words_there_is_nothing_to_look_for() -> None:
    assert text_pattern(()) is None
