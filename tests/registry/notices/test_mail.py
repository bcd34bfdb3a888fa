"""E-mails are handed to the mail server, over TLS where it is offered."""

from __future__ import annotations

from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest

from tests.registry.notices.certificates import contexts_for
from tests.registry.notices.receivers import mail_receiver, unused_port
from tests.registry.notices.stores import NOON, SECRET, a_channel, a_notice
from treaty.registry.notices.addresses import AddressRule
from treaty.registry.notices.channels import ChannelKind
from treaty.registry.notices.delivery_failures import DeliveryFailed, NoAnswer
from treaty.registry.notices.mail import MailSettings
from treaty.registry.notices.senders import send

CHANNEL = a_channel(target="ana@example.org", kind=ChannelKind.EMAIL)


def _mail(settings: MailSettings | None, **changes: Any) -> None:
    send(a_notice(**changes), CHANNEL, AddressRule.PUBLIC_ONLY, settings, NOON)


def _settings(port: int, **more: Any) -> MailSettings:
    return MailSettings(host="localhost", port=port, sender="treaty@example.org", **more)


def test_an_email_arrives() -> None:
    with mail_receiver() as server:
        _mail(_settings(server.port))
    [mail] = [message_from_bytes(mail, policy=default) for mail in server.mails]
    assert server.recipients == ["ana@example.org"]
    assert mail["Treaty-Notice-Id"] == "notice-1"
    assert "sales.orders 1.2.0 is registered" in mail.get_content()


def test_a_headline_cannot_add_recipients() -> None:
    with mail_receiver() as server:
        _mail(_settings(server.port), headline="hi\r\nBcc: eve@example.org\r\n.\r\nRCPT TO:<eve@example.org>")
    assert server.recipients == ["ana@example.org"]
    assert len(server.mails) == 1
    assert message_from_bytes(server.mails[0], policy=default)["Bcc"] is None


def test_tls_is_used_where_it_is_offered(tmp_path: Path) -> None:
    server_tls, client_tls = contexts_for("localhost", tmp_path)
    with mail_receiver(tls=server_tls, greeting=("AUTH PLAIN",)) as server:
        _mail(_settings(server.port, user="treaty", password=SECRET, tls=lambda: client_tls))
    verbs = [command.split()[0].upper() for command in server.commands]
    assert verbs.index("STARTTLS") < verbs.index("AUTH") < verbs.index("MAIL")
    assert len(server.mails) == 1


def test_a_server_that_cannot_prove_its_name_gets_nothing(tmp_path: Path) -> None:
    server_tls, client_tls = contexts_for("other.test", tmp_path)
    with mail_receiver(tls=server_tls) as server, pytest.raises(NoAnswer):
        _mail(_settings(server.port, tls=lambda: client_tls))
    assert server.mails == []


def test_a_password_is_not_sent_in_the_clear() -> None:
    clear = mail_receiver(greeting=("AUTH PLAIN",))
    with clear as server, pytest.raises(DeliveryFailed, match="offers no STARTTLS") as failure:
        _mail(_settings(server.port, user="treaty", password=SECRET))
    assert not any(command.upper().startswith("AUTH") for command in server.commands)
    assert SECRET not in str(failure.value)


def test_without_a_mail_server_the_setting_is_named() -> None:
    with pytest.raises(DeliveryFailed, match=r"no mail server is configured; set notices\.smtp\.host") as failure:
        _mail(None)
    assert failure.value.permanent


@pytest.mark.parametrize(("answer", "permanent"), [("550 no such user", True), ("451 try later", False)])
def test_a_refused_recipient_is_a_failure(answer: str, permanent: bool) -> None:
    refusal = f"refused the recipient with {answer[:3]}"
    with mail_receiver(answer) as server, pytest.raises(DeliveryFailed, match=refusal) as failure:
        _mail(_settings(server.port))
    assert failure.value.permanent is permanent


def test_a_mail_server_that_is_not_there_does_not_answer() -> None:
    with pytest.raises(NoAnswer, match="cannot connect to the mail server localhost"):
        _mail(_settings(unused_port()))


def test_mail_settings_do_not_show_the_password() -> None:
    assert SECRET not in repr(_settings(25, password=SECRET))
