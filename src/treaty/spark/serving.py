"""A Spark on this machine that serves Spark Connect."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from treaty.errors import Conflict, InvalidDocument
from treaty.spark.options import SparkOptions
from treaty.spark.packages import Package
from treaty.spark.session import spark_session

_HERE = "127.0.0.1"


@contextmanager
def serve_spark(options: SparkOptions, port: int) -> Iterator[str]:
    """Start Spark with every package and serve it on loopback, where whoever may connect may do anything."""
    if options.is_remote:
        raise InvalidDocument(f"spark.master is {options.master}, which is a server already; set local[*] to start one")
    _refuse_taken(port)
    serving = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": _HERE,
        "spark.connect.grpc.binding.port": str(port),
    }
    session = spark_session(replace(options, packages=frozenset(Package), conf={**options.conf, **serving}))
    try:
        yield f"sc://{_HERE}:{port}"
    finally:
        session.stop()


def _refuse_taken(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HERE, port))
        except OSError as error:
            raise Conflict(f"cannot serve on {_HERE}:{port}: {error.strerror}; choose another with --port") from None
