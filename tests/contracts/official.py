"""The official schema of ODCS, loaded apart from the code under test."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema_rs

OFFICIAL_3_2 = jsonschema_rs.validator_for(
    json.loads(files("open_data_contract_standard").joinpath("schema.json").read_bytes())
)
"""Validates documents of 3.2, as the package of the standard's makers ships it."""
