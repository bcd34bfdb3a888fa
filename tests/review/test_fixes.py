"""Fixes set a version and its changelog entry and leave every other byte unchanged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents import CASES
from tests.strategies import authored_documents, words
from treaty.contracts import load
from treaty.contracts.blocks import ChangelogEntry
from treaty.contracts.text import read_document
from treaty.contracts.text.writer import write_json, write_yaml
from treaty.review.fixes import Fixed, NotFixed, fix

CHANGES = ["a field is gone: city"]
_FILE = CASES / "fixing" / "documents.yaml"
_CASES = read_document(_FILE.read_bytes(), str(_FILE)).data


@pytest.mark.parametrize("case", _CASES.values(), ids=_CASES)
def test_a_document_is_fixed_as_its_case_says(case: dict[str, Any]) -> None:
    done = fix(case["before"].encode(), "2.0.0", CHANGES)

    if "after" in case:
        assert isinstance(done, Fixed), done
        assert done.content.decode() == case["after"]
    else:
        assert isinstance(done, NotFixed)
        assert case["reason"] in done.reason
        assert "set version: 2.0.0 by hand" in done.reason


def test_a_byte_order_mark_is_kept() -> None:
    text = "\ufeffapiVersion: v3.2.0\nkind: DataContract\nid: a\nversion: 1.0.0\nstatus: active\n"

    done = fix(text.encode(), "1.1.0", [])

    assert isinstance(done, Fixed)
    assert done.content.decode() == text.replace("1.0.0", "1.1.0")


def test_a_file_that_is_not_utf_8_is_not_changed() -> None:
    assert isinstance(fix(b"version: 1.0.0\n\xff", "2.0.0", CHANGES), NotFixed)


def test_the_entry_is_part_of_the_contract() -> None:
    done = fix(_CASES["quotes and windows line ends stay"]["before"].encode(), "2.0.0", CHANGES)

    assert isinstance(done, Fixed)
    assert load(done.content).contract.treaty.changelog == (ChangelogEntry("2.0.0", tuple(CHANGES)),)


@settings(max_examples=40, deadline=None)
@given(
    document=authored_documents(),
    changes=st.lists(words(), max_size=3),
    write=st.sampled_from([write_yaml, write_json]),
)
def test_fixing_changes_the_version_and_the_changelog_alone(document: Any, changes: list[str], write: Any) -> None:
    text = write(document)

    done = fix(text.encode(), "7.0.0", changes)

    assert isinstance(done, Fixed) or "not a list" in done.reason or "positions" in done.reason, done
    if isinstance(done, Fixed):
        before, after = read_document(text).data, read_document(done.content).data
        assert after.pop("version") == "7.0.0"
        assert {key: value for key, value in after.items() if key != "changelog"} == {
            key: value for key, value in before.items() if key not in ("version", "changelog")
        }
        again = fix(done.content, "7.0.0", ["something else"]) if changes else done
        assert again == done
