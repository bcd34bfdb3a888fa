"""The settings of a project. Typed options of other packages are built on demand to keep the start of commands fast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from treaty.contracts.text import Limits
from treaty.errors import InvalidDocument
from treaty.settings.sections import Parts

if TYPE_CHECKING:
    from treaty.catalog.site.publisher import PublishTarget
    from treaty.compatibility import Grading, Mode
    from treaty.compatibility.migration import GuardedSql, SqlGuard
    from treaty.contracts.model import Contract, SchemaObject
    from treaty.governance.lint import LintSettings
    from treaty.registry.access.oidc_settings import OidcSettings
    from treaty.registry.notices.addresses import AddressRule
    from treaty.registry.notices.mail import MailSettings
    from treaty.registry.notices.senders import Outlet
    from treaty.registry.rules import CheckpointRules, RegistryRules
    from treaty.server.settings import AccessSettings
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
        from treaty.registry.rules import Acknowledgement, Approval, RegistryRules

        lifecycle, migrations = self.parts.lifecycle, self.parts.migrations
        return RegistryRules(
            mode=self.mode(),
            grading=self.grading(),
            periods=Periods(timedelta(days=lifecycle.deprecation_days), timedelta(days=lifecycle.sunset_days)),
            approval=Approval(self.parts.approvals),
            acknowledgement=Acknowledgement(migrations.acknowledgement),
            reminders=tuple(migrations.reminder_days),
            guard=_guard(),
            limits=self.limits,
            addresses=self._addresses(),
            checkpoints=self._checkpoints(),
        )

    def access(self) -> AccessSettings:
        """Return the access settings of the server."""
        from treaty.server.settings import AccessSettings

        return AccessSettings(self.parts.access.required, self.parts.access.read == "open")

    def oidc(self) -> OidcSettings | None:
        """Return the OIDC settings of the server, or None."""
        from treaty.registry.access.oidc_settings import OidcSettings

        given = {name: value for name, value in vars(self.parts.access.oidc).items() if value is not None}
        if not given:
            return None
        if missing := [name for name in ("issuer", "audience") if name not in given]:
            raise self._wrong("access.oidc", f"{missing[0]} is missing; set access.oidc.{missing[0]} too")
        return self._named("access.oidc", lambda: OidcSettings(**given))

    def outlet(self) -> Outlet:
        """Return how the server sends notices."""
        from treaty.registry.notices.senders import Outlet

        return Outlet(rule=self._addresses(), mail=self._mail())

    def request_limits(self) -> RequestLimits:
        """Return the limits of requests."""
        from treaty.server.settings import Limits as RequestLimits

        part = self.parts.server
        return RequestLimits(
            body=part.body_limit,
            seconds=part.timeout_seconds,
            body_seconds=part.body_timeout_seconds,
            head=part.head_limit,
            keep_alive=part.keep_alive_seconds,
            connections=part.connection_limit,
        )

    def publish_target(self) -> PublishTarget | None:
        """Return where the catalog is published when the registry changes, or None."""
        folder = _path(self.parts.catalog.publish)
        if folder is None:
            return None
        from treaty.catalog.site.publisher import PublishTarget

        return PublishTarget(folder, self.catalog_name)

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
            return None
        if part.uri is None or part.warehouse is None:
            missing = "uri" if part.uri is None else "warehouse"
            raise InvalidDocument(f"{missing} is missing; set spark.iceberg.{missing} too")
        return IcebergCatalog(part.uri, part.warehouse, part.name, part.user, self.secrets.iceberg_password)

    def _addresses(self) -> AddressRule:
        from treaty.registry.notices.addresses import AddressRule

        return AddressRule.ALLOW_PRIVATE if self.parts.notices.allow_private else AddressRule.PUBLIC_ONLY

    def _checkpoints(self) -> CheckpointRules | None:
        from treaty.registry.rules import CheckpointRules

        part = self.parts.audit
        if part.checkpoint_file is None and part.checkpoint_url is None:
            return None
        key = self.secrets.checkpoint_key or self._read_key(_path(part.checkpoint_key_file))
        if len(key) < MIN_KEY_LENGTH:
            reason = f"checkpoints need a random key of {MIN_KEY_LENGTH} characters or more; set TREATY_CHECKPOINT_KEY"
            raise self._wrong("audit", reason)
        return CheckpointRules(key, _path(part.checkpoint_file), part.checkpoint_url)

    def _read_key(self, file: Path | None) -> str:
        try:
            return file.read_text(encoding="utf-8").strip() if file else ""
        except (OSError, UnicodeDecodeError):
            raise self._wrong("audit.checkpoint_key_file", f"cannot read {file}") from None

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


def _guard() -> SqlGuard | None:
    """Return the check for declared SQL, or None if sqlglot is not installed."""
    if find_spec("sqlglot") is None:
        return None

    def guard(text: str, contract: Contract, schema: SchemaObject) -> GuardedSql:
        from treaty.sql.rules import guard_sql  # imported when the first SQL is checked

        return guard_sql(text, contract, schema)

    return guard


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text).expanduser()


def _spark_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
