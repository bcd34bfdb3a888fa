"""A webhook goes to the checked address, once, signed, and fails in words that hold no secret."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import httpcore2
import pytest

from tests.registry.notices.certificates import contexts_for
from tests.registry.notices.receivers import WebReceiver, silent_receiver, unused_port, web_receiver
from tests.registry.notices.stores import NOON, SECRET, a_channel, a_notice
from treaty.registry.notices.addresses import AddressRule, Resolve
from treaty.registry.notices.channels import Channel, ChannelKind, WebPolicy
from treaty.registry.notices.delivery_failures import DeliveryFailed, NoAnswer
from treaty.registry.notices.messages import webhook_body
from treaty.registry.notices.pinned_connection import Deadline, TimedStream, Wire
from treaty.registry.notices.senders import Outlet, send, verify


class Recording(httpcore2.SyncBackend):
    """Notes where connections go; those to other machines are answered here."""

    def __init__(self) -> None:
        self.hosts: list[str] = []

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        self.hosts.append(host)
        if host.startswith("127."):
            return super().connect_tcp(host, port, timeout, local_address, socket_options)
        return httpcore2.MockStream([b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])


def _answering(*answers: Sequence[str]) -> Resolve:
    """Resolve differently each time it is asked, as a name that is rebound does."""
    waiting = list(answers)
    return lambda host, port: waiting.pop(0) if len(waiting) > 1 else waiting[0]


def _send(
    channel: Channel,
    wire: Wire | None = None,
    rule: AddressRule = AddressRule.ALLOW_PRIVATE,
    policy: WebPolicy | None = None,
) -> None:
    Outlet(rule, None, wire or Wire(), policy or WebPolicy()).send(a_notice(), channel, NOON)


def test_a_webhook_arrives_with_id_kind_and_signature(receiver: WebReceiver) -> None:
    _send(a_channel(target=f"{receiver.url}?team=growth", secret=SECRET))
    [request] = receiver.received
    assert request.path == "/hook/s3cret-path?team=growth"
    assert request.body == webhook_body(a_notice())
    assert request.headers["Treaty-Notice-Id"] == "notice-1"
    assert request.headers["Treaty-Notice-Kind"] == "version.registered"
    assert request.headers["User-Agent"] == "Treaty-Notices/1"
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert verify(SECRET, request.headers["Treaty-Signature"], request.body, NOON)


def test_without_a_secret_nothing_is_signed(receiver: WebReceiver) -> None:
    _send(a_channel(target=receiver.url))
    assert "Treaty-Signature" not in receiver.received[0].headers


def test_slack_receives_its_own_shape(receiver: WebReceiver) -> None:
    _send(a_channel(target=receiver.url, kind=ChannelKind.SLACK))
    assert receiver.received[0].json().keys() == {"text", "blocks"}


def test_a_redirect_is_a_failure_and_is_not_followed(receiver: WebReceiver) -> None:
    redirecting = web_receiver((307, {"Location": receiver.url}))
    with redirecting as one, pytest.raises(DeliveryFailed, match="answered 307; redirects are not followed"):
        _send(a_channel(target=one.url))
    assert receiver.received == []


@pytest.mark.parametrize("status", [204, 299])
def test_every_2xx_is_a_success(status: int) -> None:
    with web_receiver(status) as receiver:
        _send(a_channel(target=receiver.url))


@pytest.mark.parametrize(("status", "permanent"), [(400, False), (404, False), (410, True), (429, False), (500, False)])
def test_only_gone_is_permanent(status: int, permanent: bool) -> None:
    with web_receiver(status) as receiver, pytest.raises(DeliveryFailed, match=f"answered {status}") as failure:
        _send(a_channel(target=receiver.url))
    assert failure.value.permanent is permanent
    assert not isinstance(failure.value, NoAnswer)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        ("86400", 3600),
        ("Sun, 01 Mar 2026 12:01:00 GMT", 60),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("Sun, 01 Mar 2099 11:00:00 GMT", 3600),
        ("soon", None),
        ("-5", None),
    ],
)
def test_the_retry_after_header_is_used(text: str, seconds: int | None) -> None:
    with web_receiver((503, {"Retry-After": text})) as receiver, pytest.raises(DeliveryFailed) as failure:
        _send(a_channel(target=receiver.url))
    assert failure.value.retry_after == (None if seconds is None else timedelta(seconds=seconds))


def test_a_private_address_is_refused_when_sending_too(receiver: WebReceiver) -> None:
    network = Recording()
    with pytest.raises(DeliveryFailed, match="leads to a loopback address") as failure:
        _send(a_channel(target=receiver.url), Wire(network=network), AddressRule.PUBLIC_ONLY)
    assert not failure.value.permanent
    assert network.hosts == []


def test_a_host_rebound_after_the_check_keeps_its_checked_address() -> None:
    network = Recording()
    wire = Wire(resolve=_answering(["8.8.8.8"], ["127.0.0.1"]), network=network)
    _send(a_channel(target="http://rebound.example/"), wire, AddressRule.PUBLIC_ONLY, WebPolicy(allow_http=True))
    assert network.hosts == ["8.8.8.8"]


def test_a_name_that_is_rebound_before_sending_is_refused() -> None:
    network = Recording()
    wire = Wire(resolve=_answering(["127.0.0.1"]), network=network)
    with pytest.raises(DeliveryFailed, match="leads to a loopback address"):
        _send(a_channel(target="http://rebound.example/"), wire, AddressRule.PUBLIC_ONLY)
    assert network.hosts == []


def test_the_receiver_sees_its_name_though_the_address_was_called(receiver: WebReceiver) -> None:
    wire = Wire(resolve=_answering(["127.0.0.1"], ["127.0.0.2"]))
    _send(a_channel(target=f"http://Hooks.test.:{receiver.port}/x"), wire)
    assert receiver.received[0].headers["Host"] == f"hooks.test:{receiver.port}"


def test_tls_is_for_the_name_and_not_for_the_address(tmp_path: Path) -> None:
    server_tls, client_tls = contexts_for("hooks.test", tmp_path)
    names: list[str | None] = []
    server_tls.sni_callback = lambda _socket, name, _context: names.append(name)
    with web_receiver(tls=server_tls) as receiver:
        wire = Wire(resolve=_answering(["127.0.0.1"]), tls=lambda: client_tls)
        _send(a_channel(target=f"https://hooks.test:{receiver.port}/x"), wire)
    assert names == ["hooks.test"]
    assert len(receiver.received) == 1


@pytest.mark.parametrize("trust", ["its certificate, which names another", "nothing"])
def test_a_receiver_that_cannot_prove_its_name_gets_nothing(tmp_path: Path, trust: str) -> None:
    server_tls, client_tls = contexts_for("other.test", tmp_path)
    if trust == "nothing":
        client_tls = ssl.create_default_context(cafile=None, capath=str(tmp_path))
    with web_receiver(tls=server_tls) as receiver:
        wire = Wire(resolve=_answering(["127.0.0.1"]), tls=lambda: client_tls)
        with pytest.raises(NoAnswer, match="certificate"):
            _send(a_channel(target=f"https://hooks.test:{receiver.port}/s3cret"), wire)
    assert receiver.received == []


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_is_ignored(
    receiver: WebReceiver, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, f"http://127.0.0.1:{unused_port()}")
    _send(a_channel(target=receiver.url))
    assert len(receiver.received) == 1


def test_an_unreachable_receiver_is_reported() -> None:
    port = unused_port()
    with pytest.raises(NoAnswer, match=rf"cannot connect to http://127\.0\.0\.1:{port}"):
        _send(a_channel(target=f"http://127.0.0.1:{port}/s3cret"))


def test_a_silent_receiver_times_out() -> None:
    with silent_receiver() as silent, pytest.raises(NoAnswer, match=r"did not answer within 0\.05 s"):
        _send(a_channel(target=f"http://127.0.0.1:{silent.port}/s3cret"), Wire(answer_within=0.05))


def test_a_slow_response_does_not_extend_the_deadline() -> None:
    moments = iter(range(100))
    drip = TimedStream(httpcore2.MockStream([b"x"] * 50), Deadline(10, lambda: next(moments)))
    assert [drip.read(1, timeout=5) for _ in range(10)] == [b"x"] * 10
    with pytest.raises(httpcore2.TimeoutException):
        drip.read(1, timeout=5)


def test_a_response_that_is_not_http_is_a_failure() -> None:
    class Rambling(Recording):
        def connect_tcp(self, *_: object, **__: object) -> httpcore2.NetworkStream:
            return httpcore2.MockStream([b"SSH-2.0-s3cret\r\n\r\n"])

    with pytest.raises(NoAnswer, match="broke off or does not speak HTTP"):
        _send(a_channel(target="http://8.8.8.8/s3cret"), Wire(network=Rambling()), policy=WebPolicy(allow_http=True))


@pytest.mark.parametrize(
    ("target", "policy", "said"),
    [
        ("http://8.8.8.8/s3cret", WebPolicy(), "the URL is not https"),
        ("https://8.8.8.8/s3cret", WebPolicy(hosts=("*.example.org",)), "8.8.8.8 is not among the allowed hosts"),
    ],
)
def test_a_channel_saved_before_the_policy_is_refused_when_sending(target: str, policy: WebPolicy, said: str) -> None:
    network = Recording()
    with pytest.raises(DeliveryFailed, match=said) as failure:
        _send(a_channel(target=target), Wire(network=network), policy=policy)
    assert "s3cret" not in str(failure.value)
    assert network.hosts == []


@pytest.mark.parametrize(
    ("until", "signed_by"),
    [(NOON + timedelta(days=1), [SECRET, "the-previous-secret"]), (NOON, [SECRET]), (None, [SECRET])],
    ids=["rotating", "over", "never"],
)
def test_a_request_is_signed_with_both_secrets_while_one_is_replaced(
    receiver: WebReceiver, until: datetime | None, signed_by: list[str]
) -> None:
    previous = "the-previous-secret"
    _send(a_channel(target=receiver.url, secret=SECRET, previous_secret=previous, previous_until=until))
    [request] = receiver.received
    signature = request.headers["Treaty-Signature"]
    assert signature.count("v1=") == len(signed_by)
    assert [one for one in (SECRET, previous) if verify(one, signature, request.body, NOON)] == signed_by


@pytest.mark.parametrize("answer", [301, 410, 500])
def test_neither_errors_nor_logs_hold_a_secret(answer: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with web_receiver(answer) as receiver, pytest.raises(DeliveryFailed) as failure:
        _send(a_channel(target=f"{receiver.url}?token=s3cret", secret=SECRET))
    told = f"{failure.value!r} {failure.value} {caplog.text}"
    assert "s3cret" not in told
    assert SECRET not in told


def test_an_invalid_stored_target_fails_permanently(receiver: WebReceiver) -> None:
    with pytest.raises(DeliveryFailed, match="the URL") as failure:
        _send(replace(a_channel(), target="nonsense"))
    assert failure.value.permanent


def test_a_kind_that_no_header_can_hold_is_still_sent(receiver: WebReceiver) -> None:
    notice = a_notice(kind="über\r\nX-Evil: 1")
    send(notice, a_channel(target=receiver.url), AddressRule.ALLOW_PRIVATE, None, NOON)
    assert receiver.received[0].headers["Treaty-Notice-Kind"] == "?ber X-Evil: 1"
    assert "X-Evil" not in receiver.received[0].headers


def test_a_log_channel_writes_a_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    _send(a_channel(target="", kind=ChannelKind.LOG))
    _send(a_channel(target="growth", kind=ChannelKind.LOG))
    assert [record.name for record in caplog.records] == ["treaty.notices", "treaty.notices.growth"]
    assert caplog.records[0].getMessage() == (
        "version.registered sales.orders 1.2.0: sales.orders 1.2.0 is registered (notice-1)"
    )
