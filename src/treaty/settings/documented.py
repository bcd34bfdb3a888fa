"""Every setting and every environment variable, and what it is for."""

from __future__ import annotations

from treaty.settings.reading import described, variable

DOCUMENTED = {
    "name": "What the project is called.",
    "compatibility": "The mode changes are judged under, unless a contract pins more: backward by default.",
    "grading": "Kinds re-graded for this team: a bump, or bump and breaks.",
    "lint.rules": "Lint rules re-graded: error, warning, info or off.",
    "waivers": "Findings set aside: rule, contract, path, owner, reason, until.",
    "limits.bytes": "The largest document that is read.",
    "limits.depth": "The deepest nesting that is read.",
    "limits.aliases": "The most YAML aliases in a document.",
    "limits.nodes": "The most values in a document, aliases followed.",
    **dict(described()),
}
"""Every setting and what it is for."""

_ONLY_IN_THE_FILE = ("name", "grading", "lint.rules", "waivers")

ENVIRONMENT = {
    "TREATY_CONFIG": "The project file to use.",
    "TREATY_TOKEN": "The token to sign in to a registry's server with; or name a file with --token-file.",
    "TREATY_ACTOR": "Who acts on a registry that is opened directly: your login name by default.",
    "TREATY_SMTP_PASSWORD": "The password of notices.smtp.user.",
    "TREATY_ICEBERG_PASSWORD": "The password of spark.iceberg.user.",
    "TREATY_JDBC_PASSWORD": "The password of the database that a JDBC address names, with its user in the address.",
    "TREATY_HASH_SECRET": "What the hashes of redacted fields are salted with; with another one all hashes are others.",
    "TREATY_GITLAB_TOKEN": "The token that treaty comment writes on a GitLab merge request with.",
    **{variable(name): f"Like {name}." for name in DOCUMENTED if name not in _ONLY_IN_THE_FILE},
}
"""Every environment variable and what it is for."""
