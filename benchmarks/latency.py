"""Latency from topic to topic: `python -m benchmarks.latency --minutes 5 --rates 100 500`.

Orders are placed and paid at a fixed rate, on a local broker, while `treaty run --follow` runs on the retail example.
The latency of an order is the time from producing the later of its two events, `order_placed` and `payment_settled`,
to consuming its `fulfillment_order_ready`, as a consumer of committed records.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from benchmarks.pipeline.machine import machine
from benchmarks.timing import table

if TYPE_CHECKING:
    from confluent_kafka import Consumer

RATES = (100, 500)
"""Events per second; each order has two."""
MINUTES = 5.0
WARM_UP_ORDERS, WARM_UP_ROUNDS = 50, 3
START_TIMEOUT_S = 600.0
DRAIN_TIMEOUT_S = 180.0
"""How long the last orders may take after the last event was produced."""
_PLACED, _SETTLED = "retail.orders.order_placed", "retail.payments.payment_settled"


@dataclass(frozen=True)
class Order:
    """An order and the two events that make it ready."""

    id: str
    placed: bytes
    settled: bytes


@dataclass
class Measurement:
    """What was observed at one rate."""

    rate: int
    orders: int
    minutes: float
    latencies: list[float]
    runs: list[dict[str, Any]]
    """The summaries of the runs that ended meanwhile."""
    seconds: float
    """From the first event to the last release."""
    load: tuple[float, float]
    """The load average of the machine before and after."""

    def percentile(self, share: float) -> float:
        """Return the latency that this share of the orders does not exceed; infinite if they were not released."""
        position = math.ceil(share * self.orders) - 1
        known = sorted(self.latencies)
        return known[position] if position < len(known) else math.inf


def run(minutes: float = MINUTES, rates: Sequence[int] = RATES) -> str:
    """Return the latencies at each rate, and what the runs spent their time on."""
    measured = [_measure(rate, minutes) for rate in rates]
    return "\n\n".join((_latency_table(measured), *map(_step_table, measured), machine()))


def _measure(rate: int, minutes: float) -> Measurement:
    """Measure one rate with a project, tables and a broker of its own."""
    from examples.retail.topics import create_topics, write_project
    from treaty.kafka.broker import free_port, start_broker, stop_broker

    with tempfile.TemporaryDirectory(prefix="treaty-latency-") as name:
        folder = Path(name)
        (folder / "project").mkdir()
        broker = start_broker(folder / "broker", free_port())
        try:
            write_project(folder / "project", broker.bootstrap)
            create_topics(broker.bootstrap)
            trial = _Trial(broker.bootstrap, rate, minutes)
            trial.produce(trial.next_orders(), math.inf)  # a product without rows would not pass its audit
            with _following(folder / "project") as follower:
                return trial.measure(follower)
        finally:
            stop_broker(folder / "broker")


@dataclass
class _Follower:
    """The process of `treaty run --follow`, and the summaries of its runs."""

    process: subprocess.Popen[str]
    log: Path
    summaries: list[dict[str, Any]] = field(default_factory=list)

    def collect(self, output: IO[str]) -> None:
        """Read the summaries until the process ends."""
        for line in output:
            self.summaries.append(json.loads(line) | {"ended": time.monotonic()})

    def check(self) -> None:
        """Raise if the process has ended."""
        if self.process.poll() is not None:
            steps = self.summaries[-1]["steps"] if self.summaries else []
            reasons = "\n".join(reason for step in steps for reason in step["reasons"])
            raise RuntimeError(f"treaty run --follow ended: {self.log.read_text(errors='replace')[-2000:]}\n{reasons}")

    def wait_for_run(self) -> None:
        """Wait until the first run has ended."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self.summaries:
            self.check()
            if time.monotonic() > deadline:
                raise RuntimeError("the first run did not end")
            time.sleep(0.1)


@contextmanager
def _following(folder: Path) -> Iterator[_Follower]:
    command = [str(Path(sys.executable).with_name("treaty")), "run", str(folder), "--follow", "--format", "json"]
    log = folder / "follow.log"
    with log.open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert process.stdout is not None
    follower = _Follower(process, log)
    reader = threading.Thread(target=follower.collect, args=(process.stdout,), daemon=True)
    reader.start()
    try:
        yield follower
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join(10)
        process.stdout.close()


@dataclass
class _Trial:
    """One rate: warms the pipeline up, then produces and consumes."""

    bootstrap: str
    rate: int
    minutes: float
    produced: dict[str, float] = field(default_factory=dict)
    """By order: when the later of its events was produced."""
    consumed: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = round(self.rate * 60 * self.minutes / 2)
        self._orders = _payable_orders(count + WARM_UP_ORDERS * WARM_UP_ROUNDS)

    def next_orders(self) -> list[Order]:
        """Return orders to warm up with."""
        return list(islice(self._orders, WARM_UP_ORDERS))

    def measure(self, follower: _Follower) -> Measurement:
        """Warm up until some rounds of orders were released, then measure."""
        follower.wait_for_run()
        consumer = _consumer(self.bootstrap)
        try:
            for number in range(1, WARM_UP_ROUNDS + 1):
                self._consume(consumer, follower, number * WARM_UP_ORDERS, time.monotonic() + START_TIMEOUT_S)
                if number < WARM_UP_ROUNDS:
                    self.produce(self.next_orders(), math.inf)
            self.produced.clear()
            self.consumed.clear()
            return self._measure_warm(consumer, follower)
        finally:
            consumer.close()

    def _measure_warm(self, consumer: Consumer, follower: _Follower) -> Measurement:
        orders = list(self._orders)
        earlier, load, started = len(follower.summaries), os.getloadavg()[0], time.monotonic()
        producing = threading.Thread(target=self.produce, args=(orders, self.rate), daemon=True)
        producing.start()
        self._consume(consumer, follower, len(orders), started + 60 * self.minutes + DRAIN_TIMEOUT_S)
        ended = time.monotonic()
        producing.join(10)
        return Measurement(
            self.rate,
            len(orders),
            self.minutes,
            [moment - self.produced[order] for order, moment in self.consumed.items()],
            follower.summaries[earlier:],
            ended - started,
            (load, os.getloadavg()[0]),
        )

    def produce(self, orders: Iterable[Order], rate: float) -> None:
        """Produce the events of orders, evenly at a rate of events per second."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 1, "acks": "all"})
        started = time.monotonic()
        for number, order in enumerate(orders):
            if (early := started + 2 * number / rate - time.monotonic()) > 0:
                time.sleep(early)
            producer.produce(_PLACED, order.placed, order.id)
            self.produced[order.id] = time.monotonic()
            producer.produce(_SETTLED, order.settled, order.id)
            producer.poll(0)
        producer.flush(30)

    def _consume(self, consumer: Consumer, follower: _Follower, count: int, deadline: float) -> None:
        """Note when orders are released, until `count` of them are or time is up."""
        while len(self.consumed) < count and time.monotonic() < deadline:
            follower.check()
            for message in consumer.consume(500, timeout=0.05):
                if message.error() is None and (key := message.key()) is not None:
                    self.consumed.setdefault(_order_of(key), time.monotonic())


def _order_of(key: bytes) -> str:
    """Return the order of the key of a release, which is a JSON object unless the order alone is the key."""
    text = key.decode()
    return str(json.loads(text)["order_id"]) if text.startswith("{") else text


def _consumer(bootstrap: str) -> Consumer:
    from confluent_kafka import Consumer, TopicPartition

    from examples.retail.topics import PARTITIONS, READY_TOPIC

    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "latency",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 10,
            "allow.auto.create.topics": False,
            "topic.metadata.refresh.interval.ms": 200,  # the first delivery creates the topic
        }
    )
    consumer.assign([TopicPartition(READY_TOPIC, partition, 0) for partition in range(PARTITIONS)])
    return consumer


def _payable_orders(count: int) -> Iterator[Order]:
    """Yield orders of yesterday that are delivered and paid at once, so that their payment releases them."""
    from examples.retail.history.generator import Source
    from examples.retail.history.options import Options

    yesterday = (datetime.now(UTC) - timedelta(days=1)).date()
    source = Source(Options(orders=count * 10, days=1, start=yesterday, defects=False, late_share=0.0))
    return islice(_released(source), count)


def _released(source: Any) -> Iterator[Order]:
    order, placed = None, b""
    for arrival in source.arrivals(source.numbers):
        if arrival.event == _PLACED and b'"home_delivery"' in arrival.line:
            order, placed = arrival.order, arrival.line
        elif arrival.event == _SETTLED and arrival.order == order:
            yield Order(json.loads(placed)["order_id"], placed, arrival.line)
            order = None


def _latency_table(measured: Sequence[Measurement]) -> str:
    header = ["events/s", "minutes", "orders", "released", "p50", "p99", "runs", "median run", "load average"]
    rows = [
        [
            str(one.rate),
            f"{one.minutes:g}",
            f"{one.orders:,}",
            f"{len(one.latencies):,}",
            f"{one.percentile(0.5):.1f} s",
            f"{one.percentile(0.99):.1f} s",
            str(len(one.runs)),
            f"{_median([run['seconds'] for run in one.runs]):.1f} s",
            f"{one.load[0]:.1f} to {one.load[1]:.1f}",
        ]
        for one in measured
    ]
    return table(header, rows)


def _step_table(one: Measurement) -> str:
    """Return the time of each step in a run, and the time of a run outside its steps."""
    seconds: dict[str, list[float]] = {}
    for summary in one.runs:
        for step in summary["steps"]:
            if step["outcome"] == "done":
                seconds.setdefault(step["table"], []).append(step["seconds"])
    total = sum(summary["seconds"] for summary in one.runs)
    rows = [
        [step, str(len(taken)), f"{_median(taken):.2f} s", f"{100 * sum(taken) / total:.0f} %"]
        for step, taken in sorted(seconds.items(), key=lambda entry: -sum(entry[1]))
    ]
    rows.append(["between runs", str(len(one.runs)), f"{(one.seconds - total) / max(1, len(one.runs)):.2f} s", ""])
    header = [f"at {one.rate} events/s", "runs", "median", "share of the time of runs"]
    return f"{table(header, rows)}\n\nSteps that do not read each other run at the same time."


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else math.nan


def main() -> None:
    """Read the options and print the tables."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__.partition("\n")[0])
    options.add_argument("--minutes", type=float, default=MINUTES, help="at each rate (%(default)s)")
    options.add_argument("--rates", type=int, nargs="+", default=list(RATES), help="events per second (%(default)s)")
    asked = options.parse_args()
    print(run(asked.minutes, asked.rates))


if __name__ == "__main__":
    main()
