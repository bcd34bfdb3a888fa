"""Who may ask what of the schema registry: each of its routes, and a contract about a topic to ask about."""

from __future__ import annotations

from typing import Any

from tests.server.access_requests import EVERYBODY, MEMBERS, OWNERS, STEWARDS, Asked
from tests.server.contracts import odcs
from tests.server.schema_client import ORDER as KNOWN_SCHEMA
from tests.server.schema_client import ORDER_WITH_NOTE

__all__ = ["KNOWN_SCHEMA", "SCHEMA_REGISTRY", "topic_contract"]

ROOT = "/schema-registry"
SUBJECT, VERSION = f"{ROOT}/subjects/{{subject}}", f"{ROOT}/subjects/{{subject}}/versions/1"
IDENTITY, COMPATIBILITY = f"{ROOT}/schemas/ids/{{schema}}", f"{ROOT}/compatibility/subjects/{{subject}}/versions"


def topic_contract(contract: str, team: str) -> dict[str, Any]:
    """Return a contract about the topic of its name."""
    document = odcs(contract)
    document["schema"][0]["physicalName"] = contract
    broker = {"server": "broker", "type": "kafka", "host": "kafka:9092", "format": "avro"}
    return document | {"team": {"name": team}, "servers": [broker]}


def _known(_: str) -> dict[str, str]:
    return {"schema": KNOWN_SCHEMA}


def _new(_: str) -> dict[str, str]:
    return {"schema": ORDER_WITH_NOTE}


def _config(_: str) -> dict[str, str]:
    return {"compatibility": "BACKWARD"}


def _mode(_: str) -> dict[str, str]:
    return {"mode": "READWRITE"}


SCHEMA_REGISTRY = [
    Asked(f"GET {ROOT}/", EVERYBODY),
    Asked(f"GET {ROOT}/v1/metadata/id", EVERYBODY),
    Asked(f"GET {ROOT}/v1/metadata/version", EVERYBODY),
    Asked(f"GET {ROOT}/contexts", EVERYBODY),
    Asked(f"GET {ROOT}/usage/{{contract}}", EVERYBODY, at=f"{ROOT}/usage/{{c}}"),
    Asked(f"GET {ROOT}/schemas", EVERYBODY),
    Asked(f"GET {ROOT}/schemas/types", EVERYBODY),
    Asked(f"GET {ROOT}/schemas/ids/{{identity}}", EVERYBODY, at=IDENTITY),
    Asked(f"GET {ROOT}/schemas/ids/{{identity}}/schema", EVERYBODY, at=f"{IDENTITY}/schema"),
    Asked(f"GET {ROOT}/schemas/ids/{{identity}}/subjects", EVERYBODY, at=f"{IDENTITY}/subjects"),
    Asked(f"GET {ROOT}/schemas/ids/{{identity}}/versions", EVERYBODY, at=f"{IDENTITY}/versions"),
    Asked(f"GET {ROOT}/subjects", EVERYBODY),
    Asked(f"POST {ROOT}/subjects/{{subject}}", EVERYBODY, _known, SUBJECT),
    Asked(f"DELETE {ROOT}/subjects/{{subject}}", OWNERS, at=SUBJECT),
    Asked(f"GET {ROOT}/subjects/{{subject}}/metadata", EVERYBODY, at=f"{SUBJECT}/metadata"),
    Asked(f"GET {ROOT}/subjects/{{subject}}/versions", EVERYBODY, at=f"{SUBJECT}/versions"),
    Asked(f"POST {ROOT}/subjects/{{subject}}/versions", MEMBERS, _new, f"{SUBJECT}/versions"),
    Asked(f"GET {ROOT}/subjects/{{subject}}/versions/{{version}}", EVERYBODY, at=VERSION),
    Asked(f"DELETE {ROOT}/subjects/{{subject}}/versions/{{version}}", OWNERS, at=VERSION),
    Asked(f"GET {ROOT}/subjects/{{subject}}/versions/{{version}}/schema", EVERYBODY, at=f"{VERSION}/schema"),
    Asked(
        f"GET {ROOT}/subjects/{{subject}}/versions/{{version}}/referencedby", EVERYBODY, at=f"{VERSION}/referencedby"
    ),
    Asked(f"POST {ROOT}/compatibility/subjects/{{subject}}/versions", EVERYBODY, _new, COMPATIBILITY),
    Asked(
        f"POST {ROOT}/compatibility/subjects/{{subject}}/versions/{{version}}",
        EVERYBODY,
        _new,
        f"{COMPATIBILITY}/latest",
    ),
    Asked(f"GET {ROOT}/config", EVERYBODY),
    Asked(f"PUT {ROOT}/config", STEWARDS, _config),
    Asked(f"DELETE {ROOT}/config", STEWARDS),
    Asked(f"GET {ROOT}/config/{{subject}}", EVERYBODY),
    Asked(f"PUT {ROOT}/config/{{subject}}", OWNERS, _config),
    Asked(f"DELETE {ROOT}/config/{{subject}}", OWNERS),
    Asked(f"GET {ROOT}/mode", EVERYBODY),
    Asked(f"PUT {ROOT}/mode", STEWARDS, _mode),
    Asked(f"DELETE {ROOT}/mode", STEWARDS),
    Asked(f"GET {ROOT}/mode/{{subject}}", EVERYBODY),
    Asked(f"PUT {ROOT}/mode/{{subject}}", OWNERS, _mode),
    Asked(f"DELETE {ROOT}/mode/{{subject}}", OWNERS),
]
"""Every route of the schema registry."""
