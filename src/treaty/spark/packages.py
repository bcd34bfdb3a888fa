"""What Spark is extended with, by the Maven names of the jars that do it."""

from __future__ import annotations

from enum import StrEnum


class Package(StrEnum):
    """One thing that Spark does not bring along."""

    ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0"
    AVRO = "org.apache.spark:spark-avro_2.13:4.0.0"
    SQLITE = "org.xerial:sqlite-jdbc:3.53.4.0"
    POSTGRESQL = "org.postgresql:postgresql:42.7.14"

    @property
    def jar(self) -> str:
        """The file that Ivy makes of it."""
        group, artifact, version = self.value.split(":")
        return f"{group}_{artifact}-{version}.jar"


DRIVERS = {"sqlite": Package.SQLITE, "postgresql": Package.POSTGRESQL}
"""The databases whose drivers are fetched, by what stands after `jdbc:`; other drivers are the user's to bring."""


def driver_of(url: str) -> frozenset[Package]:
    """Return the driver that a JDBC URL needs, or nothing where it is not one of ours."""
    kind = url.removeprefix("jdbc:").partition(":")[0].lower()
    return frozenset({DRIVERS[kind]} if kind in DRIVERS else ())
