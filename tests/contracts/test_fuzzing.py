"""Whatever is read, it is a document or refused: no other error, no crash."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.contracts.comparing import same_contract
from tests.strategies import Document, documents, json_values, texts
from treaty.contracts import Contract, contract_from, document_of, load
from treaty.contracts.text import read_document
from treaty.contracts.text.writer import write_json, write_yaml
from treaty.errors import InvalidDocument

YAML_BITS = (
    *("a", "b", "<<", "1", "0x1f", ".5", "1e5", ".inf", "null", "~", "no", "\n", "\n  ", "\n- ", " ", "\t", ": ", ":"),
    *(
        ", ",
        "[",
        "]",
        "{",
        "}",
        "- ",
        "? ",
        "&a ",
        "&b ",
        "*a",
        "*b",
        "!!int ",
        "!!str ",
        "!!float ",
        "!x ",
        "! ",
        "|\n",
    ),
    *(">-\n", "'", '"', "''", "\\", "\\u", "#", " #", "---\n", "...\n", "%YAML 1.1\n", "@", "`", "é", "\x85", "\ufeff"),
)
JSON_BITS = (
    *("{", "}", "[", "]", ",", ":", '"', '"a"', '"b":', '"', "\\", "\\u", "\\ud800", "\\udc00", '\\"', "1", "-", "1e9"),
    *(
        "1e999",
        ".",
        "0",
        "null",
        "true",
        "NaN",
        "-Infinity",
        " ",
        "\n",
        "'",
        "é",
        "\x00",
        "\ud800",
        "#",
        "&a",
        "*a",
        "<<",
    ),
)


def _data(content: str | bytes) -> Document | None:
    """The data of a document, or None where it is refused."""
    try:
        return read_document(content).data
    except InvalidDocument:
        return None


def _contract(document: Document) -> Contract | None:
    """The contract of a document, or None where it is refused."""
    try:
        return contract_from(document)
    except InvalidDocument:
        return None


def _check(content: str | bytes) -> None:
    """Read what can be read, and then write it and read it again."""
    data = _data(content)
    if data is not None:
        assert read_document(write_json(data)).data == data
        assert read_document(write_yaml(data)).data == data


@settings(max_examples=300)
@given(st.binary(max_size=60))
@example(b"a: !!float 1" + b"0" * 400)
@example(b"a: 0x" + b"f" * 5_000)
def test_any_bytes_are_a_document_or_refused(content: bytes) -> None:
    _check(content)


@settings(max_examples=300)
@given(st.text(max_size=60))
def test_any_text_is_a_document_or_refused(content: str) -> None:
    _check(content)


@settings(max_examples=600)
@given(st.lists(st.sampled_from(YAML_BITS), max_size=20).map("".join))
@example("a: {'<<': 1}")
@example("? &a a\n: *a")
@example("a: &a 1\nb: &a [*a]\nc: *a")
def test_anything_like_yaml_is_a_document_or_refused(content: str) -> None:
    _check(content)


@settings(max_examples=600)
@given(st.lists(st.sampled_from(JSON_BITS), max_size=20).map(lambda bits: "{" + "".join(bits)))
@example('{"a": 1} ')
def test_anything_like_json_is_a_document_or_refused(content: str) -> None:
    _check(content)


@st.composite
def _spoiled(draw: st.DrawFn) -> Document:
    """A valid document with one part of it, at any depth, replaced by something else."""
    document = json.loads(json.dumps(draw(documents())))
    part: Any = document
    while True:
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        key = draw(st.sampled_from(keys))
        inner = part[key]
        if not isinstance(inner, (dict, list)) or not inner or draw(st.integers(0, 3)) == 0:
            break
        part = inner
    if isinstance(part, dict) and draw(st.booleans()):
        part[draw(texts())] = part.pop(key)
    else:
        part[key] = draw(json_values())
    return dict(document)


@settings(max_examples=250)
@given(_spoiled())
def test_a_document_with_a_spoiled_part_is_a_contract_or_refused(document: Document) -> None:
    contract = _contract(document)
    if contract is not None:
        assert same_contract(contract_from(document_of(contract)), contract)
        assert hash(contract) == hash(contract_from(document))


@given(json_values(max_leaves=12).filter(lambda value: isinstance(value, dict)))
def test_any_mapping_is_a_contract_or_refused(data: Document) -> None:
    for keys in ({}, {"apiVersion": "v3.2.0"}, {"dataset_id": "a"}, {"schema": data}, {"fields": data}):
        _contract({**data, **keys})


@given(documents(), st.data())
def test_a_text_cut_off_anywhere_is_a_contract_or_refused(document: Document, data: st.DataObject) -> None:
    for text in (write_yaml(document), write_json(document)):
        cut = data.draw(st.integers(0, len(text)))
        with suppress(InvalidDocument):
            load(text[:cut], "cut.yaml")
