"""The commands on docs/promises.md show what the page promises: each is run, in the order of the page."""

from __future__ import annotations

import argparse
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import structlog
from fastapi.testclient import TestClient

from treaty.cli.app import main
from treaty.registry.service import Registry
from treaty.server.app import create_app

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
SPARK_SECTION = "Data"
GIT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "demo",
    "GIT_AUTHOR_EMAIL": "demo@example.com",
    "GIT_COMMITTER_NAME": "demo",
    "GIT_COMMITTER_EMAIL": "demo@example.com",
}


class Row(NamedTuple):
    """A row of the page; a line of preparation has no promise."""

    section: str
    promise: str
    command: str


class Answer(NamedTuple):
    """The exit code of a command or the status of a response, and a part of the output."""

    code: int
    part: str


def rows() -> Iterator[Row]:
    """Yield the rows and the lines of preparation, in the order of the page."""
    section, in_block = "", False
    for line in (ROOT / "docs" / "promises.md").read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("```"):
            in_block = not in_block
        elif in_block:
            yield Row(section, "", line)
        elif match := re.fullmatch(r"\| (.+) \| `(.+)` \|", line):
            yield Row(section, *match.groups())


ROWS = tuple(rows())
EXPECTED: dict[str, Answer] = {
    "A contract is one readable file with owners, key, freshness and fields": Answer(
        0, "id: users.daily_active version: 1.0.0 status: active"
    ),
    "An event contract states its type, schema, meaning, order and what it leaves out": Answer(
        0, "no findings · 20 of 20 fields understandable"
    ),
    "An event that copies the database of its publisher is reported": Answer(
        3, "internalNotes looks like an internal note of the producer"
    ),
    "Storage details, vague names and unclassified personal data are reported with their line": Answer(
        3, "15 error email_address is marked as pii and has no classification"
    ),
    "The responses of an API are contracts": Answer(0, "- name: GET /orders/{id} 200"),
    "A draft is written from an existing schema": Answer(0, "status: draft"),
    "A contract can be used in other formats, and losses are named": Answer(0, "lost: "),
    "Contract metadata reaches the catalog of tables": Answer(0, "SET TAGS ('treaty_contract' = 'crm.customers'"),
    "Removing a field requires MAJOR": Answer(0, "2.0.0"),
    "Changing a type requires MAJOR": Answer(0, "2.0.0"),
    "Making an optional field required requires MAJOR": Answer(0, "2.0.0"),
    "Adding a required field requires MAJOR": Answer(0, "2.0.0"),
    "Adding an optional field requires MINOR": Answer(0, "1.1.0"),
    "Making a required field optional requires MINOR": Answer(0, "1.1.0"),
    "Changing a description requires PATCH": Answer(0, "1.0.1"),
    "Changing a classification requires PATCH": Answer(0, "1.0.1"),
    "A stricter service level requires MINOR": Answer(0, "1.1.0"),
    "A relaxed service level requires MAJOR": Answer(0, "2.0.0"),
    "Removing an allowed value requires MAJOR": Answer(0, "2.0.0"),
    "Adding an allowed value is compatible": Answer(0, "Verdict compatible with existing data"),
    "A changed primary key is an error in every mode": Answer(
        3, "primary_key changed: ['customer_id'] -> ['email_address']"
    ),
    "A missing owner is an error in every mode": Answer(3, "proposed contract must declare at least one owner"),
    "A version that does not increase is an error in every mode": Answer(
        3, "new version '1.0.0' must be strictly greater than '2.0.0'"
    ),
    "A breaking change in a MINOR version is refused, with the field and the required version": Answer(
        3, "field 'phone_number' was removed; old data will fail validation"
    ),
    "Every finding has a structured kind, for gates in CI": Answer(3, '"kind": "field_removed"'),
    "The mode decides which side must stay compatible": Answer(3, "not compatible under forward; refused"),
    "A MAJOR version needs a migration plan": Answer(3, "add a migration: block (guide, window, owner)"),
    "With a plan, a breaking change opens a new line next to the old one": Answer(
        0, "accepted as a new line with a migration plan"
    ),
    "A changed meaning is a breaking change, though the schema is the same": Answer(
        3, "MAJOR · breaks existing readers · event_meaning_changed"
    ),
    "A meaning that is only reworded needs an owner who says so": Answer(
        0, "was reworded, editorial according to scheduling"
    ),
    "A field that is missing in the response of an API breaks its clients": Answer(
        3, "existing clients may not be able to read the response"
    ),
    "A likely rename is suggested": Answer(3, "delivery_city -> ship_to_city looks like a rename"),
    "Every kind of change has a page with its reasons": Answer(
        0, "Why it hurts: every query, join and model that names the field stops working"
    ),
    "A migration path is generated for each consumer, with only the fields that it reads": Answer(
        0, "✓ delivery_city ship_to_city exact"
    ),
    "The service describes itself": Answer(200, '"name":"treaty"'),
    "There is a liveness probe": Answer(200, '{"status":"ok"}'),
    "All datasets are listed": Answer(200, '"sales.sales","users.daily_active"]'),
    "A dry run reports compatibility and registers nothing": Answer(200, '{"compatible":false,"mode":"backward"'),
    "A compatible version is registered": Answer(201, '"version":"1.1.0","compatibility":{"compatible":true'),
    "An incompatible version is refused with every breaking change": Answer(
        422, '"field":"ltv","kind":"field_removed","message":"field \'ltv\' was removed; old data will fail validation"'
    ),
    "The latest active version can be read": Answer(200, '"version":"1.1.0","status":"active"'),
    "The full history can be read": Answer(200, '"version":"1.0.0","status":"active"'),
    "Every version can be read": Answer(200, '"version":"1.0.0","status":"active"'),
    "A version is deprecated with the address of its migration plan": Answer(200, '"status":"deprecated"'),
    "A version is archived, and its history is kept": Answer(200, '"status":"archived"'),
    "Owners are read from a decision card": Answer(200, '{"team":"Director of Data (Alex Chen)","contact":null}'),
    "Every version stays in the history": Answer(0, "1.0.0 archived"),
    "Every step is in an audit log that shows tampering": Answer(0, "the audit log is intact"),
    "Consumers declare the line and the fields that they read, for what, and how to reach them": Answer(
        0, "about to leave class decision_automation · #churn"
    ),
    "Producers see who depends on them, directly and through other contracts": Answer(
        0, "├── sales.sales@1 │ └── tax-return consumer"
    ),
    "A change names the consumers that it affects, by field": Answer(
        0, "Affected (1) ✗ support-desk operational_reporting · #support reads phone_number"
    ),
    "A change names consumers behind other contracts, with the path": Answer(
        0, "tax-return through sales.sales@1 · external_regulatory · critical · #tax"
    ),
    "A consumer that has not declared its fields never counts as safe": Answer(
        0, "these have not declared their fields (1) ! notebook"
    ),
    "One question answers whether a version can be published, with every reason": Answer(
        3, "can crm.customers 1.1.0 be published? no"
    ),
    "A refused version is shown with the consumers that it would break": Answer(3, "Affected (1) ✗ support-desk"),
    "Mode `none` is for onboarding: with consumers, it is refused": Answer(3, "mode none is for onboarding"),
    "A consumer that needs data sooner than promised is warned": Answer(
        0, "Warning live-board needs 5 min, and crm.customers@1 promises 6 h"
    ),
    "A breaking change waits for the critical consumers that it affects": Answer(
        0, "it waits for the acknowledgement of churn-model"
    ),
    "The state of a migration is visible": Answer(0, "crm.customers@1 → crm.customers@2 proposed 4 waiting"),
    "The last acknowledgement registers the version": Answer(
        0, "crm.customers@1 → crm.customers@2 open versions 1.0.0 → 2.0.0"
    ),
    "Old consumers are unaffected: the new line has a namespace of its own": Answer(
        200, '"line":"crm.customers@2","namespace":"crm_customers_v2"'
    ),
    "A consumer moves to the new line": Answer(0, "moved support-desk operational_reporting"),
    "`status: deprecated` in the document deprecates the line, with dates, replacement, guide and reason": Answer(
        0, "crm.customers@1 will be deprecated on 2099-01-03; sunset on 2099-04-03"
    ),
    "Consumers are notified at once": Answer(
        0, "contract.deprecated · to churn-model, crm, live-board, notebook, sales"
    ),
    "From the announced day on, the line is deprecated and names its replacement": Answer(
        0, "Migrate to crm.customers@2"
    ),
    "From the sunset on, immediate migration is required": Answer(200, "Immediate migration required to"),
    "The notices of a future day can be seen before": Answer(0, "crm.customers 1.0.0 is now sunset"),
    "A line with consumers cannot be retired": Answer(3, "churn-model still reads crm.customers@1"),
    "At least 30 days pass between the announcement and the sunset": Answer(
        3, "the sunset 2026-01-31 is less than 30 days after"
    ),
    "A line is deprecated by command, too": Answer(0, "Migrate to: gym.class_opened"),
    "A line is not retired before its date": Answer(3, "gym.class_published 1.0.0 is deprecated until its sunset on"),
    "A new consumer of a deprecated line is warned": Answer(0, "Warning gym.class_published@1 is deprecated"),
    "Responses have the headers Deprecation, Sunset and Link": Answer(200, 'rel="successor-version"'),
    "A contract inherits what it does not say, and each value has its origin": Answer(
        0, "sla.freshness 6 h from sales.policy 1.0.0"
    ),
    "Every contract is bound by the default policy, whether it names a parent or not": Answer(
        0, "inherits from company.policy 1.0.0"
    ),
    "A weaker service level than that of the policy is refused": Answer(
        3, "service level sla.freshness is relaxed: 6 h -> 8 h (from sales.policy 1.0.0)"
    ),
    "A required field of the policy cannot become optional": Answer(
        3, "field 'country_code' was required, now optional"
    ),
    "Policies have rules: PII requires classification, amounts need a currency": Answer(
        3, "PII requires classification: field 'customer_email' has no classification (from company.policy 1.0.0)"
    ),
    "A stricter policy lists the contracts that would violate it, before it is registered": Answer(
        0, "sales.refunds 1.0.1 would violate it"
    ),
    "A contract for single consumers needs a day on which it expires": Answer(
        3, "an edge contract needs an end; add expires: with a date"
    ),
    "A violation can be waived by a person, with a reason, until a day": Answer(
        0, "applies until 2099-06-30; owner: governance"
    ),
    "A waived violation does not refuse the contract": Answer(0, "waived by governance until 2099-06-30"),
    "A namespace of ids belongs to one team": Answer(0, "sales. belongs to sales"),
    "A project has layers: raw, events, products, reconciliation, publications": Answer(
        0, "retail: 23 steps · no problems"
    ),
    "Every field is traced back to the events that it is computed from": Answer(
        0, "which come from order_cancelled.cancelled_lines"
    ),
    "The contracts of a project are compiled into one file": Answer(0, "wrote .treaty/contracts.json"),
    "Commands read that file": Answer(0, "19 contracts · no findings"),
    "Documentation is generated for all contracts": Answer(0, "Built the catalog of 7 contracts"),
    "Contracts are found by owner, field, tag and words": Answer(0, "crm.customers"),
    "The page of a contract has its fields, meaning, owners and consumers": Answer(200, "Where receipts are sent."),
    "Rows are tested against every rule of the contract, and invalid rows are kept with their reasons": Answer(
        3, "✗ enum:customer_plan 1 25 % must be one of free, pro, enterprise error"
    ),
    "A migration path is proven on rows": Answer(
        0, "proven: exact fields returned unchanged; differences in lossy fields are counted above"
    ),
    "A branch that breaks consumers may not merge": Answer(
        3, "1 contract · 1 changed · 2 consumers affected · 1 may not merge"
    ),
    "The comment on the pull request names each consumer and what it must do": Answer(
        3, "`gross_total`: expect decimal(12,2) instead of decimal(18,4)"
    ),
    "Findings are shown at the changed lines": Answer(3, "::error file=orders.yaml,line=22,title=field_type_changed"),
    "The required version and the changelog entry are written": Answer(3, "fixed orders.yaml: version 2.0.0"),
    "Identifiers with an inner structure are reported": Answer(3, "the identifier shipment_id has an inner structure"),
    "The messages of an event API are contracts, read from AsyncAPI 2.6 and 3.0": Answer(
        0, "- name: orders.placed OrderPlaced"
    ),
    "Contracts are written as AsyncAPI 3.0": Answer(0, "asyncapi: 3.0.0 info: title: gym.class_published"),
    "A data product without a contract gets a draft from its ports": Answer(
        0, "draft returns of Returns from ports returned_items"
    ),
    "A steward can allow mode `none`, with a reason, until a day": Answer(
        0, "mode_none_refused on crm.customers * applies until 2099-06-30"
    ),
    "The override of mode `none` is part of the answer": Answer(
        0, "allowed by governance until 2099-06-30: the pilot starts over"
    ),
    "While nobody depends on a contract, mode `none` requires neither a bump nor a plan, and shows both": Answer(
        0, "in another mode, these changes require 2.0.0 with a migration plan"
    ),
    "A run registers the lineage of each field, and the layer of the data": Answer(200, '"layer":"product"'),
    "A critical consumer that reads a product directly is warned": Answer(
        0, "audit-file is external_regulatory, and reads sales.refunds@1 directly, which is a product"
    ),
    "A consumer whose class is not intended is warned": Answer(
        0, "sales.refunds@1 is not intended for decision_automation"
    ),
    "A consumer whose purpose is not intended is warned": Answer(
        0, "sales.refunds@1 is not intended for the purpose 'Decide on vouchers'"
    ),
    "A policy says for what data may be read": Answer(
        3, "restricted data is read for a purpose: mailer states no purpose (from company.policy 1.0.0)"
    ),
    "A contract passes to another team": Answer(0, "sales.refunds 1.0.1 registered"),
    "The consumers of a contract that passes to another team are told": Answer(
        0, "sales.refunds is now owned by finance; before, by sales"
    ),
    "A migration plan gives consumers at least 30 days": Answer(3, "the migration window 29 d is less than 30 days"),
    "Two lines of a contract are measured apart": Answer(200, '{"recorded":2,"unknown":[]}'),
    "Each line is compared with its own promise": Answer(
        200,
        '"line":"crm.customers@2","name":"freshness","at":"2026-01-01T00:00:00Z","value":18000.0,"unit":"s","promise":14400.0,"state":"failing"',
    ),
    "A team chooses where it receives notices": Answer(0, "churn-model receives notices by log churn"),
    "An e-mail channel without a mail server is refused": Answer(
        1, "this registry cannot send e-mail; set notices.smtp.host"
    ),
    "The notice that a contract promises binds its own deprecation": Answer(
        3, "the sunset 2099-02-15 is less than 90 days after 2099-01-01"
    ),
    "A policy can be given a day from which it holds": Answer(
        0, "sales.refunds 1.0.1 would violate it from 2099-01-01"
    ),
    "The draft of a policy lists the contracts that would violate it": Answer(
        0, "sales.refunds 1.0.1 would violate this policy once it is active"
    ),
    "A draft binds no contract": Answer(0, "inherits from sales.policy 1.0.0, company.policy 1.0.0"),
    "A change of an API that breaks its clients may not merge": Answer(
        3, "existing clients may not be able to read the response"
    ),
    "In its own repository, a consumer learns what is coming": Answer(
        3, "Immediate migration required to: crm.customers@2"
    ),
}


class Shell:
    """Runs the commands of the page in a copy of the examples: `treaty` and `curl` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        self._registry = Path(".treaty/registry.db").absolute()

    def run(self, command: str) -> Answer:
        """Run a command, and return its code and its complete output on one line."""
        words = shlex.split(command)
        programs: dict[str, Callable[[list[str]], Answer]] = {
            "treaty": self._treaty,
            "curl": self._curl,
            "cd": self._cd,
        }
        code, output = programs.get(words[0], self._other)(words[1:] if words[0] in programs else words)
        return Answer(code, " ".join(output.split()))

    def migration_id(self) -> str:
        """Return the number of the migration that the page calls ID."""
        match = re.search(r"(\d+) +crm.customers@1 →", self.run("treaty migrate status --contract crm.customers").part)
        assert match
        return match[1]

    def _treaty(self, arguments: list[str]) -> Answer:
        self._monkeypatch.setattr(sys, "argv", ["treaty", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = self._capsys.readouterr()
        code = ended.value.code
        return Answer(code if isinstance(code, int) else 0, captured.out + captured.err)

    def _curl(self, arguments: list[str]) -> Answer:
        parser = argparse.ArgumentParser()
        parser.add_argument("-X", dest="method")
        parser.add_argument("-H", dest="header")
        parser.add_argument("-i", dest="head", action="store_true")
        parser.add_argument("-d", "--data-binary", dest="data")
        parser.add_argument("url")
        given = parser.parse_args(arguments)
        data = given.data and (Path(given.data[1:]).read_text() if given.data.startswith("@") else given.data)
        headers = dict([given.header.split(": ")]) if given.header else {}
        with Registry.open(str(self._registry)) as registry, TestClient(create_app(registry)) as client:
            method = given.method or ("POST" if data else "GET")
            response = client.request(method, given.url, content=data, headers=headers)
        self._capsys.readouterr()
        return Answer(response.status_code, (f"{response.headers} " if given.head else "") + response.text)

    def _cd(self, arguments: list[str]) -> Answer:
        self._monkeypatch.chdir(arguments[0])
        return Answer(0, "")

    def _other(self, words: list[str]) -> Answer:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return Answer(done.returncode, done.stdout + done.stderr)


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """Run commands in a copy of the examples, with nothing set and a quiet server."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns(".treaty", "__pycache__"))
    for name in [name for name in os.environ if name.startswith(("TREATY_", "GITHUB_", "CI_"))]:
        monkeypatch.delenv(name)
    for name, value in {"TREATY_ACTOR": "demo", **GIT}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path / "examples" / "promises")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield Shell(capsys, monkeypatch)
    structlog.reset_defaults()


def show(shell: Shell, row: Row) -> Answer:
    """Run the command of a row; the output is cut down to the expected part if it has it."""
    command = row.command.replace(" ID ", f" {shell.migration_id()} ") if " ID " in row.command else row.command
    answer, expected = shell.run(command), EXPECTED[row.promise]
    return answer._replace(part=expected.part) if expected.part in answer.part else answer


def test_every_promise_has_an_expectation() -> None:
    assert sorted(row.promise for row in ROWS if row.promise) == sorted(EXPECTED)


def test_every_command_shows_its_promise(shell: Shell) -> None:
    shown = {}
    for row in ROWS:
        if row.promise and row.section != SPARK_SECTION:
            shown[row.promise] = show(shell, row)
        elif not row.promise and row.command not in ("cd examples/promises", "treaty serve &"):
            assert shell.run(row.command).code == 0, row.command

    assert shown == {promise: EXPECTED[promise] for promise in shown}


def test_commands_on_data_show_their_promises(shell: Shell, spark: SparkSession) -> None:
    shown = {row.promise: show(shell, row) for row in ROWS if row.section == SPARK_SECTION}

    assert shown == {promise: EXPECTED[promise] for promise in shown}
