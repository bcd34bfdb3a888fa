"""The settings of a project. Typed options of other packages are built on demand to keep the start of commands fast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from treaty.contracts.text import Limits
from treaty.errors import InvalidDocument, MissingExtra
from treaty.settings.sections import DEFAULT_LAKE, Parts

if TYPE_CHECKING:
    from treaty.catalog.site.publisher import PublishTarget
    from treaty.compatibility import Grading, Mode
    from treaty.compatibility.migration import GuardedSql
    from treaty.contracts.model import Contract, SchemaObject
    from treaty.governance.lint import LintSettings
    from treaty.governance.policy_chain import DefaultPolicies
    from treaty.registry.access.oidc_settings import OidcSettings
    from treaty.registry.documents import PreparedDocument
    from treaty.registry.notices.addresses import AddressRule
    from treaty.registry.notices.channels import WebPolicy
    from treaty.registry.notices.mail import MailSettings
    from treaty.registry.notices.senders import Outlet
    from treaty.registry.rules import CheckpointRules, RegistryRules
    from treaty.registry.store.transaction import Transaction
    from treaty.server.server import SchemaRegistryOptions
    from treaty.server.settings import AccessSettings, Tls
    from treaty.server.settings import Limits as RequestLimits
    from treaty.spark.session_options import IcebergCatalog, SparkOptions

T = TypeVar("T")
MIN_KEY_LENGTH = 32
"""The shortest key that signs checkpoints."""


@dataclass(frozen=True)
class Secrets:
    """Secrets, which are read only from the environment and never printed."""

    token: str | None = field(default=None, repr=False)
    smtp_password: str | None = field(default=None, repr=False)
    iceberg_password: str | None = field(default=None, repr=False)
    jdbc_password: str | None = field(default=None, repr=False)
    hash_secret: str | None = field(default=None, repr=False)
    checkpoint_key: str | None = field(default=None, repr=False)
    tls_key_password: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    oidc_client_secret: str | None = field(default=None, repr=False)
    openlineage_api_key: str | None = field(default=None, repr=False)
    schema_registry_password: str | None = field(default=None, repr=False)


SECRETS = tuple(secret.name for secret in fields(Secrets))


@dataclass(frozen=True)
class Settings:
    """The settings of one run."""

    source: str | None = None
    name: str | None = None
    compatibility: str = "backward"
    grades: Mapping[str, Any] = field(default_factory=dict)
    meaning_properties: tuple[Any, ...] = ()
    lint_rules: Mapping[str, Any] = field(default_factory=dict)
    waivers: tuple[Any, ...] = ()
    limits: Limits = field(default_factory=Limits)
    parts: Parts = field(default_factory=Parts)
    actor: str | None = None
    secrets: Secrets = field(default_factory=Secrets)

    def mode(self) -> Mode:
        """Return the compatibility mode."""
        from treaty.compatibility import parse_mode

        return self._named("compatibility", lambda: parse_mode(self.compatibility))

    def grading(self) -> Grading:
        """Return the grades of change kinds, and the custom properties that carry meaning."""
        from treaty.compatibility import parse_grading

        return self._named("grading", lambda: parse_grading(self.grades, self.meaning_properties))

    def lint_settings(self) -> LintSettings:
        """Return the severities of lint rules, and the waivers."""
        from treaty.governance.lint import parse_lint_settings

        return self._named("lint.rules or waivers", lambda: parse_lint_settings(self.lint_rules, self.waivers))

    def registry_rules(self) -> RegistryRules:
        """Return the rules of the registry."""
        from treaty.governance.lifecycle import Periods
        from treaty.observability.anomalies import Sensitivity
        from treaty.registry.rules import (
            Acknowledgement,
            Approval,
            DirectReads,
            ObservabilityRules,
            RegistryRules,
            Retention,
            Unsuitable,
            Upgrade,
        )

        lifecycle, migrations = self.parts.lifecycle, self.parts.migrations
        return RegistryRules(
            mode=self.mode(),
            grading=self.grading(),
            periods=Periods(timedelta(days=lifecycle.deprecation_days), timedelta(days=lifecycle.sunset_days)),
            approval=Approval(self.parts.approvals),
            acknowledgement=Acknowledgement(migrations.acknowledgement),
            reminders=tuple(migrations.reminder_days),
            unsuitable=Unsuitable(self.parts.consumers.unsuitable),
            direct_reads=DirectReads(self.parts.consumers.direct_reads),
            confirmation_days=migrations.confirmation_days,
            guard=_guard,
            limits=self.limits,
            addresses=self._addresses(),
            web_policy=self._web_policy(),
            secret_keys=self._secret_keys(),
            checkpoints=self._checkpoints(),
            domains={domain: tuple(teams) for domain, teams in self.parts.access.domains.items()},
            upgrade=Upgrade(self.parts.upgrade),
            retention=Retention(
                timedelta(days=self.parts.retention.notices_days),
                timedelta(days=self.parts.retention.measures_days),
                timedelta(days=self.parts.retention.activity_days),
                timedelta(days=self.parts.retention.lineage_days),
                timedelta(days=self.parts.retention.accesses_days),
            ),
            usage_window=timedelta(days=self.parts.consumers.observed_days),
            observability=ObservabilityRules(
                timedelta(hours=self.parts.observability.escalate_after_hours),
                Sensitivity(self.parts.observability.volume_sensitivity),
                timedelta(days=self.parts.observability.window_days),
                float(self.parts.observability.objective_percent),
            ),
            unused_token_days=self.parts.access.unused_token_days,
            can_mail=self.parts.notices.smtp.host is not None,
            waivable_kinds=self._waivable_kinds(),
            on_registered=_write_subjects,
            default_policies=self.default_policies(),
        )

    def default_policies(self) -> DefaultPolicies:
        """Return the default policies of contracts."""
        from treaty.governance.policy_chain import parse_default_policies

        return parse_default_policies(self.parts.policies.defaults)

    def _waivable_kinds(self) -> frozenset[str] | None:
        from treaty.compatibility import KINDS

        kinds = self.parts.waivable_kinds
        if kinds is None:
            return None
        if unknown := sorted(set(kinds) - set(KINDS)):
            raise self._wrong("waivable_kinds", f"unknown kind {unknown[0]!r}; see: treaty explain kinds")
        return frozenset(kinds)

    def access(self) -> AccessSettings:
        """Return the access settings of the server."""
        from treaty.server.settings import AccessSettings, SessionLimits

        part = self.parts.access
        session = SessionLimits(timedelta(hours=part.session_hours), timedelta(minutes=part.session_idle_minutes))
        return AccessSettings(part.required, part.read == "open", session)

    def oidc(self) -> OidcSettings | None:
        """Return the OIDC settings of the server, or None."""
        from treaty.registry.access.oidc_settings import OidcSettings

        given = {name: value for name, value in vars(self.parts.access.oidc).items() if value is not None}
        if not given:
            return None
        if missing := [name for name in ("issuer", "audience") if name not in given]:
            raise self._wrong("access.oidc", f"{missing[0]} is missing; set access.oidc.{missing[0]} too")
        file = given.pop("client_secret_file", None)
        secret = self.secrets.oidc_client_secret or self._read_key("access.oidc.client_secret_file", file) or None
        return self._named("access.oidc", lambda: OidcSettings(**given, client_secret=secret))

    def outlet(self) -> Outlet:
        """Return how the server sends notices."""
        from treaty.registry.notices.senders import Outlet

        return Outlet(rule=self._addresses(), mail=self._mail(), policy=self._web_policy())

    def request_limits(self) -> RequestLimits:
        """Return the limits of requests."""
        from treaty.server.settings import LimitedClients, RateLimits
        from treaty.server.settings import Limits as RequestLimits

        part = self.parts.server
        rates = part.rate_limits
        return RequestLimits(
            body=part.body_limit,
            seconds=part.timeout_seconds,
            body_seconds=part.body_timeout_seconds,
            head=part.head_limit,
            keep_alive=part.keep_alive_seconds,
            connections=part.connection_limit,
            metrics=part.metrics_limit,
            rates=RateLimits(
                LimitedClients(rates.clients), rates.expensive_per_minute, rates.failed_sign_ins_per_minute
            ),
        )

    def tls(self, certificate: Path | None = None, key: Path | None = None) -> Tls | None:
        """Return the certificate and key of the server: the given files, or those of the settings; None for http."""
        from treaty.server.settings import Tls

        certificate = certificate or _path(self.parts.server.tls_cert)
        key = key or _path(self.parts.server.tls_key)
        if certificate is None and key is None:
            return None
        if certificate is None or key is None:
            missing = "certificate: --tls-cert or server.tls_cert" if key else "key: --tls-key or server.tls_key"
            raise InvalidDocument(f"https needs a certificate and its key; give the {missing}")
        return Tls(certificate, key, self.secrets.tls_key_password)

    def schema_registry(self) -> SchemaRegistryOptions:
        """Return how the schema registry is served."""
        from treaty.schema_registry.contract_versions import Governance
        from treaty.server.server import SchemaRegistryOptions

        part = self.parts.confluent
        return SchemaRegistryOptions(part.port, Governance(part.governance))

    def publish_target(self) -> PublishTarget | None:
        """Return where the catalog is published when the registry changes, or None."""
        folder = _path(self.parts.catalog.publish)
        if folder is None:
            return None
        from treaty.catalog.site.publisher import PublishTarget

        return PublishTarget(folder, self.catalog_name, tuple(self.parts.catalog.publish_for))

    @property
    def catalog_name(self) -> str:
        """The title of the catalog."""
        return self.parts.catalog.name or "Treaty"

    def spark(self) -> SparkOptions:
        """Return the options of the Spark session."""
        from treaty.spark.session_options import SparkOptions

        part = self.parts.spark
        return self._named(
            "spark",
            lambda: SparkOptions(
                master=part.master,
                memory=part.memory,
                catalog=self._catalog(),
                conf={key: _spark_value(value) for key, value in part.conf.items()},
                jars=_path(part.jars),
                ivy_settings=_path(part.ivy_settings),
                log=_path(part.log),
            ),
        )

    def _catalog(self) -> IcebergCatalog | None:
        from treaty.spark.session_options import IcebergCatalog

        part = self.parts.spark.iceberg
        if part.uri is None and part.warehouse is None:
            return self._default_lake(part.name)
        if part.uri is None or part.warehouse is None:
            missing = "uri" if part.uri is None else "warehouse"
            raise InvalidDocument(f"{missing} is missing; set spark.iceberg.{missing} too")
        return IcebergCatalog(part.uri, part.warehouse, part.name, part.user, self.secrets.iceberg_password)

    def _default_lake(self, name: str) -> IcebergCatalog | None:
        """Return the lake of a project that configures none: a local one next to its project file."""
        from treaty.spark.session_options import IcebergCatalog

        if self.source is None:
            return None
        folder = Path(self.source).resolve().parent / DEFAULT_LAKE
        return IcebergCatalog(f"jdbc:sqlite:{folder / 'catalog.db'}", str(folder / "tables"), name)

    def _addresses(self) -> AddressRule:
        from treaty.registry.notices.addresses import AddressRule

        return AddressRule.ALLOW_PRIVATE if self.parts.notices.allow_private else AddressRule.PUBLIC_ONLY

    def _checkpoints(self) -> CheckpointRules | None:
        from treaty.registry.rules import CheckpointRules

        part = self.parts.audit
        if part.checkpoint_file is None and part.checkpoint_url is None:
            return None
        key = self.secrets.checkpoint_key or self._read_key("audit.checkpoint_key_file", part.checkpoint_key_file)
        if len(key) < MIN_KEY_LENGTH:
            reason = f"checkpoints need a random key of {MIN_KEY_LENGTH} characters or more; set TREATY_CHECKPOINT_KEY"
            raise self._wrong("audit", reason)
        return CheckpointRules(key, _path(part.checkpoint_file), part.checkpoint_url)

    def _read_key(self, setting: str, name: str | None) -> str:
        file = _path(name)
        try:
            return file.read_text(encoding="utf-8").strip() if file else ""
        except (OSError, UnicodeDecodeError):
            raise self._wrong(setting, f"cannot read {file}") from None

    def _web_policy(self) -> WebPolicy:
        from treaty.registry.notices.channels import WebPolicy

        part = self.parts.notices
        return self._named("notices.hosts", lambda: WebPolicy(part.allow_http, tuple(part.hosts)))

    def _secret_keys(self) -> tuple[str, ...]:
        from treaty.registry.notices.secret_box import parse_keys

        setting = "notices.secret_key_file"
        file = self.parts.notices.secret_key_file
        if self.secrets.secret_key is not None:
            return self._named("TREATY_SECRET_KEY", lambda: parse_keys(self.secrets.secret_key or ""))
        return self._named(setting, lambda: parse_keys(self._read_key(setting, file))) if file else ()

    def _mail(self) -> MailSettings | None:
        from treaty.registry.notices.mail import MailSettings

        smtp = self.parts.notices.smtp
        if smtp.host is None:
            return None
        if smtp.sender is None:
            raise self._wrong("notices.smtp", "sender is missing; set the sender address of e-mails")
        return MailSettings(smtp.host, smtp.sender, smtp.port, smtp.user, self.secrets.smtp_password)

    def _named(self, setting: str, read: Callable[[], T]) -> T:
        """Add the file and the setting to errors."""
        try:
            return read()
        except InvalidDocument as error:
            raise self._wrong(setting, str(error)) from None

    def _wrong(self, setting: str, reason: str) -> InvalidDocument:
        return InvalidDocument(f"{self.source or 'the environment'}: {setting}: {reason}")


def _guard(text: str, contract: Contract, schema: SchemaObject) -> GuardedSql:
    """Check declared SQL; what reads SQL is imported when the first one is met."""
    from treaty.sql.rules import guard_sql

    return guard_sql(text, contract, schema)


def _write_subjects(transaction: Transaction, actor: str, candidate: PreparedDocument) -> None:
    """Write the schemas of a contract to its subjects; what writes them is imported for contracts with a topic."""
    if not any(server.get("type") == "kafka" for server in candidate.contract.servers or ()):
        return
    try:
        from treaty.schema_registry.contract_versions import write_subjects
    except ModuleNotFoundError:
        raise MissingExtra("a contract with a Kafka server", "server") from None

    write_subjects(transaction, actor, candidate)


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text).expanduser()


def _spark_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
