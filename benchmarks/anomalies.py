"""Precision and recall of volume anomalies on synthetic series with known anomalies, and false alarms on clean ones.

Each series has a daily and a weekly rhythm, a slow trend and noise. A share of the clean values of the last month is
replaced by drops and surges; the detector sees each value with the history before it, as the registry does.

Run: .venv/bin/python -m benchmarks.anomalies [--series 40]
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from treaty.observability.anomalies import Sensitivity, expect

START = datetime(2026, 1, 5, tzinfo=UTC)
WARM_UP_DAYS, JUDGED_DAYS = 42, 30
FACTORS = (0.0, 0.1, 0.3, 0.5, 2.0, 3.0)
"""What an anomaly multiplies the value with: from an empty delivery to three times the rows."""

MAX_FALSE_ALARMS_PER_MONTH = 1.0


@dataclass(frozen=True)
class Shape:
    """A kind of series: how many values a day has, and how noisy they are."""

    name: str
    per_day: int
    level: float
    noise: float
    weekend: float


SHAPES = (
    Shape("hourly, 5 % noise", 24, 10_000, 0.05, 0.6),
    Shape("hourly, 15 % noise", 24, 10_000, 0.15, 0.6),
    Shape("hourly, few rows", 24, 40, 0.05, 0.6),
    Shape("daily, 5 % noise", 1, 250_000, 0.05, 0.3),
    Shape("daily, 15 % noise", 1, 250_000, 0.15, 0.3),
    Shape("four a day, 10 % noise", 4, 50_000, 0.10, 0.8),
)


@dataclass(frozen=True)
class Score:
    """Counts over the judged month of some series."""

    hits: int = 0
    misses: int = 0
    false_alarms: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(self.hits + other.hits, self.misses + other.misses, self.false_alarms + other.false_alarms)

    @property
    def precision(self) -> float:
        return self.hits / max(self.hits + self.false_alarms, 1)

    @property
    def recall(self) -> float:
        return self.hits / max(self.hits + self.misses, 1)


def series(shape: Shape, chance: random.Random) -> Iterator[tuple[datetime, float]]:
    """Yield clean values."""
    growth = chance.uniform(-0.002, 0.004)
    for day in range(WARM_UP_DAYS + JUDGED_DAYS):
        for part in range(shape.per_day):
            at = START + timedelta(days=day, hours=part * 24 // shape.per_day + (6 if shape.per_day == 1 else 0))
            rhythm = 1 + 0.7 * math.sin((at.hour - 8) / 24 * 2 * math.pi) if shape.per_day > 1 else 1.0
            weekly = shape.weekend if at.weekday() >= 5 else 1.0
            mean = shape.level * rhythm * weekly * math.exp(growth * day)
            rows = mean * math.exp(chance.gauss(0, shape.noise)) + chance.gauss(0, math.sqrt(max(mean, 1)))
            yield at, max(0.0, round(rows))


def score(shape: Shape, seed: int, share: float, sensitivity: Sensitivity) -> Score:
    """Judge the last month of a series in which a share of the values is anomalous."""
    chance = random.Random(seed)  # noqa: S311 - synthetic data
    judged_from = START + timedelta(days=WARM_UP_DAYS)
    history: list[tuple[datetime, float]] = []
    total = Score()
    for at, clean in series(shape, chance):
        is_anomaly = at >= judged_from and chance.random() < share
        value = round(clean * chance.choice(FACTORS)) if is_anomaly else clean
        expectation = expect(history, at, sensitivity) if at >= judged_from else None
        is_alarm = expectation is not None and not expectation.is_met_by(value)
        if at >= judged_from:
            total += Score(is_anomaly and is_alarm, is_anomaly and not is_alarm, is_alarm and not is_anomaly)
        history.append((at, value))
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=20, help="how many series of each shape")
    parser.add_argument("--sensitivity", type=Sensitivity, default=Sensitivity.NORMAL)
    given = parser.parse_args()
    print(f"{'shape':<24} {'precision':>9} {'recall':>7} {'false alarms per contract and month, clean':>43}")
    dirty_total, worst = Score(), 0.0
    for shape in SHAPES:
        dirty = sum((score(shape, seed, 0.03, given.sensitivity) for seed in range(given.series)), Score())
        clean = sum((score(shape, 1_000 + seed, 0.0, given.sensitivity) for seed in range(given.series)), Score())
        false_alarms = clean.false_alarms / given.series
        worst, dirty_total = max(worst, false_alarms), dirty_total + dirty
        print(f"{shape.name:<24} {dirty.precision:>9.3f} {dirty.recall:>7.3f} {false_alarms:>43.2f}")
    print(f"{'all':<24} {dirty_total.precision:>9.3f} {dirty_total.recall:>7.3f} {worst:>43.2f}")
    if worst > MAX_FALSE_ALARMS_PER_MONTH:
        raise SystemExit(f"more than {MAX_FALSE_ALARMS_PER_MONTH:g} false alarm per contract and month")


if __name__ == "__main__":
    main()
