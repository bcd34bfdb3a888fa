"""The official Java client of OpenLineage, in the JVM of the Spark session of the tests but with its own jars."""

from __future__ import annotations

from typing import Any, cast

from pyspark.sql import SparkSession

from treaty.spark.jars import fetch_jars

PACKAGE = "io.openlineage:openlineage-java:1.54.0"


class JavaClient:
    """Reads and sends events with `io.openlineage.client`."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm = cast("Any", spark._jvm)
        self._gateway = cast("Any", spark.sparkContext._gateway)  # another gateway would change how this one converts
        jars = sorted(fetch_jars(packages=[PACKAGE]).glob("*.jar"))
        urls = self._array(self._jvm.java.net.URL, [self._jvm.java.net.URL(jar.as_uri()) for jar in jars])
        platform = self._jvm.java.lang.ClassLoader.getPlatformClassLoader()
        self._loader = self._jvm.java.net.URLClassLoader(urls, platform)
        self._text = self._class("java.lang.String")
        self._utilities = self._class("io.openlineage.client.OpenLineageClientUtils")

    def read(self, json: str) -> Any:
        """Parse a run event."""
        return self._call(self._utilities, "runEventFromJson", [self._text], json)

    def write(self, event: Any) -> str:
        """Write an event as JSON."""
        return str(self._call(self._utilities, "toJson", [self._class("java.lang.Object")], event))

    def send(self, url: str, token: str, event: Any) -> None:
        """Send an event to a server."""
        auth = self._new("io.openlineage.client.transports.ApiKeyTokenProvider")
        auth.setApiKey(token)
        config = self._new("io.openlineage.client.transports.HttpConfig")
        config.setUrl(self._jvm.java.net.URI.create(url))
        config.setAuth(auth)
        kind = self._class("io.openlineage.client.transports.HttpConfig")
        transport_class = self._class("io.openlineage.client.transports.HttpTransport")
        transport = transport_class.getConstructor(self._array(self._jvm.java.lang.Class, [kind])).newInstance(
            self._array(self._jvm.java.lang.Object, [config])
        )
        try:
            transport.emit(event)
        finally:
            transport.close()

    def _new(self, name: str) -> Any:
        none = self._array(self._jvm.java.lang.Class, [])
        return self._class(name).getConstructor(none).newInstance(self._array(self._jvm.java.lang.Object, []))

    def _call(self, owner: Any, name: str, kinds: list[Any], *arguments: Any) -> Any:
        method = owner.getMethod(name, self._array(self._jvm.java.lang.Class, kinds))
        return method.invoke(None, self._array(self._jvm.java.lang.Object, list(arguments)))

    def _class(self, name: str) -> Any:
        return self._loader.loadClass(name)

    def _array(self, kind: Any, values: list[Any]) -> Any:
        array = self._gateway.new_array(kind, len(values))
        for place, value in enumerate(values):
            array[place] = value
        return array
