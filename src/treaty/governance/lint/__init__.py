"""Lint: could a downstream team explain each field without calling the producer?"""

from treaty.governance.lint import documents, events, fields, people
from treaty.governance.lint.catalogue import RULES, Rule
from treaty.governance.lint.linting import LintReport, LintSettings, lint, parse_lint_settings, unreadable

CHAPTERS = (
    ("Fields", fields),
    ("Contracts", documents),
    ("Events", events),
    ("People", people),
)
"""The rules as a table of contents."""

__all__ = ["CHAPTERS", "RULES", "LintReport", "LintSettings", "Rule", "lint", "parse_lint_settings", "unreadable"]
