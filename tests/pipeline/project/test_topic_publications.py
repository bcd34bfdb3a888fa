"""Topics of publications: what is read from a declaration, and what is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.projects import SHOP, laid_out
from treaty.contracts.values import FrozenMap
from treaty.errors import InvalidDocument
from treaty.pipeline.project import read_project
from treaty.pipeline.project.declarations import Records, Topic, ValueFormat

HEAD = "contract: shop.publications.paid_order@2\nfrom: [commercial_order]\nas: topic\n"


def _read(folder: Path, text: str) -> Topic | None:
    project = read_project(laid_out(folder, {**SHOP, "publications/topic.yaml": f"{text}table: other_v2\n"}))
    return next(one for one in project.publications if one.name == "topic").topic


def test_a_topic_is_named_after_its_line(tmp_path: Path) -> None:
    assert _read(tmp_path, f"{HEAD}topic: {{bootstrap: 'a:9092,b:9092'}}\n") == Topic(
        "shop.publications.paid_order.v2", "a:9092,b:9092"
    )


def test_everything_can_be_stated(tmp_path: Path) -> None:
    topic = _read(
        tmp_path,
        f"{HEAD}topic:\n  bootstrap: a:9092\n  name: paid\n  value: avro\n  records: stream\n  partitions: 6\n"
        "  replication: 3\n  schema_registry: https://registry.example.org\n"
        "  security: {user: KAFKA_USER, password: KAFKA_PASSWORD}\n",
    )
    assert topic == Topic(
        "paid",
        "a:9092",
        ValueFormat.AVRO,
        Records.STREAM,
        6,
        3,
        FrozenMap({"user": "KAFKA_USER", "password": "KAFKA_PASSWORD"}),
        "https://registry.example.org",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD, "as: topic requires topic:"),
        (f"{HEAD}topic: {{value: json}}\n", "topic.bootstrap is missing"),
        (f"{HEAD}topic: {{bootstrap: 'a:9092', name: a/b}}\n", "'a/b' is not a valid topic name"),
        (f"{HEAD}topic: {{bootstrap: 'a:9092', value: xml}}\n", "unknown topic.value 'xml'"),
        (f"{HEAD}topic: {{bootstrap: 'a:9092', partitions: 0}}\n", "topic.partitions must be an integer from 1 to"),
        (
            f"{HEAD}topic: {{bootstrap: 'a:9092', security: {{user: KAFKA_USER, password: secret}}}}\n",
            "topic.security.password must be the name of an environment variable in capitals, not a value",
        ),
        (
            f"{HEAD}topic: {{bootstrap: 'a:9092', schema_registry: registry}}\n",
            "'registry' is not the address of a schema registry",
        ),
        (
            f"{HEAD.replace('topic', 'table')}topic: {{bootstrap: 'a:9092'}}\n",
            "topic has no effect on a table",
        ),
    ],
)
def test_a_mistake_is_reported(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        _read(tmp_path, text)
    assert message in str(caught.value)
