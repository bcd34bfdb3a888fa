"""Topics of a source: brokers, names, where to start, and security settings by name."""

from __future__ import annotations

from pathlib import Path

from tests.pipeline.projects import laid_out
from treaty.contracts.values import FrozenMap
from treaty.pipeline.project import read_project
from treaty.pipeline.project.declarations import Kafka, LostOffsets, Starting


def test_a_topic_needs_only_brokers(tmp_path: Path) -> None:
    assert _origin(tmp_path, "topic: orders\nbootstrap: broker:9092\nvalue: json\n") == Kafka("broker:9092", "orders")


def test_a_pattern_with_every_setting(tmp_path: Path) -> None:
    declared = """
pattern: orders[.].*
bootstrap: a.example.org:9092, [::1]:9093
starting: latest
lost_offsets: accept
security: {protocol: KAFKA_PROTOCOL, mechanism: KAFKA_MECHANISM, user: KAFKA_USER, password: KAFKA_PASSWORD}
"""
    assert _origin(tmp_path, declared) == Kafka(
        "a.example.org:9092,[::1]:9093",
        pattern="orders[.].*",
        starting=Starting.LATEST,
        lost_offsets=LostOffsets.ACCEPT,
        security=FrozenMap(
            {
                "protocol": "KAFKA_PROTOCOL",
                "mechanism": "KAFKA_MECHANISM",
                "user": "KAFKA_USER",
                "password": "KAFKA_PASSWORD",
            }
        ),
    )


def _origin(folder: Path, declared: str) -> object:
    laid_out(folder, {"sources/orders.yaml": f"contract: shop.orders@1\n{declared}"})
    (source,) = read_project(folder).sources
    return source.origin
