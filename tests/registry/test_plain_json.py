"""Documents written and read quickly say what Python's own JSON says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given

from tests.strategies import json_values
from treaty.registry.plain_json import as_json, read_kept


@given(json_values())
@example({"beyond 64 bits": 10**30, "below": -(10**30), "tiny": 5e-324, "large": 1.7e308, "ä": ["\u2028", "\x7f"]})
def test_a_document_comes_back_as_it_was(data: Any) -> None:
    written = as_json(data)

    assert repr(json.loads(written)) == repr(data)
    assert repr(read_kept(written.decode())) == repr(data)


@pytest.mark.parametrize("text", ['{"a": "\\ud800"}', '{"a": NaN}', '{"a": -Infinity}'])
def test_what_python_reads_stays_readable(text: str) -> None:
    assert repr(read_kept(text)) == repr(json.loads(text))
