"""A server exports spans if OTEL_* variables ask for it, and imports nothing of the SDK otherwise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.otlp_receiver import otlp_collector
from tests.server.running import ServingProcess, client_of
from treaty.errors import InvalidDocument
from treaty.tracing import exporter_name

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_server_exports_one_trace_per_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: str) -> None:
    with otlp_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
        database = str(tmp_path / "registry.db")
        with ServingProcess(database, tmp_path / "log", "--workers", workers) as process:
            with client_of(process.address) as client:
                client.get("/healthz")
                client.get(
                    "/api/v1/contracts/orders/versions", params={"cursor": "secret"}, headers={"traceparent": PARENT}
                )
                client.get("/contracts/treaty_0123456789ab_secretsecretsecret/latest")
            process.stop()
        (request,) = collector.named("GET /api/v1/contracts/{contract}/versions")
        (redacted,) = collector.named("GET /contracts/{dataset_id}/latest")

        assert (request.service, request.trace_id) == ("treaty-server", PARENT.split("-")[1])
        assert request.parent_id == PARENT.split("-")[2]
        assert request.attributes["http.route"] == "/api/v1/contracts/{contract}/versions"
        assert request.attributes["http.response.status_code"] in (404, 422)
        assert request.attributes["url.query"] == "REDACTED"
        assert "secretsecret" not in str(redacted)
        assert {one.name for one in collector.spans if "healthz" in str(one)} == set()


def test_a_client_continues_the_trace_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
import os, sys
from treaty.registry.client import RegistryClient
from treaty.tracing import span, tracing
with tracing("treaty-run", parent=os.environ), span("treaty.run", project="shop") as current:
    RegistryClient(sys.argv[1]).measures.current()
    current.set(run=7)
"""
    with otlp_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{collector.address}/v1/traces")
        with ServingProcess(str(tmp_path / "registry.db"), tmp_path / "log") as process:
            monkeypatch.setenv("TRACEPARENT", PARENT)
            monkeypatch.setenv("OTEL_SERVICE_NAME", "nightly")
            subprocess.run([sys.executable, "-c", script, process.address], check=True)
        (run,) = collector.named("treaty.run")
        (request,) = collector.named("GET /api/v1/measures")

    assert (run.service, run.parent_id) == ("nightly", PARENT.split("-")[2])
    assert run.attributes == {"treaty.project": "shop", "treaty.run": 7}
    assert (request.service, request.parent_id) == ("treaty-server", run.span_id)
    assert {run.trace_id, request.trace_id} == {PARENT.split("-")[1]}


def test_without_variables_nothing_is_recorded_or_imported() -> None:
    script = """
import sys
from treaty.tracing import is_tracing, span, trace_headers, tracing
with tracing("treaty-run"), span("treaty.run", project="shop") as current:
    current.set(run=1)
    current.add_event("started")
    assert not is_tracing() and trace_headers() == {}
print(sorted(name for name in sys.modules if name.startswith("opentelemetry")))
"""
    environment = {"PATH": "/usr/bin", "OTEL_SERVICE_NAME": "alone"}
    ran = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)

    assert ran.stdout == "[]\n"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"OTEL_SERVICE_NAME": "a"}, None),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_TRACES_EXPORTER": "none"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_SDK_DISABLED": "true"}, None),
    ],
)
def test_the_usual_variables_decide(environment: dict[str, str], expected: str | None) -> None:
    assert exporter_name(environment) == expected


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER must be one of: otlp, console, none, not 'zipkin'"),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, not 'grpc'; collectors receive it on port 4318",
        ),
    ],
)
def test_an_exporter_that_is_not_supported_is_refused(environment: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        exporter_name(environment)

    assert str(refused.value) == message
