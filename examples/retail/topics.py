"""The retail example over topics.

`python -m examples.retail.topics project FOLDER BOOTSTRAP` writes the pipeline up to the releases of orders, with
topics in place of files, and creates the topics of the events. `produce HISTORY BOOTSTRAP` produces the events of a
history, `damage HISTORY BOOTSTRAP` the beginning of a placement, and `show BOOTSTRAP` prints the last releases.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

RETAIL = Path(__file__).parent
EVENTS = tuple(sorted(path.stem for path in (RETAIL / "contracts/events").glob("*.yaml")))
"""The events, which are also the names of their topics."""
PLACED = "retail.orders.order_placed"
READY_TOPIC = "retail.publications.fulfillment_order_ready.v1"
PARTITIONS = 2
SHOWN_RECORDS = 2
TIMEOUT_S = 30.0


def write_project(folder: Path, bootstrap: str) -> None:
    """Write the retailer's pipeline with a topic for every event, and the releases of orders as a topic."""
    for part in ("products", "reconciliations", "sql"):
        shutil.copytree(RETAIL / "pipeline" / part, folder / part)
    shutil.copytree(RETAIL / "contracts", folder / "contracts")
    settings = (RETAIL / "pipeline/treaty.yaml").read_text(encoding="utf-8")
    (folder / "treaty.yaml").write_text(settings.replace("../contracts", "contracts"), encoding="utf-8")
    for kind in ("sources", "publications"):
        (folder / kind).mkdir()
    for event in EVENTS:
        name = event.rpartition(".")[2]
        source = f"contract: {event}@1\ntopic: {event}\nbootstrap: {bootstrap}\nidentity: [event_id]\n"
        (folder / f"sources/{name}.yaml").write_text(source, encoding="utf-8")
    ready = (RETAIL / "pipeline/publications/fulfillment_order_ready.yaml").read_text(encoding="utf-8")
    (folder / "publications/fulfillment_order_ready.yaml").write_text(
        f"{ready}as: topic\ntopic: {{bootstrap: {bootstrap}, partitions: {PARTITIONS}}}\n", encoding="utf-8"
    )


def create_topics(bootstrap: str) -> None:
    """Create the topics of the events, unless they exist."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    existing = admin.list_topics(timeout=TIMEOUT_S).topics
    missing = [NewTopic(event, PARTITIONS, 1) for event in EVENTS if event not in existing]
    for future in admin.create_topics(missing).values() if missing else ():
        future.result(TIMEOUT_S)


def produce_events(events: Iterable[tuple[str, bytes]], bootstrap: str) -> int:
    """Produce events, given with their topics, keyed by their order; return how many."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
    count = 0
    for topic, value in events:
        producer.produce(topic, value, order_of(value))
        producer.poll(0)
        count += 1
    if left := producer.flush(TIMEOUT_S):
        sys.exit(f"{left} records were not acknowledged by {bootstrap}")
    return count


def order_of(value: bytes) -> bytes | None:
    """Return the order of an event; None for a line that is not one, as the history has some."""
    try:
        event = json.loads(value)
    except ValueError:
        return None
    order = event.get("order_id") if isinstance(event, dict) else None
    return order.encode() if isinstance(order, str) else None


def events_of(history: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the events of a history in the order of their files, each with its topic."""
    files = [path for event in EVENTS for path in (history / event).glob("*.jsonl")]
    for path in sorted(files, key=lambda path: (path.name, path.parent.name)):
        for line in path.read_bytes().splitlines():
            yield path.parent.name, line


def damaged_event(history: Path) -> tuple[str, bytes]:
    """Return the first 60 bytes of a placement, as a producer may send that was interrupted."""
    return next((topic, value[:60]) for topic, value in events_of(history) if topic == PLACED)


def read_topic(topic: str, bootstrap: str) -> list[Any]:
    """Return the committed records of a topic."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "retail-example",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    partitions = list(consumer.list_topics(topic, timeout=TIMEOUT_S).topics[topic].partitions)
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    messages, ended = [], 0
    while ended < len(partitions):
        message = consumer.poll(TIMEOUT_S)
        if message is None:
            sys.exit(f"{topic} was not read to its end within {TIMEOUT_S:g} s")
        if message.error() is None:
            messages.append(message)
        else:
            ended += 1
    consumer.close()
    return sorted(messages, key=lambda message: message.timestamp())


def show_topic(topic: str, bootstrap: str) -> None:
    """Print how many records a topic has for how many keys, and the last ones with their headers."""
    messages = read_topic(topic, bootstrap)
    keys = len({message.key() for message in messages})
    print(f"{len(messages):,} records with {keys:,} keys; the last {min(SHOWN_RECORDS, len(messages))} of them:")
    for message in messages[-SHOWN_RECORDS:]:
        value = json.loads(message.value())
        headers = {name: text.decode() for name, text in message.headers() or ()}
        print(f"  {message.key().decode()}  {value['release_instruction']}, release {value['release_sequence']}")
        print(f"    {', '.join(f'{name}={headers[name]}' for name in ('ce_type', 'ce_id', 'treaty_version'))}")


def main(arguments: list[str]) -> None:
    """Run one of the commands."""
    match arguments:
        case ["project", folder, bootstrap]:
            write_project(Path(folder), bootstrap)
            create_topics(bootstrap)
        case ["produce", history, bootstrap]:
            print(f"{produce_events(events_of(Path(history)), bootstrap):,} events were produced")
        case ["damage", history, bootstrap]:
            produce_events([damaged_event(Path(history))], bootstrap)
        case ["show", bootstrap]:
            show_topic(READY_TOPIC, bootstrap)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
