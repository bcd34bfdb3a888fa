"""Native TLS: a real https request, TLS 1.2 at least, clear errors for unusable files, HSTS over https only."""

from __future__ import annotations

import os
import re
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.certificates import write_certificate
from tests.server.conftest import Serve
from tests.server.contracts import USERS, short
from tests.server.running import TIMEOUT_S
from treaty.errors import InvalidDocument
from treaty.server.settings import Tls

TREATY = str(Path(sys.executable).with_name("treaty"))
PASSWORD = "of the key"  # noqa: S105


@contextmanager
def treaty_serve(folder: Path, *options: str, **environment: str) -> Iterator[str]:
    """Run `treaty serve`; yields its address."""
    command = [TREATY, "serve", "--port", "0", "--database", str(folder / "registry.db"), *options]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, **environment}
        )
        try:
            assert process.stdout is not None
            address = re.search(r"https?://\S+", process.stdout.readline())
            assert address, (folder / "log").read_text()
            yield address[0]
        finally:
            process.terminate()
            process.communicate(timeout=TIMEOUT_S)


def trusting(tls: Tls, maximum: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=tls.certificate)
    context.maximum_version = maximum
    return context


@pytest.mark.parametrize("workers", [1, 2])
def test_https_is_served(tmp_path: Path, workers: int) -> None:
    tls = write_certificate(tmp_path, password=PASSWORD)
    files = ("--tls-cert", str(tls.certificate), "--tls-key", str(tls.key))
    secrets = {"TREATY_TLS_KEY_PASSWORD": PASSWORD, "TREATY_SERVER_HSTS_SECONDS": "31536000"}
    with (
        treaty_serve(tmp_path, *files, "--workers", str(workers), **secrets) as address,
        httpx2.Client(base_url=address, verify=trusting(tls), timeout=TIMEOUT_S, trust_env=False) as client,
    ):
        registered = client.post("/contracts", json=short())
        page = client.get("/catalog/sign-in", headers={"Accept": "text/html"})
        with (
            pytest.raises(httpx2.TransportError),
            pytest.warns(DeprecationWarning, match="TLSv1_1"),
            httpx2.Client(verify=trusting(tls, ssl.TLSVersion.TLSv1_1), trust_env=False) as old,
        ):
            old.get(f"{address}/healthz")
        with pytest.raises(httpx2.TransportError), httpx2.Client(trust_env=False) as plain:
            plain.get(address.replace("https://", "http://") + "/healthz")
        listed = subprocess.run(
            [TREATY, "search", "--registry", address],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env={**os.environ, "SSL_CERT_FILE": str(tls.certificate)},
        )

    assert address.startswith("https://127.0.0.1:")
    assert registered.status_code == 201
    assert registered.headers["strict-transport-security"] == "max-age=31536000"
    assert "; Secure" in page.headers["set-cookie"]
    assert page.headers["set-cookie"].startswith("__Host-treaty_visit=")
    assert USERS in listed.stdout, listed.stderr


def test_hsts_is_for_https_only(serve: Serve) -> None:
    client, other = serve(hsts_seconds=60), serve()

    def hsts(server: httpx2.Client, scheme: str) -> str | None:
        return server.get("/healthz", headers={"X-Forwarded-Proto": scheme}).headers.get("strict-transport-security")

    assert [hsts(client, scheme) for scheme in ("https", "http")] == ["max-age=60", None]
    assert hsts(other, "https") is None


def test_unusable_files_are_reported(tmp_path: Path) -> None:
    good, other = write_certificate(tmp_path), write_certificate(tmp_path, "other")
    locked = write_certificate(tmp_path, "locked", PASSWORD)
    text = tmp_path / "notes.txt"
    text.write_text("no certificate")
    cases = {
        Tls(tmp_path / "missing.pem", good.key): (
            f"cannot read the TLS certificate {tmp_path}/missing.pem: No such file or directory"
        ),
        Tls(good.certificate, tmp_path / "missing.key"): (
            f"cannot read the TLS key {tmp_path}/missing.key: No such file or directory"
        ),
        Tls(good.certificate, other.key): (
            f"the TLS key {other.key} does not belong to the certificate {good.certificate}"
        ),
        Tls(locked.certificate, locked.key): (f"the TLS key {locked.key} is encrypted; set TREATY_TLS_KEY_PASSWORD"),
        Tls(locked.certificate, locked.key, "wrong"): (
            f"cannot decrypt the TLS key {locked.key}; check TREATY_TLS_KEY_PASSWORD"
        ),
        Tls(text, good.key): (
            f"cannot use {text} and {good.key} for TLS; give a certificate and its key in PEM format"
        ),
    }

    for tls, message in cases.items():
        with pytest.raises(InvalidDocument) as caught:
            tls.context()
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--workers", "1"), "https needs a certificate and its key; give the key: --tls-key or server.tls_key"),
        (("--workers", "2", "--tls-key", "none.key"), "cannot read the TLS key none.key: No such file or directory"),
    ],
)
def test_a_server_with_unusable_files_does_not_start(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    command = [TREATY, "serve", "--port", "0", "--tls-cert", str(write_certificate(tmp_path).certificate), *options]

    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_S)

    assert (ran.returncode, ran.stdout) == (1, "")
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
