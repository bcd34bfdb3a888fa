"""The sections of the settings for a server: access, notices, limits, audit, retention and the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.contracts.values import EMPTY
from treaty.settings.setting_types import FLAG, GROUPS, TEXT, TEXTS, integer, one_of, setting


@dataclass(frozen=True)
class Oidc:
    """OpenID Connect."""

    issuer: str | None = setting(None, TEXT, "The https URL of the issuer of accepted bearer tokens.")
    audience: str | None = setting(None, TEXT, "The audience that tokens must have.")
    algorithms: tuple[str, ...] | None = setting(
        None, TEXTS, "Accepted signature algorithms. Default: RS256 and ES256."
    )
    jwks_url: str | None = setting(None, TEXT, "The URL of the issuer's keys, if its metadata does not contain it.")
    name_claim: str | None = setting(None, TEXT, "The claim with the name of the user. Default: sub.")
    roles_claim: str | None = setting(None, TEXT, "The claim with roles such as owner:growth. Default: treaty_roles.")
    leeway: int | None = setting(None, integer(0, 300), "Allowed clock difference in seconds. Default: 30.")
    client_id: str | None = setting(
        None, TEXT, "The id of this server at the provider. With it, users sign in to the pages with their account."
    )
    client_secret_file: str | None = setting(
        None,
        TEXT,
        "The file with the client secret, if it is not in TREATY_OIDC_CLIENT_SECRET; public clients have none.",
    )
    redirect_url: str | None = setting(
        None,
        TEXT,
        "The URL of this server with /catalog/sign-in/callback, as it is registered at the provider. "
        "Needed unless browsers use a loopback address.",
    )
    provider_name: str | None = setting(
        None, TEXT, "The name of the provider on the sign-in page. Default: the host of the issuer."
    )
    scopes: tuple[str, ...] | None = setting(
        None, TEXTS, "Scopes that are requested when users sign in. Default: openid, profile and email."
    )


@dataclass(frozen=True)
class Access:
    """Access to the server."""

    required: bool = setting(False, FLAG, "Whether users must sign in even if no token exists yet. Default: false.")
    read: str = setting("open", one_of("open", "members"), "Who may read if sign-in is required: open or members.")
    session_hours: int = setting(12, integer(1, 168), "Hours after which a browser session ends. Default: 12.")
    session_idle_minutes: int = setting(
        120, integer(5, 10_080), "Minutes without a request after which a browser session ends. Default: 120."
    )
    unused_token_days: int = setting(
        30, integer(1, 366), "Days without use after which a token is marked as unused. Default: 30."
    )
    domains: Mapping[str, Any] = setting(
        EMPTY,
        GROUPS,
        "The teams of each domain; a contract can be visible to a domain, such as sales: [orders, returns].",
    )
    oidc: Oidc = field(default_factory=Oidc)


@dataclass(frozen=True)
class Smtp:
    """The mail server for notices."""

    host: str | None = setting(None, TEXT, "The host of the mail server for notices.")
    port: int = setting(
        25, integer(1, 65535), "The port of the mail server. Default: 25. STARTTLS is used if the server offers it."
    )
    user: str | None = setting(None, TEXT, "The user of the mail server. The password is TREATY_SMTP_PASSWORD.")
    sender: str | None = setting(None, TEXT, "The sender address of e-mails.")


@dataclass(frozen=True)
class Notices:
    """Delivery of notices."""

    allow_private: bool = setting(
        False, FLAG, "Whether webhooks may use private and loopback addresses. Default: false."
    )
    allow_http: bool = setting(
        False, FLAG, "Whether webhooks may use http; to loopback addresses they may if allow_private is set."
    )
    hosts: tuple[str, ...] = setting(
        (), TEXTS, "Hosts that webhooks may use, such as hooks.slack.com or *.example.org. Default: any public host."
    )
    secret_key_file: str | None = setting(
        None,
        TEXT,
        "The file with the keys that encrypt channel secrets, one per line; the first one encrypts. "
        "Default: TREATY_SECRET_KEY, else for SQLite a file beside the database.",
    )
    smtp: Smtp = field(default_factory=Smtp)


@dataclass(frozen=True)
class RateLimits:
    """Rate limits, counted in each server process."""

    clients: str = setting(
        "remote",
        one_of("remote", "all", "none"),
        "Which clients are limited: remote (all but those on this machine), all or none. Default: remote.",
    )
    expensive_per_minute: int = setting(
        600, integer(1, 1_000_000), "Expensive requests per minute and client; more get 429. Default: 600."
    )
    failed_sign_ins_per_minute: int = setting(
        60, integer(1, 1_000_000), "Invalid credentials per minute and address; more get 429. Default: 60."
    )


@dataclass(frozen=True)
class Server:
    """The server and its request limits."""

    host: str = setting("127.0.0.1", TEXT, "The address that treaty serve listens on. Default: 127.0.0.1.")
    port: int = setting(8090, integer(0, 65535), "The port of the server. Default: 8090; 0 selects a free port.")
    body_limit: int = setting(
        4_000_000, integer(1_000, 1_000_000_000), "Maximum size of a request in bytes. Default: 4,000,000."
    )
    timeout_seconds: int = setting(60, integer(1, 3_600), "Maximum duration of a request in seconds. Default: 60.")
    body_timeout_seconds: int = setting(
        30, integer(1, 3_600), "Maximum time in seconds to receive the body of a request. Default: 30."
    )
    head_limit: int = setting(
        32_768, integer(4_096, 1_000_000), "Maximum size of the request line and headers in bytes. Default: 32,768."
    )
    keep_alive_seconds: int = setting(
        5, integer(1, 3_600), "Time in seconds after which an idle connection is closed. Default: 5."
    )
    connection_limit: int = setting(
        1_000, integer(1, 100_000), "Maximum number of connections per process; more get 503. Default: 1,000."
    )
    metrics_limit: int = setting(
        2_000,
        integer(0, 1_000_000),
        "Maximum number of measures, and of lines, in /metrics, the worst first; the rest is counted. Default: 2,000.",
    )
    region: str | None = setting(
        None,
        TEXT,
        "The region in which this server serves rows, such as eu. Without it, no rows under a residency rule are "
        "served.",
    )
    data_port: int | None = setting(
        None,
        integer(1, 65535),
        "A port on which treaty serve --data serves rows, and nothing else; they are not served on the other port "
        "then.",
    )
    trusted_proxies: tuple[str, ...] | None = setting(
        None, TEXTS, "Addresses or networks of proxies whose X-Forwarded headers are used. Default: this machine."
    )
    tls_cert: str | None = setting(
        None, TEXT, "The file with the certificate of the server and its chain, in PEM format, to serve https."
    )
    tls_key: str | None = setting(
        None, TEXT, "The file with the key of the certificate. Its password is TREATY_TLS_KEY_PASSWORD."
    )
    hsts_seconds: int = setting(
        0,
        integer(0, 100_000_000),
        "How long browsers may use this host over https only (HSTS), in seconds; 0 for no such header. Default: 0.",
    )
    rate_limits: RateLimits = field(default_factory=RateLimits)


@dataclass(frozen=True)
class Confluent:
    """The schema registry for Kafka clients."""

    port: int | None = setting(
        None,
        integer(0, 65535),
        "A port on which treaty serve answers Kafka clients at /, besides /schema-registry on its own port.",
    )
    governance: str = setting(
        "observe",
        one_of("observe", "enforce"),
        "What happens to a schema that its contract does not admit: observe (a warning) or enforce (409). "
        "Default: observe.",
    )


@dataclass(frozen=True)
class Audit:
    """Signed checkpoints of the audit log."""

    checkpoint_file: str | None = setting(
        None, TEXT, "The file to which signed checkpoints of the audit log are appended, best on another disk."
    )
    checkpoint_url: str | None = setting(None, TEXT, "The URL to which signed checkpoints are posted.")
    checkpoint_key_file: str | None = setting(
        None, TEXT, "The file with the key that signs checkpoints, if it is not in TREATY_CHECKPOINT_KEY."
    )


@dataclass(frozen=True)
class Retention:
    """How long records are kept that are not part of the history."""

    notices_days: int = setting(
        400, integer(30, 36_500), "Days for which notices are kept after their delivery. Default: 400."
    )
    measures_days: int = setting(400, integer(30, 36_500), "Days for which measures are kept. Default: 400.")
    activity_days: int = setting(
        3_650,
        integer(30, 36_500),
        "Days for which the activity is shown; older entries remain in the audit log. Default: 3650.",
    )
    lineage_days: int = setting(
        30,
        integer(1, 36_500),
        "Days for which received lineage events are kept, so that each counts once. Default: 30.",
    )
    accesses_days: int = setting(
        400, integer(31, 36_500), "Days for which accesses to published rows are kept in their log. Default: 400."
    )


@dataclass(frozen=True)
class Observability:
    """Incidents, unusual volumes and service levels."""

    escalate_after_hours: int = setting(
        24, integer(1, 8_760), "Hours after which an open incident without acknowledgement is escalated. Default: 24."
    )
    volume_sensitivity: str = setting(
        "normal",
        one_of("off", "low", "normal", "high"),
        "How far from usual a volume must be to open an incident: off, low, normal or high. Default: normal.",
    )
    window_days: int = setting(30, integer(1, 400), "Days over which service levels are evaluated. Default: 30.")
    objective_percent: int = setting(
        95,
        integer(1, 100),
        "Share of the measured values that is to keep a service level which is no share itself; the rest is its error "
        "budget. Default: 95.",
    )


@dataclass(frozen=True)
class Catalog:
    """The catalog and its publication."""

    name: str | None = setting(None, TEXT, "The title of the catalog. Default: Treaty.")
    publish: str | None = setting(
        None, TEXT, "The folder to which the catalog is published as a static site when the registry changes."
    )
    publish_for: tuple[str, ...] = setting(
        (), TEXTS, "The teams for which sites are built. Default: none; a site has what everyone may read."
    )
