"""Sends e-mails through the configured mail server."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import EmailMessage

from treaty.registry.notices.delivery_failures import DeliveryFailed, NoAnswer

_TIMEOUT = 10.0


@dataclass(frozen=True)
class MailSettings:
    """The mail server that takes our e-mails."""

    host: str
    sender: str
    port: int = 25
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: Callable[[], ssl.SSLContext] = field(default=ssl.create_default_context, repr=False, compare=False)


def mail(message: EmailMessage, settings: MailSettings | None) -> None:
    """Send the message, over TLS wherever the server offers it; a password never travels without."""
    if settings is None:
        raise DeliveryFailed("no mail server is configured; set notices.smtp.host", permanent=True)
    server = f"the mail server {settings.host}:{settings.port}"
    try:
        with smtplib.SMTP(settings.host, settings.port, timeout=_TIMEOUT) as connection:
            _hand_over(message, settings, connection, server)
    except smtplib.SMTPRecipientsRefused as error:
        codes = sorted({code for code, _ in error.recipients.values()})
        permanent = all(code >= 500 for code in codes)
        raise DeliveryFailed(f"{server} refused the recipient with {codes[0]}", permanent=permanent) from None
    except smtplib.SMTPResponseException as error:
        raise DeliveryFailed(f"{server} answered {error.smtp_code}") from None
    except smtplib.SMTPServerDisconnected:
        raise NoAnswer(f"{server} broke off") from None
    except smtplib.SMTPException as error:
        raise DeliveryFailed(f"{server} did not take the e-mail: {type(error).__name__}") from None
    except OSError as error:
        raise NoAnswer(f"cannot connect to {server}: {error.strerror or type(error).__name__}") from None


def _hand_over(message: EmailMessage, settings: MailSettings, connection: smtplib.SMTP, server: str) -> None:
    connection.ehlo_or_helo_if_needed()
    secured = connection.has_extn("starttls")
    if secured:
        connection.starttls(context=settings.tls())
    if settings.user is not None:
        if not secured:
            raise DeliveryFailed(f"{server} offers no STARTTLS; the password is not sent in the clear")
        connection.login(settings.user, settings.password or "")
    connection.send_message(message)
