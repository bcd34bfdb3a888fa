"""Who may do what over HTTP: every route has a rule, and every rule holds."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import date
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple, cast

import httpx2
import pytest
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from tests.certifications import certification
from tests.server.access_requests import (
    ADMINS,
    EVERYBODY,
    MEMBERS,
    NOBODY,
    OWNERS,
    SIGNED_IN_TEAMS,
    STEWARDS,
    Asked,
    may,
)
from tests.server.conftest import Clock
from tests.server.contracts import odcs, short, without
from tests.server.schema_client import SchemaClient
from tests.server.schema_registry_requests import KNOWN_SCHEMA, SCHEMA_REGISTRY, topic_contract
from treaty.catalog.rendering import asset_names
from treaty.compatibility.migration.proof import contract_digest
from treaty.contracts.loader import contract_from
from treaty.errors import NotAllowed
from treaty.events.drift import Profile
from treaty.legacy.cutover import Gate
from treaty.legacy.differences import ComparisonResult, DifferenceClass, Finding
from treaty.observability.measures import Measure
from treaty.registry.access.actors import Actor, Grant, Role, Scope, local_actor
from treaty.registry.access.permissions import Action
from treaty.registry.notices.addresses import AddressRule
from treaty.registry.rules import Approval, RegistryRules
from treaty.registry.service import Registry
from treaty.schema_registry.contract_versions import write_subjects
from treaty.server.app import create_app
from treaty.server.authenticator import Authenticator, check_permission
from treaty.server.pages import cookies
from treaty.server.routes import schema_registry
from treaty.server.routing import action_of
from treaty.server.schema_registry_paths import PREFIX
from treaty.server.settings import AccessSettings

NUMBERS = count(1)
CONVERTOR = re.compile(r":\w+}")
TEAMS = {"own": "growth", "other": "sales", "none": "unstaffed"}
"""Who owns what a request is about: the team of the caller, another team, or a team without members.

The registry refuses contracts without an owner.
"""

ROLES = {
    "anonymous": None,
    "viewer": ("viewer", None),
    "contributor": ("contributor", "growth"),
    "owner": ("owner", "growth"),
    "steward": ("steward", None),
    "admin": ("admin", None),
}


OPEN = frozenset({"/openapi.json", "/docs", "/docs/oauth2-redirect", "/schema-registry"})
"""Paths without an action; below the last one there are the routes of another application."""


def team_of(contract: str) -> str:
    """Return the team that owns a contract of a test, which its name begins with; by default growth."""
    return TEAMS.get(contract.partition(".")[0], "growth")


def owned(contract: str, version: str = "1.0.0") -> dict[str, Any]:
    return short(contract, version, owners=[{"team": team_of(contract), "contact": "#team"}])


def next_version(contract: str) -> dict[str, Any]:
    return owned(contract, "1.0.1")


def declaration(contract: str) -> dict[str, Any]:
    """Return a consumer of a team that none of the roles is in; any member may declare one."""
    reads = {"consumer": f"reader of {contract}", "line": f"{contract}@1", "consumer_class": "operational_reporting"}
    return reads | {"team": "ledger"}


def subscription(contract: str) -> dict[str, Any]:
    reads = {"consumer": f"dashboard.{contract}", "line": f"{contract}@1", "consumer_class": "operational_reporting"}
    return reads | {"team": team_of(contract)}


def reader(contract: str) -> dict[str, Any]:
    return {"consumer": f"reader.{contract}"}


def channel(contract: str) -> dict[str, Any]:
    return {"party": team_of(contract), "kind": "log", "target": "growth"}


def measure(contract: str) -> dict[str, Any]:
    return {"contract": contract, "name": "freshness", "at": "2026-03-02T11:00:00Z", "value": 60}


def access(contract: str) -> dict[str, Any]:
    return {"consumer": "viewer", "line": f"{contract}@1", "version": "1.0.0", "rows": 1}


def scan(contract: str) -> dict[str, Any]:
    found = {"kind": "sql", "consumer_class": "operational_reporting", "confidence": 0.5, "reason": "its name"}
    return {"scan": contract, "reads": [{"consumer": f"scan of {contract}", "source": "raw.orders", **found}]}


LOST = Finding(DifferenceClass.MISSING_IN_NEW, "", "", 1)


def parallel_run(contract: str) -> dict[str, Any]:
    named = {"line": f"{contract}@1", "owner": "mart", "feed": f"feed of {contract}", "publication": "sales"}
    return {**named, "as_of": "2026-03-01", "legacy_rows": 1, "new_rows": 1}


def certificate(contract: str) -> dict[str, Any]:
    return {"line": f"{contract}@1", "certification": certification(contract).as_data()}


def legacy_feed(contract: str) -> dict[str, Any]:
    return {"feed": f"feed of {contract}", "line": f"{contract}@1", "owner": "mart", "consumers": ["close"]}


def of_reader(contract: str) -> dict[str, Any]:
    return {"consumer": f"reader.{contract}"}


def profile(day: int, scale: int) -> dict[str, Any]:
    """Return the profile of a run on a day; a scale of 8 makes the values a hundred times as large."""
    return {
        "version": "1.0.0",
        "run": day,
        "at": f"2026-02-{day:02}T04:00:00Z",
        "events": 2_000,
        "received": 2_000,
        "histograms": {"field:ltv": {20 + scale: 900, 21 + scale: 1_100}},
    }


def lineage_event(contract: str) -> dict[str, Any]:
    """Return an event of a job that reads a contract; members of any team may say what their jobs read."""
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-03-02T11:00:00Z",
        "producer": "https://airflow.example.org",
        "run": {"runId": "01993c4e-8a3c-7c3e-9d3b-5d6f1a2b3c4d"},
        "job": {"namespace": "airflow", "name": f"reader of {contract}"},
        "inputs": [{"namespace": "treaty", "name": contract}],
    }


OWN_READER = may("viewer contributor owner steward admin", "viewer steward admin")
"""The token `viewer` is itself the consumer; the others are of its team, or speak for the contract."""

WAIVER = {"rule": "sla_relaxed", "owner": "growth", "reason": "until the feed is live", "until": "2026-12-31"}
URI = {"deprecation_uri": "https://wiki.example.org/plan"}

TABLE = [
    Asked("GET /", EVERYBODY),
    Asked("GET /healthz", EVERYBODY),
    Asked("GET /readyz", EVERYBODY),
    Asked("GET /metrics", EVERYBODY),
    Asked("GET /datasets", EVERYBODY),
    Asked("POST /contracts", MEMBERS, next_version),
    Asked("POST /contracts/check", EVERYBODY, next_version),
    Asked("POST /contracts/owners/from-decision-card", EVERYBODY, lambda _: {"buyer": {"name": "S"}}),
    Asked("GET /contracts/{dataset_id}/latest", EVERYBODY, at="/contracts/{c}/latest"),
    Asked("GET /contracts/{dataset_id}/versions", EVERYBODY, at="/contracts/{c}/versions"),
    Asked("GET /contracts/{dataset_id}/versions/{version}", EVERYBODY, at="/contracts/{c}/versions/1.0.0"),
    Asked(
        "POST /contracts/{dataset_id}/versions/{version}/deprecate",
        OWNERS,
        lambda _: URI,
        "/contracts/{c}/versions/1.0.0/deprecate",
    ),
    Asked(
        "POST /contracts/{dataset_id}/versions/{version}/archive", OWNERS, at="/contracts/{c}/versions/1.0.0/archive"
    ),
    Asked("GET /api/v1/contracts", EVERYBODY),
    Asked("POST /api/v1/contracts", MEMBERS, next_version),
    Asked("GET /api/v1/overview", EVERYBODY),
    Asked("GET /api/v1/graph/layout", EVERYBODY),
    Asked("GET /api/v1/domains", EVERYBODY),
    Asked("GET /api/v1/contracts/{contract}/lines", EVERYBODY, at="/api/v1/contracts/{c}/lines"),
    Asked(
        "GET /api/v1/contracts/{contract}/diff",
        EVERYBODY,
        at="/api/v1/contracts/{c}/diff?before=1.0.0&after=1.0.0",
    ),
    Asked("GET /api/v1/contracts/{contract}/versions", EVERYBODY, at="/api/v1/contracts/{c}/versions"),
    Asked("GET /api/v1/contracts/{contract}/versions/{version}", EVERYBODY, at="/api/v1/contracts/{c}/versions/1.0.0"),
    Asked(
        "GET /api/v1/contracts/{contract}/versions/{version}/document",
        EVERYBODY,
        at="/api/v1/contracts/{c}/versions/1.0.0/document",
    ),
    Asked(
        "POST /api/v1/contracts/{contract}/versions/{version}/activate",
        OWNERS,
        at="/api/v1/contracts/{c}/versions/1.0.0/activate",
    ),
    Asked(
        "POST /api/v1/contracts/{contract}/versions/{version}/deprecate",
        OWNERS,
        lambda _: URI,
        "/api/v1/contracts/{c}/versions/1.0.0/deprecate",
    ),
    Asked(
        "POST /api/v1/contracts/{contract}/versions/{version}/archive",
        OWNERS,
        lambda _: {},
        "/api/v1/contracts/{c}/versions/1.0.0/archive",
    ),
    Asked(
        "POST /api/v1/contracts/{contract}/versions/{version}/retire",
        STEWARDS,
        lambda _: {"override": "nobody reads it"},
        "/api/v1/contracts/{c}/versions/1.0.0/retire",
    ),
    Asked("POST /api/v1/lines/{line}/deprecate", OWNERS, lambda _: URI, "/api/v1/lines/{c}@1/deprecate"),
    Asked(
        "POST /api/v1/lines/{line}/retire",
        STEWARDS,
        lambda _: {"override": "nobody reads it"},
        "/api/v1/lines/{c}@1/retire",
    ),
    Asked("GET /api/v1/tick", STEWARDS),
    Asked("POST /api/v1/tick", STEWARDS),
    Asked("GET /api/v1/subscriptions", EVERYBODY),
    Asked("PUT /api/v1/subscriptions", SIGNED_IN_TEAMS, declaration),
    Asked(
        "POST /api/v1/subscriptions/confirm",
        MEMBERS,
        lambda contract: {"consumer": f"reader of {contract}", "line": f"{contract}@1"},
        "/api/v1/subscriptions/confirm?{subscribed}",
    ),
    Asked(
        "POST /api/v1/subscriptions/challenge",
        MEMBERS,
        lambda contract: {"consumer": f"reader of {contract}", "line": f"{contract}@1"},
        "/api/v1/subscriptions/challenge?{declared}",
    ),
    Asked("DELETE /api/v1/subscriptions", MEMBERS, at="/api/v1/subscriptions?consumer={reader}&line={c}@1"),
    Asked("GET /api/v1/graph", EVERYBODY, at="/api/v1/graph?node={c}"),
    Asked("POST /api/v1/impact", EVERYBODY, next_version),
    Asked("POST /api/v1/can-i-publish", EVERYBODY, next_version),
    Asked("GET /api/v1/can-i-retire", EVERYBODY, at="/api/v1/can-i-retire?line={c}@1"),
    Asked("GET /api/v1/policies", EVERYBODY),
    Asked("POST /api/v1/policies/check", EVERYBODY, next_version),
    Asked("GET /api/v1/namespaces", EVERYBODY),
    Asked("PUT /api/v1/namespaces", STEWARDS, lambda contract: {"prefix": f"{contract}.", "team": team_of(contract)}),
    Asked("DELETE /api/v1/namespaces", STEWARDS, at="/api/v1/namespaces?prefix={namespace}"),
    Asked("GET /api/v1/waivers", EVERYBODY),
    Asked("POST /api/v1/waivers", STEWARDS, lambda _: WAIVER),
    Asked("DELETE /api/v1/waivers/{identity}", STEWARDS, at="/api/v1/waivers/{waiver}"),
    Asked("GET /api/v1/proposals", EVERYBODY),
    Asked("POST /api/v1/proposals/{identity}/approve", OWNERS, lambda _: {}, "/api/v1/proposals/{proposal}/approve"),
    Asked("POST /api/v1/proposals/{identity}/decline", OWNERS, lambda _: {}, "/api/v1/proposals/{proposal}/decline"),
    Asked("GET /api/v1/migrations", EVERYBODY),
    Asked("GET /api/v1/migrations/{identity}", EVERYBODY, at="/api/v1/migrations/{migration}"),
    Asked(
        "POST /api/v1/migrations/{identity}/acknowledge",
        MEMBERS,
        reader,
        "/api/v1/migrations/{migration}/acknowledge",
    ),
    Asked(
        "POST /api/v1/migrations/{identity}/move",
        MEMBERS,
        reader,
        "/api/v1/migrations/{migration}/move",
    ),
    Asked(
        "POST /api/v1/migrations/{identity}/waive",
        STEWARDS,
        lambda contract: reader(contract) | {"reason": "switched off", "until": "2026-12-31"},
        "/api/v1/migrations/{migration}/waive",
    ),
    Asked(
        "POST /api/v1/migrations/{identity}/proof",
        MEMBERS,
        lambda contract: {"proof": proof(contract)},
        "/api/v1/migrations/{migration}/proof",
    ),
    Asked(
        "GET /api/v1/migration-path",
        EVERYBODY,
        at="/api/v1/migration-path?contract={c}&before=1.0.0&after=1.0.0",
    ),
    Asked("GET /api/v1/channels", SIGNED_IN_TEAMS),
    Asked("POST /api/v1/channels", MEMBERS, channel),
    Asked("DELETE /api/v1/channels/{identity}", MEMBERS, at="/api/v1/channels/{channel}"),
    Asked(
        "POST /api/v1/channels/{identity}/secret",
        MEMBERS,
        lambda _: {"secret": "a new secret of a channel"},
        at="/api/v1/channels/{channel}/secret",
    ),
    Asked(
        "DELETE /api/v1/channels/{identity}/previous-secret",
        MEMBERS,
        at="/api/v1/channels/{rotating}/previous-secret",
    ),
    Asked("GET /api/v1/notices", EVERYBODY),
    Asked("POST /api/v1/notices/retry", STEWARDS, lambda _: {}),
    Asked(
        "POST /api/v1/contracts/{contract}/breaches",
        MEMBERS,
        lambda _: {"kind": "sla_breach", "message": "31 h old"},
        "/api/v1/contracts/{c}/breaches",
    ),
    Asked("GET /api/v1/lines/{line}/lineage", EVERYBODY, at="/api/v1/lines/{c}@1/lineage"),
    Asked("PUT /api/v1/lines/{line}/lineage", MEMBERS, lambda _: {"upstreams": []}, at="/api/v1/lines/{c}@1/lineage"),
    Asked(
        "POST /api/v1/lines/{line}/erasures",
        MEMBERS,
        lambda _: {"fields": ["user_id"], "rows": 1, "tables": ["raw.users"]},
        at="/api/v1/lines/{c}@1/erasures",
    ),
    Asked(
        "POST /api/v1/lines/{line}/detokenisations",
        MEMBERS,
        lambda _: {"field": "email", "purpose": "fraud review", "tokens": 1},
        at="/api/v1/lines/{c}@1/detokenisations",
        absent="404",
    ),
    Asked("GET /api/v1/measures", EVERYBODY),
    Asked("GET /api/v1/measures/history", EVERYBODY, at="/api/v1/measures/history?contract={c}&name=freshness"),
    Asked("GET /api/v1/measures/grid", EVERYBODY),
    Asked("POST /api/v1/measures", MEMBERS, lambda contract: {"measures": [measure(contract)]}),
    Asked("POST /api/v1/lineage", SIGNED_IN_TEAMS, lambda contract: lineage_event(contract)),
    Asked("POST /api/v1/lineage/batch", SIGNED_IN_TEAMS, lambda contract: [lineage_event(contract)]),
    Asked("GET /api/v1/usage", EVERYBODY),
    Asked("GET /api/v1/map", EVERYBODY),
    Asked("GET /api/v1/map/hidden", EVERYBODY),
    Asked("PUT /api/v1/map/scans", SIGNED_IN_TEAMS, lambda contract: scan(contract)),
    Asked(
        "PUT /api/v1/map/consumers",
        MEMBERS,
        lambda contract: {**reader(contract), "latency": "1d"},
        "/api/v1/map/consumers?of={reader}",
    ),
    Asked("GET /api/v1/accesses", MEMBERS, at="/api/v1/accesses?contract={c}"),
    Asked("POST /api/v1/accesses", OWN_READER, lambda contract: [access(contract)], "/api/v1/accesses?of={own_reader}"),
    Asked("GET /data", EVERYBODY, absent="404"),
    Asked("GET /data/{line}", EVERYBODY, at="/data/{c}@1", absent="404"),
    Asked("GET /data/{line}/{key}", EVERYBODY, at="/data/{c}@1/1", absent="404"),
    Asked("GET /openapi/data/{line}.json", EVERYBODY, at="/openapi/data/{c}@1.json", absent="404"),
    Asked("GET /api/v1/parallel-runs", EVERYBODY),
    Asked("PUT /api/v1/parallel-runs", MEMBERS, lambda contract: parallel_run(contract)),
    Asked("GET /api/v1/parallel-runs/{feed}", EVERYBODY, at="/api/v1/parallel-runs/{feed}"),
    Asked(
        "PUT /api/v1/parallel-runs/{feed}/dispositions",
        MEMBERS,
        lambda _: {"fingerprint": LOST.fingerprint, "disposition": "accepted", "owner": "a", "reason": "b"},
        "/api/v1/parallel-runs/{feed}/dispositions",
    ),
    Asked("PUT /api/v1/drift/profiles", MEMBERS, lambda contract: {"line": f"{contract}@1", "profile": profile(9, 0)}),
    Asked("GET /api/v1/drift/findings", EVERYBODY),
    Asked("GET /api/v1/drift/findings/{line}/{fingerprint}", EVERYBODY, at="/api/v1/drift/findings/{c}@1/{drift}"),
    Asked(
        "PUT /api/v1/drift/findings/{line}/{fingerprint}/answer",
        MEMBERS,
        lambda _: {"answer": "explained", "owner": "growth", "reason": "a sale", "until": "2030-01-01"},
        "/api/v1/drift/findings/{c}@1/{drift}/answer",
    ),
    Asked("GET /api/v1/certificates", EVERYBODY),
    Asked("POST /api/v1/certificates", MEMBERS, lambda contract: certificate(contract)),
    Asked("GET /api/v1/certificates/{certificate}", EVERYBODY, at="/api/v1/certificates/{certificate}"),
    Asked(
        "POST /api/v1/certificates/{certificate}/revocation",
        MEMBERS,
        lambda _: {"reason": "replaced"},
        "/api/v1/certificates/{certificate}/revocation",
    ),
    Asked("GET /api/v1/can-publish", EVERYBODY, at="/api/v1/can-publish?line={c}@1&publisher=shop"),
    Asked("GET /api/v1/map/near-duplicates", EVERYBODY),
    Asked("GET /api/v1/legacy-feeds", EVERYBODY),
    Asked("PUT /api/v1/legacy-feeds", MEMBERS, lambda contract: legacy_feed(contract)),
    Asked("GET /api/v1/legacy-feeds/{feed}", EVERYBODY, at="/api/v1/legacy-feeds/{ready}"),
    Asked(
        "POST /api/v1/legacy-feeds/{feed}/acknowledge", MEMBERS, of_reader, "/api/v1/legacy-feeds/{ready}/acknowledge"
    ),
    Asked("POST /api/v1/legacy-feeds/{feed}/approve", OWNERS, of_reader, "/api/v1/legacy-feeds/{ready}/approve"),
    Asked("POST /api/v1/legacy-feeds/{feed}/cut-over", MEMBERS, of_reader, "/api/v1/legacy-feeds/{ready}/cut-over"),
    Asked(
        "POST /api/v1/legacy-feeds/{feed}/roll-back",
        MEMBERS,
        lambda contract: of_reader(contract) | {"reason": "not yet"},
        "/api/v1/legacy-feeds/{moved}/roll-back",
    ),
    Asked("POST /api/v1/legacy-feeds/{feed}/retire", OWNERS, lambda _: {}, "/api/v1/legacy-feeds/{moved}/retire"),
    Asked("GET /api/v1/can-i-cut-over", EVERYBODY, at="/api/v1/can-i-cut-over?consumer=reader.{c}&feed={ready}"),
    Asked("GET /api/v1/health", EVERYBODY),
    Asked("GET /api/v1/contracts/{contract}/health", EVERYBODY, at="/api/v1/contracts/{c}/health"),
    Asked("GET /api/v1/incidents", EVERYBODY),
    Asked("GET /api/v1/incidents/{identity}", EVERYBODY, at="/api/v1/incidents/{incident}"),
    Asked(
        "POST /api/v1/incidents/{identity}/acknowledge",
        MEMBERS,
        lambda _: {"reason": "the source is being repaired"},
        "/api/v1/incidents/{incident}/acknowledge",
    ),
    Asked("GET /api/v1/activity", EVERYBODY),
    Asked("GET /api/v1/upcoming", EVERYBODY),
    Asked("GET /api/v1/teams", EVERYBODY),
    Asked("GET /api/v1/tokens", ADMINS),
    Asked("POST /api/v1/tokens", ADMINS, lambda contract: {"name": f"ci-{contract}", "role": "viewer"}),
    Asked("DELETE /api/v1/tokens/{identity}", ADMINS, at="/api/v1/tokens/{token}"),
    Asked("GET /api/v1/sessions", ADMINS),
    Asked("DELETE /api/v1/sessions/{identity}", ADMINS, at="/api/v1/sessions/{session}"),
    Asked("POST /api/v1/actors/erase", ADMINS, lambda _: {"name": "vera", "dry_run": True}),
    Asked("GET /api/v1/audit", STEWARDS),
    Asked("GET /api/v1/audit/verify", STEWARDS),
]


def breaking(contract: str) -> dict[str, Any]:
    """Return a version that takes a field away, with the plan that makes it admissible."""
    plan = {"guide": "https://wiki.example.org/plan", "window": "60 d", "owner": "growth"}
    return without(owned(contract, "2.0.0"), "ltv") | {"migration": plan}


def proof(contract: str) -> dict[str, Any]:
    """Return what a proof of the move to that version says."""
    documents = {"before": owned(contract), "after": breaking(contract)}
    sides = {side: {"digest": contract_digest(contract_from(one))} for side, one in documents.items()}
    return {**sides, "holds": True, "shims": []}


KEY, LINE = "/catalog/contracts/{c}", "{c}@1"
VERSION = {"contract": "{c}", "version": "1.0.0", "confirm": "yes"}
CONSUMER = {"migration": "{migration}", "consumer": "{reader}", "confirm": "yes"}
PROPOSAL = {"proposal": "{proposal}", "reason": "agreed", "confirm": "yes"}
READY = {"feed": "{ready}", "consumer": "{reader}"}
MOVED = {"feed": "{moved}", "consumer": "{reader}"}
INCIDENT = {"incident": "{incident}", "reason": "the source is being repaired", "confirm": "yes"}
PAGES = [
    Asked("GET /catalog", EVERYBODY),
    Asked("GET /catalog/contracts/{key}", EVERYBODY, at=KEY),
    Asked("GET /catalog/contracts/{key}/at/{number}", EVERYBODY, at=f"{KEY}/at/1.0.0"),
    Asked("GET /catalog/contracts/{key}/versions", EVERYBODY, at=f"{KEY}/versions"),
    Asked("GET /catalog/contracts/{key}/consumers", EVERYBODY, at=f"{KEY}/consumers"),
    Asked("GET /catalog/contracts/{key}/publishers", EVERYBODY, at=f"{KEY}/publishers"),
    Asked("GET /catalog/contracts/{key}/compare", EVERYBODY, at=f"{KEY}/compare?before=1.0.0&after=1.0.0"),
    Asked("GET /catalog/contracts/{key}/compare/{pair}", EVERYBODY, at=f"{KEY}/compare/1.0.0..1.0.0"),
    Asked("GET /catalog/contracts/{key}/document/{form}", EVERYBODY, at=f"{KEY}/document/odcs"),
    Asked("GET /catalog/contracts/{key}/lineage", EVERYBODY, at=f"{KEY}/lineage"),
    Asked("GET /docs/files/{name}", EVERYBODY, at="/docs/files/swagger-ui.css"),
    Asked("GET /catalog/graph", EVERYBODY),
    Asked("GET /catalog/graph/{key}", EVERYBODY, at="/catalog/graph/{c}"),
    Asked("GET /catalog/domains", EVERYBODY),
    Asked("GET /catalog/domains/{key}", EVERYBODY, at="/catalog/domains/sales"),
    Asked("GET /catalog/changes", EVERYBODY),
    Asked("GET /catalog/migrations/{number}", EVERYBODY, at="/catalog/migrations/{migration}"),
    Asked("GET /catalog/teams", EVERYBODY),
    Asked("GET /catalog/map", EVERYBODY),
    Asked("GET /catalog/map.csv", EVERYBODY),
    Asked("GET /catalog/teams/{key}", EVERYBODY, at="/catalog/teams/few"),
    Asked("GET /catalog/health", EVERYBODY),
    Asked("GET /catalog/incidents", EVERYBODY),
    Asked("GET /catalog/incidents/{number}", EVERYBODY, at="/catalog/incidents/{incident}"),
    Asked("GET /catalog/exceptions", EVERYBODY),
    Asked("GET /catalog/quarantine", EVERYBODY),
    Asked("GET /catalog/act/accept-exception", NOBODY, refusal="404"),
    Asked("POST /catalog/act/accept-exception", SIGNED_IN_TEAMS, form=lambda _: {"confirm": "yes"}, absent="404"),
    Asked("GET /catalog/assets/{name}", EVERYBODY, at=f"/catalog/assets/{min(asset_names())}"),
    Asked("GET /catalog/proposals", EVERYBODY),
    Asked("GET /catalog/act/{name}", OWNERS, at="/catalog/act/deprecate?contract={c}&version=1.0.0", refusal="403"),
    Asked("POST /catalog/act/activate", OWNERS, form=lambda _: VERSION),
    Asked("POST /catalog/act/deprecate", OWNERS, form=lambda _: VERSION | URI),
    Asked("POST /catalog/act/deprecate-line", OWNERS, form=lambda _: {"line": LINE, "confirm": "yes"} | URI),
    Asked("POST /catalog/act/retire", STEWARDS, form=lambda _: VERSION | {"override": "nobody reads it"}),
    Asked(
        "POST /catalog/act/retire-line",
        STEWARDS,
        form=lambda _: {"line": LINE, "confirm": "yes", "override": "nobody reads it"},
    ),
    Asked("POST /catalog/act/archive", OWNERS, form=lambda _: VERSION),
    Asked(
        "POST /catalog/act/subscribe",
        SIGNED_IN_TEAMS,
        form=lambda contract: subscription(contract) | {"confirm": "yes"},
    ),
    Asked(
        "POST /catalog/act/unsubscribe",
        MEMBERS,
        form=lambda _: {"consumer": "{reader}", "line": LINE, "confirm": "yes"},
    ),
    Asked(
        "POST /catalog/act/confirm",
        MEMBERS,
        at="/catalog/act/confirm?{subscribed}",
        form=lambda contract: {"consumer": f"reader of {contract}", "line": LINE, "confirm": "yes"},
    ),
    Asked(
        "POST /catalog/act/challenge",
        MEMBERS,
        at="/catalog/act/challenge?{declared}",
        form=lambda contract: {"consumer": f"reader of {contract}", "line": LINE, "confirm": "yes"},
    ),
    Asked("POST /catalog/act/acknowledge", MEMBERS, form=lambda _: CONSUMER),
    Asked("POST /catalog/act/acknowledge-incident", MEMBERS, form=lambda _: INCIDENT),
    Asked("GET /catalog/legacy", EVERYBODY),
    Asked("GET /catalog/legacy/{key}", EVERYBODY, at="/catalog/legacy/{ready}"),
    Asked("GET /catalog/legacy/{key}/report.{form}", EVERYBODY, at="/catalog/legacy/{ready}/report.md"),
    Asked(
        "POST /catalog/act/decide-finding",
        MEMBERS,
        form=lambda _: {
            "feed": "{feed}",
            "finding": LOST.fingerprint,
            "disposition": "accepted",
            "owner": "a",
            "reason": "b",
        },
    ),
    Asked("POST /catalog/act/acknowledge-cutover", MEMBERS, form=lambda _: READY),
    Asked("POST /catalog/act/approve-cutover", OWNERS, form=lambda _: READY),
    Asked("POST /catalog/act/cut-over", MEMBERS, form=lambda _: READY),
    Asked("POST /catalog/act/roll-back", MEMBERS, form=lambda _: MOVED | {"reason": "not yet"}),
    Asked("POST /catalog/act/retire-feed", OWNERS, form=lambda _: MOVED | {"confirm": "yes"}),
    Asked("POST /catalog/act/move", MEMBERS, form=lambda _: CONSUMER),
    Asked(
        "POST /catalog/act/waive", STEWARDS, form=lambda _: CONSUMER | {"reason": "switched off", "until": "2026-12-31"}
    ),
    Asked("POST /catalog/act/approve", OWNERS, form=lambda _: PROPOSAL),
    Asked("POST /catalog/act/decline", OWNERS, form=lambda _: PROPOSAL),
    Asked("GET /catalog/drift", EVERYBODY),
    Asked("GET /catalog/drift/{key}/{fingerprint}", EVERYBODY, at="/catalog/drift/{c}@1/{drift}"),
    Asked("GET /catalog/check", EVERYBODY),
    Asked("POST /catalog/check", EVERYBODY, form=lambda contract: {"document": json.dumps(next_version(contract))}),
    Asked("GET /catalog/sign-in", EVERYBODY),
    Asked("POST /catalog/sign-in", EVERYBODY, form=lambda _: {"token": "{vera}"}),
    Asked("POST /catalog/sign-out", EVERYBODY, form=lambda _: {}),
    Asked("GET /catalog/sign-in/provider", NOBODY, refusal="404"),
    Asked("GET /catalog/sign-in/callback", NOBODY, at="/catalog/sign-in/callback?code=1&state=2", refusal="404"),
]
"""The pages and their forms. The server has no identity provider to sign in with, and no data of a project to show."""

EVERY_REQUEST = [*TABLE, *PAGES, *SCHEMA_REGISTRY]


def _fill(text: str, subject: dict[str, Any]) -> str:
    """Fill in the name or number that a value of a form stands for; a document is left as it is."""
    return text.format(**subject) if text.startswith("{") and text[1:2].isalpha() else text


class World(NamedTuple):
    """A server that asks people to sign in, and the token of each role."""

    registry: Registry
    client: TestClient
    tokens: dict[str, str | None]

    def ask(self, asked: Asked, role: str, subject: dict[str, Any]) -> str:
        """Make a request in a role; return `yes`, or the status of the refusal."""
        method, _, path = asked.ask.partition(" ")
        token, place, options = self.tokens[role], (asked.at or path).format(**subject), dict[str, Any]()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if asked.body is not None:
            options["json"] = asked.body(subject["c"])
        if asked.form is not None:
            secret = cookies.new_secret()
            filled = {name: _fill(str(value), subject) for name, value in asked.form(subject["c"]).items()}
            options["data"] = filled | {"form_token": cookies.form_token(secret)}
            headers |= {"Cookie": f"{cookies.VISIT}={secret}", "Origin": "http://localhost"}
        self.client.cookies.clear()
        answer = self.client.request(method, place, headers=headers, follow_redirects=False, **options)
        return "yes" if answer.status_code < 400 else str(answer.status_code)

    def prepare(self, asked: Asked, whose: str) -> dict[str, Any]:
        """Make a contract and what a request speaks of; return their names and numbers."""
        registry, contract = self.registry, f"{whose}.{next(NUMBERS)}"
        registry.register(owned(contract))
        team = team_of(contract)
        needs = f"{asked.ask} {asked.at} {asked.form(contract) if asked.form else ''}"
        made: dict[str, Any] = {"c": contract, "reader": f"reader.{contract}", "vera": self.tokens["viewer"]}
        if "{reader}" in needs and "{migration}" not in needs:
            registry.consumers.subscribe(
                made["reader"], f"{contract}@1", consumer_class="operational_reporting", team=team
            )
        if "{own_reader}" in needs:
            registry.consumers.subscribe("viewer", f"{contract}@1", consumer_class="operational_reporting", team=team)
            made["own_reader"] = "viewer"
        if "{subscribed}" in needs or "{declared}" in needs:
            rival = registry.acting_as(Actor("rita", (Grant(Role.OWNER, "rivals"),), frozenset(Scope), "test"))
            rival.consumers.subscribe(
                f"reader of {contract}",
                f"{contract}@1",
                consumer_class="decision_automation",
                team=team if "{subscribed}" in needs else "ledger",
            )
            made |= {"subscribed": "", "declared": ""}
        if "{feed}" in needs:
            made["feed"] = f"feed.{contract}"
            result = ComparisonResult(made["feed"], "sales", date(2026, 3, 1), 1, 0, {}, {}, (LOST,))
            registry.parallel_runs.record(f"{contract}@1", "mart", result)
        if "{certificate}" in needs:
            made["certificate"] = registry.certificates.issue(f"{contract}@1", certification(contract)).id
        if "{ready}" in needs or "{moved}" in needs:
            made["ready"] = made["moved"] = self._feed(contract, made["reader"], is_moved="{moved}" in needs)
        if "{drift}" in needs:
            for day, scale in ((2, 0), (3, 8)):
                taken = Profile.model_validate_json(json.dumps(profile(day, scale)))
                report = registry.drift.record(f"{contract}@1", taken)
            made["drift"] = report.findings[0].fingerprint
        if "{waiver}" in needs:
            made["waiver"] = registry.governance.waive(**WAIVER).id
        if "{namespace}" in needs:
            made["namespace"] = registry.governance.assign_namespace(f"{contract}.", team).prefix
        if "{channel}" in needs:
            made["channel"] = registry.notices.add_channel(team, kind="log", target="growth").id
        if "{rotating}" in needs:
            secret = "the first secret of a channel"  # noqa: S105
            made["rotating"] = registry.notices.add_channel(team, kind="log", target="growth", secret=secret).id
            registry.notices.rotate_secret(made["rotating"], secret="a new secret of a channel")  # noqa: S106
        if "{token}" in needs:
            made["token"] = registry.access.create_token(f"ci-{token_hex(4)}", role="viewer").id
        if "{session}" in needs:
            sessions = Authenticator(registry.context.database, AccessSettings()).sessions
            made["session"] = hashlib.sha256(sessions.begin(local_actor("vera")).id.encode()).hexdigest()[:16]
        if "{incident}" in needs:
            registry.measures.record([Measure(contract, "run", registry.now(), 0.0)])
            made["incident"] = registry.incidents.list(contract=contract).items[0].id
        if "{subject}" in needs or "{schema}" in needs:
            made |= self._subject(f"{contract}.events", team)
        if "{proposal}" in needs:
            made["proposal"] = registry.register(breaking(contract)).proposal
        if "{migration}" in needs:
            made["migration"] = self._migration(contract, made["reader"])
        return made

    def _feed(self, contract: str, consumer: str, *, is_moved: bool) -> str:
        """Declare a legacy feed whose consumer may cut over, or did."""
        registry, feed, line = self.registry, f"mart.{contract}", f"{contract}@1"
        team = team_of(contract)
        registry.consumers.subscribe(consumer, line, consumer_class="operational_reporting", team=team)
        registry.cutovers.declare(feed, line, "mart", consumers=[consumer], gate=Gate(1))
        registry.parallel_runs.record(line, "mart", ComparisonResult(feed, "sales", date(2026, 3, 1), 1, 1, {}, {}))
        registry.cutovers.acknowledge(feed, consumer)
        if is_moved:
            registry.cutovers.cut_over(feed, consumer)
        return feed

    def _subject(self, contract: str, team: str) -> dict[str, Any]:
        """Register a contract about a topic, whose subject has another schema, configuration and mode of its own."""
        self.registry.register(topic_contract(contract, team))
        subject = f"{contract}-value"
        schemas = SchemaClient(cast(httpx2.Client, self.client), Authorization=f"Bearer {self.tokens['admin']}")
        schemas.put(f"/config/{subject}", {"compatibility": "NONE"})
        schemas.put(f"/mode/{subject}", {"mode": "READWRITE"})
        return {"subject": subject, "schema": schemas.register(subject, KNOWN_SCHEMA).json()["id"]}

    def _migration(self, contract: str, consumer: str) -> int:
        registry, line = self.registry, f"{contract}@1"
        registry.consumers.subscribe(consumer, line, consumer_class="decision_automation", team=team_of(contract))
        proposal = registry.register(breaking(contract)).proposal
        assert proposal is not None
        registry.governance.approve(proposal, override=True, reason="for the test")
        (migration,) = registry.migrations.list(contract=contract).items
        return migration.id


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    rules = RegistryRules(approval=Approval.REQUIRED, addresses=AddressRule.ALLOW_PRIVATE, on_registered=write_subjects)
    with ExitStack() as stack:
        file = tmp_path_factory.mktemp("access") / "registry.db"
        registry = stack.enter_context(Registry.open(str(file), rules=rules, clock=Clock()))
        app = create_app(registry, AccessSettings(required=True))
        client = stack.enter_context(TestClient(app, base_url="http://localhost"))
        tokens = {
            name: registry.access.create_token(name, role=held[0], team=held[1]).token if held else None
            for name, held in ROLES.items()
        }
        registry.register({**odcs("sales.first"), "domain": "sales", "team": {"name": "few"}})
        registry.acting_as(local_actor("vera")).register(odcs("sales.second"))  # an actor that can be erased
        yield World(registry, client, tokens)


def test_every_route_names_its_action(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        routes = list(iter_route_contexts(create_app(registry).routes))

    assert [one.path for one in routes if one.path not in OPEN and action_of(one.endpoint) is None] == []


def test_the_table_of_roles_has_every_route(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        routes = list(iter_route_contexts(create_app(registry).routes))

    schema_routes = [route for part in schema_registry.ROUTES for route in iter_route_contexts(part.router.routes)]
    assert sorted(one.ask for one in EVERY_REQUEST) == sorted(
        f"{method} {prefix}{CONVERTOR.sub('}', str(route.path))}"
        for prefix, listed in (("", routes), (PREFIX, schema_routes))
        for route in listed
        if prefix or route.path not in OPEN
        for method in route.methods or ()
    )


@pytest.mark.parametrize("asked", EVERY_REQUEST, ids=[one.ask for one in EVERY_REQUEST])
def test_each_role_may_do_what_the_table_says(world: World, asked: Asked) -> None:
    answers: dict[tuple[str, str], str] = {}
    expected: dict[tuple[str, str], str] = {}
    is_general = "{" not in (asked.at or asked.ask) and asked.body is None and asked.form is None
    for whose, allowed in asked.may._asdict().items():
        subject: dict[str, Any] | None = {"c": ""} if is_general else None
        for role in ROLES:
            if is_general and ("own", role) in answers:  # it concerns nothing that has an owner
                answers[whose, role] = answers["own", role]
                expected[whose, role] = expected["own", role]
                assert (role in allowed) == (role in asked.may.own)
                continue
            subject = subject or world.prepare(asked, whose)
            answers[whose, role] = world.ask(asked, role, subject)
            if answers[whose, role] == "yes" and not asked.ask.startswith("GET"):
                subject = None  # it has changed
            refusal = asked.refusal or ("401" if role == "anonymous" else "403")
            expected[whose, role] = (asked.absent or "yes") if role in allowed else refusal

    assert answers == expected


@pytest.mark.parametrize(
    ("action", "whose"),
    [
        (Action.ADVANCE, "a steward, or of an owner of the team, with the scope write"),
        (Action.AUDIT, "a steward, with the scope read"),
        (Action.MANAGE_TOKENS, "an admin, with the scope admin"),
    ],
)
def test_a_refusal_names_the_role_to_ask_for(action: Action, whose: str) -> None:
    viewer = Actor("vera", (Grant(Role.VIEWER),), frozenset({Scope.READ}), "test")

    with pytest.raises(NotAllowed) as refused:
        check_permission(viewer, action)

    assert str(refused.value) == (
        f"vera may not {action}: none of its roles and scopes allows it; "
        f"ask an admin for a token of {whose}: treaty admin token create"
    )
